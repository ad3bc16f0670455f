"""`pagemind memory pages`: the tree for people and programs, directories, unknown ids."""

import pytest
from cli_kit import Cli
from page_kit import page

from pagemind.runtime.clock import SystemClock
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.state.state import State


def grown(cli: Cli, pages: int) -> None:
    """An agent with so many pages, as if it had said as much."""
    cli.ada("Hello.")
    with Runtime(cli.home) as runtime:
        state = State(runtime.home.folder(runtime.home.find("ada").id), SystemClock())
        state.database.take()
        state.pages.add([page(n) for n in range(1, pages + 1)], line=1, epoch=1)
        state.pages.close_directories(lambda text: len(text.split()), line=1, epoch=1)
        state.close()


def test_a_small_tree_is_shown_whole(cli: Cli) -> None:
    """Each directory before its pages, which are indented."""
    grown(cli, 18)
    lines = cli("memory", "pages", "ada").out.splitlines()
    starts = [line.split()[0] for line in lines[1:]]
    assert starts == ["d1", *(f"p{n}" for n in range(1, 19))]
    assert lines[2].startswith("  p1")
    assert lines[-1].startswith("p18")


def test_of_a_large_tree_the_tops_are_shown(cli: Cli) -> None:
    """And how to go on from there."""
    grown(cli, 300)
    shown = cli("memory", "pages", "ada")
    ids = [line.split()[0] for line in shown.out.splitlines()[1:]]
    assert ids == ["d17", "d18", "d19", *(f"p{n}" for n in range(289, 301))]
    assert "listed by its id, such as d17" in shown.err
    listed = cli("memory", "pages", "ada", "D17").out.splitlines()[1:]
    assert [line.split()[0] for line in listed] == [f"d{n}" for n in range(1, 17)]
    tops = cli("memory", "pages", "ada", "d0").out.splitlines()[1:]
    assert tops[0].split()[0] == "d17"


def test_programs_get_the_whole_tree(cli: Cli) -> None:
    """Kinds and parents tell what stands where."""
    grown(cli, 33)
    items = cli("memory", "pages", "ada", "--json").json["items"]
    assert len(items) == 35
    assert [i["id"] for i in items[:2]] == ["d1", "p1"]
    assert {i["kind"] for i in items} == {"page", "directory"}
    assert [i["parent"] for i in items if i["id"] in ("p1", "p17", "p33", "d1")] == [
        *(None, "d1", "d2", None)
    ]


def test_a_directory_is_one_object_with_its_children(cli: Cli) -> None:
    """Its text is what page_in would show of it."""
    grown(cli, 16)
    found = cli("memory", "pages", "ada", "d1", "--json").json
    assert found["id"] == "d1"
    assert found["children"] == [f"p{n}" for n in range(1, 17)]
    assert found["text"].splitlines()[2].startswith("p3 [")


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("p9999", "the pages are p1 to p17, the directories d1 to d1"),
        ("d9", "there is no directory 'd9'"),
        ("x1", "there is no page 'x1'"),
    ],
)
def test_what_is_not_there_is_told(written: str, told: str, cli: Cli) -> None:
    """With what is."""
    grown(cli, 17)
    refused = cli("memory", "pages", "ada", written)
    assert refused.code != 0
    assert told in refused.err
