"""The time machine: rewind, undo and bring_back, each one transaction.

A rewind goes on from a new line that is the old one up to a turn's end, with the window and the
memory of then: the epoch in force, blocks, passages, pins and files, each as a new version. Nothing
is deleted; bring_back goes on from where a line was left, with the memory that it had. What a
person changed between two turns is memory like all else: it is as it was before the first message
taken back. Shared archives, the definition and the world stay as they are, and so does what was
paid.

    undo(2)         before the last two turns
    rewind(45)      up to m45, and to the end of the turn that it stands in
    rewind(time)    the same of the newest message of then
    bring_back()    the line that this one was cut from

Whoever calls holds the agent for writing, between turns.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.errors import NotFound, UserError
from pagemind.runtime.message import Message, Provenance, Text
from pagemind.runtime.moved import Change, Kind, Moved, Part, Reverted, TurnSeen, WorldCall
from pagemind.runtime.state.lines import Move, Range, on_line, without
from pagemind.runtime.state.state import State
from pagemind.runtime.view import View
from pagemind.runtime.when import parse_span

_MESSAGE = re.compile(r"[mM]?(\d{1,18})")
_AUDITED: dict[Kind, str] = {
    "rewind": "rewound",
    "undo": "turns undone",
    "bring back": "brought back",
}
_PERSON = "user"  # whoever rewinds is a person, and is the author of what is put back


def point(written: str, now: datetime) -> int | datetime:
    """What a person writes for a moment: m45 or 45, or a time, whose end is meant (the end of that
    day). Raises UserError."""
    text = written.strip()
    if match := _MESSAGE.fullmatch(text):
        return int(match[1])
    try:
        return parse_span(text, now).end - timedelta(microseconds=1)
    except ValueError:
        raise UserError(
            f"{written[:60]!r} is neither a message nor a time",
            hint="write it like m45, or like 2026-05-08, 8 May 14:00, yesterday, 3 days ago",
        ) from None


class _OnlyLooking(Exception):
    """Takes the transaction of a move back that was only to be looked at."""


class TimeMachine:
    """`count` counts the tokens of a text; `live` says whether the prompt shows edits of blocks at
    once; `effect` what a function does; `moved` is called after the commit, when main context has
    to be loaded anew."""

    def __init__(
        self,
        name: str,
        state: State,
        *,
        count: Callable[[str], int],
        live: bool,
        effect: Callable[[str], str],
        zone: tzinfo,
        moved: Callable[[], None] = lambda: None,
    ) -> None:
        self._name = name
        self._state = state
        self._lines = state.journal.lines
        self._count = count
        self._live = live
        self._effect = effect
        self._zone = zone
        self._moved = moved

    def now(self) -> datetime:
        """The time, where the agent is."""
        return self._state.clock.now().astimezone(self._zone)

    # --- where to -------------------------------------------------------------------------------

    def undo(self, turns: int = 1, *, apply: bool = True) -> Moved:
        """Take the last turns back, whole, and whatever came after the first of them; without
        `apply` only say what that would do. Raises UserError if there are not so many."""
        if turns < 1:
            raise UserError(f"{turns} turns cannot be taken back", hint="say 1 or more")
        last = self._state.turns.newest(turns)
        if len(last) < turns:
            there = f"there {'is' if len(last) == 1 else 'are'} only {len(last)}"
            raise UserError(
                f"{turns} turns cannot be taken back", hint=there if last else "there is none"
            )
        before = self._turn_start(min(turn.first_seq for turn in last))
        noun = "1 turn" if turns == 1 else f"{turns} turns"
        return self._cut(before, "undo", f"undo of {noun}, before m{before}", apply)

    def rewind(self, to: int | datetime, *, apply: bool = True) -> Moved:
        """Go back to the end of the turn that a message stands in; 0 is before the first. Without
        `apply` only say what that would do. Raises NotFound for what is not there or was taken back
        already, UserError if nothing followed."""
        seq = self._at(to) if isinstance(to, datetime) else to
        if seq != 0:
            self._check(seq)
        end = self._turn_end(seq)
        before = self._next(end)
        if before is None:
            last = self._state.journal.last_said(end + 1)
            when = f"after m{last}" if last else "yet"
            raise UserError(f"nothing was said {when}", hint="there is nothing to take back")
        what = to.isoformat(timespec="seconds") if isinstance(to, datetime) else f"m{seq}"
        return self._cut(before, "rewind", f"rewind to {what}", apply)

    def bring_back(self, line: int | None = None, *, apply: bool = True) -> Moved:
        """Go on from where a line was left, by default the one that the current line was cut from;
        without `apply` only say what that would do. Raises UserError if there is none, NotFound."""
        lines = {each.number: each for each in self._lines.all()}
        current = self._lines.current
        if line is None:
            line = lines[current].parent
            if line is None:
                others = ", ".join(str(number) for number in lines if number != current)
                hint = f"lines left are {others}; say which" if others else "nothing was taken back"
                raise UserError("there is nothing to bring back", hint=hint)
        if line not in lines:
            raise NotFound(f"there is no line {line}", hint=f"the lines are 1 to {max(lines)}")
        left = lines[line].left
        if line == current or left is None:
            hint = "`pagemind agents lines` lists the others"
            raise UserError(f"line {line} is the current one", hint=hint)
        return self._run(left.seq, "bring back", f"bring back line {line}", apply, left)

    def _at(self, at: datetime) -> int:
        """The newest live message that was there at a time; 0 for none."""
        return self._state.database.number(
            f"SELECT seq FROM messages WHERE recorded_at <= ? AND {on_line('seq')}"
            " ORDER BY seq DESC LIMIT 1",
            (rfc3339(at),),
        )

    def _check(self, seq: int) -> None:
        if not 1 <= seq <= self._state.journal.last_seq:
            raise NotFound(
                f"there is no message m{seq}",
                hint=f"`pagemind agents history {self._name}` lists the turns",
            )
        if not self._lines.contains(seq):
            line = self._lines.line_of(seq)
            raise NotFound(
                f"m{seq} was taken back",
                hint=f"`pagemind agents bring-back {self._name} {line}` first",
            )

    def _turn_end(self, seq: int) -> int:
        """The newest live message of all turns that had begun by then."""
        database, end = self._state.database, seq
        while True:
            begun = database.number("SELECT max(turn) FROM turns WHERE first_seq <= ?", (end,))
            later = database.number(
                "SELECT max(seq) FROM messages WHERE seq > ? AND turn BETWEEN 1 AND ?"
                f" AND {on_line('seq')}",
                (end, begun),
            )
            if later <= end:
                return end
            end = later

    def _turn_start(self, seq: int) -> int:
        """The first message of all turns that had not ended by then: one may have been taken up
        again after others."""
        while True:
            first = self._state.database.number(
                "SELECT min(t.first_seq) FROM messages m JOIN turns t ON t.turn = m.turn"
                f" WHERE m.seq >= ? AND {on_line('m.seq')}",
                (seq,),
            )
            if not first or first >= seq:
                return seq
            seq = first

    def _next(self, end: int) -> int | None:
        """What was said or observed after that. Notices that stand for a change of memory, or for
        an earlier move, belong to what comes before."""
        return (
            self._state.database.number(
                "SELECT seq FROM messages WHERE seq > ? AND NOT (kind = 'notice' AND turn = 0)"
                f" AND {on_line('seq')} ORDER BY seq LIMIT 1",
                (end,),
            )
            or None
        )

    # --- the move -------------------------------------------------------------------------------

    def _cut(self, before: int, kind: Kind, reason: str, apply: bool) -> Moved:
        return self._run(before, kind, reason, apply, None)

    def _run(self, before: int, kind: Kind, reason: str, apply: bool, back: Move | None) -> Moved:
        """All of it, or nothing. `before` is the message before which all was as it will be."""
        database = self._state.database
        try:
            with database.transaction():
                done = self._go(before, kind, reason, apply, back)
                if not apply:
                    raise _OnlyLooking
                database.after_commit(self._moved)
        except _OnlyLooking:
            pass
        return done

    def _go(self, before: int, kind: Kind, reason: str, apply: bool, back: Move | None) -> Moved:
        state, lines = self._state, self._lines
        from_line, old = lines.current, lines.ranges()
        epoch = state.history.epoch_before(before)
        assert epoch is not None
        at = self._mark(reason)
        last = at - 1
        if back is None:
            lines.cut(before, at=at, kind=kind, name=reason)
        else:
            lines.return_to(back.from_line, at=at, kind=kind)
        new = lines.ranges()
        lost = [(low, min(high, last)) for low, high in without(old, new) if low <= last]
        gained = [(low, min(high, last)) for low, high in without(new, old) if low <= last]
        hidden, shown = state.journal.recount(lost, gained)
        state.pages.follow(min(low for low, _ in [*lost, *gained]))
        state.changes.reopen(before, at)
        state.segments.follow(before)
        reverted = self._restore(before, reason, at)
        if back is not None:  # the changes that this takes back are those of the move itself
            reverted = [replace(each, author="") for each in reverted]
        others = self._shared_since(before)
        blocks = self._shown(before)
        state.history.take_up(epoch, reason, blocks)
        state.audit.add(
            _AUDITED[kind],
            f"m{at}",
            by=_PERSON,
            before=f"m{before}",
            line=lines.current,
            from_line=from_line,
        )
        newest = state.history.epoch()
        assert newest is not None
        state.pages.close_directories(self._count, line=lines.current, epoch=newest.epoch)
        self._show_as(before, epoch.queue_start, at)
        self._converse(before, back)
        return Moved(
            agent=self._name,
            kind=kind,
            applied=apply,
            seq=state.journal.last_said(at),
            line=lines.current,
            from_line=from_line,
            taken_back=self._turns(lost),
            brought_back=self._turns(gained),
            hidden=hidden,
            shown=shown,
            reverted=tuple(reverted),
            world=tuple(self._world(lost)),
            shared=others,
            messages=state.journal.count(),
            passages=state.passages.count(),
            pages=state.pages.count(),
        )

    def _mark(self, reason: str) -> int:
        """The notice that stands for the move: its seq parts what was before from what comes."""
        notice = Message(
            "user",
            (Text(reason),),
            kind="notice",
            conversation=self._state.journal.conversation,
            speaker="pagemind",
            provenance=Provenance("runtime", "time machine"),
        )
        tokens = self._count(reason)
        return self._state.journal.append(notice, tokens=tokens)[0].seq

    def _shared_since(self, before: int) -> tuple[str, ...]:
        """The shared blocks that have changed since: others have them, too, and they stay."""
        blocks = self._state.blocks
        then = blocks.versions_before(before)
        now = {block.label: block.version for block in blocks.all()}
        return tuple(label for label in blocks.shared() if now.get(label) != then.get(label))

    def _restore(self, before: int, reason: str, at: int) -> list[Reverted]:
        """Memory as it was then, each change as a new version."""
        state, found = self._state, list[Reverted]()
        made = {"author": _PERSON, "reason": reason}
        for label, version in state.blocks.versions_before(before).items():
            if label in state.blocks.shared():
                continue  # others have it, too
            if block := state.blocks.go_back(label, version, **made, seq=at):
                was, is_now, by = block
                found.append(Reverted("block", label, "reverted", by, was, is_now))
        for number in state.passages.changed_since(before):
            if passage := state.passages.go_back(number, before, **made, seq=at):
                old, new, by = passage
                hid, hides = (p.provenance.status == "retired" for p in (old, new))
                change: Change = "reverted"
                if hid != hides:
                    change = "shown again" if hid else "hidden"
                texts = ("" if hid else old.text, "" if hides else new.text)
                found.append(Reverted("passage", new.short_id, change, by, *texts))
        others: tuple[tuple[Part, tuple[list[str], list[str]]], ...] = (
            ("pin", state.pins.go_back(before)),
            ("document", state.documents.go_back(before)),
        )
        for kind, (again, gone) in others:
            found += [Reverted(kind, each, "shown again") for each in again]
            found += [Reverted(kind, each, "hidden") for each in gone]
        return found

    def _shown(self, before: int) -> dict[str, int]:
        """The versions of the blocks that the window showed; of a block that came later its own."""
        state = self._state
        current = {block.label: block.version for block in state.blocks.all()}
        epoch = state.history.epoch_before(before)
        if self._live or epoch is None:
            return current
        shared = {label: current[label] for label in state.blocks.shared() if label in current}
        return {**current, **state.history.shown_blocks(epoch, before), **shared}

    def _show_as(self, before: int, queue_start: int, at: int) -> None:
        """Messages of the queue are shown in the form of then."""
        history = self._state.history
        then, now = history.views(queue_start, before=before), history.views(queue_start)
        back = {
            seq: then.get(seq, View())
            for seq in now
            if now[seq] != then.get(seq, View()) and self._lines.contains(seq)
        }
        back[at] = View("gone")
        history.set_views(back, since_step=history.last_step + 1)

    def _converse(self, before: int, back: Move | None) -> None:
        """Talk goes on in the conversation that it was in."""
        journal = self._state.journal
        if back is not None:
            journal.take_up_conversation(back.conversation)
            return
        last = journal.get([self._lines.before(before)])
        journal.take_up_conversation(next((m.conversation for m in last.values()), 0))

    # --- what it takes back ---------------------------------------------------------------------

    def _turns(self, ranges: Sequence[Range]) -> tuple[TurnSeen, ...]:
        turns = [turn for low, high in ranges for turn in self._state.turns.begun_in(low, high)]
        said = self._state.journal.get([turn.first_seq for turn in turns])
        return tuple(
            TurnSeen(
                turn.turn,
                turn.first_seq,
                turn.speaker,
                said[turn.first_seq].text if turn.first_seq in said else "",
            )
            for turn in turns
        )

    def _world(self, ranges: Sequence[Range]) -> list[WorldCall]:
        """Calls that did, or may have done, something outside."""
        found: list[WorldCall] = []
        for low, high in ranges:
            calls: dict[str, tuple[Message, int]] = {}
            for message in self._state.journal.of_calls(low, high):
                for at, call in enumerate(message.tool_calls):
                    if self._effect(call.name) == "world":
                        calls[call.id] = (message, at)
                if message.role == "tool" and (known := calls.pop(message.tool_call_id, None)):
                    caller, at = known
                    call = caller.tool_calls[at]
                    found.append(
                        WorldCall(
                            caller.short_id, caller.turn, call.name, call.parsed(), message.ok
                        )
                    )
        return found
