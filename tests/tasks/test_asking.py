"""What a task may not decide a person is asked; where nobody is, it waits for an answer."""

import contextlib
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from kernel_kit import runtime_at
from task_kit import PLAIN, Bench

from pagemind.runtime.errors import BadRequest
from pagemind.runtime.message import ToolCall
from pagemind.runtime.model import ModelReply, ModelRequest
from pagemind.runtime.person import ApprovalRequest, Consent, ScriptedPerson
from pagemind.runtime.state.ledger import Ledger
from pagemind.runtime.testing import ScriptedModel

LINES = "inputs: {lines: in.txt}\n"
ASKING = LINES + "on_error: ask\ndo: [{say: 'Take {{ input }}', save: out.jsonl}]\n"
END = "at_end: [{say: 'End {{ done }}', save: end.txt}]\n"
GUARDED = PLAIN.replace("core_append,", "core_append: {rule: ask},").replace(
    "tools: [core_append: {rule: ask}, archival_insert, recall_search]",
    "tools: [{core_append: {rule: ask}}, archival_insert, recall_search]",
)


def failing(times: int) -> ScriptedModel:
    """What is said of two fails so often."""
    left = [times]

    def answer(request: ModelRequest) -> str:
        if "two" in request.messages[-1].text and left[0]:
            left[0] -= 1
            raise BadRequest("no such thing")
        return "ok"

    return ScriptedModel(answer)


def replies(bench: Bench) -> list[str]:
    return [row["input"] for row in bench.rows()]


# --- an action that failed ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "status", "inputs"),
    [
        (["retry", "r"], "done", ["in.txt:1", "in.txt:2", "in.txt:4"]),
        (["what?", "sk"], "partial", ["in.txt:1", "in.txt:4"]),
        (["stop"], "partial", ["in.txt:1"]),
    ],
)
def test_a_person_says_what_then(
    bench: Bench, answers: list[str], status: str, inputs: list[str]
) -> None:
    """retry, skip or stop, or the beginning of the word; another word is asked about again."""
    bench.model = failing(2)
    person = ScriptedPerson(answers=answers)
    report = bench.run(ASKING, person=person)
    assert (report.row.status, replies(bench)) == (status, inputs)
    assert person.asked[0] == "in.txt:2: do.1 failed: no such thing"


def test_with_nobody_there_it_waits(bench: Bench) -> None:
    """The others go on, the end does not come; it waits through further runs until it is told."""
    bench.model = failing(1)
    report = bench.run(ASKING + END)
    assert (report.row.status, report.exit_code) == ("partial", 3)
    assert report.inputs == {"done": 2, "failed": 0, "running": 0, "waiting": 1}
    assert [q.text for q in report.waiting] == ["in.txt:2: do.1 failed: no such thing"]
    assert not report.failures
    assert not (bench.folder / "end.txt").exists()
    assert bench.run(ASKING + END).inputs["waiting"] == 1
    assert len(bench.model.requests) == 3
    assert bench.run(ASKING + END, on_error="retry").row.status == "done"
    assert replies(bench) == ["in.txt:1", "in.txt:4", "in.txt:2"]
    assert bench.text("end.txt") == "ok\n"


def test_an_answer_is_kept(bench: Bench) -> None:
    """Given to the ledger, it is taken by the next run."""
    bench.model = failing(9)
    bench.run(ASKING)
    with runtime_at(bench.folder / "home") as runtime:
        ledger = Ledger(runtime.home.database, runtime.clock)
        task = ledger.task("task")
        assert task is not None
        (question,) = ledger.questions.open(task.id)
        assert (question.input, question.about) == ("in.txt:2", "failed")
        ledger.questions.answer(question, "skip")
    report = bench.run(ASKING)
    assert report.failures == (("in.txt:2", "do.1: no such thing"),)
    assert bench.run(ASKING, retry=True).inputs["waiting"] == 1  # it failed again, and asks again


def test_the_end_may_wait_too(bench: Bench) -> None:
    """What fails under at_end is asked about; nothing before it is done again."""
    bench.model = ScriptedModel(["ok", "ok", "ok", BadRequest("no")], after="end")
    report = bench.run(ASKING + END)
    assert (report.row.status, report.inputs["done"]) == ("partial", 3)
    assert [q.text for q in report.waiting] == ["at_end.1 failed: no"]
    assert bench.run(ASKING + END).waiting
    assert bench.run(ASKING + END, on_error="retry").row.status == "done"
    assert bench.text("end.txt") == "end\n"
    assert len(bench.model.requests) == 5


def test_what_was_left_behind_is_said_anew(bench: Bench) -> None:
    """A failed turn is taken up only as long as nothing else was said to the agent since."""
    bench.model = failing(1)
    bench.run(ASKING)
    bench.run(ASKING, on_error="retry")
    assert bench.model.requests[-1].messages[-1].role == "user"
    assert "Take two" in bench.model.requests[-1].messages[-1].text
    assert [text[-8:] for text in bench.said()] == ["Take one", "Take two", "ke three", "Take two"]


# --- a call that wants consent ------------------------------------------------------------------


@dataclass
class Noting:
    """A model that notes what it is told about, once, and says what came of it."""

    heard: list[str] = field(default_factory=list)

    def __call__(self, request: ModelRequest) -> ModelReply:
        last = request.messages[-1]
        if last.role == "tool":
            self.heard.append(last.text)
            return ModelReply("noted")
        word = last.text.split()[-1]
        arguments = f'{{"block": "human", "content": "{word}"}}'
        return ModelReply("", tool_calls=(ToolCall(f"c-{word}", "core_append", arguments),))


SAYING = LINES + "do: [{say: 'Note {{ input }}', save: out.jsonl}]\n"
CALLING = LINES + "do: [{call: core_append, with: {block: human, content: '{{ input }}'}, as: x}]\n"


@pytest.fixture
def guarded(bench: Bench) -> Bench:
    """core_append asks."""
    bench.file("plain.yaml", GUARDED)
    bench.model = ScriptedModel(Noting())
    return bench


def human(bench: Bench, agent: str = "task") -> str:
    with runtime_at(bench.folder / "home") as runtime, runtime.reader(agent) as reader:
        return reader.state.blocks.all()[0].value


@pytest.mark.parametrize("text", [SAYING, CALLING])
def test_consent_of_a_person(guarded: Bench, text: str) -> None:
    """It is asked for each call, in a turn and directly; where it is refused nothing is done."""
    person = ScriptedPerson(allow=frozenset({"core_append"}))
    assert guarded.run(text, person=person).row.status == "done"
    assert human(guarded) == "Sam\none\ntwo\nthree"
    assert len(person.asked) == 3
    guarded.run(text, person=ScriptedPerson(), restart=True)
    assert human(guarded) == "Sam"


@pytest.mark.parametrize("text", [SAYING, CALLING])
def test_consent_once_and_for_all(guarded: Bench, text: str) -> None:
    """Said of the first call it holds for the agent's others."""

    class Always(ScriptedPerson):
        def approve(self, request: ApprovalRequest) -> Consent | None:
            self.asked.append(request)
            return Consent(True, always=True)

    person = Always()
    assert guarded.run(text, person=person).row.status == "done"
    assert human(guarded) == "Sam\none\ntwo\nthree"
    assert len(person.asked) == 1


@pytest.mark.parametrize("text", [SAYING, CALLING])
def test_consent_by_policy(guarded: Bench, text: str) -> None:
    """on_approval: allow or deny, of the task or of one action; nobody is asked."""
    person = ScriptedPerson()
    assert guarded.run("on_approval: allow\n" + text, person=person).row.status == "done"
    assert human(guarded) == "Sam\none\ntwo\nthree"
    report = guarded.run("on_approval: deny\n" + text, restart=True)
    assert human(guarded) == "Sam"
    assert report.row.status == ("done" if text is SAYING else "failed")
    one = text.replace("do: [{", "do: [{on_approval: allow, ")
    guarded.run("on_approval: deny\n" + one, restart=True)
    assert human(guarded) == "Sam\none\ntwo\nthree"
    assert person.asked == []


def test_a_turn_waits_for_consent(guarded: Bench) -> None:
    """With one agent nothing else can be said to it: the task waits; then the very turn goes on."""
    report = guarded.run(SAYING)
    assert (report.row.status, report.exit_code) == ("partial", 3)
    assert [q.about for q in report.waiting] == ["approval"]
    assert "core_append" in report.waiting[0].text
    asked = len(guarded.model.requests)
    assert guarded.run(SAYING).inputs["waiting"] == 1
    assert len(guarded.model.requests) == asked
    for _ in range(3):
        report = guarded.run(SAYING, approval="approve")
    assert report.row.status == "done", report.failures
    assert human(guarded) == "Sam\none\ntwo\nthree"
    assert [text[-8:] for text in guarded.said()] == ["Note one", "Note two", "te three"]


def test_consent_that_was_given_to_the_agent(guarded: Bench) -> None:
    """`agent.approve()` is an answer, too."""
    guarded.run(SAYING)
    with runtime_at(guarded.folder / "home") as runtime:
        agent = runtime.agent("task", model=guarded.model)
        assert agent.approve().text == "noted"
        agent.close()
    report = guarded.run(SAYING)
    assert report.inputs["done"] == 1
    assert human(guarded) == "Sam\none"


def test_others_go_on_beside_one_that_waits(guarded: Bench) -> None:
    """With an agent for each input they all come as far as they can."""
    text = "agents: per_input\n" + SAYING
    assert guarded.run(text).inputs["waiting"] == 3
    assert guarded.run(text, approval="deny").row.status == "done"
    assert human(guarded, "task 2") == "Sam"
    assert [row["reply"] for row in guarded.rows()] == ["noted"] * 3


def test_a_direct_call_waits_for_consent(guarded: Bench) -> None:
    """It surely was not made: it is no call that may have happened."""
    assert guarded.run(CALLING).inputs["waiting"] == 3
    assert human(guarded) == "Sam"
    assert guarded.run(CALLING, approval="approve").row.status == "done"
    assert human(guarded) == "Sam\none\ntwo\nthree"


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_cut_off_at_the_question_nothing_was_called(bench: Bench, end: type[BaseException]) -> None:
    """Ctrl-C or a kill there: the next run asks for consent again, and not whether it happened."""

    class Gone(ScriptedPerson):
        def approve(self, request: ApprovalRequest) -> Consent | None:
            raise end

    bench.file("plain.yaml", PLAIN.replace("tools: [", "tools: [shell, "))
    ring = "call: shell, with: {command: echo rung}"
    text = f"do: [{{{ring}, save: {{file: x, text: '{{{{ result }}}}'}}}}]\n"
    with contextlib.suppress(SystemExit):
        assert bench.run(text, person=Gone()).row.status == "cancelled"
    person = ScriptedPerson(allow=frozenset({"shell"}))
    assert bench.run(text, person=person).row.status == "done"
    assert [type(each) for each in person.asked] == [ApprovalRequest]
    assert bench.text("x") == "rung\n"


def test_a_function_that_is_not_allowed(guarded: Bench) -> None:
    """rule: deny holds for direct calls as well."""
    guarded.file("plain.yaml", GUARDED.replace("rule: ask", "rule: deny"))
    report = guarded.run("on_approval: allow\n" + CALLING)
    assert report.failures[0][1] == "do.1: core_append is not allowed for this agent"


# --- inside a task ------------------------------------------------------------------------------


def test_a_question_inside_a_task(bench: Bench) -> None:
    """It is that of the outer one, whose input waits; answered there it goes on in both."""
    bench.file("sub.yaml", "agent: {definition: ./plain.yaml}\n" + ASKING)
    bench.model = failing(1)
    outer = "do: [{sub: sub.yaml}, {save: {file: seen.txt, text: '{{ result.done }}'}}]\n"
    report = bench.run(outer)
    assert (report.row.status, report.inputs["waiting"]) == ("partial", 1)
    assert [(q.task, q.input) for q in report.waiting] == [("task/do.1", "in.txt:2")]
    assert bench.run(outer).inputs["waiting"] == 1
    assert bench.run(outer, on_error="retry").row.status == "done"
    assert bench.text("seen.txt") == "3\n"


def test_asked_of_several_at_once(bench: Bench) -> None:
    """One question after another, each of one input."""

    @dataclass
    class Alone(ScriptedPerson):
        inside: int = 0
        most: int = 0

        def ask(self, question: str, choices: object) -> str | None:
            self.inside += 1
            self.most = max(self.most, self.inside)
            self.asked.append(question)
            self.inside -= 1
            return "skip"

    bench.model = ScriptedModel([BadRequest("no")] * 3)
    person = Alone()
    report = bench.run("agents: per_input\nat_once: 3\n" + ASKING, person=person)
    assert report.inputs["failed"] == 3
    assert (len(person.asked), person.most) == (3, 1)


def test_others_write_while_a_person_is_asked_about_a_file(bench: Bench) -> None:
    """Who waits for an answer keeps nobody from their own files."""
    (bench.folder / "a.out").mkdir()
    written = bench.folder / "b.out"
    there: list[bool] = []
    asked = threading.Event()

    def answer(request: ModelRequest) -> str:
        if request.messages[-1].text.endswith("b"):
            asked.wait(30)
        return "ok"

    class Slow(ScriptedPerson):
        def ask(self, question: str, choices: Sequence[str]) -> str:
            asked.set()
            for _ in range(200):
                if written.exists():
                    break
                time.sleep(0.05)
            there.append(written.exists())
            return "skip"

    bench.file("in.txt", "a\nb\n")
    text = (
        "agents: per_input\nat_once: 2\ninputs: {lines: in.txt}\non_error: ask\n"
        'do: [{say: "{{ input }}", save: "{{ input }}.out"}]\n'
    )
    bench.model = ScriptedModel(answer)
    report = bench.run(text, person=Slow())
    assert (there, report.inputs["done"], report.inputs["failed"]) == ([True], 1, 1)
