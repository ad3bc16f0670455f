"""Intake: what comes to an agent as a message, cleaned and stamped with where it comes from."""

from pagemind.runtime.errors import UserError
from pagemind.runtime.event import AgentMessage, Event, SystemAlert, TimerFired, UserMessage
from pagemind.runtime.message import TRUST, Message, Origin, Provenance, Text, clean_text
from pagemind.runtime.settings import IMAGES_PER_MESSAGE, MAX_MESSAGE_BYTES


def checked_text(text: str) -> str:
    """Raises UserError for text that says nothing or is larger than anything a person means."""
    text = clean_text(text)
    if not text.strip():
        raise UserError("the message is empty", hint="say something")
    if len(text) > MAX_MESSAGE_BYTES:
        raise UserError(
            f"the message has {len(text):,} characters; the limit is {MAX_MESSAGE_BYTES:,}",
            hint="insert long texts with `pagemind memory insert AGENT --file FILE`",
        )
    return text


def message_of(event: Event) -> tuple[Message, str | None, str]:
    """The message of an event, the client's id for it, and what came with that id."""
    origin: Origin
    client_id = clean_text(event.id) if event.id is not None else None
    said_at, trust = None, TRUST["operator"]
    if isinstance(event, UserMessage) and event.document:
        origin, speaker, detail = "document", event.speaker, event.document
    elif isinstance(event, UserMessage):
        origin, speaker, detail = "user", event.speaker, ""
        said_at = event.said_at
    elif isinstance(event, AgentMessage):
        origin, speaker, detail, trust = "agent", event.sender, event.sender, event.trust
    elif isinstance(event, TimerFired):
        origin, speaker, detail, trust = "runtime", f"timer {event.name}", event.name, event.trust
    else:
        assert isinstance(event, SystemAlert)
        origin, speaker, detail = "runtime", event.source, event.source
    text = checked_text(event.text)
    attached = event.attachments if isinstance(event, UserMessage) else ()
    if len(attached) > IMAGES_PER_MESSAGE:
        raise UserError(
            f"{len(attached)} images are too many for one message",
            hint=f"send up to {IMAGES_PER_MESSAGE} at once",
        )
    message = Message(
        "user",
        (Text(text), *attached),
        speaker=clean_text(speaker),
        said_at=said_at,
        provenance=Provenance(origin, clean_text(detail), min(TRUST[origin], trust)),
    )
    return message, client_id, "\n".join([text, *(blob.sha256 for blob in attached)])


def observation(text: str, source: str, speaker: str) -> Message:
    """Something that happened, recorded without a model call. Raises UserError for empty text."""
    return Message(
        "user",
        (Text(checked_text(text)),),
        kind="observation",
        speaker=clean_text(speaker or source),
        provenance=Provenance("tool", clean_text(source), TRUST["tool"]),
    )
