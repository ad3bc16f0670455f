"""lines_seen(): the lines of an agent for people: what was cut off, when, and how much of it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.state.lines import on_line, without
from pagemind.runtime.state.state import State


@dataclass(frozen=True, slots=True)
class LineSeen:
    """`hidden` counts messages, and `turns` turns, that are on this line and not on the current
    one; `text` is what the first of them said. `left_by` is the move that ended it."""

    line: int
    name: str
    parent: int | None
    current: bool
    created_at: datetime
    left_at: datetime | None
    left_by: str
    last_seq: int
    hidden: int
    turns: int
    text: str

    def as_json(self) -> dict[str, Any]:
        """An item of `agents lines --json`."""
        return {
            "line": self.line,
            "name": self.name,
            "parent": self.parent,
            "current": self.current,
            "created_at": rfc3339(self.created_at),
            "left_at": rfc3339(self.left_at) if self.left_at else None,
            "left_by": self.left_by,
            "last_seq": self.last_seq,
            "hidden": self.hidden,
            "turns": self.turns,
            "text": self.text,
        }


def lines_seen(state: State) -> list[LineSeen]:
    """Every line, the oldest first. Only reads."""
    lines, found = state.journal.lines, list[LineSeen]()
    with state.database.reading():
        live, newest = lines.ranges(), state.journal.last_seq
        names = {line.number: line.name for line in lines.all()}
        for line in lines.all():
            ranges = [(low, min(high, newest)) for low, high in lines.ranges(line.number)]
            hidden = turns = 0
            text = ""
            for low, high in without(ranges, live):
                hidden += state.database.number(
                    "SELECT count(*) FROM messages WHERE seq BETWEEN ? AND ?"
                    " AND kind IN ('talk', 'observation')",
                    (low, high),
                )
                begun = state.turns.begun_in(low, high)
                if begun and not turns:
                    said = state.journal.get([begun[0].first_seq])
                    text = next((message.text for message in said.values()), "")
                turns += len(begun)
            found.append(
                LineSeen(
                    line=line.number,
                    name=line.name,
                    parent=line.parent,
                    current=line.number == lines.current,
                    created_at=line.created_at,
                    left_at=line.left.at if line.left else None,
                    left_by=_left_by(line.left.kind, names[line.left.to_line]) if line.left else "",
                    last_seq=state.database.number(
                        "SELECT seq FROM messages WHERE NOT (kind = 'notice' AND turn = 0)"
                        f" AND {on_line('seq', str(line.number))} ORDER BY seq DESC LIMIT 1"
                    ),
                    hidden=hidden,
                    turns=turns,
                    text=text,
                )
            )
    return found


def _left_by(kind: str, name: str) -> str:
    """`undo of 2 turns before m45` says it all; a line that was brought back has an older name."""
    return kind if kind == "bring back" else name
