"""An agent with a life for tests of erasure: Dana and Robin tell it things, each with a marker that
stands nowhere else, and it keeps, repeats, pins, pages out, rewinds and summarises them.

`scan()` reads every text of every table of a state.db, whatever tables there are.
"""

import random
import re
import shutil
import sqlite3
from collections import Counter
from contextlib import suppress
from pathlib import Path

from kernel_kit import small

from pagemind.runtime.agent import Agent
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.models.scripted_model import Answer
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel, call

MARKER = re.compile(r"(?:DANA|ROBIN)\d{4}", re.IGNORECASE)
FUNCTIONS = (
    *("core_append", "core_rewrite", "recall_search", "archival_insert", "archival_search"),
    *("page_in", "fact_add"),
)
MORE = "prefetch: {tokens: 200}\nlimits: {steps: 6}\n"


def talkative(request: ModelRequest) -> Answer:
    """Does with what was said what its first word says, and says it again."""
    newest = request.messages[-1]
    if newest.role == "tool":
        return f"Done: {newest.text[:200]}"
    said = newest.text.rpartition("</memories>")[2]
    marked = MARKER.search(said)
    word = marked[0] if marked else "nothing"
    if "note" in said:
        return call("archival_insert", content=f"The word is {word}.")
    if "core" in said:
        return call("core_append", block="human", content=f"The word {word} counts.")
    if "anew" in said:
        return call("core_rewrite", block="human", content=f"Now the word is {word}.")
    if "look" in said:
        return [call("recall_search", query=word), call("archival_search", query=word)]
    if "fact" in said:
        return call("fact_add", subject=word, relation="likes", object=f"boat {word}")
    if "page" in said:
        return call("page_in", id="p1")
    return f"You said {word}, and I shall remember {word}."


WAYS = ("note", "core", "look", "fact", "page", "talk", "talk", "anew")


class Life:
    """In a home of its own; `markers` says who was told which."""

    def __init__(self, home: Path, seed: int, window: int = 2048) -> None:
        self.home = home
        self.chance = random.Random(seed)
        self.clock = FrozenClock()
        self.definition = small(window, *FUNCTIONS, more=MORE)
        self.said = 0

    def runtime(self) -> Runtime:
        return Runtime(self.home, clock=self.clock, embedder=HashingEmbedder(32), background=False)

    def model(self) -> ScriptedModel:
        return ScriptedModel(talkative, summary=lambda request: f"So far: {_marks(request)}")

    def agent(self, runtime: Runtime, model: ScriptedModel | None = None) -> Agent:
        return runtime.agent("ada", definition=self.definition, model=model or self.model())

    def text(self, person: str) -> str:
        """Something new with a marker of its own."""
        self.said += 1
        way = self.chance.choice(WAYS)
        filler = " ".join(f"w{self.chance.randrange(40)}" for _ in range(self.chance.randrange(40)))
        return f"{way} the word {person.upper()}{self.said:04d} for me. {filler}"

    def live(self, events: int) -> None:
        """Some turns of both, and what else happens between turns."""
        with self.runtime() as runtime:
            agent = self.agent(runtime)
            for _ in range(events):
                person = self.chance.choice(("Dana", "Robin"))
                event = self.chance.random()
                if event < 0.7:
                    agent.send(self.text(person), speaker=person)
                elif event < 0.78:
                    agent.observe(self.text(person), source="door", speaker=person)
                elif event < 0.86:
                    agent.flush()
                elif event < 0.9:
                    text = f"{person} said: {self.text(person)}"
                    agent.insert(text, tags=[f"{person}{self.said:04d}"])
                elif event < 0.94 and agent.state.turns.count():
                    agent.undo()
                elif event < 0.97 and agent.state.pages.count():
                    page = agent.state.pages.newest(1)[0]
                    with suppress(ToolFailed):  # no room
                        agent.pin(self.chance.choice((page.short_id, f"m{page.first_seq}")))
                self.clock.advance(seconds=self.chance.choice((1, 60, 7200)))

    def copied(self, home: Path) -> "Life":
        """The same life in another home: living it takes longer than copying it."""
        shutil.copytree(self.home, home)
        made = Life(home, 0)
        made.clock, made.definition, made.said = self.clock, self.definition, self.said
        return made

    @property
    def folder(self) -> Path:
        """Where the agent's state is."""
        return next(path.parent for path in self.home.rglob("state.db") if "agents" in str(path))


def _marks(request: ModelRequest) -> str:
    return ", ".join(dict.fromkeys(m for x in request.messages for m in MARKER.findall(x.text)))


def scan(folder: Path) -> dict[str, Counter[str]]:
    """The markers in each column of each table of a state.db, upper case."""
    found: dict[str, Counter[str]] = {}
    connection = sqlite3.connect(folder / "state.db")
    try:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        for (table,) in tables:
            cursor = connection.execute(f"SELECT * FROM {table}")
            names = [each[0] for each in cursor.description]
            for row in cursor:
                for name, value in zip(names, row, strict=True):
                    if isinstance(value, str):
                        marks = [each.upper() for each in MARKER.findall(value)]
                        found.setdefault(f"{table}.{name}", Counter()).update(marks)
    finally:
        connection.close()
    return {where: marks for where, marks in found.items() if marks}
