"""Which requests are the same message, sent again: the id that the message of a request has.

Its Idempotency-Key, if the client gives one. Without it a request with a history is the same as one
of this conversation that says the same throughout: had the talk gone on, it would be longer. One
without a history is a new message, unless the client says that it tries again: a client may leave
all memory to the agent.
"""

from starlette.requests import Request

from pagemind.runtime.agent import Agent
from pagemind.runtime.http.chat_request import ChatRequest
from pagemind.runtime.http.faults import HttpFault
from pagemind.runtime.http.taking_in import plain, plain_text
from pagemind.runtime.settings import (
    CONVERSATION_PAUSE_SECONDS,
    SERVE_KEY_CHARS,
    SERVE_RETRIED_TURNS,
)

_KEY = "idempotency-key"
_RETRIED = "x-stainless-retry-count"  # OpenAI's clients count with it how often they tried


def key_of(request: Request) -> str | None:
    """The client's id of this request. Raises HttpFault."""
    key = request.headers.get(_KEY)
    if key is None:
        return None
    key = key.strip()
    if not key or len(key) > SERVE_KEY_CHARS:
        raise HttpFault(400, f"Idempotency-Key must have 1 to {SERVE_KEY_CHARS} characters")
    return key


def was_retried(request: Request) -> bool:
    """Whether the client says that it tries again."""
    return request.headers.get(_RETRIED, "0") not in ("0", "")


def id_of(agent: Agent, asked: ChatRequest, key: str | None, *, retried: bool) -> str | None:
    """The id of a request's message; None for one that is new whatever it says."""
    if key is not None:
        return key
    conversation = _conversation(agent)
    if asked.history:
        # What was taken back may be said again: it is on another line then.
        return f"chat {agent.state.journal.line}.{conversation} {asked.digest}"
    if not retried:
        return None
    text = plain(asked.message.text)
    for row in agent.state.turns.newest(SERVE_RETRIED_TURNS):
        if row.speaker != asked.speaker or row.conversation != conversation:
            continue
        said = agent.state.journal.get([row.first_seq]).get(row.first_seq)
        if said is not None and plain_text(said) == text:
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
