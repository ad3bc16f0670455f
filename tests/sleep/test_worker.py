"""The sleep-time worker: when it runs, how it gives way, and what is told of it."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from pagemind.runtime.awake.sleepers import Sleepers
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import Cancelled, ToolFailed
from pagemind.runtime.message import Provenance
from pagemind.runtime.replay import replay
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.sleep import room
from pagemind.runtime.sleep.job import Job, SleepContext
from pagemind.runtime.sleep.worker import its_time
from pagemind.runtime.testing import ScriptedModel, call


class Counts:
    """A job that is always due and counts its runs; `does` is what a run does besides."""

    name = "counts"

    def __init__(self, does: Callable[[CancelToken], None] = lambda cancel: None) -> None:
        self.does = does

    def due(self, context: SleepContext) -> bool:
        return True

    def run(self, context: SleepContext, cancel: CancelToken) -> None:
        self.does(cancel)
        with context.held(), context.state.database.transaction():
            context.set_cursor(self.name, (context.cursor(self.name) or 0) + 1)
        context.report.count("counted")


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """What workers made in this test run."""
    found: list[Job] = []
    monkeypatch.setattr(room, "jobs_of", lambda spec: found)
    return found


def definition(when: str) -> str:
    return f"name: ada\nembedding: hashing\ntools: []\nsleep: {when}\n"


def write(tmp_path: Path, when: str) -> Path:
    path = tmp_path / "ada.yaml"
    path.write_text(definition(when), encoding="utf-8")
    return path


def test_it_is_time_as_the_definition_says(tmp_path: Path, jobs: list[Job]) -> None:
    """Never, after a turn, after N of them, or when the cron line was due; once each."""
    clock = FrozenClock()
    with Runtime(tmp_path / "home", clock=clock, background=False) as runtime:
        agent = runtime.agent("ada", write(tmp_path, "idle"), model=ScriptedModel(["a"] * 9))
        spec = agent.sleep_status().when
        assert spec == "idle"

        def due(when: str) -> bool:
            from pagemind.runtime.definition import parse_definition

            now = clock.now()
            return its_time(agent.state, parse_definition(definition(when)).sleep, now)

        assert not due("idle")
        agent.send("one")
        assert due("idle")
        assert due("every 1 turn")
        assert not due("every 2 turns")
        assert not due("off")
        assert due('"0 3 * * *"')  # never run: what was said before it was set is tended, too
        agent.sleep()
        assert not due("idle")
        agent.send("two")
        assert not due('"0 3 * * *"')
        clock.advance(seconds=86_400)
        assert due('"0 3 * * *"')
        agent.send("three")
        assert due("every 2 turns")


def test_a_turn_tells_what_was_done_before_it(tmp_path: Path, jobs: list[Job]) -> None:
    """Once, with what it used; a job that fails does not keep back the next."""

    def fails(cancel: CancelToken) -> None:
        raise ToolFailed("the disk hums")

    jobs += [Counts(fails), Counts()]
    with Runtime(tmp_path / "home", background=False) as runtime:
        agent = runtime.agent("ada", write(tmp_path, "idle"), model=ScriptedModel(["a", "b"]))
        report = agent.sleep()
        assert report.done == {"counted": 1}
        assert report.notes == ["counts: the disk hums"]
        told = [event.data for event in agent.stream("hello") if event.kind == "slept"]
        assert [each["done"] for each in told] == [{"counted": 1}]
        assert not [event for event in agent.stream("again") if event.kind == "slept"]


def test_a_turn_that_comes_has_it_give_way(tmp_path: Path, jobs: list[Job]) -> None:
    """What runs stops at once, and is due again."""
    begun = threading.Event()

    def thinks(cancel: CancelToken) -> None:
        begun.set()
        cancel.wait(60)

    jobs.append(Counts(thinks))
    with Runtime(tmp_path / "home", background=False) as runtime:
        agent = runtime.agent("ada", write(tmp_path, "idle"), model=ScriptedModel(["a", "b"]))
        agent.send("hello")
        ended: list[BaseException] = []

        def sleeps() -> None:
            try:
                agent.sleep()
            except Cancelled as error:
                ended.append(error)

        thread = threading.Thread(target=sleeps)
        thread.start()
        assert begun.wait(30)
        assert agent.send("are you there?").text == "b"
        thread.join(30)
        assert len(ended) == 1
        assert agent.sleep_status().turns == 2


def test_an_awake_home_tends_agents_at_rest(tmp_path: Path, jobs: list[Job]) -> None:
    """What was said by `send` is tended by `up`; not while nothing has come."""
    jobs.append(Counts())
    clock = FrozenClock()
    told: list[tuple[str, str]] = []
    with Runtime(tmp_path / "home", clock=clock, background=False) as runtime:
        model = ScriptedModel(["a"] * 3)
        with runtime.agent("ada", write(tmp_path, "idle"), model=model) as agent:
            agent.send("hello")
        sleepers = Sleepers(
            runtime,
            lambda name: runtime.agent(name, model=model, create=False),
            lambda kind, /, **data: told.append((kind, data["agent"])),
        )
        assert sleepers.due() == []  # it rests not long enough
        clock.advance(seconds=60)
        sleepers.run(threading.Event())
        assert told == [("slept", "ada")]
        assert sleepers.due() == []


def test_a_trace_of_an_agent_that_sleeps_can_be_replayed(tmp_path: Path, jobs: list[Job]) -> None:
    """What the worker made between two turns is there again, and nobody is asked for it."""

    class Keeps(Counts):
        def run(self, context: SleepContext, cancel: CancelToken) -> None:
            reply = context.ask("What is to be kept?", max_tokens=9, cancel=cancel)
            with context.held():
                made = Provenance("model", trust=80)
                what = {"tags": (), "importance": None, "metadata": {}, "seq": 0}
                context.state.passages.insert(reply.text, **what, provenance=made, author="worker")
            context.report.count("added")

    jobs.append(Keeps())
    trace = tmp_path / "trace.jsonl"
    look = [call("archival_search", query="boat")]
    model = ScriptedModel(["Aye.", "The boat is Nomad.", look, "Nomad."])
    path = tmp_path / "ada.yaml"
    path.write_text(definition("idle").replace("[]", "[archival]"), encoding="utf-8")
    clock = FrozenClock()
    with Runtime(tmp_path / "home", clock=clock, background=False, trace=trace) as runtime:
        agent = runtime.agent("ada", path, model=model)
        agent.send("My boat is called Nomad.")
        agent.sleep()
        assert agent.send("What is my boat called?").text == "Nomad."
    assert "Nomad" in next(
        line for line in trace.read_text().splitlines() if '"tool_returned"' in line
    )
    replayed = replay(trace)
    assert replayed.difference is None
    assert replayed.turns == 2
