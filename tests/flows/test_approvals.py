"""Consent: a call waits for a person, through a crash; rules of a turn are shown and held."""

from pathlib import Path

import pytest
from kernel_kit import agent_at, runtime_at, small

from pagemind.runtime.approvals import pending_in
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.errors import DefinitionError, NeedsApproval, ToolFailed, UserError
from pagemind.runtime.invariants import check_state
from pagemind.runtime.message import Message, ToolCall
from pagemind.runtime.person import ApprovalRequest, Consent, ScriptedPerson
from pagemind.runtime.testing import ScriptedModel, call
from pagemind.runtime.writer import AgentWriter

SHELL = small(4096, "{shell: {seconds: 5}}", "archival_insert", "clock_now")


def results(agent: object) -> list[str]:
    """The texts of the results, the oldest first."""
    found = agent.state.journal.newest(50)  # type: ignore[attr-defined]  # a test's shorthand
    return [m.text for m in reversed(found) if m.role == "tool"]


def test_without_a_person_the_turn_ends_and_goes_on_when_answered(tmp_path: Path) -> None:
    """The call waits in the state, also in another process; its result is an ordinary one."""
    model = ScriptedModel([[call("shell", command="echo hi"), call("clock_now")], "Done."])
    with agent_at(tmp_path, model, SHELL) as agent:
        ended = agent.send("Say hi.", id="one")
        assert ended.stop_reason == "approval"
        assert ended.as_json()["pending"]["arguments"] == {"command": "echo hi"}
        assert not check_state(agent.state)
    with agent_at(tmp_path, model) as agent:
        assert agent.pending() is not None
        assert agent.send("Say hi.", id="one").stop_reason == "approval"
        answered = agent.approve()
        assert (answered.stop_reason, answered.text) == ("answered", "Done.")
        assert results(agent)[0] == "hi"
        assert agent.pending() is None
        assert not check_state(agent.state)
        assert agent.send("Say hi.", id="one").text == "Done."
        with pytest.raises(UserError, match="no call of ada waits"):
            agent.approve()


def test_a_process_killed_while_somebody_is_asked_leaves_the_call_waiting(tmp_path: Path) -> None:
    """It was written down before anybody was asked, and was not run."""

    class Killed(ScriptedPerson):
        def approve(self, request: ApprovalRequest) -> Consent | None:
            raise SystemExit

    ran = tmp_path / "ran"
    model = ScriptedModel([call("shell", command=f"touch {ran}")], after="Done.")
    with agent_at(tmp_path / "home", model, SHELL) as agent:
        agent.loop.approvals.answered = lambda: None  # type: ignore[method-assign]  # as if killed
        agent.person = Killed()
        copied = []

        def copy(request: ApprovalRequest) -> None:
            wait(request)
            copied.append(agent.state.database.meta("approval"))

        wait = agent.loop.approvals.wait
        agent.loop.approvals.wait = copy  # type: ignore[method-assign]  # looks on
        with pytest.raises(SystemExit):
            agent.send("go")
    assert copied[0]
    assert not ran.exists()


def test_a_consent_is_none_to_another_call_of_the_same_id(tmp_path: Path) -> None:
    """Some models give their calls the same ids each time; what was asked about is over."""
    with agent_at(tmp_path, ScriptedModel([call("shell", command="echo hi")]), SHELL) as agent:
        asked = agent.send("Say hi.").pending
        stop = CancelToken()
        stop.cancel()
        assert agent.approve(cancel=stop).stop_reason == "interrupted"
        assert asked is not None
        for turn, name in ((1, "clock_now"), (1, "shell"), (2, "shell")):
            other = ToolCall(asked["id"], name, '{"command": "echo other"}')
            agent.queue_manager.append(Message("assistant", (), tool_calls=(other,), turn=turn))
            assert agent.pending() is None
            assert pending_in(agent.state) is None
            agent.loop.mend()


def test_a_person_that_fails_is_one_result_and_no_consent(tmp_path: Path) -> None:
    """The call is not run, has one result, and does not go on waiting."""

    class Broken(ScriptedPerson):
        def approve(self, request: ApprovalRequest) -> Consent | None:
            raise ValueError("no terminal")

    ran = tmp_path / "ran"
    model = ScriptedModel([call("shell", command=f"touch {ran}")], after="Done.")
    with agent_at(tmp_path / "home", model, SHELL) as agent:
        agent.person = Broken()
        assert agent.send("go").text == "Done."
        asked = "a person could not be asked about it: ValueError: no terminal"
        assert results(agent) == [f"shell was not run: {asked}"]
        assert agent.pending() is None
        assert not check_state(agent.state)
    assert not ran.exists()


def test_a_denied_call_is_a_result_that_the_model_reads(tmp_path: Path) -> None:
    """With the reason, if there is one."""
    model = ScriptedModel([call("shell", command="rm x"), "I leave it."])
    with agent_at(tmp_path, model, SHELL) as agent:
        agent.send("Remove it.")
        assert agent.approve(Consent(False, reason="keep x")).text == "I leave it."
        assert results(agent) == ["shell was not run: a person declined it: keep x"]


def test_another_message_is_an_answer_too(tmp_path: Path) -> None:
    """The call lapses, and the history is legal."""
    model = ScriptedModel([call("shell", command="ls"), "Hello."])
    with agent_at(tmp_path, model, SHELL) as agent:
        agent.send("List.")
        agent.observe("The light went out.", source="sensor")
        assert agent.pending() is None
        assert agent.send("Never mind.").text == "Hello."
        assert "not run: nobody approved this call of shell" in results(agent)[0]
        assert not check_state(agent.state)


def test_a_person_who_is_there_is_asked_at_once(tmp_path: Path) -> None:
    """Always is remembered until the agent is closed, but not of calls with text from outside in
    view, to which a person consents anew, always or once."""

    class Trusting(ScriptedPerson):
        def approve(self, request: ApprovalRequest) -> Consent | None:
            self.asked.append(request)
            return Consent(True, always=True)

    calls = [*(call("shell", command=f"echo {n}") for n in (1, 2, 3)), "All."]
    with agent_at(tmp_path, ScriptedModel(calls), SHELL) as agent:
        agent.person = person = Trusting()
        assert agent.send("go").text == "All."
        assert results(agent) == ["1", "2", "3"]
        first, second = person.asked
        assert (first.tainted, second.tainted) == (False, True)
        assert second.about.endswith("text from outside is in view: m3 (shell)")


def test_a_person_may_take_their_time(tmp_path: Path) -> None:
    """It is not the agent's: no limit of the turn is reached by it."""
    clock = FrozenClock()

    class Slow(ScriptedPerson):
        def approve(self, request: ApprovalRequest) -> Consent | None:
            clock.advance(hours=5)
            return Consent(True)

    model = ScriptedModel([call("shell", command="echo 1"), "Done."])
    with agent_at(tmp_path, model, SHELL, clock) as agent:
        agent.person = Slow()
        assert agent.send("go").stop_reason == "answered"


def test_a_question_is_put_to_the_person(tmp_path: Path) -> None:
    """Where nobody is there, the answer says so."""
    asks = [call("ask_user", question="Which boat?"), "Thanks."]
    with agent_at(tmp_path, ScriptedModel(asks * 2), small(4096, "ask_user")) as agent:
        agent.person = ScriptedPerson(answers=["Nomad"])
        agent.send("go")
        agent.person = None
        agent.send("go")
        assert results(agent)[0] == "Nomad"
        assert "nobody is there" in results(agent)[1]


def test_rules_are_shown_and_held(tmp_path: Path) -> None:
    """at_most, after, then, required, deny: each refusal says what to do instead."""
    tools = (
        "{clock_now: {at_most: 1, required: true}}",
        "{archival_insert: {after: clock_now, then: [archival_search]}}",
        "archival_search",
        "{core_append: {rule: deny}}",
    )
    model = ScriptedModel(
        [
            call("archival_insert", content="a"),
            call("core_append", block="human", content="x"),
            "Early.",
            call("clock_now"),
            call("clock_now"),
            call("archival_insert", content="a"),
            call("archival_insert", content="b"),
            "Late.",
        ]
    )
    with agent_at(tmp_path, model, small(4096, *tools)) as agent:
        assert agent.send("go").stop_reason == "answered"
        said = results(agent)
        assert "only after clock_now" in said[0]
        assert said[1] == "core_append is not allowed for this agent"
        assert "clock_now may be called 1 times a turn" in said[3]
        assert said[4].startswith("stored as")
        assert said[5] == "after archival_insert only archival_search may be called in this turn"
        shown = {tool.name: tool.description for tool in model.requests[0].tools}
        assert "core_append" not in shown
        assert "Only after clock_now has succeeded" in shown["archival_insert"]


def test_a_turn_that_will_not_call_what_is_required_ends_by_name(tmp_path: Path) -> None:
    """It is told twice."""
    definition = small(4096, "{clock_now: {required: true}}")
    with agent_at(tmp_path, ScriptedModel(after="No."), definition) as agent:
        ended = agent.send("go")
        assert ended.stop_reason == "required"
        assert ended.reasons == ("required: clock_now was not called",)
        assert ended.steps == 3


def test_wrong_options_are_named_with_their_line() -> None:
    """Each key, host, variable and function; all at once."""
    text = (
        "name: a\ntools:\n- files: {root: [./docs]}\n- http_get: {allow: ['http://x/']}\n"
        "- shell: {after: read_fil}\n- python: {env: [a-b], megabytes: 1}\n- http_get\n- my:pkg:x\n"
    )
    with pytest.raises(DefinitionError) as caught:
        parse_definition(text)
    said = caught.value.message
    assert "definition:3: tools.0.files.root: unknown key; did you mean 'roots'?" in said
    assert "definition:4: tools.1.http_get.allow.0: 'http://x/': name a host" in said
    assert "definition:6: tools.3.python.megabytes: must be at least 64" in said
    assert "definition:6: tools.3.python.env.0: must be names of environment variables" in said
    assert "definition:8: tools.5: 'my:pkg:x' is not an import path" in said


def test_a_call_by_hand_keeps_to_the_rule(tmp_path: Path) -> None:
    """ask: the person who is there, or a consent; deny: never."""
    definition = small(4096, "shell", "{clock_now: {rule: deny}}")
    with agent_at(tmp_path, ScriptedModel(), definition) as agent:
        with pytest.raises(NeedsApproval, match="shell asks a person"):
            agent.call("shell", {"command": "echo hi"})
        assert agent.call("shell", {"command": "echo hi"}, consent=Consent(True)) == "hi"
        with pytest.raises(ToolFailed, match="declined it: no"):
            agent.call("shell", {"command": "echo hi"}, consent=Consent(False, reason="no"))
        with pytest.raises(ToolFailed, match="not allowed"):
            agent.call("clock_now", {}, consent=Consent(True))
        agent.person = person = ScriptedPerson(allow=frozenset({"shell"}))
        assert agent.call("shell", {"command": "echo hi"}, id="t1") == "hi"
        (asked,) = person.asked
        assert isinstance(asked, ApprovalRequest)
        assert (asked.call_id, asked.about) == ("t1", f"in {Path.cwd()}")


def test_what_waits_lapses_where_it_stands(tmp_path: Path) -> None:
    """Whoever goes back in time, or tells the agent something from beside it, has answered: it does
    not wait for a later day, and the history is one that a provider takes."""

    def writes(writer: AgentWriter) -> None:
        writer.observe("The light went out.", source="sensor")

    def goes_back(writer: AgentWriter) -> None:
        writer.time_machine.undo()

    for at, does in enumerate((writes, goes_back)):
        model = ScriptedModel([call("shell", command="echo hi")], after="Hello.")
        with runtime_at(tmp_path / str(at)) as runtime:
            with runtime.agent("ada", SHELL, model=model) as agent:
                agent.send("Say hi.")
            with runtime.writer("ada") as writer:
                assert pending_in(writer.state) is not None
                does(writer)
                assert "lapsed: it was not run" in writer.lapsed[0]
                assert pending_in(writer.state) is None
                assert not check_state(writer.state)
            with runtime.agent("ada", model=model) as agent:
                assert agent.pending() is None
                assert agent.send("And?").text == "Hello."
                assert not check_state(agent.state)


def test_a_turn_that_is_taken_back_does_not_wait(tmp_path: Path) -> None:
    """Nor when it is brought back."""
    model = ScriptedModel([call("shell", command="echo hi")], after="Fine.")
    with agent_at(tmp_path, model, SHELL) as agent:
        agent.send("Say hi.")
        agent.undo()
        agent.bring_back()
        assert agent.pending() is None
        assert "not run: nobody approved" in results(agent)[0]
        assert agent.send("So?").text == "Fine."
        assert not check_state(agent.state)
