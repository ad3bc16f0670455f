"""A home in which ada may see little: what she may not is marked, so that it is known wherever it
comes out, and its rows have a digest, so that it is known whether anything touched them.

`STRANGERS` are words of bob's memory, of an archive that ada has no right to and of a shared block
that she does not share; `OWNERS` stand in what another owner keeps private, in her own memory and
in an archive that she writes to; `SCOPES` in scopes that she may not read, there and here. None of
them is a word of a name, key or id, so that a message which repeats what was asked has none.
"""

import hashlib
import inspect
import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernel_kit import runtime_at, small

from pagemind.runtime.clock import SystemClock
from pagemind.runtime.core_memory import Block
from pagemind.runtime.definition import AgentDefinition, parse_definition
from pagemind.runtime.errors import PagemindError
from pagemind.runtime.facts import FactBook
from pagemind.runtime.keeping import Keeping
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.skill import Draft
from pagemind.runtime.skill_book import SkillBook
from pagemind.runtime.testing import ScriptedModel

STRANGERS, OWNERS, SCOPES = "xylograph", "zorilla", "wyvern"
QUERY = "the boat lies at berth 42"  # says the like of all that is hidden
ADA = """
name: ada
system: You are a test agent.
context_window: 8192
output_reserve: 128
blocks:
  human: {{value: "Sam.", limit: 400, description: The person.}}
  guest: {{profile: person, limit: 2000, description: The guest.}}
memory: {{procedural: rw}}
skills: {{accept: never}}
forget: {{}}
tools:
  - core
  - recall
  - archival
  - pages
  - clock
  - facts
  - episodes
  - skills
  - timers
  - store
  - archives
  - agents: {{reach: [carol]}}
  - files: {{roots: [{roots}], write: true}}
archives: [{{name: shed, mode: write}}]
scope: /team/ada
scopes: {{read: [/team/ada, /shared], write: [/team/ada]}}
timezone: Europe/Lisbon
"""


@dataclass
class Hidden:
    """The home, and by what its hidden parts are called. Each kind of name that a verb takes has
    the ways in which somebody could write it."""

    home: Path
    definition: AgentDefinition
    bob: str  # his id
    vault: str
    called: dict[str, tuple[Any, ...]] = field(default_factory=dict)


def hidden_home(home: Path, files: Path) -> Hidden:
    """Made anew."""
    files.mkdir(exist_ok=True)
    definition = parse_definition(ADA.format(roots=files))
    with runtime_at(home, SystemClock()) as runtime:
        bob = runtime.create("bob", small(2048))
        _live_bob(runtime)
        runtime.create("carol", small(2048))
        runtime.shared_blocks.make(
            "bobs_plan",
            f"The {STRANGERS} plan.",
            limit=400,
            description="A plan.",
            author="user",
            origin="user",
        )
        runtime.memory("vault").add([f"The {STRANGERS} boat lies at berth 42, {n}." for n in "ab"])
        shed = runtime.memory("shed")
        shed.add("A tin of paint.", scope="/team/ada")
        shed.add(f"The {OWNERS} boat lies at berth 42.", scope="/team/ada", owner="bob")
        shed.add(f"The {SCOPES} boat lies at berth 42.", scope="/private")
        agent = runtime.agent("ada", definition, model=ScriptedModel(lambda request: "Yes."))
        agent.send("Hello, I am Sam.")
        agent.close()
        with runtime.writer("ada") as writer:
            archival = writer.archival()
            archival.insert("Sam has a bicycle.", keeping=Keeping.of("/team/ada"))
            mine = Keeping.of("/team/ada", "sam")
            owned = archival.insert(f"The {OWNERS} boat lies at berth 42.", keeping=mine)[0]
            private = archival.insert(
                f"The {SCOPES} boat lies at berth 42.", keeping=Keeping.of("/private")
            )[0]
            writer.items.put("/private", "k1", {"text": f"The {SCOPES} boat at berth 42."})
            fact = FactBook(writer.state).add(
                "Xyra", "lives_in", "Porto", f"The {SCOPES} Xyra.", scope="/private"
            )
        vault = runtime.archives.registry.find("vault").id
        with runtime.reader("bob") as reader:
            passages = reader.state.passages
            last = passages.get([passages.last_number])[passages.last_number]
            message = reader.state.journal.newest(1)[0]
            page = reader.state.pages.count()
    ids = (
        *(last.short_id, f"m{message.seq - 1}", f"p{page}", f"d{page}", "c1", "s1", "seg1", "t20"),
        *(last.id, message.id, f"bob:{last.short_id}", f"{bob.id}:{last.short_id}"),
        *("vault:a1", f"{vault}:a1", "shed:a2", "shed:a3", "block:bob_secret", "moor_it"),
        *(owned.short_id, private.short_id, f"a{private.number + 1}", fact.passage.short_id),
        *(owned.id, private.id),
    )
    database = home / "agents" / bob.id / "state.db"
    called: dict[str, tuple[Any, ...]] = {
        "id": ids,
        "number": tuple(int(each[1:]) for each in ids if each[:1] == "a" and each[1:].isdigit()),
        "block": ("bob_secret", "bobs_plan", "bob/human", f"{bob.id}/human", "block:bob_secret"),
        "scope": ("/private", "/", "private", "/private/", "/team/ada/../../private", "/bob"),
        "namespace": ("/private", "private", "../private", "/team/ada/../../private", "/bob", "/"),
        "key": ("k1", "/private/k1", "../private/k1"),
        "archive": ("vault", vault, "VAULT", "shed/../vault", "bob"),
        "agent": ("bob", bob.id, "BOB"),
        "entity": ("Xyra", "xyra", "Bobson"),
        "skill": ("moor_it", "bob/moor_it"),
        "speaker": ("Bobson", "bob"),
        "path": (str(database), f"../{bob.id}/state.db", str(home), str(home / "agents" / bob.id)),
        "line": (2, 7),
        "tags": (["harbour"],),
        "query": (QUERY, "harbour", "Xyra", "moor"),
    }
    return Hidden(home, definition, bob.id, vault, called)


def _live_bob(runtime: Runtime) -> None:
    """Something of everything, with more numbers than ada has."""
    agent = runtime.agent("bob", model=ScriptedModel(lambda request: "Yes, yes."))
    for number in range(24):
        agent.send(f"{number}: the {STRANGERS} boat lies at berth 42. " * 6, speaker="Bobson")
    agent.flush()
    agent.pin("m1")
    agent.rewind(40)
    agent.send(f"The {STRANGERS} boat again.", speaker="Bobson")
    agent.close()
    with runtime.writer("bob") as writer:
        state = writer.state
        for number in range(12):
            text = f"The {STRANGERS} boat lies at berth 42, note {number}."
            writer.archival().insert(text, tags=["harbour"])
        FactBook(state).add("Xyra", "lives_in", "Porto", f"The {STRANGERS} Xyra lives in Porto.")
        writer.items.put("/bob", "k1", {"text": f"The {STRANGERS} value at berth 42."})
        draft = Draft.of("moor_it", f"When the {STRANGERS} boat comes.", "Fenders.", None, "")
        book = SkillBook(state)
        book.approve(book.save(draft, why="", refused=False, trust=80, turn=1), by="user", why="")
        state.changes.add(
            "extract", "add", {"text": f"A {STRANGERS}."}, state="pending", seq=0, trust=80
        )
        block = Block("bob_secret", f"The {STRANGERS} secret.", 400, "", False, 1)
        state.blocks.save(block, author="user", reason="", seq=0, origin="user", trust=None)
        last = writer.archival().insert(f"The last {STRANGERS} boat lies at berth 42.")[0]
        assert last.number > 12
    runtime.timers("bob").add("every day at 9:00", f"Feed the {STRANGERS}.")


# --- what may not come out, nor change ------------------------------------------------------------

_OF_HOME = {
    "agents": "id = :bob",
    "schedules": "agent = :bob",
    "mail": "agent = :bob",
    "shared_blocks": "name = 'bobs_plan'",
    "shared_block_versions": "name = 'bobs_plan'",
    "archives": "id = :vault",
}
EVERY = (STRANGERS, OWNERS, SCOPES)
_MARKED = f"text LIKE '%{OWNERS}%' OR text LIKE '%{SCOPES}%'"


def untouched(hidden: Hidden) -> dict[str, str]:
    """A digest of each table of bob's and of the vault, and of the hidden rows of other files."""
    found = {}
    for folder in (hidden.home / "agents" / hidden.bob, hidden.home / "archives" / hidden.vault):
        for table in _tables(folder / "state.db"):
            found[f"{folder.name} {table}"] = _digest(folder / "state.db", f"SELECT * FROM {table}")
    names = {"bob": hidden.bob, "vault": hidden.vault}
    for table, where in _OF_HOME.items():
        for name, id in names.items():
            where = where.replace(f":{name}", f"'{id}'")
        sql = f"SELECT * FROM {table} WHERE {where}"
        found[f"home {table}"] = _digest(hidden.home / "home.db", sql)
    for folder in [*(hidden.home / "agents").iterdir(), *(hidden.home / "archives").iterdir()]:
        path = folder / "state.db"
        for table in ("passages", "passage_versions"):
            sql = f"SELECT * FROM {table} WHERE {_MARKED}"
            found[f"{folder.name} marked {table}"] = _digest(path, sql)
    return found


def _tables(path: Path) -> list[str]:
    with_rows = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    return [row[0] for row in _rows(path, with_rows)]


def _digest(path: Path, sql: str) -> str:
    rows = sorted(json.dumps([str(cell) for cell in row]) for row in _rows(path, sql))
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def _rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        return connection.execute(sql).fetchall()


class Watch:
    """What was answered, by whom; in the end nothing of it may be hidden, and nothing hidden may
    have been touched. A person, who asks about ada, may see and change all that is hers: then the
    `words` are those of strangers alone."""

    def __init__(self, hidden: Hidden, words: Sequence[str] = EVERY) -> None:
        self._hidden = hidden
        self._words = words
        self._before = untouched(hidden)
        self._told: list[str] = []
        self.asked = 0

    def tell(self, what: str, answer: object) -> None:
        self.asked += 1
        text = json.dumps(answer, default=str, ensure_ascii=False).lower()
        self._told += [f"{what}: {word} in {text[:300]}" for word in self._words if word in text]

    def run(self, what: str, call: Callable[[], object]) -> None:
        """An answer, or an error that is one: it may name what was asked for, and no more."""
        try:
            answer = call()
        except PagemindError as error:
            answer = [str(error), error.hint]
        if inspect.isgenerator(answer):
            answer = list(answer)
        self.tell(what, answer)

    def end(self) -> None:
        assert not self._told
        after = untouched(self._hidden)
        held = [key for key in self._before if SCOPES in self._words or "marked" not in key]
        assert [key for key in held if after.get(key) != self._before[key]] == []
