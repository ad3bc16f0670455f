"""Trusting: how far a person trusts messages, records and blocks. Nothing else ever raises trust.

find() and imported() say what would be trusted, with all that it says, so that a person sees it
first; say() does it, a row of the audit log each. What was made of it before does not rise with it:
it can be made anew. What is not trusted any more takes with it all that rests on it.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pagemind.runtime.errors import NotFound, UserError
from pagemind.runtime.facts import FactBook
from pagemind.runtime.message import TRUST, Message, Provenance
from pagemind.runtime.settings import EXTRACT_TURNS
from pagemind.runtime.state.lineage import How
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import FULL, untrusted

Kind = Literal["message", "record", "block"]
DISTRUSTED = TRUST["tool"]
TRUST_SINCE = "trust_since"  # of meta: up to that message rows came from elsewhere
UPTO = "imported_upto"  # of meta: the newest message and record that came in one file
_ID = re.compile(r"([map])(\d{1,18})|block:(.+)", re.IGNORECASE)
_MADE_OF: tuple[How, ...] = ("from", "evidence", "promoted")  # ways in which words come over


@dataclass(frozen=True, slots=True)
class Trusted:
    """One thing, how far it is trusted (`was`) and would be, or is (`now`). `of` is what was asked
    for, where that is more: the page of a message, what a record was made of."""

    id: str
    kind: Kind
    text: str
    origin: str
    source: str
    was: int
    now: int
    of: str = ""

    def as_json(self) -> dict[str, Any]:
        """An item of `memory trust`."""
        return {
            "id": self.id,
            "kind": self.kind,
            "of": self.of,
            "origin": self.origin,
            "source": self.source,
            "was": self.was,
            "trust": self.now,
            "text": self.text,
        }


class Trusting:
    """Of one agent; `tell_anew` makes the lines about pages, and about what holds them, out of what
    is trusted now. Hold the agent's lock for say()."""

    def __init__(self, state: State, tell_anew: Callable[[Sequence[int]], None]) -> None:
        self._state = state
        self._pages_anew = tell_anew

    # --- what it would be -----------------------------------------------------------------------

    def find(self, ids: Iterable[str], *, distrust: bool = False) -> list[Trusted]:
        """What these name (m42, a7, p17, block:human), a page by its messages; each once, with the
        trust that it would have. Raises NotFound, UserError."""
        found: dict[str, Trusted] = {}
        for id in ids:
            for each in self._named(id.strip(), distrust):
                found.setdefault(each.id, each)
        return list(found.values())

    def imported(self) -> list[Trusted]:
        """All that is trusted as an import and came in as one: its messages, records, blocks."""
        least, db = TRUST["import"], self._state.database
        upto = {"messages": 0, "records": 0, **json.loads(db.meta(UPTO, "{}"))}
        came = "trust = ? AND (origin = 'import' OR {} <= ?)"
        messages = db.rows(
            f"SELECT seq FROM messages WHERE {came.format('seq')} ORDER BY seq",
            (least, upto["messages"]),
        )
        records = db.rows(
            f"SELECT number FROM passages WHERE {came.format('number')} AND status <> 'retired'"
            " ORDER BY number",
            (least, upto["records"]),
        )
        labels = [b.label for b in self._state.blocks.all()]
        blocks = [each for each in labels if self._state.blocks.trust_of(each) == least]
        said = self._state.journal.get([row["seq"] for row in messages])
        kept = self._state.passages.get([row["number"] for row in records])
        return [
            *(_of_message(said[seq], _raised(said[seq].provenance)) for seq in sorted(said)),
            *(each for n in sorted(kept) for each in self._record(n, False)),
            *(each for label in blocks for each in self._block(label, False)),
        ]

    def _named(self, id: str, distrust: bool) -> Iterable[Trusted]:
        match = _ID.fullmatch(id)
        if match is None:
            raise UserError(
                f"{id!r} names nothing that is trusted by itself",
                hint="say messages (m42), records (a7), pages (p17) or blocks (block:human)",
            )
        if match[3]:
            return self._block(match[3], distrust)
        letter, number = match[1].lower(), int(match[2])
        if letter == "a":
            return self._record(number, distrust)
        return self._message(number, distrust) if letter == "m" else self._page(number, distrust)

    def _message(self, seq: int, distrust: bool) -> Iterable[Trusted]:
        message = self._state.journal.get([seq]).get(seq)
        if message is None or message.erased:
            raise NotFound(
                f"m{seq} was erased" if message else f"there is no message m{seq}",
                hint="`pagemind memory search` and `agents history` show the ids",
            )
        return [_of_message(message, _to(message.provenance, distrust))]

    def _page(self, number: int, distrust: bool) -> Iterable[Trusted]:
        page = self._state.pages.get(number)
        if page is None:
            raise NotFound(f"there is no page p{number}", hint="`memory pages` lists them")
        said = [m for m, _, _ in self._state.journal.span(page.first_seq, page.last_seq)]
        return [
            _of_message(message, _to(message.provenance, distrust), of=page.short_id)
            for message in said
            if message.kind not in ("notice", "reading") and not message.erased
        ]

    def _record(self, number: int, distrust: bool) -> Iterable[Trusted]:
        record = self._state.passages.get([number]).get(number)
        if record is None:
            raise NotFound(f"there is no record a{number}", hint="`memory passages` lists them")
        made = record.provenance
        shown = record.text
        if body := record.metadata.get("body"):  # of a skill: what it does
            shown = f"{shown}\n{body}"
        return [
            Trusted(
                record.short_id,
                "record",
                str(shown),
                made.origin,
                made.detail,
                made.trust,
                _to(made, distrust),
            )
        ]

    def _block(self, label: str, distrust: bool) -> Iterable[Trusted]:
        known = {block.label: block for block in self._state.blocks.all()}
        if label not in known:
            named = ", ".join(f"block:{each}" for each in known) or "none"
            raise NotFound(f"there is no block {label!r}", hint=f"blocks: {named}")
        was = self._state.blocks.trust_of(label)
        now = min(was, DISTRUSTED) if distrust else FULL
        return [Trusted(f"block:{label}", "block", known[label].value, "", "", was, now)]

    # --- doing it -------------------------------------------------------------------------------

    def say(self, wanted: Sequence[Trusted], *, by: str = "user") -> list[Trusted]:
        """Trust these as find() says, in one transaction; all that changed, what rests on them
        among it."""
        changed = [each for each in wanted if each.was != each.now]
        with self._state.database.transaction():
            lowered = [each for each in changed if each.now < each.was]
            changed += self._resting_on(lowered)
            for each in changed:
                self._set(each, by)
            self._tell_anew(changed, {each.of for each in changed if each.of[:1] == "p"})
            self._read_anew([each for each in changed if each.now > each.was])
        return changed

    def _set(self, each: Trusted, by: str) -> None:
        state = self._state
        if each.kind == "message":
            state.journal.set_trust(int(each.id[1:]), each.now)
        elif each.kind == "block":
            state.blocks.set_trust(each.id.removeprefix("block:"), each.now)
        else:
            state.passages.set_trust(int(each.id[1:]), each.now, by=by)
            record = state.passages.get([int(each.id[1:])])[int(each.id[1:])]
            stands = record.provenance.status == "active" and not untrusted(each.now)
            if record.kind == "fact" and stands:
                FactBook(state).learn(record.number, author=by)
            return  # whoever writes a record writes its row
        state.audit.add(
            "trust raised" if each.now > each.was else "trust lowered",
            each.id,
            by=by,
            trust=each.now,
            was=each.was,
        )

    def _resting_on(self, lowered: Sequence[Trusted]) -> list[Trusted]:
        """What would be trusted more than that which it was made of: what came after in the same
        turn, and by lineage records and blocks."""
        named = {each.id for each in lowered}
        found: dict[str, Trusted] = {}
        waiting: list[tuple[str, int, str]] = []
        for each in lowered:
            waiting.append((each.id, each.now, each.id))
            if each.kind == "message":
                for message in self._after(int(each.id[1:])):
                    if message.short_id not in named and message.provenance.trust > each.now:
                        told = _of_message(message, each.now, of=each.id)
                        found.setdefault(told.id, told)
                        waiting.append((told.id, each.now, each.id))
                        waiting.append((f"t{message.turn}", each.now, each.id))
        seen = set(named)
        while waiting:
            id, trust, of = waiting.pop(0)
            for edge in self._state.lineage.derived_of(id):
                if edge.how in _MADE_OF and edge.derived not in seen | found.keys():
                    seen.add(edge.derived)
                    for made in self._derived(edge.derived, trust, of):
                        found[made.id] = made
                    waiting.append((edge.derived, trust, of))
        return list(found.values())

    def _after(self, seq: int) -> Iterator[Message]:
        """What the agent and its functions said after a message of its turn."""
        message = self._state.journal.get([seq])[seq]
        if message.turn:
            for each in self._state.journal.of_turn(message.turn):
                if each.seq > seq and each.role != "user":
                    yield each

    def _derived(self, id: str, trust: int, of: str) -> Iterator[Trusted]:
        made: Iterable[Trusted] = ()
        if re.fullmatch(r"a\d+", id):
            made = self._record(int(id[1:]), True)
        elif id.startswith("block:"):
            label = id.removeprefix("block:")
            if any(block.label == label for block in self._state.blocks.all()):
                made = self._block(label, True)
        for each in made:
            if each.was > trust:
                yield Trusted(
                    each.id, each.kind, each.text, each.origin, each.source, each.was, trust, of
                )

    def _tell_anew(self, changed: Sequence[Trusted], asked: set[str]) -> None:
        """The trust of what holds them; and the lines of pages that must not tell of them any more,
        or that a person asked for."""
        state = self._state
        seqs = [int(each.id[1:]) for each in changed if each.kind == "message"]
        low = [int(e.id[1:]) for e in changed if e.kind == "message" and e.now < e.was]
        state.pages.follow_trust(sorted(set(state.pages.of(seqs).values())))
        numbers = {*state.pages.of(low).values(), *(int(id[1:]) for id in asked)}
        if numbers:
            self._pages_anew(sorted(numbers))
        if low:
            state.pages.distrust_summary(min(low), min(each.now for each in changed))

    def _read_anew(self, raised: Sequence[Trusted]) -> None:
        """Have the turns looked at for facts that were not read because of what stood in them."""
        state = self._state
        seqs = [int(each.id[1:]) for each in raised if each.kind == "message"]
        said = [m for m in state.journal.get(seqs).values() if m.role == "user" and m.turn]
        turns = sorted({message.turn for message in said})
        for at in range(0, len(turns), EXTRACT_TURNS):
            state.changes.add(
                "extract",
                "",
                {"turns": turns[at : at + EXTRACT_TURNS]},
                state="candidate",
                seq=state.journal.last_seq,
                trust=FULL,
            )


def _to(made: Provenance, distrust: bool) -> int:
    return min(made.trust, DISTRUSTED) if distrust else _raised(made)


def _raised(made: Provenance) -> int:
    """As far as its origin is trusted where nothing spoils it; of a stranger's, as a person's own
    words. Never less than it was."""
    own = TRUST[made.origin]
    return max(made.trust, FULL if untrusted(own) else own)


def _of_message(message: Message, now: int, of: str = "") -> Trusted:
    made = message.provenance
    calls = [f"{call.name} {call.arguments}" for call in message.tool_calls]
    text = "\n".join([message.text, *calls] if message.text else calls)
    source = made.detail or message.name or message.speaker
    return Trusted(message.short_id, "message", text, made.origin, source, made.trust, now, of)
