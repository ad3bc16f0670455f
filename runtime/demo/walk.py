"""walk(): one question whose answer is reached by page_in alone, from the table down the tree."""

from dataclasses import dataclass
from typing import Any

from pagemind.runtime.demo.asking import Answered, Asking
from pagemind.runtime.demo.talk import talk
from pagemind.runtime.page_table import ROOT, span
from pagemind.runtime.page_tree import read_bound
from pagemind.runtime.state.pages import Pages

TOLD = talk()[9]  # of 300: in one of the oldest pages, which no prepared question reads
QUESTION = f"What did I tell you on {TOLD.at:%Y-%m-%d} at {TOLD.at:%H:%M}?"


@dataclass(frozen=True, slots=True)
class Step:
    """Something that was read on the way."""

    id: str
    span: str
    gist: str


@dataclass(frozen=True, slots=True)
class Walked:
    """The way, and what stood at its end. `pages` and `bound` are those before the first read."""

    answered: Answered
    steps: tuple[Step, ...]
    pages: int
    bound: int

    @property
    def reads(self) -> int:
        """The parts of one listing count as one, as in the bound."""
        return len(self.steps)

    @property
    def calls(self) -> int:
        """A listing of several parts takes a call for each."""
        return len(self.answered.calls)

    @property
    def found(self) -> bool:
        """Whether what was told is quoted to the letter, and nothing but page_in was called."""
        walked = all(name == "page_in" for name, _, _ in self.answered.calls)
        return walked and self.answered.exact and self.answered.quote == TOLD.said

    def as_json(self) -> dict[str, Any]:
        """`walk` of --json."""
        return {
            "question": self.answered.question,
            "ids": [step.id for step in self.steps],
            "reads": self.reads,
            "calls": self.calls,
            "pages": self.pages,
            "bound": self.bound,
            "quote": self.answered.quote,
            "found": self.found,
        }


def walk(asking: Asking) -> Walked:
    """Ask it."""
    pages = asking.pages.count()
    answered = asking.ask(QUESTION)
    read = dict.fromkeys(str(given["id"]) for _, given, _ in answered.calls if "id" in given)
    steps = tuple(_step(id, asking.pages) for id in read)
    return Walked(answered, steps, pages, read_bound(pages))


def _step(id: str, pages: Pages) -> Step:
    if id == ROOT:
        tops = pages.tops()
        return Step(id, span(tops), f"the {len(tops)} tops of the tree")
    number = int(id[1:])
    page = pages.directory(number) if id.startswith("d") else pages.get(number)
    assert page is not None  # it has been read
    return Step(id, span([page]), page.gist)
