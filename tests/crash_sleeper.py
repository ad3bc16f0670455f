"""The process that is killed while it tends an agent's memory.

    python crash_sleeper.py HOME POINT NTH

At the NTH time that a run of the worker has passed POINT it kills itself. POINT "none": it ends by
itself. The agent is told five facts first, if it is new.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.passage import Passage
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.sleep import consolidate
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.state.changes import Changes
from pagemind.runtime.state.passages import Passages
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel

DEFINITION = """
name: mortal
context_window: 4096
output_reserve: 256
blocks: {human: {value: "", limit: 300}}
tools: [archival_insert]
timezone: UTC
sleep: {when: off, reflect: false}
"""
TOLD = {
    "I live in Lisbon.": ("lives_in", "Lisbon"),
    "I like tea.": ("likes", "tea"),
    "I now live in Porto.": ("lives_in", "Porto"),
    "I like rum.": ("likes", "rum"),
    "I live in Oslo these days.": ("lives_in", "Oslo"),
}
POINTS: dict[str, tuple[Any, str]] = {
    "read": (SleepContext, "set_cursor"),  # in the transaction that keeps what was found
    "planned": (Changes, "plan"),
    "making": (Passages, "insert"),
    "closing": (Passages, "edit"),
    "settled": (Changes, "settle"),
    "made": (consolidate, "apply"),  # after the commit
}


def put_fuse(point: str, nth: int) -> None:
    owner, name = POINTS[point]
    function: Callable[..., Any] = getattr(owner, name)
    left = [nth]

    def burning(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, burning)


def answer(request: ModelRequest) -> str:
    """Finds every fact that stands in the prompt, and adds whatever it is asked about."""
    prompt = request.messages[-1].text
    if request.purpose != "background":
        return "Noted."
    facts = [
        {
            "quote": quote,
            "text": f"Sam {relation.replace('_', ' ')} {value}.",
            "subject": "Sam",
            "relation": relation,
            "object": value,
            "since": "",
            "importance": 5,
        }
        for quote, (relation, value) in TOLD.items()
        if quote in prompt
    ]
    decisions = [{"new": n, "op": "ADD", "known": 0, "text": ""} for n in range(1, 9)]
    return json.dumps({"facts": facts, "decisions": decisions, "ratings": [], "lessons": []})


def tended(home: Path, point: str = "none", nth: int = 0) -> list[Passage]:
    """Every record, when all jobs have run."""
    with Runtime(home, embedder=HashingEmbedder(16), background=False) as runtime:
        agent = runtime.agent("ada", parse_definition(DEFINITION), model=ScriptedModel(answer))
        for text in list(TOLD)[agent.state.turns.count() :]:
            agent.send(text, speaker="Sam")
        if point != "none":
            put_fuse(point, nth)
        agent.sleep()
        runtime.drain(agent)
        last = agent.state.passages.last_number
        return list(agent.state.passages.get(range(1, last + 1)).values())


if __name__ == "__main__":
    tended(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
