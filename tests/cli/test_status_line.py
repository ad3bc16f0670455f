"""The line of status under the prompt: what it says, and what goes where there is little room."""

from datetime import UTC, datetime

import pytest

from pagemind.runtime.cli.spent import Day, Spent
from pagemind.runtime.cli.status_line import Status
from pagemind.runtime.cli.wrapping import cells

DAY = Day(datetime(2026, 5, 8, tzinfo=UTC), Spent(40_000, 2_000, 0.0312))
STATUS = Status("ada", "openai/gpt-4o-mini", 1604, 6963, "normal", 3, DAY, Spent(1204, 56, 0.0012))


def line(status: Status, width: int) -> str:
    return "".join(text for _, text in status.fragments(width))


def test_all_is_said_where_there_is_room() -> None:
    """Agent, model, window, pages, tokens and cost of the turn and of the day."""
    assert line(STATUS, 140) == (
        "ada · openai/gpt-4o-mini ▕██░░░░░░░░▏ 1,604/6,963 · 3 pages"
        " · turn 1,204+56 tokens $0.0012 · day 42,000 tokens $0.0312"
    )


@pytest.mark.parametrize("width", range(20, 140))
def test_the_line_is_never_wider_than_the_terminal(width: int) -> None:
    """From some thirty columns on; the window stays to the last."""
    shown = line(STATUS, width)
    assert cells(shown) <= max(width, 24)
    assert "▏ 1,604/6,963" in shown


def test_sixty_columns_have_what_matters() -> None:
    """The agent, the window, the pages and what the day has cost."""
    assert line(STATUS, 59) == "ada ▕██░░░░░░░░▏ 1,604/6,963 · 3 pages · day $0.0312"


@pytest.mark.parametrize(
    ("level", "colour"), [("normal", "ansigreen"), ("warn", "ansiyellow"), ("flush", "ansired")]
)
def test_pressure_is_a_colour_and_a_word(level: str, colour: str) -> None:
    """Normal needs no word."""
    status = Status("ada", "m", 900, 1000, level, 0, DAY)
    found = status.fragments(100)
    assert (colour, "█████████") in found
    assert (f" {level}" in line(status, 100)) == (level != "normal")


def test_what_is_not_known_is_left_out() -> None:
    """No pages yet, no turn, no tokens told, an unknown price."""
    nothing = Status("ada", "m", 9, 1000, "normal", 0, Day(DAY.began, Spent()))
    assert line(nothing, 100) == "ada · m ▕█░░░░░░░░░▏ 9/1,000"
    free = Status("ada", "m", 9, 1000, "normal", 1, Day(DAY.began, Spent(5, 6, 0.0, False)))
    assert line(free, 100).endswith(" · 1 page · day 11 tokens")
