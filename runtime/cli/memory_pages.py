"""`pagemind memory pages`: the tree of what left the window, a directory of it, or one page."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder

if TYPE_CHECKING:
    from pagemind.runtime.inspection import PageMarks
    from pagemind.runtime.page import Page
    from pagemind.runtime.state.state import State

WHOLE = 64  # pages of a tree that is printed whole; of a larger one the tops


def pages(
    agent: AgentName,
    page: Annotated[
        str,
        typer.Argument(
            metavar="PAGE",
            help="A page such as p17: print it. A directory such as d3: list it (d0: the tops).",
        ),
    ] = "",
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Show the pages of evicted messages as a tree, list a directory, or print one page."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import answer, listing, visible
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.inspection import page_marks
    from pagemind.runtime.memory_answers import find_page, one_page_json, page_text, pages_json

    with opened(home) as runtime, runtime.reader(agent) as reader:
        state = reader.state
        if not page or page.strip().lower() == "d0":
            if as_json:
                listing(pages_json(state, tops=bool(page)))
            elif state.pages.count() == 0:
                say("no pages yet: everything said is still in the window")
            else:
                print_tree(state, whole=not page and state.pages.count() <= WHOLE)
            return
        if as_json:
            answer(one_page_json(reader, page))
            return
        one = find_page(reader, page)
        if one.level:
            children = reader.pages.listing(one.number)
            print_pages([(child, 0) for child in children], page_marks(state))
        else:
            print(visible(page_text(reader, one)))


def print_tree(state: "State", *, whole: bool) -> None:
    """The tree for a person; of a large one the tops, and how to go on."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.inspection import page_marks
    from pagemind.runtime.memory_answers import tree

    found = list(tree(state, whole=whole))
    print_pages(found, page_marks(state))
    if not whole and any(node.level for node, _ in found):
        first = next(node for node, _ in found if node.level)
        say(f"a directory is listed by its id, such as {first.short_id}")


def print_pages(found: Sequence[tuple["Page", int]], marks: "PageMarks") -> None:
    """One line for each page or directory, indented by its depth."""
    from pagemind.runtime.cli.render import local, one_line, table

    marked = any(_marks(each, marks) for each, _ in found)
    table(
        ["page", "from", "messages", "tokens", "heat", *(["held"] if marked else []), "gist"],
        [
            [
                "  " * depth + each.short_id,
                local(each.first_at),
                each.messages,
                f"{each.tokens:,}",
                f"{each.heat:.1f}" if each.heat >= 0.05 else "",
                *([_marks(each, marks)] if marked else []),
                one_line(each.gist),
            ]
            for each, depth in found
        ],
        right="messages tokens heat",
        spare="heat tokens messages held" if marked else "heat tokens messages",
    )


def _marks(page: "Page", marks: "PageMarks") -> str:
    """What holds a page in view beside the table: a pin, the memories of the last turn."""
    if page.level:
        return ""
    pinned = "pin" if page.number in marks.pinned else ""
    prefetched = "prefetch" if page.number in marks.prefetched else ""
    return " ".join(word for word in (pinned, prefetched) if word)
