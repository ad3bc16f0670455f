"""`pagemind inspect` as a picture: what it says, 60 to 120 columns, with colours and without."""

import io
import re

import pytest
from cli_kit import PLAIN, Cli
from rich.cells import cell_len
from rich.console import Console

from pagemind.runtime.cli.window_picture import picture
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.inspection import Inspection
from pagemind.runtime.runtime import Runtime

_STYLE = re.compile(r"\x1b\[([0-9;]*)m")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Inspection:
    """An agent with something in every section but prefetch."""
    with Runtime(tmp_path_factory.mktemp("home"), background=False) as runtime:
        agent = runtime.agent("ada", parse_definition(PLAIN), model="scripted/echo")
        for number in range(40):
            agent.send(f"{number}: " + "a long sentence about the sea " * 8)
        agent.pin("m1")
        agent.queue_manager.flush(None)
        agent.send("There we are. " * 40)
        with runtime.reader("ada") as reader:
            return reader.inspect()


def drawn(
    found: Inspection, monkeypatch: pytest.MonkeyPatch, columns: int, *, colours: bool = True
) -> str:
    out = io.StringIO()
    console = Console(
        file=out,
        force_terminal=True,
        width=columns,
        highlight=False,
        markup=False,
        emoji=False,
        no_color=not colours,
        color_system="256",
    )
    monkeypatch.setattr("pagemind.runtime.cli.window_picture.console", lambda: console)
    picture(found, name="ada")
    return out.getvalue()


@pytest.mark.parametrize("columns", [60, 80, 100, 120])
def test_no_line_is_wider_than_the_terminal(
    found: Inspection, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    """And the bar is exactly as wide."""
    lines = _STYLE.sub("", drawn(found, monkeypatch, columns)).splitlines()
    assert max(map(cell_len, lines)) <= columns
    assert [cell_len(line) for line in lines if line.startswith("▕")] == [columns]


def test_only_the_sixteen_colours_are_used(
    found: Inspection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The terminal's own, so that it can be read on any ground."""
    allowed = {0, 1, 2, *range(30, 38), *range(90, 98)}
    for codes in _STYLE.findall(drawn(found, monkeypatch, 80)):
        assert {int(code) for code in codes.split(";") if code} <= allowed


def test_without_colours_sections_can_be_told_apart(
    found: Inspection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neighbours in the bar have different shades, and no colour is written."""
    text = drawn(found, monkeypatch, 80, colours=False)
    assert {code for code in _STYLE.findall(text)} <= {"0", "1", "2"}
    (strip,) = [line for line in _STYLE.sub("", text).splitlines() if line.startswith("▕")]
    runs = [match[0][0] for match in re.finditer(r"([█▓▚░▒])\1*", strip)]
    sections = [name for name, tokens in found.pressure.sections.items() if tokens]
    assert len(runs) == len(sections) + bool(found.evicted) + 2  # free, reply


def test_the_marks_stand_under_what_they_are_of(
    found: Inspection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flush where the room ends, to a column."""
    lines = _STYLE.sub("", drawn(found, monkeypatch, 120)).splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("▕"))
    pressure = found.pressure
    reserve = found.window.scaled(found.calibration.factor).reserve
    whole = pressure.usable + reserve
    for word, tokens in (("warn", pressure.warn_at), ("flush", pressure.flush_at)):
        column = lines[at + 1].index(f"{word} ▲") + len(word) + 1
        assert abs(column - (pressure.fixed + tokens) / whole * 118) <= 1


def test_it_tells_what_is_in_each_section(
    found: Inspection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Functions, blocks, the summary's origin, the table's pages, pins, and what goes next."""
    text = " ".join(_STYLE.sub("", drawn(found, monkeypatch, 120)).split())
    first, last = found.evicted[0].first_seq, found.evicted[-1].last_seq
    assert found.summary is not None
    for words in (
        "4 functions",
        "human 0/200",
        f"covers m1–m{found.summary.covers_last}; rung model, by scripted/echo",
        f"the way to {found.pages} pages",
        f"m{found.first}–m{found.last}: {found.messages} messages",
        f"next out {found.freed:,}",
        f"m{first}–m{last}, {len(found.evicted)} of {found.groups} groups",
        "a guess",
    ):
        assert words in text
    assert re.search(r"pinned [\d,]+ \d+ % m1 ", text)


def test_before_a_flush_would_take_anything_it_says_so(cli: Cli) -> None:
    """An agent that was told little keeps all of it."""
    cli.ada("Hello.")
    text = cli("inspect", "ada").out
    assert "evicted next  nothing" in text
    assert "next out" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_pages_say_what_holds_them(cli: Cli) -> None:
    """A page with a pinned message is marked, in the listing and in its JSON."""
    cli.ada()
    cli.tell_much()
    items = cli("memory", "pages", "ada", "--json").json["items"]
    assert not any(item["pinned"] for item in items)
    page = [item for item in items if item["kind"] == "page"][1]
    assert cli("memory", "pin", "ada", f"m{page['first_seq']}").code == 0
    again = cli("memory", "pages", "ada", "--json").json["items"]
    assert [item["id"] for item in again if item["pinned"]] == [page["id"]]
    lines = cli("memory", "pages", "ada").out.splitlines()
    (line,) = [line.split() for line in lines if line.split()[0] == page["id"]]
    assert "pin" in line
