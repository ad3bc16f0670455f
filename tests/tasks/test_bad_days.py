"""What goes wrong around a task: full disks, functions that hang or flood, clocks that jump, two
tasks on one agent. It ends soundly, says so, and goes on."""

import json
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from kernel_kit import runtime_at
from small_disk import SmallDisk, mounted
from task_kit import Bench

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import AgentInUse, BadRequest, DiskFull
from pagemind.runtime.invariants import check_state
from pagemind.runtime.message import ToolCall
from pagemind.runtime.model import ModelReply, ModelRequest, Usage
from pagemind.runtime.person import ScriptedPerson
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.settings import TOOL_MEGABYTES
from pagemind.runtime.state.ledger import Ledger
from pagemind.runtime.tasks.hired import Hiring
from pagemind.runtime.tasks.runner import run_task
from pagemind.runtime.tasks.task_file import load_task
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel
from pagemind.runtime.tool import make_tool

LINES = "inputs: {lines: in.txt}\n"
FACTS = LINES + "do: [{say: 'Take {{ input }}', save: out.jsonl}]\n"


def well(bench: Bench, agent: str = "task") -> None:
    with runtime_at(bench.folder / "home") as runtime, runtime.reader(agent) as reader:
        assert [f for f in check_state(reader.state) if f.status == "wrong"] == []


# --- budgets ------------------------------------------------------------------------------------


def test_a_budget_that_ends_in_the_middle_of_a_turn(bench: Bench) -> None:
    """The turn stops between two steps with its calls answered, the report says which budget, and
    the agent is well; with more of it the input is done."""

    def busy(request: ModelRequest) -> ModelReply:
        if len([m for m in request.messages if m.role == "tool"]) % 6 == 5:
            return ModelReply("done", usage=Usage(100, 10))
        word = str(len(request.messages))
        call = ToolCall(f"c{word}", "core_append", f'{{"block": "human", "content": "{word}"}}')
        return ModelReply("", tool_calls=(call,), usage=Usage(100, 10))

    bench.model = ScriptedModel(busy)
    text = "do: [{say: 'Work', save: out.txt}]\n"
    report = bench.run(text + "budget: {input: {steps: 3}}\n")
    assert report.row.status == "failed"
    assert report.failures == (("the task", "do.1: the input's budget is spent: 3 of 3 steps"),)
    assert report.spent.steps == 3
    well(bench)
    report = bench.run(text + "budget: {input: {steps: 30}}\n", go_on=True, retry=True)
    assert report.row.status == "done", report.failures
    well(bench)


# --- disks --------------------------------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with mounted(tmp_path / "disk", 12) as disk:
        yield disk


def test_an_output_on_a_full_disk(bench: Bench, disk: SmallDisk) -> None:
    """Its inputs fail with the reason, and nothing half written stays; --retry writes them once."""
    bench.model = ScriptedModel(lambda request: "x" * 20_000)
    text = FACTS.replace("out.jsonl", "disk/out.jsonl")
    disk.fill(30_000)
    report = bench.run(text)
    assert report.inputs["failed"] == 2
    assert "disk/out.jsonl cannot be written: no space left" in report.failures[0][1]
    assert len(bench.rows("disk/out.jsonl")) == 1
    disk.empty()
    assert bench.run(text, retry=True).row.status == "done"
    assert [row["input"] for row in bench.rows("disk/out.jsonl")] == [
        *("in.txt:1", "in.txt:2", "in.txt:4")
    ]
    assert len(bench.model.requests) == 3


def test_a_home_on_a_full_disk(bench: Bench, disk: SmallDisk) -> None:
    """The run ends with what is full; what was acknowledged stands, and is not done again."""
    bench.file("in.txt", "".join(f"{n} {'sea ' * 500}\n" for n in range(20)))
    model = ScriptedModel(lambda request: "a ship at sea " * 4_000)
    task = bench.task(FACTS.replace("{{ input }}", "{{ input }} {{ number }}"))

    def go() -> object:
        home = Runtime(disk.path / "home", embedder=HashingEmbedder(16), background=False)
        with home as runtime:
            return run_task(runtime, task, hiring=Hiring(model=model)).row.status

    disk.fill(2_500_000)
    with pytest.raises(DiskFull):
        go()
    done = len(bench.rows())
    disk.empty()
    assert go() == "done"
    assert len(bench.rows()) == 20
    assert len({row["input"] for row in bench.rows()}) == 20
    assert 0 < done < 20


@pytest.mark.parametrize("path", ["in.txt/out.jsonl", "n" * 300])
def test_a_path_that_cannot_be(bench: Bench, path: str) -> None:
    """A file in the way, a name that no file may have: the input fails, with the path."""
    bench.file("p.jsonl", json.dumps({"path": path}))
    report = bench.run(
        "inputs: {jsonl: p.jsonl}\ndo: [{save: {file: '{{ input.path }}', text: x}}]\n"
    )
    assert report.inputs["failed"] == 1
    assert "cannot be written" in report.failures[0][1]


# --- functions ----------------------------------------------------------------------------------


def function(answer: Callable[[], object], effect: str = "none") -> Callable[..., str]:
    def odd() -> str:
        """Does something odd."""
        return answer()  # type: ignore[return-value]  # that is what is tested

    return make_tool(odd, effect=effect, seconds=0.3)  # type: ignore[return-value,arg-type]  # odd on purpose


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda: 1 / 0, "odd: ZeroDivisionError: division by zero"),
        (lambda: "x" * ((TOOL_MEGABYTES << 20) + 1), "at most 16,777,216 are kept"),
        (lambda: threading.Event().wait(60), "did not answer within 0.3 seconds"),
    ],
)
def test_a_function_that_fails(bench: Bench, answer: Callable[[], object], says: str) -> None:
    """Raising, flooding or hanging fails its action, and the next input goes on."""
    bench.tools = (function(answer),)
    report = bench.run(LINES + "do: [{call: odd}]\n")
    assert report.inputs["failed"] == 3
    assert says in report.failures[0][1]


def test_a_function_that_gives_bytes(bench: Bench) -> None:
    """Text is text; what is none is kept, and named by its hash."""
    bench.tools = (function(lambda: b"\x89PNG\xff"),)
    text = "do: [{call: odd, as: got}, {save: {file: out.txt, text: '{{ got }}'}}]\n"
    bench.run(text)
    told, _, digest = bench.text("out.txt").strip(" )\n").partition(" (sha256 ")
    assert told == "5 bytes that are no text"
    with runtime_at(bench.folder / "home") as runtime, runtime.reader("task") as reader:
        assert reader.state.blobs.read(digest) == b"\x89PNG\xff"
    bench.tools = (function(lambda: "žába".encode()),)
    bench.run(text, restart=True)
    assert bench.text("out.txt") == "žába\n"


def test_a_call_of_the_world_that_hangs(bench: Bench) -> None:
    """Nobody knows whether it happened: on_unknown says what then, and a person may be asked."""
    rung: list[int] = []

    def ring() -> str:
        rung.append(1)
        if len(rung) == 1:
            threading.Event().wait(60)
        return "rung"

    bench.tools = (function(ring, effect="world"),)
    text = "do: [{call: odd, as: got}, {save: {file: out.txt, text: '[{{ got }}]'}}]\n"
    report = bench.run(text)
    assert [(q.about, q.choices) for q in report.waiting] == [("unknown", ("redo", "skip"))]
    report = bench.run(text, person=ScriptedPerson(answers=["skip"]))
    assert report.row.status == "done"
    assert (bench.text("out.txt"), len(rung)) == ("[]\n", 1)
    rung.clear()
    report = bench.run("on_error: retry\non_unknown: redo\n" + text, restart=True)
    assert (report.row.status, len(rung)) == ("done", 2)
    assert bench.text("out.txt") == "[rung]\n"


def test_a_hanging_function_can_be_stopped(bench: Bench) -> None:
    """Ctrl-C does not wait for it."""
    token = CancelToken()

    def hang() -> str:
        """Hang."""
        token.cancel()
        threading.Event().wait(600)
        return ""

    bench.tools = (hang,)
    report = bench.run("do: [{call: hang}]\n", token)
    assert report.row.status == "cancelled"


# --- clocks -------------------------------------------------------------------------------------


def test_a_clock_that_jumps(bench: Bench) -> None:
    """Wall time that falls back two days and leaps a year changes neither what is done nor its
    order nor how long it took."""
    clock = FrozenClock(datetime(2026, 3, 1, tzinfo=UTC))
    jumps = iter([-48.0, 24.0 * 365, -100.0])

    def answer(request: ModelRequest) -> str:
        clock.advance(hours=next(jumps, 0.0))
        return "ok"

    bench.file("sub.yaml", "agent: {definition: ./plain.yaml}\ndo: [{say: sub}]\n")
    text = FACTS.replace("do: [", "do: [{sub: sub.yaml}, ")
    task = bench.task(text + "budget: {task: {seconds: 100000000}}\n")
    with runtime_at(bench.folder / "home", clock) as runtime:
        report = run_task(runtime, task, hiring=Hiring(model=ScriptedModel(answer)))
        assert report.row.status == "done", report.failures
        assert report.spent.ms >= 0
        ledger = Ledger(runtime.home.database, clock)
        (outer,) = ledger.tasks()
        assert len(ledger.tasks(outer.id)) == 3
        asked = len(bench.rows())
        assert run_task(runtime, task, hiring=Hiring(model=ScriptedModel([]))).row.status == "done"
    assert len(bench.rows()) == asked == 3


# --- inputs -------------------------------------------------------------------------------------


def test_a_million_inputs_are_not_held(bench: Bench) -> None:
    """A generator of a million lines is read as far as the task comes, in the memory of a few."""
    read = [0]

    class Lines:
        def __iter__(self) -> Iterator[str]:
            for number in range(1_000_000):
                read[0] += 1
                yield f"line {number} {'x' * 1000}\n"

    left = [12]

    def answer(request: ModelRequest) -> str:
        left[0] -= 1
        if not left[0]:
            raise BadRequest("enough")
        return "ok"

    bench.model = ScriptedModel(answer, keep=1)
    text = (
        "agents: per_input\non_error: stop\ninputs: {stdin: lines}\ndo: [{say: '{{ number }}'}]\n"
    )
    tracemalloc.start()
    try:
        report = bench.run(text, stdin=Lines())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert report.inputs["done"] == 11
    assert read[0] <= 13
    assert peak < 48 << 20


# --- two on one agent ---------------------------------------------------------------------------


def test_two_tasks_on_one_agent(bench: Bench) -> None:
    """In one process the second is refused while the first runs, or waits for it; neither closes
    an agent under the other."""
    inside, over = threading.Event(), threading.Event()

    def answer(request: ModelRequest) -> str:
        inside.set()
        assert over.wait(60)
        return "ok"

    bench.model = ScriptedModel(answer)
    first = load_task(bench.file("a.yaml", f"name: a\nagent: ada\n{FACTS}"))
    second = load_task(bench.file("b.yaml", "name: b\nagent: ada\ndo: [{say: hi}]\n"))
    hiring = Hiring(model=bench.model)
    ended: list[str] = []
    with runtime_at(bench.folder / "home") as runtime:
        runtime.agent("ada", bench.folder / "plain.yaml", model=bench.model).close()
        thread = threading.Thread(
            target=lambda: ended.append(run_task(runtime, first, hiring=hiring).row.status)
        )
        thread.start()
        assert inside.wait(60)
        with pytest.raises(AgentInUse):
            run_task(runtime, second, hiring=hiring)
        threading.Timer(0.3, over.set).start()
        waiting = Hiring(model=bench.model, wait=60)
        assert run_task(runtime, second, hiring=waiting).row.status == "done"
        thread.join()
    assert ended == ["done"]


def test_an_agent_that_is_open_stays_open(bench: Bench) -> None:
    """Whoever opened it before the task goes on with it."""
    path = bench.file("a.yaml", "name: a\nagent: ada\ndo: [{say: hi}]\n")
    with runtime_at(bench.folder / "home") as runtime:
        agent = runtime.agent("ada", bench.folder / "plain.yaml", model=bench.model)
        assert run_task(runtime, load_task(path)).row.status == "done"
        assert agent.send("still there?").stop_reason == "answered"
        agent.close()


@pytest.mark.parametrize(
    ("file", "said", "told"),
    [
        ("out/{{ reply }}.txt", "../other", "other.txt is outside of "),
        ("{{ reply }}", "~/note.txt", "note.txt is outside of "),
        ("out/{{ reply }}", "/x/../../note.txt", "note.txt is outside of "),
        ("out/{{ reply }}", ".", "out is outside of "),
        ("out/{{ reply }}", "~no-such-user/note.txt", ""),
        ("{{ folder }}/{{ reply }}.txt", "sub/note", ""),
    ],
)
def test_what_an_agent_says_names_no_file_elsewhere(
    bench: Bench, file: str, said: str, told: str
) -> None:
    """It may name one below the folder that a person has written, and none outside of it."""
    bench.model = ScriptedModel(lambda request: said)
    save = f"{{file: {file!r}, text: x}}"
    text = f"vars: {{folder: ../out}}\ndo: [{{say: Name it., save: {save}}}]\n"
    inner = Bench(bench.folder / "inner", model=bench.model)
    report = inner.run(text)
    assert (report.exit_code == 0) == (told == "")
    if told:
        assert told in report.failures[0][1]
        assert not report.outputs
