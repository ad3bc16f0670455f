"""Turns: which limit ends them, and by which name."""

import pytest

from pagemind.runtime.message import ToolCall
from pagemind.runtime.model import ModelReply, Usage
from pagemind.runtime.turn import CallRecord, Turn, TurnLimits


def turn(**limits: object) -> Turn:
    return Turn(1, 1, 1, "Sam", 100.0, TurnLimits(**limits))


def failed(ok: bool = False) -> CallRecord:
    return CallRecord("c", "f", {}, ok, None if ok else "no", 1.0)


def test_within_its_limits_a_turn_goes_on() -> None:
    """Nothing done yet, nothing exceeded."""
    assert turn().exceeded(100.0, None) is None
    assert turn().exceeded(100.0, 0.01) is None


def test_steps_and_time() -> None:
    """The step after the last and the second after the last are too many."""
    one = turn(steps=3, seconds=10)
    one.steps = 3
    assert one.exceeded(100.0, None) == "steps"
    assert turn(seconds=10).exceeded(110.5, None) == "time"
    assert turn(seconds=10).exceeded(109.5, None) is None


def test_tokens_and_cost() -> None:
    """What replies reported adds up; a spent day ends the turn before it costs more."""
    one = turn(tokens=100)
    one.count_reply(ModelReply("x", usage=Usage(60, 39), cost=0.01))
    assert one.exceeded(100.0, None) is None
    one.count_reply(ModelReply("x", usage=Usage(1, 0), cost=0.01))
    assert one.exceeded(100.0, None) == "tokens"
    two = turn(cost=0.02)
    two.count_reply(ModelReply("x", cost=0.02))
    assert two.exceeded(100.0, None) == "cost"
    assert turn().exceeded(100.0, 0.0) == "cost"


def test_cost_is_unknown_if_any_reply_is() -> None:
    """A free-looking turn is not called free."""
    one = turn()
    one.count_reply(ModelReply("x", cost=0.01))
    assert one.cost_known
    one.count_reply(ModelReply("x", cost=None))
    assert not one.cost_known
    assert one.cost == pytest.approx(0.01)


def test_errors_count_in_a_row() -> None:
    """A call that works starts the count anew."""
    one = turn(tool_errors=3)
    for ok in (False, False, True, False, False):
        one.record(failed(ok))
        assert one.exceeded(100.0, None) is None
    one.record(failed())
    assert one.exceeded(100.0, None) == "tool_errors"
    assert one.reasons == ["tool_errors: 3 failed calls in a row"]


def test_the_same_call_again_and_again() -> None:
    """Same name and arguments, however their keys are ordered."""
    one = turn(identical_calls=3)
    assert one.meet(ToolCall("1", "f", '{"a": 1, "b": 2}')) == 1
    assert one.meet(ToolCall("2", "f", '{"b": 2, "a": 1}')) == 2
    assert one.meet(ToolCall("3", "g", '{"b": 2, "a": 1}')) == 1
    assert one.meet(ToolCall("4", "f", '{"a": 1, "b": 2}')) == 1
    assert one.exceeded(100.0, None) is None
    one.meet(ToolCall("5", "f", '{"a": 1, "b": 2}'))
    one.meet(ToolCall("6", "f", '{"a": 1, "b": 2}'))
    assert one.exceeded(100.0, None) == "repeated_call"


def test_unreadable_arguments_are_compared_as_written() -> None:
    """Two different texts that are no JSON are not the same call."""
    one = turn()
    assert one.meet(ToolCall("1", "f", "hello")) == 1
    assert one.meet(ToolCall("2", "f", "good bye")) == 1
    assert one.meet(ToolCall("3", "f", "good bye")) == 2


def test_page_ins_are_counted() -> None:
    """Reading page after page ends somewhere."""
    one = turn(page_ins=2)
    for number in range(2):
        one.meet(ToolCall("1", "page_in", f'{{"id": "p{number}"}}'))
    assert one.exceeded(100.0, None) is None
    one.meet(ToolCall("1", "page_in", '{"id": "p9"}'))
    assert one.exceeded(100.0, None) == "page_ins"
