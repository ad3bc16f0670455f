"""Promote: what a warm segment holds is looked at for facts that last (after MemoryOS).

The warmest segment of enough heat that has new pages is read, the newest of them; what people said
there becomes candidates, which the job `consolidate` compares with what is known. Turns that the
job `extract` has read, or of which something was kept, are not read again. Then the segment's heat
begins anew, and the job `lift` may bring what it held into the block `human`.
"""

from collections.abc import Sequence

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.settings import EXTRACT_TURNS, PROMOTE_PAGES, SEGMENT_HEAT, SEGMENTS
from pagemind.runtime.sleep.asking import Found, ask, room_for_talk
from pagemind.runtime.sleep.extract import alike, has_read, keep, put_aside
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.sleep.talk import Talk, read
from pagemind.runtime.state.segments import Segment

LIFT = "lift"  # the cursor: segments whose facts are to be looked at for the block


class Promote:
    """Implements Job."""

    name = "promote"

    def due(self, context: SleepContext) -> bool:
        if context.model is None or not context.spec.promote:
            return False
        return context.may_write("semantic") and _warmest(context) is not None

    def run(self, context: SleepContext, cancel: CancelToken) -> None:
        with context.held():
            segment = _warmest(context)
            if segment is None:
                return
            turns = _turns(context, segment)
        read_so_far: list[tuple[Talk, Found]] = []
        while turns:
            cancel.check()
            with context.held():
                talk = _fitting(context, turns)
            if talk.tells:
                read_so_far.append((talk, ask(context, talk, cancel)))
            turns = turns[len(talk.turns) :]
        state = context.state
        with context.held(), state.database.transaction():
            why = f"{segment.short_id} is often come upon"
            for talk, found in read_so_far:
                pages = state.pages.of([int(each.source[1:]) for each in found.candidates])
                there = (each for each in found.candidates if int(each.source[1:]) in pages)
                keep(context, self.name, there, why)  # the others were taken back meanwhile
                put_aside(context, talk, found)
                context.report.count("dropped", found.dropped)
                context.report.count("dead", int(bool(found.fault)))
            state.segments.promoted(segment.number)
            waiting = [n for n in context.cursor(LIFT) or [] if n != segment.number]
            context.set_cursor(LIFT, [*waiting, segment.number][-SEGMENTS:])
        context.report.count("promoted")


def _warmest(context: SleepContext) -> Segment | None:
    """The warmest of those that have enough heat and something new."""
    now = context.now()
    warm = [
        each
        for each in context.state.segments.all(hidden=True)
        if each.length > each.promoted_length and each.heat(now) >= SEGMENT_HEAT
    ]
    return max(warm, key=lambda each: (each.heat(now), each.number), default=None)


def _turns(context: SleepContext, segment: Segment) -> list[int]:
    """The turns of its new pages that nobody has looked at for facts, the oldest first."""
    state = context.state
    new = segment.length - segment.promoted_length
    numbers = state.segments.pages(segment.number)[-min(new, PROMOTE_PAGES) :]
    turns: dict[int, None] = {}
    known: set[int] = set()
    for page in sorted(state.pages.get_all(numbers).values(), key=lambda each: each.number):
        for message, _, _ in state.journal.span(page.first_seq, page.last_seq):
            turns[message.turn] = None
            if message.role == "user" and state.lineage.derived_of(message.short_id):
                known.add(message.turn)
    return [t for t in turns if t > 0 and t not in known and not has_read(context, t)]


def _fitting(context: SleepContext, turns: Sequence[int]) -> Talk:
    """As many of the turns as a request has room for, one at least; of one trust."""
    turns = alike(context, turns[:EXTRACT_TURNS])
    size = len(turns)
    while True:
        talk = read(context.state, turns[:size], context.count)
        if size == 1 or context.count(talk.shown(context.zone)) <= room_for_talk(context):
            return talk
        size = (size + 1) // 2
