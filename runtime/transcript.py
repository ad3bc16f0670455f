"""Talk as text for a model that summarises it: one line a message, inside a fence. Pure."""

from collections.abc import Sequence

from pagemind.runtime.message import Message
from pagemind.runtime.page import Page
from pagemind.runtime.step_trust import untrusted


def transcript(messages: Sequence[Message], pages: Sequence[Page]) -> list[str]:
    """One line a message, named by role and speaker; rows of lower trust are only counted."""
    lines: list[str] = []
    hidden: dict[str, int] = {}
    for message in messages:
        if message.kind in ("notice", "reading") or not message.text.strip():
            continue
        if untrusted(message.provenance.trust):
            page = next((p.short_id for p in pages if message.seq <= p.last_seq), "")
            hidden[page] = hidden.get(page, 0) + 1
            continue
        who = message.speaker or message.role
        lines.append(f"{who}: {' '.join(message.text.split())}")
    lines.extend(f"({number} tool or document texts in {page})" for page, number in hidden.items())
    return lines
