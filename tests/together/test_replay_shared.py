"""A trace of one agent replays alone, whatever others wrote on what it shares meanwhile."""

import json
from pathlib import Path

from together_kit import Teller, sharing

from pagemind.runtime.agent import Agent
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.replay import replay
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder, call


def test_a_replay_sees_what_others_wrote_between_and_within_turns(tmp_path: Path) -> None:
    """The values stand in the trace, where they were taken up."""
    tools = ["core", {"agents": {"reach": ["*"]}}]
    made = parse_definition(json.dumps({**sharing().raw, "tools": tools}))
    models = {"ada": Teller(), "ben": Teller()}  # a recorded agent has its model wrapped

    def does(agent: Agent, function: str, /, **arguments: object) -> None:
        models[agent.name].say(call(function, **arguments), "Done.")
        agent.send("Go on.")

    trace = tmp_path / "trace.jsonl"
    with Runtime(
        tmp_path / "home", embedder=HashingEmbedder(16), background=False, trace=trace
    ) as runtime:
        ada, ben = (runtime.agent(name, made, model=model) for name, model in models.items())
        ada.send("What is the plan?")
        does(ben, "core_append", block="plan", content="Ben 1.")
        does(ada, "core_append", block="plan", content="Ada 1.")
        models["ben"].say(call("core_append", block="plan", content="Ben 2."), "Done.")
        does(ada, "send_message_to", agent="ben", text="Go.")
        ada.send("And now?")
        assert "Ben 2." in "\n".join(models["ada"].requests[-1].system)
    for name, turns in (("ada", 4), ("ben", 2)):
        again = replay(trace, agent=name)
        assert (again.difference, again.turns) == (None, turns)
