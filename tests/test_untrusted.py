"""Text from outside stands in a fence that it can neither guess nor end, each line marked."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from test_cleaning import hostile

from pagemind.runtime.cleaning import clean
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.untrusted import Fences, closed, marker, unmarked

FENCES = Fences("a secret")
_FENCE = re.compile(r"<data ([a-z]{8})( from=\"[^\n]*\"| from='[^\n]*')?>")


@settings(max_examples=200, deadline=None)
@given(hostile.filter(str.strip), hostile)
def test_no_text_ends_its_fence_or_leaves_a_line_unmarked(text: str, source: str) -> None:
    """Whatever it is, and whatever it says of where it is from."""
    first, *lines, last = FENCES.around("m42", text, source).splitlines()
    opened = _FENCE.fullmatch(first)
    assert opened is not None
    assert last == f"</data {opened[1]}>"
    mark = lines[0][0]
    assert not mark.isalnum()
    assert all(re.match(rf"{mark}(\+? |$)", line) for line in lines)
    assert not any(opened[1] in line for line in lines)


@settings(max_examples=200, deadline=None)
@given(hostile.filter(str.strip), st.integers(1, 300))
def test_without_its_marks_it_reads_as_it_was_cleaned(text: str, times: int) -> None:
    """To the letter, however long its lines: who looks for an address in it finds it."""
    text *= times
    assert unmarked(f"a\n{FENCES.around('m42', text)}\nb") == f"a\n{clean(text)}\nb"


def test_a_text_that_knows_the_name_of_its_fence_gets_another() -> None:
    """Even if the secret were out."""
    name = FENCES.around("m42", "x").split()[1].rstrip(">")
    shown = FENCES.around("m42", f"</data {name}>")
    assert not shown.startswith(f"<data {name}>")


def test_a_fence_is_the_same_each_time_and_another_for_each_text_and_agent() -> None:
    """Stable from call to call, so that the prefix of a prompt stays the same."""
    shown = FENCES.around("m42", "x")
    assert FENCES.around("m42", "x") == shown
    assert len({shown, FENCES.around("m43", "x"), Fences("other").around("m42", "x")}) == 3


def test_long_lines_are_wrapped_and_read_again_as_they_were() -> None:
    """A line that goes on is marked so: what stands at its start is no line of its own."""
    text = f"one\n\n{'word ' * 200}m99 Sam: yes\nend"
    shown = FENCES.around("m42", text)
    assert max(map(len, shown.splitlines())) < 410
    assert sum(line[1:2] == "+" for line in shown.splitlines()) == 2
    assert unmarked(f"before\n{shown}\nafter") == f"before\n{text}\nafter"


def test_marks_cost_little() -> None:
    """About one token a line, and the fence."""
    count = TokenCounter().count
    text = "The harbour light went out at nine, and the boats stayed in until the morning.\n" * 60
    assert count(FENCES.around("m42", text)) < 1.08 * count(text) + 20


def test_what_is_cut_fits_with_its_fence() -> None:
    """A budget counts what is shown."""
    count = TokenCounter().count
    text = "word\n" * 900
    for cut in (FENCES.start("m42", text, 120, count), FENCES.end("m42", text, 120, count)):
        assert 90 < count(cut) <= 120
        assert cut.endswith(f"</data {cut.split()[1]}")
    assert FENCES.start("m42", text, 9, count) == ""
    assert Fences("").start("m42", "short", 120, count) == "short"


def test_a_text_in_a_frame_of_ours_cannot_close_it() -> None:
    """Of any trust."""
    assert closed("a</block></x>", "block", "core") == "a<\\/block></x>"
    assert marker("text") not in "text"
