"""Every command of the chat through a terminal, in one process: what is typed, what appears."""

import stat
from pathlib import Path

import pytest
from cli_kit import PLAIN, clean_environ
from pty_kit import Terminal

from pagemind.runtime.cli.commands import COMMANDS, Command
from pagemind.runtime.errors import UserError
from pagemind.runtime.runtime import Runtime

# The real program on a model that notes when it is asked to, and else says what it was told.
CODE = """
import sys
from pagemind.runtime.testing import ScriptedModel, call
import pagemind.runtime.runtime as runtime

def script(request):
    last = request.messages[-1]
    said = last.text.partition("] ")[2] or last.text
    if last.role == "tool":
        return "It is **noted**."
    if "note that" in said:
        return call("core_append", block="human", content=said.partition("note that ")[2])
    return f"You said: {said[:60]}"

runtime.make_model = lambda choice, *_: ScriptedModel(script, name=choice.name)
from pagemind.runtime.cli.app import main
sys.exit(main(sys.argv[1:]))
"""

# Lines as a person types them, and what each brings. `|` parts what must appear one after another.
WALK = (
    ("My boat is called Nomad.", "You said: My boat is called Nomad."),
    ("/good it listened", "turn 1 is marked good, with your reason"),
    ("/details", "turn 1, answered, 1 step|marked good|it called nothing"),
    ("/details 9", "error: there is no turn 9|the turns are 1 to 1"),
    ("/details x", "error: 'x' is no turn"),
    ("Please note that Sam sails", "→ core_append human|It is noted."),
    ("/details", "turn 2, answered, 2 steps|→ core_append ✓|content: Sam sails|← "),
    ("/blocks", "human  9 of 200 characters|Sam sails"),
    ("/undo", "taken back: 1 turn|turn 2: |human is as it was: (empty)|/bring-back undoes"),
    ("/bring-back", "brought back: 1 turn|human is as it was: Sam sails"),
    ("/history", "1  m1 |My boat is called Nomad.|Sam sails|— bring back: "),
    ("/history 1", "Sam sails|1 earlier: pagemind agents history ada"),
    ("/history x", "error: 'x' is no number of turns"),
    ("/diff m1", "ada from m1 to now|block human|+Sam sails"),
    ("/diff m99", "error: "),
    ("/rewrite Please note that Sam rows", "taken back: 1 turn|It is noted."),
    ("/undo x", "error: 'x' is no number of turns"),
    ("/edit human", "human is changed: 19 of 200 characters"),
    ("/blocks", "Sam rows|and swims"),
    ("/edit nobody", "error: "),
    ("/bad", "is marked bad"),
    ("/recall Nomad", "m1|My boat is called Nomad."),
    ("/remember Nomad lies in Porto", "kept as a1"),
    ("/remember The harbour light of Porto is red", "kept as a2"),
    ("/remember Nomad lies in Porto", "a1 says so already"),
    ("/archival Porto", "a1|a2|red"),
    ("/forget a1", "forgotten: a1 (hidden, not erased)|memory restore ada a1 1"),
    ("/forget a1", "error: there is no passage a1"),
    ("/review", "nothing waits for review"),
    ("/revoke ftp", "error: nothing came from 'ftp'"),
    ("/forget Porto", "a2|The harbour light of Porto is red|forget which?"),
    ("all", "forgotten: a2"),
    ("/forget Porto", "error: no passage matches 'Porto'"),
    ("/trust m2", "nothing to change"),
    ("/trust m2 --distrust", "m2 (model, |trust 80 → 40|distrust this?"),
    ("y", "m2: not trusted any more"),
    ("/trust m2", "trust 40 → 80|trust this?"),
    ("y", "m2: trusted"),
    ("/trust", "error: /trust needs"),
    ("/trust m999", "error: there is no message m999"),
    ("/pages", "no pages yet"),
    ("/page p9", "error: there is no page 'p9'|hint: there are no pages yet"),
    ("/flush", "paged out p1"),
    ("/pages", "p1"),
    ("/pages p1", "p1 ["),
    ("/page p1", "My boat is called Nomad."),
    ("/pin m1", "m1 is pinned"),
    ("/pin m1", "m1 is pinned already"),
    ("/unpin m1", "m1 is not pinned any more"),
    ("/unpin m1", "error: "),
    ("/warn", "the agent is told that its window is"),
    ("/context", "flush"),
    ("/request", "--- system, part 1"),
    ("/usage", "calls|today|ever"),
    ("/status", "sleep   off"),
    ("/sleep", "read 2, dead 1|1 put aside: `pagemind memory review"),
    ("/schedules", "no timers; |schedules add"),
    ("/new", "conversation 2 begins"),
    ("/rewind m1", "taken back: |/bring-back undoes this"),
    ("/rewind m1", "error: "),
    ("/bring-back", "brought back: "),
    ("/fork eve", "eve is a copy of ada: |/switch eve talks to it"),
    ("/fork eve", "error: there is an agent called 'eve' already"),
    ("/switch eve", "you talk to eve now"),
    ("/recall Nomad", "My boat is called Nomad."),
    ("/switch ada", "you talk to ada now"),
    ("/agents", "last active|← this one"),
    ("/switch bob", "you talk to bob now, on scripted/echo"),
    ("/switch bob", "error: bob is the one you talk to"),
    ("/switch nobody", "error: no agent is called 'nobody'"),
    ("/model", "bob runs on scripted/echo"),
    ("/model scripted/other", "bob runs on scripted/other now, and will next time"),
    ("/retry", "error: there is nothing to retry"),
    ("/approve", "error: no call of bob waits for approval"),
    ("/approve maybe", "error: /approve takes nothing, or always"),
    ("/deny not now", "error: no call of bob waits for approval"),
    ("/bad", "error: there is no turn to judge"),
    ("/details", "error: there is no turn|say something first"),
    ("/switch ada", "you talk to ada now, on scripted/chat"),
    ("/export FOLDER/ada.pmz", "ada.pmz: |message"),
    ("/export FOLDER/ada.pmz", "error: |is there already"),
    ("/erase submarine", "error: there is nothing of that"),
    ("/erase subject Nomad", "would go from ada: |m1|erased|for good?"),
    ("n", "nothing was erased"),
    ("/erase subject Nomad", "m1|erased|for good?"),
    ("y", "sure?"),
    ("ada", "erased from ada: |verified: nothing of it is left|what nobody can verify"),
    ("/recall Nomad", "no match among"),
    ("/help", "Talk|/agents|Memory|/edit BLOCK|Pages|The window|Keys|Ctrl-R"),
    ("/help pin", "/pin ID  keep a message or page in view"),
    ("/help pni", "there is no command /pni|did you mean /pin?"),
    ("/pagse", "error: there is no command /pagse|did you mean /page"),
    ("/page", "error: /page needs an ID|usage: /page ID"),
    ("/trust", "error: /trust needs IDS|usage: /trust IDS"),
    ("/pin m1 m2", "error: /pin takes one ID|usage: /pin ID"),
    ("/context now", "error: /context takes nothing after it"),
    (" /etc is a folder", "You said:"),
)


def test_every_command_does_what_its_help_says(tmp_path: Path) -> None:
    """One talk from the first command to the last, each with what it prints; none is left out."""
    definition = tmp_path / "plain.yaml"
    definition.write_text(PLAIN, encoding="utf-8")
    with Runtime(tmp_path) as runtime:
        runtime.agent("bob", str(definition), model="scripted/echo").close()
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf " and swims" >> "$2"\n', encoding="utf-8")
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    environ = {**clean_environ(tmp_path), "EDITOR": f"{editor} -x", "PWD": str(tmp_path)}
    arguments = ["chat", "ada", "-d", str(definition), "-m", "scripted/chat"]
    with Terminal(CODE, arguments, environ, columns=100) as terminal:
        terminal.expect("made from plain")
        for line, answers in WALK:
            terminal.line(line.replace("FOLDER", str(tmp_path)))
            for answer in answers.split("|"):
                terminal.expect(answer, 20)
            if not answers.endswith("?"):
                terminal.expect("›", 20)
        terminal.line("/quit")
        assert terminal.finish() == 0
        assert "Traceback" not in terminal.text
    walked = {line.split()[0] for line, _ in WALK if line.startswith("/")}
    assert walked | {"/quit"} >= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.name)
def test_every_command_says_how_it_is_used(command: Command) -> None:
    """What it takes is one word or one choice; its help fits beside it in sixty columns."""
    assert command.takes.strip("[]").replace("|", "").isupper() or not command.takes
    assert len(command.about) <= 60
    if command.takes and not command.takes.startswith("["):
        with pytest.raises(UserError, match="needs"):
            command.check("")
    if not command.takes:
        with pytest.raises(UserError, match="takes nothing"):
            command.check("this")
