"""The process that is killed: an agent that talks, pages out and writes back, and says what was
acknowledged to it, one JSON line each.

    python child.py HOME FIRST SEED POINT WHEN NTH

FIRST numbers its texts, which are all different. At the NTH time that it passes POINT it kills
itself, before or after (WHEN); POINT "none" leaves that to whoever started it.
"""

import json
import os
import random
import signal
import sqlite3
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from pagemind.runtime import queue_manager
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.model import ModelReply, ModelRequest
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.state import database
from pagemind.runtime.state.journal import Journal
from pagemind.runtime.state.outbox import StateOutbox
from pagemind.runtime.state.pages import Pages
from pagemind.runtime.summarizer import Summarizer
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel, call
from pagemind.runtime.tiers import upkeep, write_back
from pagemind.runtime.tiers.store import TierStore
from pagemind.runtime.tool import make_tool

TURNS = 40
DEFINITION = """
name: mortal
system: You are a test agent.
context_window: 1536
output_reserve: 128
blocks:
  human: {value: "", limit: 300}
tools: [core_append, core_rewrite, archival_insert, archival_edit]
trust: {world: allow, archival: store}
timezone: UTC
"""


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Fuse:
    """Burns down at the nth passing, and kills before or after what it is put on."""

    def __init__(self, when: str, nth: int) -> None:
        self.when, self.left = when, nth

    def around(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        self.left -= 1
        if self.left == 0 and self.when == "before":
            die()
        result = function(*arguments, **named)
        if self.left == 0 and self.when == "after":
            die()
        return result

    def put_on(self, owner: Any, name: str) -> None:
        function = getattr(owner, name)

        def burning(*arguments: Any, **named: Any) -> Any:
            return self.around(function, *arguments, **named)

        setattr(owner, name, burning)


def put_fuse(point: str, fuse: Fuse) -> None:
    """Points in the order in which a turn, a flush and a write-back pass them."""

    class Mortal(sqlite3.Connection):
        def execute(self, sql: str, *more: Any) -> Any:
            run = super().execute
            return fuse.around(run, sql, *more) if sql == "COMMIT" else run(sql, *more)

    owners: dict[str, tuple[Any, str]] = {
        "append": (Journal, "append"),
        "summary": (Summarizer, "summarise"),
        "pages": (Pages, "add"),
        "flush": (queue_manager.QueueManager, "flush"),
        "read outbox": (StateOutbox, "pending"),
        "put": (TierStore, "put"),
        "index": (upkeep, "index_texts"),
        "delete": (TierStore, "delete"),
        "done": (StateOutbox, "done"),
        "compact": (upkeep, "compact"),
    }
    if point == "commit":
        database.sqlite3.connect = partial(sqlite3.connect, factory=Mortal)
    elif point != "none":
        fuse.put_on(*owners[point])


def say(**what: Any) -> None:
    """One write, so that a line is there wholly or not at all."""
    os.write(1, (json.dumps(what) + "\n").encode())


class Talker:
    """Replies by chance: an answer, or calls that change memory."""

    def __init__(self, chance: random.Random, first: int) -> None:
        self.chance = chance
        self.number = first

    def text(self, kind: str) -> str:
        self.number += 1
        words = " ".join(self.chance.choice(["tide", "boat", "wind", "rope"]) for _ in range(20))
        return f"{kind} {self.number:06}: {words}."

    def __call__(self, request: ModelRequest) -> Any:
        if request.purpose == "summary":
            return "They talked about boats."
        last = request.messages[-1]
        if last.role == "tool" or last.kind == "notice":
            return self.text("reply")
        kind = self.chance.randrange(6)
        if kind == 0:
            return [
                call("archival_insert", content=self.text("passage")),
                call("core_rewrite", block="human", content=self.text("block")),
                call("ring", number=self.number),
            ]
        if kind == 1:
            return call("archival_edit", id="a1", content=self.text("passage"))
        if kind == 2:
            return ModelReply("", tool_calls=(call("core_append", block="human", content="x"),))
        return self.text("reply")


def main(home: str, first: str, seed: str, point: str, when: str, nth: str) -> None:
    write_back.WRITE_BACK_ROWS = 6
    write_back.WRITE_BACK_IDLE_SECONDS = 0.02
    put_fuse(point, Fuse(when, int(nth)))
    chance = random.Random(int(seed))
    talker = Talker(chance, int(first))

    def ring(number: int) -> str:
        """Ring the bell of the world."""
        return f"rung {number}"

    runtime = Runtime(Path(home), embedder=HashingEmbedder(16))
    agent = runtime.agent(
        "ada",
        parse_definition(DEFINITION),
        model=ScriptedModel(talker),
        tools=[make_tool(ring)],
    )
    say(ready=True)
    for _ in range(TURNS):
        if chance.random() < 0.2:
            seen = talker.text("seen")
            say(tries=seen)
            agent.observe(seen, source="sensor")
            say(kept=[seen])
            continue
        asked = talker.text("asked")
        say(tries=asked)
        turn = agent.send(asked, speaker="Sam")
        for each in turn.tool_calls:
            if each.ok and each.name in ("archival_insert", "archival_edit"):
                say(passage=each.arguments["content"])
        (block,) = agent.state.blocks.all()
        say(kept=[asked, turn.text], block=[block.version, block.value])
    agent.close()
    say(closed=True)
    runtime.close()
    say(done=talker.number)


if __name__ == "__main__":
    main(*sys.argv[1:])
