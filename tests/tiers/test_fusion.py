"""The weighted min-max sum."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagemind.runtime.tiers.fusion import fuse, minmax

legs = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-5, 5), max_size=8)


@given(legs)
def test_scaled_scores_are_between_0_and_1_and_keep_their_order(leg: dict[str, float]) -> None:
    """The best is 1."""
    scaled = minmax(leg)
    assert all(0 <= score <= 1 for score in scaled.values())
    if leg:
        assert max(scaled.values()) == 1
    for one in leg:
        for other in leg:
            assert leg[one] <= leg[other] or scaled[one] >= scaled[other]


def test_a_single_weak_score_is_still_the_best_there_is() -> None:
    """One row, one leg: 1."""
    assert minmax({"a": 0.2}) == {"a": 1.0}
    assert minmax({}) == {}


def test_weights_of_absent_legs_are_shared_out() -> None:
    """Without vectors a full match of the text is still 1."""
    weights = {"line": 0.3, "vector": 0.4}
    assert fuse({"line": {"a": 1.0}}, weights) == {"a": pytest.approx(1.0)}
    both = fuse({"line": {"a": 1.0}, "vector": {"b": 1.0}}, weights)
    assert both == {"a": pytest.approx(3 / 7), "b": pytest.approx(4 / 7)}
