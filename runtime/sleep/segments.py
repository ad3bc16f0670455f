"""Segments: pages of one topic are put together, the mid-term view of what was said (after
MemoryOS, arXiv 2506.06326). Without a model.

A page joins the segment that it is most like, if it is like enough: the cosine of its gist to the
nearest page there, plus the share of keywords that both have. Else it begins one. Of more segments
than the view holds, the coldest are hidden; their pages stay where they are, and are found as ever.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.gist import with_terms
from pagemind.runtime.page import Page
from pagemind.runtime.settings import (
    GIST_KEYWORDS,
    SEGMENT_BATCH,
    SEGMENT_JOIN,
    SEGMENT_NEAR,
    SEGMENTS,
)
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.state.segments import Segment


class Segmenting:
    """Implements Job."""

    name = "segments"

    def due(self, context: SleepContext) -> bool:
        return bool(context.state.segments.unplaced(1))

    def run(self, context: SleepContext, cancel: CancelToken) -> None:
        while True:
            cancel.check()
            with context.held():
                waiting = context.state.segments.unplaced(SEGMENT_BATCH)
                pages = context.state.pages.get_all(waiting)
            if not pages:
                break
            near: dict[int, list[tuple[int, float]]] = {}
            for number, page in sorted(pages.items()):
                cancel.check()
                found = context.near_pages(page.gist, SEGMENT_NEAR)
                near[number] = [(int(id[1:]), cosine) for id, cosine in found]
            with context.held(), context.state.database.transaction():
                known = {each.number: each for each in context.state.segments.all(hidden=True)}
                for number, page in sorted(pages.items()):
                    placed = self._place(context, page, near[number], known)
                    known[placed.number] = placed
        with context.held():
            self._hide(context)

    @staticmethod
    def _place(
        context: SleepContext,
        page: Page,
        near: Sequence[tuple[int, float]],
        segments: Mapping[int, Segment],
    ) -> Segment:
        """Into the segment that it is most like, or one of its own."""
        state = context.state
        cosines: dict[int, float] = {}
        of_pages = state.segments.of_pages([number for number, _ in near])
        for number, cosine in near:
            if (segment := of_pages.get(number)) is not None:
                cosines[segment] = max(cosine, cosines.get(segment, cosine))
        like = {n: likeness(page, each, cosines) for n, each in segments.items()}
        best = max(like, key=lambda n: (like[n], n), default=None)
        seq = state.journal.last_seq
        if best is None or like[best] < SEGMENT_JOIN:
            context.report.count("segments")
            return state.segments.make(
                page.number, page.gist, page.keywords, trust=page.trust, seq=seq
            )
        numbers = state.segments.pages(best)
        members = state.pages.get_all([*numbers[:1], *numbers[-SEGMENT_NEAR:], page.number])
        gist, words = together([members[number] for number in sorted(members)], context)
        context.report.count("joined")
        return state.segments.append(best, page.number, gist, words, trust=page.trust)

    @staticmethod
    def _hide(context: SleepContext) -> None:
        """The coldest leave the view until somebody comes again."""
        now = context.now()
        shown = sorted(context.state.segments.all(), key=lambda each: (each.heat(now), each.number))
        for segment in shown[: max(0, len(shown) - SEGMENTS)]:
            context.state.segments.hide(segment.number)
            context.report.count("hidden")


def likeness(page: Page, segment: Segment, cosines: Mapping[int, float]) -> float:
    """How like a page is to a segment: what both mean, and the words that both have."""
    own, its = ({word.casefold() for word in each} for each in (page.keywords, segment.keywords))
    shared = len(own & its) / len(own | its) if own | its else 0.0
    return max(0.0, cosines.get(segment.number, 0.0)) + shared


def together(pages: Sequence[Page], context: SleepContext) -> tuple[str, tuple[str, ...]]:
    """The line and the keywords of some pages: what the first is about, with the words that most
    of them have."""
    times = Counter(word for page in pages for word in dict.fromkeys(page.keywords))
    words = tuple(word for word, _ in times.most_common(GIST_KEYWORDS))
    return with_terms(pages[0].gist, words, context.count), words
