"""Episodes of one agent: a record for each finished turn in which something was tried.

    catch_up(state)         make those that are not made yet; no model, some milliseconds
    remember(state, turn)   make that of one turn, or bring it up to what is known of it now
    Episodes.search()       the most similar ones, as examples and warnings

A record lies where its turn does: taking the turn back takes its episode back, too.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from pagemind.runtime.episode import Episode, Recalled, Result, episode_from, episode_of
from pagemind.runtime.function_names import ECHOES, names
from pagemind.runtime.message import TRUST, Message, Origin, Provenance
from pagemind.runtime.passage import Facets, Passage
from pagemind.runtime.services import Recall, SearchFilters, SearchResult
from pagemind.runtime.settings import (
    EPISODES_BACK,
    EPISODES_LOOK,
    EPISODES_SHOWN,
    WORLD_RESULT_TRUST,
)
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import untrusted

WORKER: Final = "worker"  # the author of what no person and no model wrote
_CURSOR = "episodes"  # of meta: the newest turn that was looked at, and those that may go on
_MAY_GO_ON = ("interrupted", "model_error", "approval")
# Known without asking: a failure teaches most.
_IMPORTANCE: Final[dict[Result, float]] = {"failed": 6.0, "ok": 5.0, "unknown": 3.0}
_GOING_ON = 20  # of these that are looked at again


def catch_up(state: State) -> int:
    """Make the episodes of the turns that have ended since the last time; how many. What a person
    took back has none."""
    newest = state.database.number("SELECT coalesce(max(turn), 0) FROM turns")
    last, again = _left_off(state.database.meta(_CURSOR), newest)
    if newest <= last and not again:
        return 0
    made, going_on = 0, []
    with state.database.transaction():
        for number in [*again, *range(max(last, newest - EPISODES_BACK) + 1, newest + 1)]:
            row = state.turns.get(number)
            if row is None:
                continue
            over = row.ended_at is not None and row.stop_reason not in _MAY_GO_ON
            # One that was taken back may be brought back.
            if not over or not state.journal.lines.contains(row.first_seq):
                going_on.append(number)
            if over or number > last:
                made += remember(state, number) is not None
        cursor = {"turn": newest, "again": going_on[-_GOING_ON:]}
        if newest > last or going_on != again:
            state.database.set_meta(_CURSOR, json.dumps(cursor))
    return made


def _left_off(kept: str, newest: int) -> tuple[int, list[int]]:
    """The newest turn that was looked at, and those to be looked at again; from the beginning
    where that cannot be read: it may have come with an import."""
    try:
        cursor = json.loads(kept or "{}")
        again = [int(each) for each in cursor.get("again", ())]
        return min(int(cursor.get("turn", 0)), newest), again[:_GOING_ON]
    except (ValueError, TypeError, AttributeError):
        return 0, []


def remember(state: State, turn: int) -> Passage | None:
    """The episode of a turn as it is known now: made, or a new version of it; None where nothing
    was tried, the turn goes on or was taken back."""
    row = state.turns.get(turn)
    if row is None or row.ended_at is None or row.stop_reason in (None, "approval"):
        return None
    if not state.journal.lines.contains(row.first_seq):
        return None
    messages = state.journal.of_turn(turn)
    made = episode_of(turn, messages, str(row.stop_reason), row.result)
    if made is None:
        return None
    known = stored_of(state, turn)
    if known is not None:
        return _brought_up(state, known, made, messages)
    passage, _ = state.passages.insert(
        made.text,
        tags=(made.outcome,),
        importance=_IMPORTANCE[made.outcome],
        metadata=made.as_json(),
        seq=messages[-1].seq,
        provenance=_provenance(made, messages),
        author=WORKER,
        facets=Facets("episode", key=f"t{turn}"),
        reason="a turn ended",
    )
    _tally(state, passage.number, made.outcome)
    return passage


def stored_of(state: State, turn: int) -> Passage | None:
    """The episode of a turn, if it is made."""
    return state.passages.named("episode", "/", f"t{turn}")


def _brought_up(
    state: State, known: Passage, made: Episode, messages: list[Message]
) -> Passage | None:
    before = episode_from(known.metadata)
    if before is not None and before.lesson_by == "model" and before.because == made.because:
        made = replace(made, lesson=before.lesson, lesson_by="model")
    if before == made:
        return known
    changed = write(
        state,
        known,
        made,
        reason=made.because or "the turn went on",
        author=WORKER,
        trust=_provenance(made, messages).trust,
    )
    if changed is not None and (before is None or before.outcome != made.outcome):
        state.tallies.reset(known.number)
        _tally(state, known.number, made.outcome)
    return changed


def write(
    state: State, known: Passage, made: Episode, *, reason: str, author: str, trust: int
) -> Passage | None:
    """A new version of an episode, out of what is trusted so far. It has the place of its turn, as
    the first one."""
    return state.passages.edit(
        known.number,
        made.text,
        tags=(made.outcome,),
        importance=_IMPORTANCE[made.outcome],
        metadata=made.as_json(),
        author=author,
        reason=reason,
        seq=known.seq,
        base=known.version,
        trust=trust,
    )


def _tally(state: State, number: int, outcome: Result) -> None:
    if outcome != "unknown":
        state.tallies.add(number, good=outcome == "ok", bad=outcome == "failed")


def _provenance(made: Episode, messages: list[Message]) -> Provenance:
    """As little to be trusted as the least of what it repeats: the event, the calls, errors. It is
    the runtime's own record, and shown as data; no model chose to keep it, so nobody reviews it."""
    said = [each for each in messages if each.role != "tool" or not each.ok]
    said = [each for each in said if each.kind != "notice"]
    trust = min(map(_trust, said), default=TRUST["runtime"])
    origin: Origin = "tool" if untrusted(trust) else "runtime"
    sources = (f"t{made.turn}", *(each.short_id for each in said[:1]))
    return Provenance(origin, f"t{made.turn}", trust, sources=sources)


def _trust(message: Message) -> int:
    """What a function of the world says of its failure is as foreign as what it answers."""
    trust = message.provenance.trust
    foreign = message.provenance.origin == "tool" and message.name not in (*names(), *ECHOES)
    return min(trust, WORLD_RESULT_TRUST) if foreign else trust


class Episodes:
    """Of one agent. `search` is that of its passages; `written` has new rows written back; `makes`:
    those of turns that have ended are made when they are looked for."""

    def __init__(
        self, state: State, search: Recall, *, written: Callable[[], None], makes: bool = True
    ) -> None:
        self._makes = makes
        self._state = state
        self._search = search
        self._written = written

    def search(
        self, situation: str, outcome: Result | None = None, limit: int = EPISODES_SHOWN
    ) -> list[Recalled]:
        """The most similar ones first, each approach with its outcome once."""
        self._catch_up()
        tags = (outcome,) if outcome else ()
        found = self._found(situation, SearchFilters(tags=tags), EPISODES_LOOK)
        numbers = [int(hit.id[1:]) for hit in found.hits if not hit.archive]
        known = self._state.passages.get(numbers)
        recalled: dict[tuple[object, ...], Recalled] = {}
        for number in numbers:
            episode = episode_from(known[number].metadata) if number in known else None
            if episode is None:
                continue
            same = (episode.approach, episode.outcome)
            if same in recalled:
                recalled[same] = replace(recalled[same], times=recalled[same].times + 1)
            else:
                trust = known[number].provenance.trust
                recalled[same] = Recalled(known[number].short_id, episode, trust)
        return list(recalled.values())[:limit]

    def offered(self, text: str, filters: SearchFilters, limit: int) -> SearchResult:
        """Those that may be placed before an event, as prefetch looks for memories."""
        return self._found(text, filters, limit)

    def nothing(self) -> bool:
        """Whether there are none; those of turns that have ended are made first."""
        self._catch_up()
        return not self._state.passages.newest(1, kind="episode")

    def _found(self, text: str, filters: SearchFilters, limit: int) -> SearchResult:
        own = replace(filters, kinds=("episode",), standings=("episode",))
        return self._search.search(text, own, limit)

    def _catch_up(self) -> None:
        if self._makes and catch_up(self._state):
            self._written()
