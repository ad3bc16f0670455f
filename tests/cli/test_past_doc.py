"""docs/past-requests.md is true: what it shows is what the commands print."""

import re
from pathlib import Path

from cli_kit import Cli
from kernel_kit import agent_at, small

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.testing import ScriptedModel, call

DOC = Path(__file__).resolve().parents[2] / "docs" / "past-requests.md"
_SHOWN = re.compile(r"^```console\n(.+?)^```$", re.MULTILINE | re.DOTALL)


def make_past(home: Path) -> None:
    """The agent of the page: two days, an edit, a passage, a flush and an undo."""
    model = ScriptedModel(
        [
            *(call("core_append", block="human", content="Name: Sam"), "Hello Sam!"),
            call("archival_insert", content="Sam's boat Nomad lies at berth 42.", tags=["boat"]),
            *("Noted.", "Aye."),
            *(call("core_append", block="human", content="Sails on Sundays"), "I will remember."),
            "Berth 42.",
            call("core_append", block="human", content="Likes rain"),
        ],
        after="So noted.",
        summary=lambda _: "Sam told his name and where his boat Nomad lies.",
    )
    clock = FrozenClock()
    definition = small(
        4096, "core_append", "archival_insert", "page_in", more="prefetch: {tokens: 200}\n"
    )
    with agent_at(home, model, definition, clock) as agent:
        agent.send("Hello, I am Sam.", speaker="sam")
        clock.advance(minutes=20)
        agent.send("My boat Nomad lies at berth 42.", speaker="sam")
        clock.advance(minutes=5)
        agent.send("She is thirty years old.", speaker="sam")
        agent.flush()
        clock.advance(days=1)
        agent.send("I sail on Sundays.", speaker="sam")
        clock.advance(minutes=2)
        agent.send("Where does Nomad lie?", speaker="sam")
        clock.advance(minutes=1)
        agent.send("I like rain.", speaker="sam")
        agent.undo()


def test_the_page_shows_what_the_commands_print(cli: Cli) -> None:
    """Each block: a command after `$`, then its output, all of it but what `…` alone stands for."""
    make_past(cli.home)
    shown = _SHOWN.findall(DOC.read_text(encoding="utf-8"))
    assert len(shown) >= 4
    for block in shown:
        command, _, expected = block.partition("\n")
        assert command.startswith("$ pagemind ")
        words = command.removeprefix("$ pagemind ").split()
        if "|" in words:  # a filter of the shell is not run
            words = words[: words.index("|")]
        ran = cli(*words)
        printed = re.sub(r"[ \t]+$", "", ran.out + ran.err, flags=re.MULTILINE).strip("\n")
        pieces = [piece.strip("\n") for piece in re.split(r"^…$", expected, flags=re.MULTILINE)]
        at = 0
        for piece in pieces:
            assert piece in printed[at:], f"{command}\n{printed}"
            at = printed.index(piece, at) + len(piece)
        if len(pieces) == 1:
            assert printed == pieces[0], f"{command}\n{printed}"
