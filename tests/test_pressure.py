"""Pressure: what is measured, where the levels begin, and what is refused."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagemind.runtime.errors import WindowTooSmall
from pagemind.runtime.pressure import (
    PAGED,
    Level,
    Pressure,
    Thresholds,
    Window,
    check_room,
    measure,
    window,
)


def measured(queue: int, fixed: int = 500, usable: int = 1500, **more: float) -> Pressure:
    sections = {"system": fixed - 100, "tools": 60, "core": 40, "queue": queue}
    return measure(sections, usable, Thresholds(**more))


@pytest.mark.parametrize(
    ("paged", "level"),
    [
        *((0, Level.NORMAL), (700, Level.NORMAL), (701, Level.WARN)),
        *((1000, Level.WARN), (1001, Level.FLUSH), (99_999, Level.FLUSH)),
    ],
)
def test_levels_are_fractions_of_room(paged: int, level: Level) -> None:
    """With 1,000 tokens of room the warning begins above 700 and the flush above 1,000."""
    assert measured(paged).level is level


def test_every_section_counts() -> None:
    """Tool schemas, core, summary, table, pins and prefetch press as much as talk does."""
    for name in PAGED:
        assert measure({name: 901}, 1000, Thresholds(flush=0.9)).level is Level.FLUSH
    for name in ("system", "tools", "core"):
        assert measure({name: 400}, 1000, Thresholds()).room == 600


def test_without_room_everything_is_too_much() -> None:
    """A fixed part over the window is FLUSH at once, and its ratio is no division by zero."""
    pressure = measured(0, fixed=2000)
    assert pressure.room == -500
    assert pressure.level is Level.FLUSH
    assert pressure.ratio == float("inf")


def test_used_is_what_is_sent() -> None:
    """fixed + paged, against usable."""
    pressure = measured(300)
    assert (pressure.used, pressure.usable, pressure.keep_at) == (800, 1500, 500)


@pytest.mark.parametrize(
    ("tokens", "reserve"), [(1024, 153), (512, 128), (8192, 1228), (200_000, 4096)]
)
def test_the_reserve_for_replies(tokens: int, reserve: int) -> None:
    """15 % of the window, between 128 and 4,096 tokens."""
    made = window(tokens, "test")
    assert (made.reserve, made.usable) == (reserve, tokens - reserve)


def test_a_window_is_scaled_for_a_model_that_counts_more() -> None:
    """Twice as many tokens for the same text is half the window in ours."""
    scaled = Window(8192, 1024, "server").scaled(2.0)
    assert (scaled.tokens, scaled.reserve, scaled.source) == (4096, 512, "server")


def test_too_little_room_is_refused_with_the_numbers() -> None:
    """The message names each section, and the window it asks for would do."""
    sections = {"system": 500, "tools": 250, "core": 50}
    with pytest.raises(WindowTooSmall) as refused:
        check_room(measure(sections, 896, Thresholds()), 1024)
    for part in ("1,024", "system 500", "tools 250", "core 50"):
        assert part in refused.value.message
    lacking, needed = numbers(refused.value.hint)
    assert lacking == needed - 1024
    made = Window(needed, 128, "hint")
    check_room(measure(sections, made.usable, Thresholds()), needed)


def numbers(hint: str) -> tuple[int, int]:
    """How many tokens are lacking, and how many there should be."""
    lacking, needed = re.findall(r"\d[\d,]*", hint)
    return int(lacking.replace(",", "")), int(needed.replace(",", ""))


@given(st.integers(1, 300_000), st.integers(1024, 200_000))
def test_the_window_that_is_asked_for_would_do(fixed: int, tokens: int) -> None:
    """And no smaller one: a reserve that is not chosen grows with the window."""

    def check(tokens: int) -> None:
        usable = window(tokens, "test").usable
        check_room(measure({"system": fixed}, usable, Thresholds()), tokens)

    try:
        check(tokens)
    except WindowTooSmall as error:
        _, needed = numbers(error.hint)
        check(needed)
        with pytest.raises(WindowTooSmall):
            check(needed - 1)


def test_enough_room_is_not_refused() -> None:
    """A quarter of usable is enough."""
    check_room(measure({"system": 750}, 1000, Thresholds()), 1128)


def test_a_window_without_room_for_the_table_is_refused() -> None:
    """A reserve may leave a quarter of little: the error says how much is lacking."""
    pressure = measure({"system": 20}, 120, Thresholds())
    with pytest.raises(WindowTooSmall) as refused:
        check_room(pressure, 1024)
    assert "the page table cannot fit: its shortest lines take 16 tokens" in refused.value.message
    lacking, _ = numbers(refused.value.hint)
    check_room(measure({"system": 20}, 120 + lacking, Thresholds()), 1024 + lacking)
