"""needle: four ways to a fact, on the synthetic set (benchmarks/synthetic.py, the chat).

    time      the fact's time is given: page_in alone, from the table in the prompt downwards
    gists     the question is given: page_in alone, a page whose gist has most of the question,
              else the next directory; within 1, 2 and 4 times the bound
    find      page_find with the question, then page_in of what it names; within 1 and 2 times the
              bound, and of all that it names
    prefetch  the question is asked: what the runtime places before it, and how much of that is
              beside the point

A way has found a question's fact when every line of its evidence was read, word for word. `exact`
are questions in the words of the statement, `indirect` those whose answer stands elsewhere than
what they ask for: over several lines, at a date, or in a reply that repeats nothing.
"""

import re
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from corpus import Conversation, Question, Turn
from ingest import KeptVectors, Lived, lived, open_embedder
from machine import header, table, write
from paging_kit import Lookup, Talker, Watch, pages_in, result, scripted
from paging_walk import Line, bound, lines_in, read, shown_table, walk
from synthetic import TURNS, synthetic

from pagemind.runtime.testing import call
from pagemind.runtime.tokens import TokenCounter

SEED = 1
TIMES = (1, 2, 4)  # the bound
MOST = 0.5  # of a question's words, weighed: a page that has so much of it is read at once
BATCH = 20  # lookups that share a copy of the life
T = TypeVar("T")
R = TypeVar("R")
GROUPS = {
    "exact": ("single", "identifier", "code", "near-duplicate", "assistant", "unicode"),
    "paraphrased": ("paraphrase",),
    "indirect": (
        "reverse", "reply", "list", "2-hop", "3-hop", "temporal", "weeks-before", "vocative",
        "long-turn", "injection",
    ),
}  # fmt: skip
_FENCE = re.compile(r"<memories[^>]*>\n(.*?)\n</memories>", re.S)
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_EMPTY = frozenset(
    "a an and are as at be by did do does for from has have how i in is it its me my of on or s say"
    " said tell that the their them they this to was were what when where which who whose will with"
    " about name find show give you your".split()
)


def run(asked: Namespace) -> int:
    """`paging.py needle`."""
    embedding = asked.embedding or "local/minilm"
    seed = asked.seed or SEED
    conversation = synthetic(seed, asked.messages or TURNS).conversations[0]
    embedder = open_embedder(embedding, asked.cache)
    try:
        figures = Needles(conversation, asked.window, embedding, seed).run(embedder)
    finally:
        if embedder is not None:
            embedder.close()
    show(figures)
    write(asked.json, figures)
    return 0


@dataclass
class Found:
    """How often each way found the facts of a group, in percent."""

    questions: int = 0
    ways: dict[str, int] = field(default_factory=dict)

    def add(self, way: str, found: bool) -> None:
        self.ways[way] = self.ways.get(way, 0) + found

    def figures(self) -> dict[str, float]:
        rates = {way: round(100 * n / self.questions, 1) for way, n in self.ways.items()}
        return {"questions": self.questions, **rates}


@dataclass
class Needles:
    """One conversation, lived through by an agent of this window."""

    conversation: Conversation
    window: int
    embedding: str
    seed: int = SEED

    def run(self, embedder: KeptVectors | None) -> dict[str, Any]:
        """All figures."""
        talker = Talker(lambda request: "Good question.")
        with lived(
            self.conversation,
            self.embedding,
            embedder,
            None,
            model=Watch(scripted(talker)),
            context_window=self.window,
        ) as there:
            ways = _Ways(there, embedder, {turn.id: turn for turn in self.conversation.turns})
            return self._figures(ways)

    def _figures(self, ways: "_Ways") -> dict[str, Any]:
        pages = ways.there.agent.state.pages.count()
        limit = bound(pages)
        named = {kind: group for group, kinds in GROUPS.items() for kind in kinds}
        asked = [
            question
            for question in self.conversation.questions
            if question.kind in named and question.as_of is None and ways.evicted(question)
        ]
        facts = sorted({turn for question in asked for turn in question.evidence})
        times = ways.by_time(facts)
        outcomes = {
            "gists": ways.all(asked, lambda question: ways.gists(question, max(TIMES) * limit)),
            "find": ways.all(asked, ways.find),
        }
        placed = ways.by_prefetch(asked)
        groups = {name: Found() for name in GROUPS}
        kinds: dict[str, Found] = {}
        for at, question in enumerate(asked):
            gists, find = outcomes["gists"][at], outcomes["find"][at]
            found = {
                **{f"gists_{n}x": gists is not None and gists <= n * limit for n in TIMES},
                **{f"find_{n}x": find is not None and find <= n * limit for n in TIMES[:2]},
                "find": find is not None,
                "prefetch": placed[at],
            }
            for each in (
                groups[named[question.kind]],
                kinds.setdefault(question.kind, Found()),
            ):
                each.questions += 1
                for way, right in found.items():
                    each.add(way, right)
        return {
            **header(seed=self.seed, data=[self.conversation.digest]),
            "messages": len(self.conversation.turns),
            "window": self.window,
            "embedding": self.embedding,
            "pages": pages,
            "read_bound": limit,
            "by_time": times,
            "groups": {name: each.figures() for name, each in groups.items() if each.questions},
            "by_kind": {name: each.figures() for name, each in kinds.items()},
            "prefetch": ways.prefetched(),
        }


@dataclass
class _Ways:
    """The four ways, each question in a fresh copy of the life or nearly so: lookups are turns,
    and hundreds of them would fill pages of their own."""

    there: Lived
    embedder: KeptVectors | None
    turns: dict[str, Turn]
    relevant: int = 0  # tokens of prefetched lines
    beside: int = 0
    asked: int = 0

    def evicted(self, question: Question) -> bool:
        """Whether all of the evidence has left the window: what stands in it needs no way."""
        seqs = [self.there.seqs[turn] for turn in question.evidence]
        return bool(seqs) and not any(map(self.there.agent.context.resident, seqs))

    def all(self, these: Sequence[T], lookup: Callable[[T], Lookup[R]]) -> list[R]:
        """What each lookup returned."""
        made: list[R] = []
        for batch in batched(these):
            talker = Talker(lambda request: "Good question.")
            with self.there.copied(Watch(scripted(talker)), self.embedder) as copy:
                made += [talker.look(copy.agent, "Look it up.", lookup(each)) for each in batch]
        return made

    def by_time(self, turns: Sequence[str]) -> dict[str, Any]:
        """page_in alone, for every piece of evidence."""
        walked = self.all(turns, lambda turn: walk(self.turns[turn].at, self._line_of(turn)))
        reads = [len(each.read) for each in walked]
        return {
            "facts": len(turns),
            "reached": round(100 * sum(each.found for each in walked) / len(turns), 1),
            "max_reads": max(reads),
            "mean_reads": round(sum(reads) / len(reads), 2),
        }

    def gists(self, question: Question, limit: int) -> Lookup[int | None]:
        return _by_gists(question.text, [self._line_of(turn) for turn in question.evidence], limit)

    def find(self, question: Question) -> Lookup[int | None]:
        return _by_find(question.text, [self._line_of(turn) for turn in question.evidence])

    def by_prefetch(self, asked: Sequence[Question]) -> list[bool]:
        """Whether all evidence stands before each question when it is asked."""
        made: list[bool] = []
        for batch in batched(asked):
            watch = Watch(scripted(Talker(lambda request: "Good question.")))
            with self.there.copied(watch, self.embedder) as copy:
                for question in batch:
                    copy.agent.send(question.text)
                    assert watch.last is not None
                    made.append(self._placed(question, watch.last.messages[-1].text))
        return made

    def _placed(self, question: Question, event: str) -> bool:
        self.asked += 1
        fence = _FENCE.search(event)
        ids = {f"m{self.there.seqs[turn]}" for turn in question.evidence}
        seen: set[str] = set()
        for line in fence[1].splitlines() if fence else ():
            named = set(re.findall(r"\bm\d+\b", line.split(":", 1)[0]))
            seen |= named
            if named & ids:
                self.relevant += COUNT(line)
            else:
                self.beside += COUNT(line)
        return ids <= seen

    def prefetched(self) -> dict[str, Any]:
        """What prefetching put into the prompts of all questions."""
        every = self.relevant + self.beside
        return {
            "tokens_per_turn": round(every / max(1, self.asked), 1),
            "irrelevant_share": round(self.beside / every, 3) if every else None,
        }

    def _line_of(self, turn: str) -> str:
        """How the line of a turn begins on its page."""
        return f"m{self.there.seqs[turn]} ["


COUNT = TokenCounter().count


def _by_gists(query: str, wanted: Sequence[str], limit: int) -> Lookup[int | None]:
    """A page whose line has most of what is asked for is read; else a directory is opened, the
    one that promises most, until all are."""
    request = yield None
    open_ = {line.id: line for line in lines_in(shown_table(request))}
    terms = words(query)
    missing = set(wanted)
    taken: set[str] = set()
    for reads in range(1, limit + 1):
        left = [line for line in open_.values() if line.id not in taken]
        if not left:
            return None
        best = _promising(left, terms, list(open_.values()))
        taken.add(best.id)
        text, _ = yield from read(best.id)
        for line in lines_in(text) if best.id.startswith("d") else ():
            open_.setdefault(line.id, line)
        missing -= {line for line in missing if has_line(text, line)}
        if not missing:
            return reads
    return None


def _promising(left: Sequence[Line], terms: frozenset[str], known: Sequence[Line]) -> Line:
    """The line to read next; a word that fewer of the known lines have counts more."""
    held = {line.id: terms & words(line.text) for line in known}
    rare = {term: 1 / (1 + sum(term in each for each in held.values())) for term in terms}
    total = sum(rare.values())

    def promise(line: Line) -> tuple[float, bool, float, datetime]:
        share = sum(rare[term] for term in held[line.id]) / total if total else 0.0
        return share if share >= MOST else 0.0, line.id.startswith("d"), share, line.last

    return max(left, key=promise)


def _by_find(query: str, wanted: Sequence[str]) -> Lookup[int | None]:
    """Ask once, read what is named; the pages read until all evidence was."""
    request = yield call("page_find", query=query)
    missing = set(wanted)
    for reads, page in enumerate(pages_in(result(request)), 1):
        text, _ = yield from read(page)
        missing -= {line for line in missing if has_line(text, line)}
        if not missing:
            return reads
    return None


def batched(these: Sequence[T]) -> Iterator[Sequence[T]]:
    """A copy's share of the questions."""
    for start in range(0, len(these), BATCH):
        yield these[start : start + BATCH]


def has_line(text: str, line: str) -> bool:
    """Whether a page's text has a line that begins so."""
    return text.startswith(line) or f"\n{line}" in text


def words(text: str) -> frozenset[str]:
    """What of a text could tell a page: its words but the empty ones, cut to their stems."""
    found = (word.lower() for word in _WORD.findall(text))
    return frozenset(word.rstrip("s") for word in found if word not in _EMPTY)


def show(figures: dict[str, Any]) -> None:
    """The figures as tables."""
    for part in ("groups", "by_kind"):
        rows = figures[part]
        columns = list(next(iter(rows.values())))
        table([part, *columns], [[name, *row.values()] for name, row in rows.items()])
        print()
    for name in ("pages", "read_bound", "by_time", "prefetch"):
        print(f"{name}: {figures[name]}")
