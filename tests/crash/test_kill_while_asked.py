"""Killed while a person is asked, or in what was approved: it runs once, or is not known of."""

import signal
from pathlib import Path

import warm

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.invariants import check_state
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel, call

DEFINITION = """
name: hand
embedding: none
context_window: 8192
tools: [{shell: {seconds: 60}}]
"""
CHILD = """
import os, signal, sys
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.person import Consent
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel, call

home, command, approves, definition = sys.argv[1:]

class Killed:
    def approve(self, request):
        if approves == "no":
            os.kill(os.getpid(), signal.SIGKILL)
        return Consent(True)
    def ask(self, question, choices):
        return None

with Runtime(home, background=False) as runtime:
    model = ScriptedModel([call("shell", command=command)])
    agent = runtime.agent("ada", parse_definition(definition), model=model)
    agent.person = Killed()
    if agent.pending() is not None:
        agent.approve()
    agent.send("Go.")
"""


def killed(home: Path, command: str, *, approves: bool) -> None:
    words = [str(home), command, "yes" if approves else "no", DEFINITION]
    code, _, errors = warm.run(["-c", CHILD, *words])
    assert code == -signal.SIGKILL, errors


def test_killed_while_asked_it_waits_and_runs_once(tmp_path: Path) -> None:
    """The consent of the next process is the only one that counts."""
    ran = tmp_path / "ran"
    killed(tmp_path / "home", f"echo x >> {ran}", approves=False)
    assert not ran.exists()
    for texts in (["Done."], []):
        with Runtime(tmp_path / "home", background=False) as runtime:
            agent = runtime.agent("ada", model=ScriptedModel(texts))
            assert not check_state(agent.state)
            if texts:
                assert agent.approve().text == "Done."
            assert agent.pending() is None
    assert ran.read_text() == "x\n"


def test_killed_in_what_was_approved_it_is_not_asked_for_again(tmp_path: Path) -> None:
    """It may have happened: that is what the model reads."""
    home, ran = tmp_path / "home", tmp_path / "ran"
    killed(home, f"echo x >> {ran}; kill -9 $PPID", approves=True)
    assert ran.read_text() == "x\n"
    with Runtime(home, background=False) as runtime:
        agent = runtime.agent("ada", model=ScriptedModel(["I see."]))
        assert agent.pending() is None
        (result,) = [m for m in agent.state.journal.newest(9) if m.role == "tool"]
        assert "it may have happened" in result.text
        assert agent.send("And?").text == "I see."
    assert ran.read_text() == "x\n"


def test_killed_after_a_late_approval_it_is_not_asked_for_again(tmp_path: Path) -> None:
    """The same where the turn had ended before, and was taken up."""
    home, ran = tmp_path / "home", tmp_path / "ran"
    with Runtime(home, background=False) as runtime:
        command = f"echo x >> {ran}; kill -9 $PPID"
        model = ScriptedModel([call("shell", command=command)])
        agent = runtime.agent("ada", parse_definition(DEFINITION), model=model)
        assert agent.send("Go.").stop_reason == "approval"
    killed(home, "unused", approves=True)
    assert ran.read_text() == "x\n"
    with Runtime(home, background=False) as runtime:
        assert runtime.agent("ada", model=ScriptedModel()).pending() is None
