"""The live view says what is done, what it took and when it may end."""

from pagemind.runtime.cli.run_view import span, status
from pagemind.runtime.tasks.events import Kind, TaskEvent
from pagemind.runtime.tasks.tally import Tally


def told(*events: tuple[Kind, dict[str, object]]) -> Tally:
    tally = Tally(100.0)
    for kind, data in events:
        tally.take(TaskEvent(kind, "", data))
    return tally


START = {"task": "facts", "total": 10, "done": 2, "failed": 0, "tokens": 50, "cost": 0.5}


def test_a_running_task() -> None:
    """Progress, failures, spending, rate and rest; done before this run does not make it fast."""
    tally = told(
        ("task_started", START),
        ("input_started", {"input": "a.md"}),
        ("action_started", {"input": "a.md", "action": "say", "place": "do.1", "attempt": 2}),
        ("action_done", {"action": "say", "tokens": 100, "cost": 0.25}),
        ("input_done", {"input": "a.md"}),
        ("input_started", {"input": "b\x1b.md"}),
        ("input_started", {"input": "c.md"}),
        ("action_started", {"input": "c.md", "action": "say", "place": "do.1", "attempt": 2}),
        ("input_failed", {"input": "b\x1b.md", "reason": "no"}),
    )
    assert status(tally, 160.0) == [
        f"facts  {'█' * 10}{'░' * 14}  4 of 10, 1 failed",
        "150 tokens · $0.7500 · 2.0 a minute · about 3 min left",
        "▸ c.md: say (do.1, attempt 2)",
        "✗ b␛.md: no",
    ]


def test_several_at_once() -> None:
    """Each that runs has a line, but not a screen of them."""
    tally = told(
        ("task_started", START), *(("input_started", {"input": f"{n}.md"}) for n in range(8))
    )
    lines = status(tally, 160.0)[2:]
    assert lines == [*(f"▸ {n}.md" for n in range(6)), "  … and 2 more at once"]
    tally.take(TaskEvent("input_done", "", {"input": "3.md"}))
    assert status(tally, 160.0)[-1] == "  … and 1 more at once"


def test_before_it_has_begun_and_when_it_is_fast() -> None:
    """Taking back what was done may take a while; who has hundreds a minute needs no tenths."""
    assert status(told(), 160.0) == ["getting ready …"]
    tally = told(("task_started", {**START, "total": None}))
    for _ in range(1000):
        tally.take(TaskEvent("input_done", "", {"input": "3.md"}))
    assert status(tally, 160.0)[1].endswith(" · 1,000 a minute")


def test_what_cannot_be_counted() -> None:
    """Standard input has no total, and no rest; nothing done, no rate."""
    tally = told(("task_started", {**START, "total": None, "cost": 0.0, "tokens": 0}))
    assert status(tally, 101.0) == ["facts  2 inputs", "0 tokens"]


def test_spans() -> None:
    """As a person says them."""
    assert [span(40), span(720), span(12_000)] == ["40 s", "12 min", "3 h 20 min"]
