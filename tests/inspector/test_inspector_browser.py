"""The inspector's page in a real browser: every view, both schemes, by keyboard, no complaint.

Skipped where no Chromium or Chrome is found; PAGEMIND_BROWSER names one.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_kit import Browser, browser
from inspector_kit import NASTY, lively, page_of
from kernel_kit import agent_at

from pagemind.runtime.testing import ScriptedModel

pytestmark = pytest.mark.skipif(
    browser() is None, reason="no Chromium or Chrome on this machine (PAGEMIND_BROWSER names one)"
)

VIEWS = ("window", "timeline", "pages", "core", "passages", "messages")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    lively(folder)
    path = folder / "ada.html"
    path.write_text(page_of(folder), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture
def tab(running: Browser, page: Path) -> Iterator[Browser]:
    """The page, loaded; afterwards nothing was complained of and nothing else was loaded."""
    running.complaints.clear()
    running.asked.clear()
    running.look()
    running.open(page)
    yield running
    assert running.complaints == []
    assert {url.split(":")[0] for url in running.asked} <= {"file", "data", "about", "blob"}
    assert running.ask("window.hacked") is None


SHOWN = "document.querySelector('section[id^=view]:not([hidden])').id"
CHOSEN = "document.querySelector('#view-{} [aria-selected=true]')?.innerText ?? ''"
DETAIL = "document.querySelector('#view-{} .detail').innerText"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("wide", [1280, 420])
def test_every_view_is_drawn_and_none_is_wider_than_the_window(
    tab: Browser, page: Path, tmp_path: Path, wide: int, scheme: str
) -> None:
    """Each has its heading, something in it, and a picture in which not all is one colour."""
    tab.look(wide=wide, scheme=scheme)
    for view in VIEWS:
        tab.ask(f"location.hash = '#{view}'")
        tab.wait(f"{SHOWN} === 'view-{view}'")
        section = f"document.querySelector('#view-{view}')"
        assert tab.ask(f"{section}.innerText.length") > 60
        assert tab.ask("document.documentElement.scrollWidth") <= wide
        assert len(tab.screenshot(tmp_path / f"{view}.png")) > 5_000
    ground = tab.ask("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground[4:-1].split(","))) > 380) == (scheme == "light")


def test_the_window_is_drawn_to_scale(tab: Browser) -> None:
    """The parts of the bar are as wide as their tokens, to a few pixels of border."""
    wide, whole = tab.ask(
        "[document.querySelector('.bar').clientWidth,"
        " [...document.querySelectorAll('.bar .part')].reduce((s, p) => s + +p.style.flexGrow, 0)]"
    )
    parts = tab.ask(
        "[...document.querySelectorAll('.bar .part')]"
        ".map((part) => [+part.style.flexGrow, part.offsetWidth])"
    )
    assert len(parts) >= 7
    for tokens, pixels in parts:
        assert abs(pixels - tokens / whole * wide) <= 3


def test_a_person_needs_no_mouse(tab: Browser) -> None:
    """Numbers change views, / searches, arrows move in a list, Enter reads."""
    tab.press("6")
    tab.wait(f"{SHOWN} === 'view-messages'")
    tab.press("/")
    assert tab.ask("document.activeElement.type") == "search"
    tab.write("K0007")
    tab.wait("document.querySelector('#view-messages .search [role=status]').innerText !== ''")
    tab.wait("document.querySelectorAll('#view-messages [role=option]').length < 5")
    tab.press("Tab", "Tab", "ArrowDown", "ArrowDown", "ArrowUp")
    assert "K0007" in tab.ask(CHOSEN.format("messages"))
    assert tab.ask("document.activeElement.role") == "listbox"
    active = tab.ask("document.activeElement.getAttribute('aria-activedescendant')")
    assert tab.ask(f"document.getElementById('{active}').ariaSelected") == "true"
    tab.press("Enter")
    assert tab.ask("document.activeElement.className") == "detail"
    assert "K0007" in tab.ask(DETAIL.format("messages"))
    assert tab.ask("document.querySelector('#view-messages .detail mark').innerText") == "K0007"


def test_the_ends_of_a_list_are_one_key_away(tab: Browser, page: Path) -> None:
    """Only the rows in sight are in the page, whichever they are."""
    tab.open(page, "messages")
    tab.ask("document.querySelector('#view-messages .list').focus()")
    tab.press("Home")
    assert tab.ask(CHOSEN.format("messages")).startswith("m1\n")
    tab.press("PageDown", "End")
    last = tab.ask("document.querySelector('#view-messages [aria-selected=true]').dataset.index")
    assert int(last) == tab.ask(
        "Number(document.querySelector('#view-messages [role=option]').ariaSetSize) - 1"
    )
    assert tab.ask("document.querySelectorAll('#view-messages [role=option]').length") < 40


def test_what_was_said_is_shown_to_the_letter(tab: Browser, page: Path) -> None:
    """Markup, scripts and odd white space stand there as text."""
    tab.open(page, "m1")
    text = tab.ask("document.querySelector('#view-messages .detail pre').textContent")
    assert text.endswith(NASTY)
    assert text.startswith("Fact 0:")


@pytest.mark.parametrize(
    ("address", "view", "words"),
    [
        ("m4", "messages", "Message m4"),
        ("p2", "pages", "Page p2"),
        ("a1", "passages", "Passage a1"),
        ("turn/5", "timeline", "Turn 5"),
    ],
)
def test_every_id_is_an_address(
    tab: Browser, page: Path, address: str, view: str, words: str
) -> None:
    """What it names is shown, wherever it is."""
    tab.open(page, address)
    assert tab.ask(SHOWN) == f"view-{view}"
    assert words in tab.ask(DETAIL.format(view))


def test_an_id_that_is_not_there_is_told(tab: Browser, page: Path) -> None:
    """In a line that screen readers speak."""
    tab.open(page, "m99999")
    tab.wait("document.getElementById('progress').innerText.includes('m99999 is not in this page')")


def test_a_turn_shows_what_was_said_in_it(tab: Browser, page: Path) -> None:
    """Event, calls, results and reply, in their order."""
    tab.open(page, "turn/2")
    text = tab.ask(DETAIL.format("timeline"))
    assert "Fact 1:" in text
    assert "core_append(" in text
    assert text.index("core_append(") < text.index("Reply 1 about")


def test_versions_say_what_changed(tab: Browser, page: Path) -> None:
    """What is new is marked in the newest version of a block, and nothing of the old is lost."""
    tab.open(page, "core")
    tab.wait("document.querySelector('#view-core .versions pre ins') !== null")
    shown = "document.querySelector('#view-core .versions pre')"
    value = "document.querySelector('#view-core .block > pre').textContent"
    kept = f"[...{shown}.childNodes].filter((n) => n.tagName !== 'DEL')"
    assert tab.ask(f"{kept}.map((n) => n.textContent).join('')") == tab.ask(value)
    assert "<i>nasty</i>" in tab.ask(f"{shown}.querySelector('ins').textContent")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("", "a b"),
        ("a b", ""),
        ("a b c d", "a c d e"),
        ("one two three", "three two one"),
        ("same words", "same words"),
        ("x " * 900, "y " * 900),
    ],
)
def test_a_difference_loses_nothing(tab: Browser, page: Path, before: str, after: str) -> None:
    """Without what is new it is the old text, without what is old the new one."""
    from pagemind.runtime.inspector.page import asset

    script = f"(() => {{ {asset('diff.js')}\nreturn difference({before!r}, {after!r}); }})()"
    runs = tab.ask(script)
    assert "".join(text for kind, text in runs if kind != "new") == before
    assert "".join(text for kind, text in runs if kind != "old") == after


def test_the_chart_can_be_read_by_keyboard(tab: Browser, page: Path) -> None:
    """A slider goes from step to step and says its tokens."""
    tab.open(page, "timeline")
    tab.ask("document.querySelector('figure input').focus()")
    before = tab.ask("document.querySelector('.readout').innerText")
    tab.press("Home")
    after = tab.ask("document.querySelector('.readout').innerText")
    assert after.startswith("step 1 of turn 1 ")
    assert before != after
    assert "by the model's count" in after
    assert tab.ask("document.querySelectorAll('.chart path.flushes').length") == 1


def test_what_was_taken_back_is_told(tab: Browser, tmp_path: Path) -> None:
    """A message that was undone says so, and stands neither in the window nor in a page."""
    lively(tmp_path, 8)
    with agent_at(tmp_path, ScriptedModel(after="I see.")) as agent:
        seq = agent.state.journal.last_seq + 1
        agent.send("Forget this.")
        agent.undo(1)
    path = tmp_path / "ada.html"
    path.write_text(page_of(tmp_path), encoding="utf-8")
    tab.open(path, f"m{seq}")
    text = tab.ask(DETAIL.format("messages"))
    assert "it is not on the agent's line any more" in text
    assert "lies in" not in text
    assert "rewound" in tab.ask(CHOSEN.format("messages"))


def test_controls_have_names(tab: Browser) -> None:
    """Every field, choice, list and region says what it is for."""
    unnamed = tab.ask(
        "[...document.querySelectorAll('input, select, button, [role=listbox], [role=region],"
        " [role=img], article')].filter((e) => !(e.ariaLabel || e.innerText.trim())).length"
    )
    assert unnamed == 0
