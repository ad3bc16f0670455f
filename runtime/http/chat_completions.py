"""/v1/chat/completions and /v1/models: an agent for programs that know OpenAI's interface.

The model is the agent's name, `user` its speaker. A client sends the whole talk every time; the
agent has it already: taking_in.py says what of it is new. What a client sends again is answered
once (`id_of`).
"""

from collections.abc import AsyncGenerator
from concurrent.futures import Future
from contextlib import AsyncExitStack

from starlette.requests import Request
from starlette.responses import Response

from pagemind.runtime.agent import Agent
from pagemind.runtime.attachment import attach_bytes
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.event import UserMessage
from pagemind.runtime.http.bodies import json_of
from pagemind.runtime.http.chat_request import ChatRequest, parse_chat
from pagemind.runtime.http.completion import Completion, failure_of
from pagemind.runtime.http.events import EventStream, event
from pagemind.runtime.http.faults import HttpFault, fault_of, json_response
from pagemind.runtime.http.running import Running, Service, while_there
from pagemind.runtime.http.spoken import Spoken
from pagemind.runtime.http.taking_in import plain, take_in
from pagemind.runtime.settings import (
    CONVERSATION_PAUSE_SECONDS,
    SERVE_BEGIN_SECONDS,
    SERVE_KEY_CHARS,
    SERVE_RETRIED_TURNS,
)
from pagemind.runtime.state.home import Registered
from pagemind.runtime.trace import Observer
from pagemind.runtime.turn import TurnResult

KEY = "idempotency-key"
_RETRIED = "x-stainless-retry-count"  # OpenAI's clients count with it how often they tried
_HEARD = ("text_delta", "tool_called")  # a stream begins with these at the latest


async def chat_completions(service: Service, request: Request) -> Response:
    """POST /v1/chat/completions"""
    asked = parse_chat(await json_of(request))
    registered = await service.find(asked.model)
    answer = _Answer(service, registered, asked, key_of(request), _was_retried(request))
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
            id = id_of(agent, asked, self._key, retried=self._retried)
            if id is None or agent.state.turns.by_client_id(id) is None:
                self._taken_in = take_in(agent, asked.history, asked.speaker)
            images = tuple(
                attach_bytes(agent.state.blobs, data, f"image {at}")
                for at, data in enumerate(asked.message.images, 1)
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


def key_of(request: Request) -> str | None:
    """The client's id of this request. Raises HttpFault."""
    key = request.headers.get(KEY)
    if key is None:
        return None
    key = key.strip()
    if not key or len(key) > SERVE_KEY_CHARS:
        raise HttpFault(400, f"Idempotency-Key must have 1 to {SERVE_KEY_CHARS} characters")
    return key


def _was_retried(request: Request) -> bool:
    return request.headers.get(_RETRIED, "0") not in ("0", "")


def id_of(agent: Agent, asked: ChatRequest, key: str | None, *, retried: bool) -> str | None:
    """What makes a request that is sent again the same message.

    Its key. Without one, a request with a history is the same as one of this conversation that says
    the same throughout: had the talk gone on, it would be longer. One without a history is a new
    message, unless the client says that it tries again.
    """
    if key is not None:
        return key
    if asked.history:
        journal = agent.state.journal
        return f"chat {journal.line}.{_conversation(agent)} {asked.digest}"
    if not retried:
        return None
    conversation, text = _conversation(agent), plain(asked.message.text)
    for row in agent.state.turns.newest(SERVE_RETRIED_TURNS):
        if row.speaker != asked.speaker or row.conversation != conversation:
            continue
        said = agent.state.journal.get([row.first_seq]).get(row.first_seq)
        if said is not None and row.client_id is not None:
            texts = [part.text for part in said.parts if hasattr(part, "text")]
            if plain("\n".join(texts)) == text:
                return row.client_id
    return None


def _conversation(agent: Agent) -> int:
    """The number of the conversation that a message would belong to now."""
    journal, database = agent.state.journal, agent.state.database
    last = next(iter(journal.newest(1)), None)
    now = agent.state.clock.now()
    if last is not None and last.recorded_at is not None:
        pause = (now - last.recorded_at).total_seconds()
        if pause < CONVERSATION_PAUSE_SECONDS:
            return journal.conversation
    return max(journal.conversation, int(database.meta("conversations", "0"))) + 1


async def models(service: Service, request: Request) -> Response:
    """GET /v1/models: the agents"""
    agents = await service.read(service.runtime.home.all)
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
