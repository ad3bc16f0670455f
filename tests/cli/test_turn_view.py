"""What a person sees of a turn as it runs."""

import pytest

from pagemind.runtime.cli.turn_view import TurnView
from pagemind.runtime.trace import TraceEvent

_CALL = {"id": "1", "name": "core_append", "arguments": {"block": "human", "content": "a cat"}}


@pytest.mark.parametrize(
    ("ok", "line"),
    [(True, "noted: a cat\n"), (False, "not noted: a cat ✗ text from outside was in view\n")],
)
def test_a_note_is_said_to_be_one_where_it_was_kept(
    ok: bool, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A call that was not run noted nothing."""
    view = TurnView(guided=True)
    said = {"id": "1", "name": "core_append", "ok": ok, "ms": 1.0}
    view(TraceEvent("tool_called", _CALL))
    view(TraceEvent("tool_returned", {**said, "text": "text from outside was in view"}))
    view.end()
    printed = capsys.readouterr()
    assert line in (printed.out, printed.err)
