"""`pagemind memory pages`: the tree of what left the window, a directory of it, or one page."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder

if TYPE_CHECKING:
    from pagemind.runtime.inspection import PageMarks
    from pagemind.runtime.page import Page
    from pagemind.runtime.reader import AgentReader
    from pagemind.runtime.state.state import State

_PAGE = re.compile(r"([pPdD]?)(\d{1,18})")
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

    with opened(home) as runtime, runtime.reader(agent) as reader:
        state = reader.state
        marks = page_marks(state)
        if not page or page.strip().lower() == "d0":
            if as_json:
                nodes = [node for node, _ in tree(state)] if not page else state.pages.tops()
                listing([_json(each, marks) for each in nodes])
            elif state.pages.count() == 0:
                say("no pages yet: everything said is still in the window")
            else:
                print_tree(state, whole=not page and state.pages.count() <= WHOLE)
            return
        one = find_page(reader, page)
        children = list(reader.pages.listing(one.number)) if one.level else []
        if as_json:
            more: dict[str, Any] = {"text": page_text(reader, one)}
            if one.level:
                more["children"] = [child.short_id for child in children]
            answer({**_json(one, marks), **more})
        elif one.level:
            print_pages([(child, 0) for child in children], marks)
        else:
            print(visible(page_text(reader, one)))


def find_page(reader: "AgentReader", written: str) -> "Page":
    """The page or directory of that id; a number alone is a page. Raises NotFound."""
    from pagemind.runtime.errors import NotFound

    pages = reader.state.pages
    match = _PAGE.fullmatch(written.strip())
    wants_directory = match is not None and match[1].lower() == "d"
    found = None
    if match:
        number = int(match[2])
        found = pages.directory(number) if wants_directory else pages.get(number)
    if found is None:
        there = "there are no pages yet"
        if pages.last_number:
            there = f"the pages are p1 to p{pages.last_number}"
            if pages.last_directory:
                there += f", the directories d1 to d{pages.last_directory}"
        noun = "directory" if wants_directory else "page"
        raise NotFound(f"there is no {noun} {written!r}", hint=there)
    return found


def page_text(reader: "AgentReader", page: "Page") -> str:
    """Every message of a page, one after the other; of a directory a line for each child."""
    from pagemind.runtime.page_reader import entry

    if page.level:
        return "\n".join(entry(child) for child in reader.pages.listing(page.number))
    stored = reader.state.journal.span(page.first_seq, page.last_seq)
    lines = [reader.pages.line(message) for message, _, _ in stored]
    return "\n".join(line for line in lines if line)


def tree(state: "State", *, whole: bool = True) -> Iterator[tuple["Page", int]]:
    """Every directory before what stands in it, oldest first, with its depth; else the tops."""

    def below(nodes: Sequence["Page"], depth: int) -> Iterator[tuple["Page", int]]:
        for node in nodes:
            yield node, depth
            if node.level and whole:
                yield from below(state.pages.children(node.number), depth + 1)

    yield from below(state.pages.tops(), 0)


def print_tree(state: "State", *, whole: bool) -> None:
    """The tree for a person; of a large one the tops, and how to go on."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.inspection import page_marks

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


def _json(page: "Page", marks: "PageMarks") -> dict[str, Any]:
    from pagemind.runtime.clock import rfc3339

    return {
        "id": page.short_id,
        "kind": page.kind,
        "first_seq": page.first_seq,
        "last_seq": page.last_seq,
        "first_at": rfc3339(page.first_at),
        "last_at": rfc3339(page.last_at),
        "messages": page.messages,
        "tokens": page.tokens,
        "gist": page.gist,
        "keywords": list(page.keywords),
        "heat": page.heat,
        "parent": f"d{page.parent}" if page.parent else None,
        "pinned": not page.level and page.number in marks.pinned,
        "prefetched": not page.level and page.number in marks.prefetched,
    }
