"""The JSON contracts as REST, what an agent is told: messages, observations, passages, consents.

A turn answers as `send --json`; with `Accept: text/event-stream` its TraceEvents come first, each
under its kind, and last `result`, or `error`.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack
from threading import Thread
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from pagemind.runtime.agent import Agent
from pagemind.runtime.attachment import attach_bytes
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import AgentInUse, NotFound
from pagemind.runtime.event import UserMessage
from pagemind.runtime.http.bodies import (
    check_images,
    check_keys,
    image_of,
    json_of,
    text_in,
    texts_in,
)
from pagemind.runtime.http.completion import failure_of
from pagemind.runtime.http.events import EventStream, event
from pagemind.runtime.http.faults import HttpFault, fault_of, json_response
from pagemind.runtime.http.rest import with_schema
from pagemind.runtime.http.running import Begin, Running, Service
from pagemind.runtime.http.sameness import key_of
from pagemind.runtime.ingest import ingest_text, read_passages
from pagemind.runtime.intake import checked_text
from pagemind.runtime.keeping import PLAIN, Keeping
from pagemind.runtime.passage import Passage
from pagemind.runtime.person import Consent
from pagemind.runtime.settings import INBOX_PASSAGES, MAX_MESSAGE_BYTES, SERVE_KEY_CHARS
from pagemind.runtime.state.state import State
from pagemind.runtime.trace import Observer
from pagemind.runtime.turn import TurnResult

_PASSAGE = ("text", "tags", "importance", "scope", "owner", "ttl", "evergreen")
_MESSAGE = ("text", "speaker", "id", "images", "schema", "queue")


async def messages(service: Service, request: Request) -> Response:
    """POST /agents/{agent}/messages {text, speaker, id, images, schema, queue}: as `send`"""
    body = await json_of(request)
    check_keys(body, _MESSAGE, "a message")
    text = checked_text(text_in(body, "text"))
    speaker = text_in(body, "speaker", "user")
    id = text_in(body, "id", "", most=SERVE_KEY_CHARS) or key_of(request)
    urls = texts_in(body, "images")
    check_images(len(urls), "images")
    images = [image_of(url, f"images[{at}]") for at, url in enumerate(urls)]
    schema = body.get("schema")
    if schema is not None and not isinstance(schema, dict):
        raise HttpFault(400, "'schema' must be a JSON schema", param="schema")
    name = await _name(service, request)
    if body.get("queue") is True:
        if schema is not None or images:
            raise HttpFault(400, "'queue' goes with text, speaker and id", param="queue")

        def leave() -> dict[str, Any]:
            mail = service.keeper.leave(name, UserMessage(text, speaker), id=id)
            return {"agent": name, "queued": mail.number, "id": mail.id}

        return json_response(with_schema(await service.write(leave)), 202)

    def begin(observer: Observer, cancel: CancelToken) -> "Future[TurnResult]":
        with service.keeper.using(name) as agent:
            blobs = tuple(
                attach_bytes(agent.state.blobs, data, f"image {at}")
                for at, data in enumerate(images, 1)
            )

            def say(text: str, id: str | None) -> "Future[TurnResult]":
                said = UserMessage(text, speaker, id, attachments=blobs)
                return service.keeper.submit(name, said, id=id, observer=observer, cancel=cancel)

            if schema is None:
                return say(text, id)

            def ask() -> TurnResult:
                from pagemind.runtime import structured

                return structured.ask(lambda text, id: say(text, id).result(), text, schema, id=id)

            return in_thread(ask)

    return await _turn(service, request, begin)


async def approve(service: Service, request: Request) -> Response:
    """POST /agents/{agent}/pending/{id}/approve {always}: go on with the turn that waits"""
    return await _consent(service, request, allowed=True)


async def deny(service: Service, request: Request) -> Response:
    """POST /agents/{agent}/pending/{id}/deny {reason}: go on, and do not run it"""
    return await _consent(service, request, allowed=False)


async def _consent(service: Service, request: Request, *, allowed: bool) -> Response:
    body = await json_of(request)
    check_keys(body, ("always",) if allowed else ("reason",), "a consent")
    consent = Consent(allowed, body.get("always") is True, text_in(body, "reason", ""))
    name, id = await _name(service, request), request.path_params["id"]

    def begin(observer: Observer, cancel: CancelToken) -> "Future[TurnResult]":
        def go_on() -> TurnResult:
            with service.keeper.using(name) as agent, agent.at_rest():
                waiting = agent.pending()
                if waiting is None or waiting.call_id != id:
                    raise NotFound(
                        f"no call {id!r} of {name} waits for consent",
                        hint=f"GET /agents/{name}/pending says which does",
                    )
                return agent.approve(consent, call=id, observer=observer, cancel=cancel)

        return in_thread(go_on)

    return await _turn(service, request, begin)


async def observations(service: Service, request: Request) -> Response:
    """POST /agents/{agent}/observations {text, source, speaker}: as `observe`"""
    body = await json_of(request)
    check_keys(body, ("text", "source", "speaker"), "an observation")
    text = checked_text(text_in(body, "text"))
    source, speaker = text_in(body, "source", "observation"), text_in(body, "speaker", "")
    name = await _name(service, request)

    def observe() -> dict[str, Any]:
        id: str | None = None
        try:
            with service.keeper.using(name) as agent:
                id = agent.observe(text, source=source, speaker=speaker).short_id
        except AgentInUse:
            left: dict[str, object] = {"text": text, "source": source, "speaker": speaker}
            service.runtime.leave(name, "observe", left)
        return {"agent": name, "id": id, "left": id is None}

    return json_response(with_schema(await service.write(observe)), 201)


async def insert(service: Service, request: Request) -> Response:
    """POST /agents/{agent}/passages {text, tags, importance, scope, owner, ttl, evergreen}: as
    `memory insert`"""
    body = await json_of(request)
    check_keys(body, _PASSAGE, "a passage")
    text = text_in(body, "text")
    if not text.strip():
        raise HttpFault(400, "there is nothing to keep: the text is empty", param="text")
    if len(text) > MAX_MESSAGE_BYTES:
        raise HttpFault(413, f"the text has more than {MAX_MESSAGE_BYTES:,} characters")
    importance = body.get("importance")
    number = isinstance(importance, int | float) and not isinstance(importance, bool)
    if importance is not None and not (number and 1 <= importance <= 10):
        raise HttpFault(400, "'importance' must be a number from 1 to 10", param="importance")
    options: dict[str, Any] = {"tags": texts_in(body, "tags"), "importance": importance}
    if not isinstance(body.get("evergreen", False), bool):
        raise HttpFault(400, "'evergreen' must be true or false", param="evergreen")
    keeping = Keeping.of(
        text_in(body, "scope", "") or None,
        text_in(body, "owner", ""),
        text_in(body, "ttl", ""),
        body.get("evergreen") is True,
    )
    name = await _name(service, request)

    def keep() -> dict[str, Any]:
        try:
            with service.keeper.using(name) as agent, agent.at_rest():
                done = ingest_text(_Into(agent), text, keeping=keeping, **options)
                return {**done.as_json(), "left": 0}
        except AgentInUse:
            done, items = read_passages(text, (), INBOX_PASSAGES + 1)
            if len(items) > INBOX_PASSAGES:
                raise
            for document, cut in items:
                left = {"text": cut.text, "metadata": cut.metadata, "document": document}
                service.runtime.leave(name, "insert", {**left, **options, **keeping.as_json()})
            return {**done.as_json(), "left": len(items)}

    return json_response(with_schema(await service.write(keep)), 201)


async def schedule(service: Service, request: Request) -> Response:
    """POST /agents/{agent}/schedules {when, message}: as `schedules add`"""
    body = await json_of(request)
    check_keys(body, ("when", "message"), "a timer")
    when, message = text_in(body, "when"), text_in(body, "message")
    name = await _name(service, request)
    made = await service.write(lambda: service.runtime.timers(name).add(when, message))
    return json_response(with_schema(made.as_json(name)), 201)


async def cancel_schedule(service: Service, request: Request) -> Response:
    """DELETE /agents/{agent}/schedules/{id}: as `schedules cancel`"""
    name, id = await _name(service, request), request.path_params["id"]
    gone = await service.write(lambda: service.runtime.timers(name).cancel(id))
    return json_response(with_schema(gone.as_json(name)))


class _Into:
    """An open agent, held between two turns, as what passages go into."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def insert(
        self,
        text: str,
        *,
        tags: Sequence[str] = (),
        importance: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        document: str = "",
        keeping: Keeping = PLAIN,
    ) -> tuple[Passage, bool]:
        return self._agent.archival.for_person(document).insert(
            text, tags=tags, importance=importance, metadata=metadata, keeping=keeping
        )

    @property
    def state(self) -> State:
        return self._agent.state

    def near(self, text: str, limit: int) -> list[tuple[str, float]]:
        return self._agent.engine.near(text, limit)

    def retire(self, number: int, *, reason: str) -> bool:
        """Only documents are brought up to date, and a text is none."""
        raise AssertionError(f"a{number}: {reason}")


# --- turns ----------------------------------------------------------------------------------------


async def _name(service: Service, request: Request) -> str:
    """The agent's name as it is registered. Raises UnknownAgent."""
    return (await service.find(request.path_params["agent"])).name


def in_thread(work: Callable[[], TurnResult]) -> "Future[TurnResult]":
    """What is no event of the keeper's, in a thread of its own."""
    future: Future[TurnResult] = Future()

    def run() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, name="a turn over HTTP", daemon=True).start()
    return future


async def _turn(service: Service, request: Request, begin: Begin) -> Response:
    """Its answer, or its events."""
    async with AsyncExitStack() as stack:
        running = await stack.enter_async_context(service.turn(begin))
        if "text/event-stream" in request.headers.get("accept", ""):
            return EventStream(_events(running), {}, stack.pop_all())
        result = await running.result_for(request)
        failure = failure_of(result)
        return json_response(
            answer_of(result),
            failure.status if failure else 200,
            failure.headers if failure else None,
        )


async def _events(running: Running) -> AsyncGenerator[bytes]:
    async for each in running.events():
        if each.kind != "turn_ended":  # it holds the result, which comes next
            yield event(each.data, each.kind)
    try:
        result = await running.result()
    except Exception as error:
        yield event(fault_of(error).as_json(), "error")
        return
    yield event(answer_of(result), "result")


def answer_of(result: TurnResult) -> dict[str, Any]:
    """The answer of `send --json` (contract)."""
    body: Mapping[str, Any] = result.as_json()
    if result.error is not None:
        body = {**body, "error": result.error.as_json()}
    return with_schema(body)
