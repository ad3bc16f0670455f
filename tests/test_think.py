"""strip_think and ThinkFilter: reasoning in the text is told apart from the answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagemind.runtime.think import ThinkFilter, strip_think


@pytest.mark.parametrize(
    ("text", "visible", "thought"),
    [
        ("plain", "plain", ""),
        ("<think>hm</think>\n\nyes", "yes", "hm"),
        (" <think>a</think> <think>b</think>c", "c", "a\n\nb"),
        ("<think>never ends", "", "never ends"),
        ("hm\n</think>\n\nyes", "yes", "hm"),
        ("The tag <think> opens.", "The tag <think> opens.", ""),
        ("The tag </think> closes.", "The tag </think> closes.", ""),
        ("<thinking", "<thinking", ""),
        ("", "", ""),
    ],
)
def test_strip(text: str, visible: str, thought: str) -> None:
    """Leading blocks are thought; tags that are talked about are not."""
    assert strip_think(text) == (visible, thought)


pieces = st.lists(
    st.one_of(st.sampled_from(["<think>", "</think>", "<thi", "nk>", "\n", " "]), st.text("ab<>/")),
    max_size=8,
)


@given(pieces)
def test_any_cut_of_a_stream_shows_the_same(parts: list[str]) -> None:
    """However a reply is cut into pieces, what is shown is what strip_think leaves."""
    stream = ThinkFilter()
    shown = "".join([stream.feed(p) for p in parts] + [stream.finish()])
    visible, thought = stream.result()
    assert (visible, thought) == strip_think("".join(parts))
    # A lone closing tag is known only once it has arrived; what went before was shown already.
    assert shown.strip() == visible.strip() or shown.endswith(visible)
