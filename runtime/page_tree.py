"""The tree of pages by time: 16 consecutive siblings close to a directory, for ever. Pure.

    p1 … p16   → d1        d1 … d16 → d17        p273 … p288 → d18        and so on

Directories have one sequence of numbers over all levels. What is in no directory yet is a *top*:
at most 15 of each level, so that the tops of n pages are few, the oldest of them the highest.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from pagemind.runtime.gist import directory_gist
from pagemind.runtime.page import Page
from pagemind.runtime.settings import FANOUT


def closing(
    tops: Iterable[Page], number: int, count: Callable[[str], int]
) -> Iterator[tuple[Page, list[Page]]]:
    """The directories that close with these tops (oldest first), each with its children.

    `number` is that of the next directory. The order is that in which they would have closed with
    one page after the other, so that the same pages give the same numbers, however they came.
    """
    waiting: dict[int, list[Page]] = {}
    for top in tops:
        node = top
        while True:
            siblings = waiting.setdefault(node.level, [])
            siblings.append(node)
            if len(siblings) < FANOUT:
                break
            del waiting[node.level]
            node = directory(number, siblings, count)
            number += 1
            yield node, siblings


def directory(number: int, children: Sequence[Page], count: Callable[[str], int]) -> Page:
    """The directory of 16 siblings, with a gist made from theirs."""
    line, words = directory_gist(children, count)
    return Page(
        number=number,
        first_seq=children[0].first_seq,
        last_seq=children[-1].last_seq,
        # Clocks may have gone back: the span holds all of it.
        first_at=min(child.first_at for child in children),
        last_at=max(child.last_at for child in children),
        messages=sum(child.messages for child in children),
        tokens=sum(child.tokens for child in children),
        gist=line,
        keywords=words,
        trust=min(child.trust for child in children),
        level=children[0].level + 1,
    )


def read_bound(pages: int) -> int:
    """How many reads reach any of so many pages from the table: ⌈log16(pages)⌉ + 1."""
    depth, reached = 0, 1
    while reached < pages:
        depth, reached = depth + 1, reached * FANOUT
    return depth + 1
