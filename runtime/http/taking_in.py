"""Which messages of a client's history are new. A client sends all of it with every request; the
agent has its own.

What is known is what this speaker said and was answered, as it stands in the agent's journal. A
history is known up to its last exchange (a message and its answer) that stands there, wherever that
is: threads may be gone on with after weeks. What comes after it was said elsewhere, to another
model or before this agent was asked: `take_in` records it in its order, as messages that no turn
belongs to. The last message is the event, and is not among it.

An edited message is another one: what was said stays said. Pure but for reading the journal.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pagemind.runtime.agent import Agent
from pagemind.runtime.attachment import attach_bytes
from pagemind.runtime.http.chat_request import Heard
from pagemind.runtime.loop import INTERRUPTED
from pagemind.runtime.message import TRUST, Blob, Message, Origin, Provenance, Text, clean_text
from pagemind.runtime.settings import TAKE_IN_BATCH
from pagemind.runtime.state.denied import Denied
from pagemind.runtime.turn import heard

DETAIL = "chat completions"  # the origin of what was taken in
_START = 16  # characters by which most messages that are not meant are told apart


@dataclass(frozen=True, slots=True)
class Stored:
    """A message as the journal has it, its text plain; `taken_in`: it came with a history."""

    role: str
    text: str
    images: tuple[str, ...] = ()
    taken_in: bool = False


@dataclass(frozen=True, slots=True)
class _Said:
    """A message as the client has it, made comparable once."""

    heard: Heard
    text: str
    images: tuple[str, ...]

    def is_(self, stored: Stored) -> bool:
        """Whether the client means this one. An answer may have been cut off on its way to it."""
        if self.heard.role != stored.role:
            return False
        if stored.role == "user":
            return self.text == stored.text and self.images == stored.images
        return stored.text.startswith(self.text)


def plain(text: str) -> str:
    """Spaces and line ends are not what a message is known by: clients change them."""
    return " ".join(clean_text(text).removesuffix(INTERRUPTED).split())


def new_of(history: Sequence[Heard], stored: Iterator[Stored]) -> list[Heard]:
    """What of a history is not known. `stored` comes newest first, and is read only as far as
    needed."""
    if not history:
        return []
    said = [_Said(each, plain(each.text), each.digests) for each in history]
    starts = tuple(each.text[:_START] for each in said)
    exchanges = [
        at
        for at, (one, two) in enumerate(pairwise(said))
        if one.heard.role == "user" and two.heard.role == "assistant"
    ]
    since: list[Stored] = []  # newest first, of what the history may mean
    best, after = -1, -1
    later: Stored | None = None
    for one in stored:
        if later is not None and later.role == "assistant" and one.role == "user":
            for at in reversed(exchanges):
                if at <= best:
                    break
                if said[at].is_(one) and said[at + 1].is_(later):
                    best, after = at, len(since) - 1  # without the answer itself
                    break
            if exchanges and best == exchanges[-1]:
                break
        if one.text.startswith(starts):
            since.append(one)
        later = one
    if best < 0:  # only what a request that was cut off has left
        return _without(said, [each for each in reversed(since) if each.taken_in])
    return _without(said[best + 2 :], since[:after][::-1])


def _without(said: Sequence[_Said], known: Sequence[Stored]) -> list[Heard]:
    """What is said, less what is known, both in their order."""
    new, at = [], 0
    for one in said:
        place = next((i for i in range(at, len(known)) if one.is_(known[i])), None)
        if place is None:
            new.append(one.heard)
        else:
            at = place + 1
    return new


def stored_of(agent: Agent, speakers: Collection[str]) -> Iterator[Stored]:
    """What these speakers said to an agent and what they were answered, newest first."""
    journal, before, held = agent.state.journal, None, list[Message]()
    while batch := journal.newest(TAKE_IN_BATCH, before=before):
        before = batch[-1].seq
        for message in batch:
            if held and (message.turn != held[-1].turn or not message.turn):
                yield from _told(agent, held[::-1], speakers)
                held = []
            held.append(message)
    if held:
        yield from _told(agent, held[::-1], speakers)


def _told(agent: Agent, messages: Sequence[Message], speakers: Collection[str]) -> Iterator[Stored]:
    """A turn, or one message beside turns: the answer before the question."""
    event = messages[0]
    if event.provenance.detail == DETAIL:
        if event.role == "assistant" or event.speaker in speakers:
            yield _stored(event, taken_in=True)
        return
    if event.role != "user" or event.provenance.origin != "user" or event.speaker not in speakers:
        return
    texts = heard(messages[1:], heartbeat=agent.loop.heartbeat)
    if texts:
        yield Stored("assistant", plain("\n\n".join(texts)))
    yield _stored(event)


def plain_text(message: Message) -> str:
    """What was said, without its images, made comparable."""
    return plain("\n".join(part.text for part in message.parts if isinstance(part, Text)))


def _stored(message: Message, *, taken_in: bool = False) -> Stored:
    images = tuple(part.sha256 for part in message.parts if isinstance(part, Blob))
    return Stored(message.role, plain_text(message), images, taken_in)


def take_in(agent: Agent, history: Sequence[Heard], speaker: str, denied: Denied) -> int:
    """Record what is new of a history, in its order; how many messages. Held between two turns.

    A user's words are the user's, as if sent one by one. Whoever answered them is not known: such
    answers are trusted as imports are. What was erased from the home stays erased, though a client
    goes on sending it.
    """
    if denied.anything:
        history = [each for each in history if not denied.has_text(each.text)]
    speakers = {speaker, *(each.speaker for each in history if each.role == "user")}
    if not new_of(history, stored_of(agent, speakers)):
        return 0
    with agent.at_rest():
        new = new_of(history, stored_of(agent, speakers))  # another client may have been first
        for one in new:
            agent.queue_manager.append(_message(agent, one))
            agent.queue_manager.make_room()
    return len(new)


def _message(agent: Agent, one: Heard) -> Message:
    origin: Origin = "user" if one.role == "user" else "import"
    store = agent.state.blobs
    blobs = [attach_bytes(store, data, f"image {at}") for at, data in enumerate(one.images, 1)]
    return Message(
        one.role,
        (Text(clean_text(one.text)), *blobs),
        speaker=clean_text(one.speaker),
        provenance=Provenance(origin, DETAIL, TRUST[origin]),
    )
