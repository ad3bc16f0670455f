"""page_in: parts of a bounded size that together are the whole, and errors that help."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_texts import ODD

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.message import Message, Text, ToolCall, clean_text
from pagemind.runtime.page import Page
from pagemind.runtime.page_reader import PageReader, split
from pagemind.runtime.services import Reading
from pagemind.runtime.state.state import State
from pagemind.runtime.tokens import TokenCounter

count = TokenCounter().count
AT = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.mark.parametrize("limit", [16, 64, 300])
@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_parts_are_the_whole(text: str, limit: int) -> None:
    """Nothing is lost, doubled or changed, and no part is too long."""
    parts = split([text], limit, count)
    assert "".join(part.replace("\n", "") for part in parts) == text.replace("\n", "")
    assert all(count(part) <= limit for part in parts)


@given(st.lists(st.text(max_size=200), max_size=8), st.integers(8, 80))
def test_any_lines_are_kept(lines: list[str], limit: int) -> None:
    """For any lines: the letters of all of them, in order."""
    parts = split(lines, limit, count)
    assert "".join("".join(parts).split()) == "".join("".join(lines).split())


def test_a_book_is_split_in_time() -> None:
    """Reading a part of a very long message does not count the rest of it again and again."""
    counted = 0

    def counting(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return count(text)

    book = "The harbour light went out at nine in the evening. " * 20_000
    assert len(split([book], 200, counting)) > 1000
    assert counted < 10 * len(book)


def test_a_pile_of_accents_is_split_in_time() -> None:
    """A character with thousands of marks on it is cut like any other text."""
    assert len(split(["e" + "\u0301" * 5000], 64, count)) < 200


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    state = State(tmp_path, FrozenClock())
    yield state
    state.close()


def reader(state: State, part_tokens: int = 60) -> PageReader:
    return PageReader(state, count=count, zone=UTC, part_tokens=lambda: part_tokens)


def say(state: State, text: str, **more: object) -> None:
    message = Message("user", (Text(text),), speaker="Sam", **more)
    state.journal.append(message, tokens=count(text))


def page(state: State, first: int, last: int) -> None:
    number = state.pages.count() + 1
    made = Page(number, first, last, AT, AT, 1, 1, "gist", ("a",), 100)
    state.pages.add([made], line=1, epoch=1)


def test_a_page_is_read_line_by_line(state: State) -> None:
    """Each message with its id, time and speaker; notices and readings are left out."""
    say(state, "The boat is Nomad.")
    say(state, "90 % full", kind="notice")
    state.journal.append(
        Message("assistant", (Text("Noted."),), tool_calls=(ToolCall("c", "f", '{"a": 1}'),)),
        tokens=1,
    )
    page(state, 1, 3)
    text = reader(state, 200).read("p1", 1).text
    assert text.splitlines() == [
        "[p1 part 1 of 1]",
        "m1 [2026-01-05 09:00] Sam: The boat is Nomad.",
        'm3 [2026-01-05 09:00] assistant: Noted. [called f({"a": 1})]',
    ]


def test_the_part_with_a_message_has_its_line(state: State) -> None:
    """So that no other part of a page needs to be read; the first, for one that is not there."""
    for number in range(12):
        say(state, f"Berth {number} is let to boat {number * 17}, as m{number} [was] before.")
    page(state, 1, 12)
    pages = reader(state)
    parts = [pages.part_with("p1", f"m{seq}") for seq in range(1, 13)]
    assert parts == sorted(parts)
    assert parts[-1] > 3
    for seq, part in enumerate(parts, 1):
        assert f"\nm{seq} [" in pages.read("p1", part).text
    assert pages.part_with("p1", "m99") == 1


def test_a_long_message_is_read_in_parts(state: State) -> None:
    """The parts of a message are its text to the letter."""
    text = " ".join(f"word{number}" for number in range(400))
    say(state, text)
    pages = reader(state)
    first = pages.read("m1", 1)
    assert first.parts > 3
    bodies = [pages.read("m1", n).text.partition("\n")[2] for n in range(1, first.parts + 1)]
    assert "".join(bodies) == text


def test_the_arguments_of_a_call_are_read_too(state: State) -> None:
    """A call that was cut in the window is read whole by the id of its message."""
    call = ToolCall("c", "write", '{"text": "' + "word " * 100 + '"}')
    state.journal.append(Message("assistant", (), tool_calls=(call,)), tokens=1)
    pages = reader(state, 1000)
    assert call.arguments in pages.read("m1", 1).text


def test_a_reading_is_made_again_as_it_was(state: State) -> None:
    """A stored reference gives the same text, also when parts are now of another size."""
    say(state, "word " * 300)
    reading = reader(state, 60).read("m1", 2)
    message = Message("tool", kind="reading", reference=reading.reference)
    assert reader(state, 500).text_of(message) == reading.text


@pytest.mark.parametrize("id", ["p1", "P1", " p1 ", "m1"])
def test_ids_are_read_generously(state: State, id: str) -> None:
    """Case and spaces around an id do not matter."""
    say(state, "Hello")
    page(state, 1, 1)
    assert "Hello" in reader(state).read(id, 1).text


@pytest.mark.parametrize(
    ("id", "part", "told"),
    [
        ("p9", 1, "the pages are p1 to p1"),
        ("m9", 1, "the newest is m1"),
        ("m0", 1, "no message m0"),
        ("a1", 1, "is not an id"),
        ("", 1, "is not an id"),
        ("p1; DROP TABLE", 1, "is not an id"),
        ("p" + "9" * 18, 1, "no page"),
        ("p1", 0, "it has 1 part"),
        ("p1", 2, "it has 1 part"),
        ("p9999", 1, "page_find finds one by its words"),
        ("17", 1, "p17 is a page, d17 a directory, m17 a message"),
        ("d1", 1, "no directories yet; the pages are p1 to p1"),
        ("d", 1, "is not an id"),
        ("p-1", 1, "is not an id"),
    ],
)
def test_what_is_not_there_is_told(state: State, id: str, part: int, told: str) -> None:
    """An unknown id brings those that exist, a wrong part how many there are."""
    say(state, "Hello")
    page(state, 1, 1)
    with pytest.raises(ToolFailed, match=told):
        reader(state).read(id, part)


def test_without_pages_that_is_told(state: State) -> None:
    """Before the first flush there is nothing to page in."""
    with pytest.raises(ToolFailed, match="no pages yet"):
        reader(state).read("p1", 1)


def pages(state: State, number: int) -> None:
    """So many pages of one message each, and their directories."""
    for n in range(1, number + 1):
        say(state, f"Fact {n} about K{n}.")
        made = Page(n, n, n, AT, AT, 1, 9, f"“Fact {n}”", (f"K{n}",), 100)
        state.pages.add([made], line=1, epoch=1)
        state.pages.close_directories(count, line=1, epoch=1)


def body(reading: Reading) -> list[str]:
    return reading.text.splitlines()[1:]


def test_a_directory_is_listed_with_what_each_page_is_about(state: State) -> None:
    """Sixteen lines with span, tokens, gist, and the keywords that the gist lacks."""
    pages(state, 20)
    listed = body(reader(state, 2000).read("D1", 1))
    assert len(listed) == 16
    assert listed[2] == "p3 [2026-01-05 09:00] 9 tokens: “Fact 3” (K3)"


def test_a_long_listing_comes_in_parts(state: State) -> None:
    """The parts together are the whole, and each names how many there are."""
    pages(state, 20)
    first = reader(state, 100).read("d1", 1)
    assert first.parts > 1
    told = [
        line for n in range(1, first.parts + 1) for line in body(reader(state, 100).read("d1", n))
    ]
    assert [line.split()[0] for line in told] == [f"p{n}" for n in range(1, 17)]


def test_d0_lists_what_is_in_no_directory(state: State) -> None:
    """The way in when the table is too small for every top."""
    pages(state, 18)
    listed = body(reader(state, 2000).read("d0", 1))
    assert [line.split()[0] for line in listed] == ["d1", "p17", "p18"]
    assert listed[0].startswith("d1 [2026-01-05 09:00] 16 pages, 144 tokens: K1, K2")


def test_a_listing_is_shown_again_as_it_was(state: State) -> None:
    """A gist that got better since does not change what the model saw."""
    pages(state, 16)
    reading = reader(state, 2000).read("d1", 1)
    state.pages.set_gist(3, "better", author="a model")
    message = Message("tool", kind="reading", reference=reading.reference)
    assert reader(state, 60).text_of(message) == reading.text
    assert "better" in reader(state, 2000).read("d1", 1).text


def test_an_unknown_directory_is_told_with_those_there_are(state: State) -> None:
    """d99 brings the last number and the way in."""
    pages(state, 16)
    with pytest.raises(ToolFailed, match="the directories are d1 to d1, and d0 lists"):
        reader(state).read("d99", 1)


def test_d0_without_pages_is_told(state: State) -> None:
    """Before the first flush nothing is anywhere but in view."""
    with pytest.raises(ToolFailed, match=r"no directory d0; .* no pages yet"):
        reader(state).read("d0", 1)


def test_reading_a_message_warms_its_page(state: State) -> None:
    """It was looked for there."""
    pages(state, 2)
    reader(state).read("m2", 1)
    assert [page.heat for page in state.pages.all()] == [0, 1]


def test_reading_warms_a_page(state: State) -> None:
    """What is read often can be told from what is not."""
    say(state, "Hello")
    page(state, 1, 1)
    reader(state).read("p1", 1)
    assert state.pages.all()[0].heat == 1


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_odd_texts_are_read(state: State, text: str) -> None:
    """The first part of anything that was ever said can be shown."""
    say(state, clean_text(text))
    reading = reader(state).read("m1", 1)
    assert count(reading.text) <= 60 + 16
