"""`wait` in a task: until a time, with the machine's clock or a simulated one."""

from datetime import UTC, datetime

import pytest
from kernel_kit import runtime_at
from task_kit import Bench

from pagemind.runtime.clock import SimulatedClock
from pagemind.runtime.definition import load_definition
from pagemind.runtime.errors import UserError
from pagemind.runtime.event import UserMessage
from pagemind.runtime.state.mailbox import Mailbox
from pagemind.runtime.tasks.events import TaskEvent
from pagemind.runtime.tasks.hired import Hiring
from pagemind.runtime.tasks.runner import run_task


def test_a_short_wait_is_waited(bench: Bench) -> None:
    """With the machine's clock; a time that is over holds nothing up."""
    text = 'do: [{wait: "in 0.1 seconds"}, {wait: "2001-01-01 00:00"}, {say: Go.}]\n'
    events = list[TaskEvent]()
    with runtime_at(bench.folder / "home", SimulatedClock()) as runtime:
        hiring = Hiring(model=bench.model)
        report = run_task(runtime, bench.task(text), hiring=hiring, watch=events.append)
    assert report.exit_code == 0
    assert [event.data["action"] for event in events if event.kind == "action_done"] == [
        "wait",
        "wait",
        "say",
    ]


def test_an_event_that_can_never_be_handled_is_put_aside(bench: Bench) -> None:
    """It is told, and what comes after it is handled; the task goes on."""
    events = list[TaskEvent]()
    with runtime_at(bench.folder / "home", SimulatedClock()) as runtime:
        agent = runtime.agent(
            "ada", load_definition(bench.folder / "plain.yaml"), model=bench.model
        )
        agent.send("Said before.", id="one")
        mailbox = Mailbox(runtime.home.database, runtime.clock)
        mailbox.put(agent.id, UserMessage("Something else."), "one")
        mailbox.put(agent.id, UserMessage("And this."), "two")
        task = bench.task('do: [{wait: "in 0.1 seconds"}, {say: Go.}]\n', head="agent: ada\n")
        report = run_task(runtime, task, hiring=Hiring(model=bench.model), watch=events.append)
        assert report.exit_code == 0
        (aside,) = mailbox.all(agent.id)
        assert (aside.id, aside.aside) == ("one", True)
        assert agent.send("And this.", id="two").text == "re And this."
    (told,) = (event.data for event in events if event.kind == "warning")
    assert "put aside: id 'one' was used before for another text" in told["reason"]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("soonish", "'soonish' is no time"),
        ("every 2 hours", "give one time"),
        ("2026-03-02", "say at what time"),
    ],
)
def test_what_is_no_time_is_told(bench: Bench, written: str, told: str) -> None:
    """The input is given up, with the reason."""
    report = bench.run(f"do: [{{wait: {written!r}}}]\n")
    assert told in report.failures[0][1]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("clock: soon\ndo: [{say: x}]\n", "write 2026-03-02 08:00"),
        ("clock: 7\ndo: [{say: x}]\n", "such as 2026-03-02 08:00"),
        (
            "clock: 2026-03-02 08:00\nagents: per_input\nat_once: 2\ninputs: {lines: in.txt}\n"
            "do: [{say: x}]\n",
            "one for all that runs",
        ),
        ("do: [{wait: 'in 1 hour', save: x.txt}]\n", "save does not go with wait"),
        ("do: [{wait: '{{ nothing }}'}]\n", "nothing"),
    ],
)
def test_what_a_file_gets_wrong_is_told_before_it_runs(bench: Bench, text: str, told: str) -> None:
    """With its line."""
    with pytest.raises(UserError) as caught:
        bench.task(text)
    assert told in caught.value.message


def test_a_simulated_clock_stands_and_never_goes_back() -> None:
    """Until it is set it is the machine's."""
    clock = SimulatedClock()
    assert not clock.simulated
    assert clock.now() > datetime(2026, 1, 1, tzinfo=UTC)
    clock = SimulatedClock()
    clock.simulate(datetime(2020, 5, 1, tzinfo=UTC))
    clock.simulate(datetime(2019, 5, 1, tzinfo=UTC))
    assert clock.now() == clock.now() == datetime(2020, 5, 1, tzinfo=UTC)
    assert clock.new_id() < clock.new_id()
