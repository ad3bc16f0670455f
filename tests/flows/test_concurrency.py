"""Many callers of one agent, many agents in one home: in order, side by side, nothing lost."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from kernel_kit import everything, runtime_at, small
from processes import python

from pagemind.runtime.errors import AgentInUse, LostAgent, ModelUnreachable, UserError
from pagemind.runtime.model import ModelReply, ModelRequest
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.testing import ScriptedModel, call

# What a child shares: a runtime on the home, and a model that appends what it is told to core
# memory, then answers. "go" is awaited where the parent wants to choose the moment.
CHILD = """
    import sys
    from pathlib import Path
    from pagemind.runtime.runtime import Runtime
    from pagemind.runtime.testing import HashingEmbedder, ScriptedModel, call

    home, name, *words = sys.argv[1:]

    def answer(request):
        last = request.messages[-1]
        if last.role == "tool":
            return "Noted."
        return call("core_append", block="human", content=last.text[-12:])

    def runtime():
        return Runtime(home, embedder=HashingEmbedder(32), background=False)

    def say(*what):
        print(*what, flush=True)
"""


def noting(request: ModelRequest) -> object:
    """Appends what it is told to core memory, then answers."""
    last = request.messages[-1]
    if last.role == "tool":
        return "Noted."
    return call("core_append", block="human", content=last.text.split("] ")[-1])


def at_once(jobs: Sequence[Callable[[], object]]) -> list[object]:
    """Run these in threads that start together; what each gave."""
    gate = threading.Barrier(len(jobs))

    def run(job: Callable[[], object]) -> object:
        gate.wait()
        return job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return [each.result(120) for each in [pool.submit(run, job) for job in jobs]]


# --- one agent, many threads --------------------------------------------------------------------


def test_ten_threads_on_one_agent_are_served_in_turn(tmp_path: Path) -> None:
    """Every message is answered, turns do not mix, seq has no gap, and no edit is lost."""
    model = ScriptedModel(noting)
    told = [f"fact {number:02d}" for number in range(30)]
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("ada", small(8192, limit=2000), model=model)

        def talk(share: Sequence[str]) -> list[str]:
            return [agent.send(text).stop_reason for text in share]

        jobs = [lambda share=told[at::10]: talk(share) for at in range(10)]
        stops = [stop for share in at_once(jobs) for stop in share]
        assert stops == ["answered"] * 30
        stored = everything(agent)
        assert [m.seq for m in stored] == list(range(1, len(stored) + 1))
        assert sorted(agent.context.core.get("human").value.split("\n")) == told
        # Each turn is whole: message, call, result, answer, one after the other.
        talk_only = [m for m in stored if m.kind == "talk"]
        for at in range(0, len(talk_only), 4):
            group = talk_only[at : at + 4]
            assert [m.role for m in group] == ["user", "assistant", "tool", "assistant"]
            assert len({m.turn for m in group}) == 1
        assert agent.state.turns.unfinished() == []


def test_threads_that_open_an_agent_together_get_the_same_one(tmp_path: Path) -> None:
    """It is made once and opened once."""
    with runtime_at(tmp_path) as runtime:
        model = ScriptedModel(after="Yes.")
        opened = at_once([lambda: runtime.agent("ada", small(), model=model)] * 10)
        assert len({id(agent) for agent in opened}) == 1
        assert len(runtime.agents()) == 1


def test_one_client_id_from_two_threads_is_answered_once(tmp_path: Path) -> None:
    """A retry that overtakes its first try gets the same turn, and the model is asked once."""
    entered = threading.Event()

    class Slow(ScriptedModel):
        def complete(self, request: ModelRequest, **more: object) -> ModelReply:
            entered.set()
            time.sleep(0.2)
            return super().complete(request, **more)

    model = Slow(["Yes.", "Again?"])
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("ada", small(), model=model)
        both = at_once([lambda: agent.send("Are you there?", id="m-1")] * 2)
        assert entered.is_set()
        assert {(turn.turn, turn.text) for turn in both} == {(1, "Yes.")}
        assert [m.text for m in everything(agent)] == ["Are you there?", "Yes."]
        assert len(model.requests) == 1


def test_observations_come_in_between_turns(tmp_path: Path) -> None:
    """What is observed while a turn runs is recorded after it, never inside of it."""
    with runtime_at(tmp_path) as runtime:
        # What the sky says is untrusted: noting is refused, and not tried again without it.
        definition = small(8192, limit=2000, more="trust: {aside: never}\n")
        agent = runtime.agent("ada", definition, model=ScriptedModel(noting))
        jobs: list[Callable[[], object]] = [
            *(lambda n=n: agent.send(f"fact {n}") for n in range(5)),
            *(lambda n=n: agent.observe(f"rain {n}", source="sky") for n in range(5)),
        ]
        at_once(jobs)
        stored = everything(agent)
        assert sum(m.kind == "observation" for m in stored) == 5
        inside = [m.turn for m in stored if m.kind == "talk"]
        assert inside == sorted(inside)
        for turn in set(inside):
            seqs = [m.seq for m in stored if m.kind == "talk" and m.turn == turn]
            assert seqs == list(range(seqs[0], seqs[0] + 4))


# --- one agent, several processes ---------------------------------------------------------------


def test_a_second_process_is_refused_or_waits(tmp_path: Path) -> None:
    """Without a wait the agent is in use; with one the turn is answered as soon as it is free."""
    with runtime_at(tmp_path) as runtime:
        runtime.agent("ada", small(8192), model=ScriptedModel(["One."])).send("Hello.")
    script = (
        CHILD
        + """
    with runtime() as one:
        agent = one.agent(name, model=ScriptedModel(answer))
        say("held")
        sys.stdin.readline()
        agent.send("from child 1")
    say("done")
    """
    )
    child = python(script, tmp_path, "ada")
    assert child.stdout is not None
    assert child.stdin is not None
    assert child.stdout.readline() == "held\n"
    with runtime_at(tmp_path) as runtime:
        with pytest.raises(AgentInUse) as refused:
            runtime.agent("ada", model=ScriptedModel())
        assert refused.value.exit_code == 75
        assert "--wait" in refused.value.hint
        child.stdin.write("go\n")
        child.stdin.flush()
        agent = runtime.agent("ada", model=ScriptedModel(["Two."]), wait=60)
        assert agent.send("Still here?").text == "Two."
        said = [m.text for m in everything(agent) if m.role == "user"]
        assert said == ["Hello.", "from child 1", "Still here?"]
        assert agent.context.core.get("human").value == "from child 1"
    child.communicate()


def test_processes_that_wait_for_each_other_lose_nothing(tmp_path: Path) -> None:
    """Three processes edit one block in turn; every edit and every message is there."""
    with runtime_at(tmp_path) as runtime:
        runtime.create("ada", small(8192, limit=2000))
    script = (
        CHILD
        + """
    for number in range(4):
        with runtime() as one, one.agent(name, model=ScriptedModel(answer), wait=120) as agent:
            turn = agent.send(f"{words[0]} fact {number}")
            assert turn.stop_reason == "answered", turn
    """
    )
    children = [python(script, tmp_path, "ada", f"child{n}") for n in range(3)]
    for child in children:
        _, errors = child.communicate(timeout=180)
        assert child.returncode == 0, errors
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("ada", model=ScriptedModel())
        lines = agent.context.core.get("human").value.split("\n")
        wanted = [f"child{c} fact {n}"[-12:] for c in range(3) for n in range(4)]
        assert sorted(lines) == sorted(wanted)
        stored = everything(agent)
        assert [m.seq for m in stored] == list(range(1, 12 * 4 + 1))


def test_a_killed_owner_is_succeeded_at_once(tmp_path: Path) -> None:
    """A process killed within a turn holds nobody up; its message is there to be retried."""
    with runtime_at(tmp_path) as runtime:
        runtime.create("ada", small(8192))
    script = (
        CHILD
        + """
    import time

    def hang(request):
        say("asked")
        time.sleep(600)

    with runtime() as one:
        one.agent(name, model=ScriptedModel(hang)).send("Are you there?")
    """
    )
    child = python(script, tmp_path, "ada")
    assert child.stdout is not None
    assert child.stdout.readline() == "asked\n"
    child.kill()
    child.communicate()
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("ada", model=ScriptedModel(["Yes."]), wait=5)
        assert agent.state.turns.newest(1)[0].stop_reason == "interrupted"
        assert agent.retry().text == "Yes."
        assert [m.text for m in everything(agent)] == ["Are you there?", "Yes."]


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs SIGSTOP")
def test_a_suspended_owner_that_lost_its_agent_writes_nothing(tmp_path: Path) -> None:
    """Stopped within a call and taken over (as where locks fail), it wakes to LostAgent."""
    with runtime_at(tmp_path) as runtime:
        runtime.create("ada", small(8192))
        folder = runtime.path("ada")
    script = (
        CHILD
        + """
    from pagemind.runtime.errors import LostAgent

    def slowly(request):
        say("asked")
        sys.stdin.readline()
        return "I never knew."

    with runtime() as one:
        agent = one.agent(name, model=ScriptedModel(slowly))
        try:
            agent.send("Are you there?")
            say("written")
        except LostAgent:
            say("lost")
        try:
            agent.send("And now?")
            say("written")
        except LostAgent:
            say("lost")
    say("closed")
    """
    )
    child = python(script, tmp_path, "ada")
    assert child.stdout is not None
    assert child.stdin is not None
    assert child.stdout.readline() == "asked\n"
    os.kill(child.pid, signal.SIGSTOP)
    # A file system without locks: nobody is kept out.
    (folder / "lock").unlink()
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("ada", model=ScriptedModel(["Yes.", "Sure."]))
        assert agent.retry().text == "Yes."
        os.kill(child.pid, signal.SIGCONT)
        out, errors = child.communicate("go\n", timeout=60)
        assert out.split() == ["lost", "lost", "closed"], errors
        assert agent.send("All well?").text == "Sure."
        texts = [m.text for m in everything(agent)]
        assert texts == ["Are you there?", "Yes.", "All well?", "Sure."]
        assert agent.state.turns.unfinished() == []


def test_a_lost_agent_says_so_in_one_line() -> None:
    """A person can act on it."""
    assert LostAgent("taken over").exit_code == 4


# --- one home, many agents ----------------------------------------------------------------------


def test_agents_of_one_home_do_not_wait_for_each_other(tmp_path: Path) -> None:
    """While one agent's model thinks, another one in the same home answers."""
    thinking, answered = threading.Event(), threading.Event()

    def think(_: ModelRequest) -> str:
        thinking.set()
        assert answered.wait(60), "the other agent was held up"
        return "At last."

    with runtime_at(tmp_path) as runtime:
        slow = runtime.agent("slow", small(), model=ScriptedModel(think))
        with ThreadPoolExecutor(1) as pool:
            later = pool.submit(slow.send, "Think.")
            assert thinking.wait(60)
            fast = runtime.agent("fast", small(), model=ScriptedModel(["Quick."]))
            assert fast.send("Hello.").text == "Quick."
            answered.set()
            assert later.result(60).text == "At last."


def test_who_waits_for_a_busy_agent_holds_nobody_else_up(tmp_path: Path) -> None:
    """Another agent of the home is opened and used meanwhile, in the same process."""
    with runtime_at(tmp_path) as runtime:
        runtime.create("busy", small())
        script = (
            CHILD
            + """
    with runtime() as one:
        agent = one.agent(name, model=ScriptedModel(["x"]))
        say("held")
        sys.stdin.readline()
    """
        )
        child = python(script, tmp_path, "busy")
        assert child.stdout is not None
        assert child.stdin is not None
        assert child.stdout.readline() == "held\n"
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(
                lambda: runtime.agent("busy", model=ScriptedModel(["Free."]), wait=120)
            )
            time.sleep(0.1)
            free = runtime.agent("free", small(), model=ScriptedModel(["Yes."]))
            assert free.send("Hello.").text == "Yes."
            assert not waiting.done()
            child.stdin.write("go\n")
            child.stdin.flush()
            assert waiting.result(60).send("Hello.").text == "Free."
        child.communicate()


def test_many_agents_in_many_threads(tmp_path: Path) -> None:
    """Each hears only what it was told."""
    with runtime_at(tmp_path) as runtime:

        def live(name: str) -> list[str]:
            agent = runtime.agent(name, small(8192, limit=2000), model=ScriptedModel(noting))
            for number in range(5):
                assert agent.send(f"{name} fact {number}").stop_reason == "answered"
            return agent.context.core.get("human").value.split("\n")

        names = [f"agent-{n}" for n in range(6)]
        lives = at_once([lambda name=name: live(name) for name in names])
        for name, lines in zip(names, lives, strict=True):
            assert lines == [f"{name} fact {number}" for number in range(5)]


# --- readers beside a writer --------------------------------------------------------------------


def test_readers_see_every_acknowledged_message_while_a_writer_runs(tmp_path: Path) -> None:
    """What send() returned for is in list, search and inspect at once, flushed or not."""
    model = ScriptedModel(after="I see.")
    acknowledged: list[int] = []
    stop = threading.Event()
    faults: list[str] = []
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("ada", small(2048), model=model)
        agent.send("Item K9999 opens this.")

        def write() -> None:
            for number in range(60):
                agent.send(f"Item K{number:04d} lies in the hold, and all is well aboard today.")
                acknowledged.append(number)
            stop.set()

        def read() -> int:
            rounds = 0
            while not stop.is_set() or not rounds:
                known = len(acknowledged)
                with runtime.reader("ada") as reader:
                    info, inspection = reader.info(), reader.inspect()
                    if info.messages < 2 * known:
                        faults.append(f"{info.messages} messages after {known} turns")
                    if inspection is None or reader.context is None:
                        faults.append("nothing to inspect")
                    if known:
                        wanted = f"K{known - 1:04d}"
                        hits = reader.search.search("recall", wanted, SearchFilters(), 10)
                        if wanted not in json.dumps([h.text for h in hits.hits]):
                            faults.append(f"{wanted} is not found")
                rounds += 1
            return rounds

        rounds = at_once([write, read, read, lambda: [runtime.agents() for _ in range(10)]])
        assert faults == []
        assert rounds[1] > 0
        assert agent.state.pages.count() > 0


def test_a_failed_turn_of_one_thread_is_not_anothers(tmp_path: Path) -> None:
    """Errors belong to the turn that had them."""
    replies: dict[str, object] = {"odd": ModelUnreachable("no route"), "even": "Yes."}
    model = ScriptedModel(lambda r: replies[r.messages[-1].text.split()[-1]])
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("ada", small(8192), model=model)
        kinds = ["odd", "even"] * 4
        turns = at_once([lambda kind=kind: agent.send(kind) for kind in kinds])
        for kind, turn in zip(kinds, turns, strict=True):
            failed = turn.stop_reason == "model_error"
            assert failed == (kind == "odd")
        with pytest.raises(UserError):
            agent.send("   ")
