"""/v1/chat/completions and /v1/models: an agent for programs that know OpenAI's interface.

The model is the agent's name, `user` its speaker. A client sends the whole talk every time; the
agent has it already: taking_in.py says what of it is new. What a client sends again is answered
once: sameness.py.
"""

from collections.abc import AsyncGenerator
from concurrent.futures import Future
from contextlib import AsyncExitStack

from starlette.requests import Request
from starlette.responses import Response

from pagemind.runtime.attachment import attach_bytes
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.event import UserMessage
from pagemind.runtime.http.bodies import json_of
from pagemind.runtime.http.chat_request import ChatRequest, parse_chat
from pagemind.runtime.http.completion import Completion, failure_of
from pagemind.runtime.http.events import EventStream, event
from pagemind.runtime.http.faults import fault_of, json_response
from pagemind.runtime.http.running import Running, Service, while_there
from pagemind.runtime.http.sameness import id_of, key_of, was_retried
from pagemind.runtime.http.spoken import Spoken
from pagemind.runtime.http.taking_in import take_in
from pagemind.runtime.settings import SERVE_BEGIN_SECONDS
from pagemind.runtime.state.home import Registered
from pagemind.runtime.trace import Observer
from pagemind.runtime.turn import TurnResult

_HEARD = ("text_delta", "tool_called")  # a stream begins with these at the latest


async def chat_completions(service: Service, request: Request) -> Response:
    """POST /v1/chat/completions"""
    asked = parse_chat(await json_of(request))
    registered = await service.find(asked.model)
    answer = _Answer(service, registered, asked, key_of(request), was_retried(request))
    async with AsyncExitStack() as stack:
        running = await stack.enter_async_context(service.turn(answer.begin))
        completion = answer.completion()
        if not asked.stream:
            result = await running.result_for(request)
            if failure := failure_of(result):
                return failure.response(request.url.path)
            return json_response(completion.whole(result), headers=completion.headers)
        await while_there(request, running.first(_HEARD, SERVE_BEGIN_SECONDS))
        if running.ended:  # before a word: an error still has its status
            result = await running.result()
            if failure := failure_of(result):
                return failure.response(request.url.path)
        chunks = answer.chunks(running, completion)
        return EventStream(chunks, completion.headers, stack.pop_all())


class _Answer:
    """One request, once it is clear whom it is for."""

    def __init__(
        self,
        service: Service,
        registered: Registered,
        asked: ChatRequest,
        key: str | None,
        retried: bool,
    ) -> None:
        self._service = service
        self._registered = registered
        self._asked = asked
        self._key = key
        self._retried = retried
        self._taken_in = 0
        self._heartbeat = False

    def begin(self, observer: Observer, cancel: CancelToken) -> "Future[TurnResult]":
        """Take in what is new, and have the last message handled."""
        asked, keeper = self._asked, self._service.keeper
        name = self._registered.name
        with keeper.using(name) as agent:
            self._heartbeat = agent.loop.heartbeat
            images = tuple(
                attach_bytes(agent.state.blobs, data, f"image {at}")
                for at, data in enumerate(asked.message.images, 1)
            )
            id = id_of(agent, asked, self._key, retried=self._retried)
            if id is None or agent.state.turns.by_client_id(id) is None:
                self._taken_in = take_in(
                    agent, asked.history, asked.speaker, self._service.runtime.home.denied
                )
            said = UserMessage(asked.message.text, asked.speaker, id, attachments=images)
            return keeper.submit(name, said, id=id, observer=observer, cancel=cancel)

    def completion(self) -> Completion:
        """What all chunks have in common; once the turn was submitted."""
        now = self._service.runtime.clock.now()
        asked = self._asked
        headers = {}
        if asked.ignored:
            headers["Pagemind-Ignored"] = _header(", ".join(asked.ignored))
        if self._taken_in:
            headers["Pagemind-Taken-In"] = str(self._taken_in)
        return Completion(
            id=f"chatcmpl-{self._service.runtime.clock.new_id()}",
            model=self._registered.name,
            created=int(now.timestamp()),
            ignored=asked.ignored,
            taken_in=self._taken_in,
            headers=headers,
        )

    async def chunks(self, running: Running, completion: Completion) -> AsyncGenerator[bytes]:
        """The stream. What fails once it has begun is an event with the error."""
        spoken = Spoken(heartbeat=self._heartbeat)
        yield event(completion.first())
        async for each in running.events():
            if text := spoken.feed(each):
                yield event(completion.piece(text))
        try:
            result = await running.result()
        except Exception as error:
            yield event(fault_of(error).as_openai())
            return
        if rest := spoken.rest(result.text):
            yield event(completion.piece(rest))
        if failure := failure_of(result):
            yield event(failure.as_openai())
            return
        yield event(completion.last(result))
        if self._asked.usage_chunk:
            yield event(completion.usage(result))
        yield event("[DONE]")


async def models(service: Service, request: Request) -> Response:
    """GET /v1/models: the agents"""
    agents = [
        each for each in await service.read(service.runtime.home.all) if service.serves(each.id)
    ]
    return json_response({"object": "list", "data": [_model(each) for each in agents]})


async def model(service: Service, request: Request) -> Response:
    """GET /v1/models/{model}"""
    return json_response(_model(await service.find(request.path_params["model"])))


def _model(agent: Registered) -> dict[str, object]:
    return {
        "id": agent.name,
        "object": "model",
        "created": int(agent.created_at.timestamp()),
        "owned_by": "pagemind",
    }


def _header(text: str) -> str:
    """What a header may hold."""
    return "".join(c if " " <= c <= "~" else "?" for c in text)[:500]
