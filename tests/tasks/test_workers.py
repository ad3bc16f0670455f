"""Inputs are done by the workers of an executor, and all that comes of them is here, once."""

import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kernel_kit import runtime_at
from task_kit import Bench

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import BadRequest, UserError
from pagemind.runtime.model import ModelReply, ModelRequest, Usage
from pagemind.runtime.state.ledger import Ledger
from pagemind.runtime.tasks.handing_in import HandingIn
from pagemind.runtime.tasks.processes import Processes
from pagemind.runtime.testing import ScriptedModel

INPUTS = "agents: per_input\ninputs: {lines: in.txt}\n"
FACTS = INPUTS + 'do:\n  - {say: "Take {{ input }}", save: out.jsonl}\n'
LINES = ["one", "two", "three", "four", "five", "six"]


@pytest.fixture
def six(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Six lines. Workers elsewhere have their homes below this test's folder, too."""
    monkeypatch.setenv("PAGEMIND_HOME", str(tmp_path / "elsewhere"))
    bench.file("in.txt", "\n".join(LINES))
    return bench


@pytest.fixture
def pool() -> Iterator[Executor]:
    with ThreadPoolExecutor(3) as made:
        yield made


def done_once(bench: Bench, saying: Callable[[str], str] = lambda line: f"re Take {line}") -> None:
    """Every input has one row, whoever did it."""
    assert Counter(row["input"] for row in bench.rows()) == {f"in.txt:{n}": 1 for n in range(1, 7)}
    assert sorted(row["reply"] for row in bench.rows()) == sorted(map(saying, LINES))


def test_the_ledger_is_the_one_who_sent(six: Bench, pool: Executor) -> None:
    """Rows, actions, spending and events are here; the workers' agents and ledgers are gone."""
    six.model = ScriptedModel(
        lambda request: ModelReply(
            f"re {request.messages[-1].text.rpartition('] ')[2]}", usage=Usage(10, 1), cost=0.5
        )
    )
    text = FACTS + 'at_end: [{say: "{{ done }}", save: end.txt}]\n'
    report = six.run(text, executor=pool)
    assert report.row.status == "done", report
    done_once(six)
    assert six.text("end.txt") == "re 6\n"
    assert report.actions["done"] == 6 * 2 + 2
    assert (report.spent.tokens, report.spent.cost) == (7 * 11, 3.5)
    kinds = Counter(event.kind for event in six.events)
    assert (kinds["input_started"], kinds["input_done"], kinds["action_done"]) == (6, 7, 14)
    with runtime_at(six.folder / "home") as runtime:
        assert [each.name for each in runtime.home.all()] == ["task"]  # that of at_end
    with runtime_at(six.folder / "home" / "workers" / "worker-1") as runtime:
        assert runtime.home.all() == []
        assert not runtime.home.database.number("SELECT count(*) FROM task_actions")
    assert six.run(text, executor=pool).row.status == "done"
    done_once(six)


def test_agents_come_back_where_that_is_asked(six: Bench, pool: Executor) -> None:
    """Each under the name that it would have had here; --restart takes them away again."""
    report = six.run(FACTS, executor=pool, keep_agents=True)
    assert report.row.status == "done", report.row.why
    assert [six.said(f"task {n}")[0][-3:] for n in (1, 2, 6)] == ["one", "two", "six"]
    assert not list((six.folder / "home" / "tasks").glob("*/agents/*"))
    six.run(FACTS, executor=pool, keep_agents=True, restart=True)
    done_once(six)
    assert len(six.said("task 1")) == 1


def test_an_input_that_failed_has_written_nothing(six: Bench, pool: Executor) -> None:
    """All of it or nothing; --retry does the whole of it anew, and both are on the bill."""
    six.model = ScriptedModel(lambda request: ModelReply("ok", usage=Usage(10, 1)))
    refused = [True]

    def answer(request: ModelRequest) -> ModelReply:
        if "again three" in request.messages[-1].text and refused.pop():
            refused.append(False)
            raise BadRequest("no")
        return ModelReply("ok", usage=Usage(10, 1))

    six.model = ScriptedModel(answer)
    text = FACTS + '  - {say: "again {{ input }}"}\n'
    report = six.run(text, executor=pool)
    assert report.failures == (("in.txt:3", "do.2: no"),)
    assert [row["input"] for row in six.rows() if row["input"] == "in.txt:3"] == []
    assert report.actions == {"done": 15, "failed": 1, "skipped": 0}
    spent = report.spent.tokens
    report = six.run(text, executor=pool, retry=True)
    assert report.row.status == "done", report.failures
    assert report.actions == {"done": 18, "failed": 0, "skipped": 0}
    assert report.spent.tokens == spent + 2 * 11
    done_once(six, lambda line: "ok")


def test_calls_on_the_world_that_came_back_are_not_made_again(six: Bench, pool: Executor) -> None:
    """Also where all else of the input is done anew."""
    rung: list[str] = []

    def ring(line: str) -> str:
        """Ring the bell of the world."""
        rung.append(line)
        return f"rung {line}"

    six.tools = (ring,)
    six.model = ScriptedModel([BadRequest("no")], after="ok")
    text = (
        INPUTS + "do:\n  - {call: ring, with: {line: '{{ input }}'}, as: bell}\n"
        "  - {say: '{{ bell }}', save: out.jsonl}\n"
    )
    assert six.run(text, executor=pool, at_once=1).row.status == "partial"
    assert six.run(text, executor=pool, retry=True).row.status == "done"
    assert sorted(rung) == sorted(LINES)


def test_the_budget_and_stop_end_it(six: Bench, pool: Executor) -> None:
    """What was begun by a worker and not ended is begun anew by the next run."""
    six.model = ScriptedModel(lambda request: ModelReply("ok", usage=Usage(100, 0)))
    report = six.run(FACTS + "budget: {task: {tokens: 250}}\n", executor=pool, at_once=1)
    assert report.exit_code == 5
    assert "the task's budget is spent" in report.row.why
    assert report.inputs["done"] == 2
    more = FACTS + "budget: {task: {tokens: 2500}}\n"
    assert six.run(more, executor=pool, go_on=True).row.status == "done"
    done_once(six, lambda line: "ok")


def test_a_person_ends_it(six: Bench, pool: Executor) -> None:
    """Workers that share the file system see it between two steps."""
    token = CancelToken()
    stopped = threading.Event()

    def answer(request: ModelRequest) -> str:
        token.cancel()
        stopped.wait(3)  # until the worker may have seen it
        return "ok"

    six.model = ScriptedModel(answer)
    report = six.run(FACTS, token, executor=pool)
    assert report.row.status == "cancelled"
    assert report.failures == ()
    six.model = ScriptedModel(after="ok")
    assert six.run(FACTS, executor=pool).row.status == "done"
    done_once(six, lambda line: "ok")


class Twice(ThreadPoolExecutor):
    """An engine that does everything twice, and gives the second result."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        fn(*args, **kwargs)
        future.set_result(fn(*args, **kwargs))
        return future


def test_what_comes_twice_counts_once(six: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Done twice by an engine, or handed in twice."""
    hand_in = HandingIn.hand_in

    def again(self: HandingIn, *arguments: Any) -> None:
        hand_in(self, *arguments)
        hand_in(self, *arguments)

    monkeypatch.setattr(HandingIn, "hand_in", again)
    report = six.run(FACTS, executor=Twice())
    assert report.row.status == "done", report.row.why
    done_once(six)
    assert report.actions["done"] == 12


def test_what_was_begun_here_goes_on_here(six: Bench, pool: Executor) -> None:
    """An agent of this home has begun it: no other one knows what it knows."""
    six.model = ScriptedModel(["ok", BadRequest("no")], after="ok")
    text = "on_error: stop\n" + FACTS + '  - {say: "again {{ input }}"}\n'
    assert six.run(text).row.status == "failed"
    assert six.run(text, executor=pool).row.status == "done"
    done_once(six, lambda line: "ok")
    assert len(six.said("task 1")) == 2


def test_what_cannot_be_sent_is_told(six: Bench) -> None:
    """Before anything is done: a function without a name, one agent for all, no such executor."""
    six.model = ScriptedModel(lambda request: "ok")
    processes = Processes(1)
    with pytest.raises(UserError, match="the model cannot be sent to another process"):
        six.run(FACTS, executor=processes)
    with pytest.raises(UserError, match="agents: per_input"):
        six.run(FACTS.replace("agents: per_input\n", ""), executor=processes)
    with pytest.raises(UserError, match="is no executor"):
        six.run(FACTS, executor="ray://x")


# --- processes that die -------------------------------------------------------------------------


class Deadly:
    """A model that goes by its name. Whoever is first to be asked about `three` dies of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._model = ScriptedModel(after="ok")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._model, name)

    def __getstate__(self) -> Path:
        return self._folder

    def __setstate__(self, folder: Path) -> None:
        self.__init__(folder)  # type: ignore[misc]  # it is made anew where it is unpacked

    def complete(self, request: ModelRequest, **more: Any) -> ModelReply:
        told = request.messages[-1].text
        with (self._folder / "asked.txt").open("a") as file:
            file.write(f"{os.getpid()} {told.split()[-1]}\n")
        if "three" in told:
            try:
                (self._folder / "died").touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return ModelReply("ok", usage=Usage(10, 1))


needs_kill = pytest.mark.skipif(sys.platform == "win32", reason="kills itself with SIGKILL")


@needs_kill
def test_a_process_that_dies_loses_nothing(six: Bench) -> None:
    """Its input is done once by another process; the others' are not touched."""
    six.model = Deadly(six.folder)
    processes = Processes(2)
    try:
        report = six.run(FACTS, executor=processes)
    finally:
        processes.shutdown(wait=False)
    assert report.row.status == "done", report.row.why
    done_once(six, lambda line: "ok")
    asked = [line.split() for line in six.text("asked.txt").splitlines()]
    assert Counter(line for _, line in asked) == {**dict.fromkeys(LINES, 1), "three": 2}
    assert len({pid for pid, line in asked if line == "three"}) == 2
    assert [event.data["input"] for event in six.events if event.kind == "warning"] == ["in.txt:3"]


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """A scheduler with two workers, each a process."""
    distributed = pytest.importorskip("distributed")
    made = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        local_directory=str(folder / "dask"),
        silence_logs=50,
    )
    try:
        yield made.scheduler_address.replace("tcp://", "dask://")
    finally:
        made.close()


@needs_kill
def test_a_cluster(six: Bench) -> None:
    """Dask: a worker that dies in an input loses nothing, and agents come back from its homes."""
    six.model = Deadly(six.folder)
    with cluster(six.folder) as address:
        report = six.run(FACTS, executor=address, keep_agents=True)
    assert report.row.status == "done", report.row.why
    done_once(six, lambda line: "ok")
    asked = Counter(line.split()[1] for line in six.text("asked.txt").splitlines())
    assert asked["three"] == 2
    assert [len(six.said(f"task {n}")) for n in range(1, 7)] == [1] * 6
    assert (six.folder / "elsewhere" / "workers" / "worker-1").is_dir()


def test_a_cluster_that_is_not_there(six: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told before the task is begun."""
    pytest.importorskip("distributed")
    monkeypatch.setattr("pagemind.runtime.tasks.executors.TASK_CLUSTER_SECONDS", 1)
    with pytest.raises(UserError, match="no scheduler answers at dask://127"):
        six.run(FACTS, executor="dask://127.0.0.1:9")
    with runtime_at(six.folder / "home") as runtime:
        assert Ledger(runtime.home.database, runtime.clock).tasks() == []
