"""The life of memory on real stores: facts, contradictions, notes, links, what is forgotten, sleep
with a model that answers anything, undone, rewound, brought back, forked and opened again. After
each step every store is whole and every law of records holds.

The long form: PAGEMIND_LIVES=200 pytest tests/test_memory_life.py
"""

import json
import os
import random
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from kernel_kit import small
from laws import holds

from pagemind.runtime.agent import Agent
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import ModelUnreachable, NotFound, PagemindError, UserError
from pagemind.runtime.invariants import check_state, check_tiers
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.passage import ORDINARY
from pagemind.runtime.relations import is_single
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.sleep.job import Report
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel, call

NAMES = ("Sam", "Ana", "Robert'); DROP")
VALUES = {"lives_in": ("Lisbon", "Porto", "Oslo"), "likes": ("tea", "rum"), "works_at": ("Acme",)}
RELATIONS = tuple(VALUES)
RUBBISH: tuple[Any, ...] = (
    "I am sorry, I cannot help with that.",
    "记住：用户住在里斯本。",
    '{"facts": [{"text": "The sky is green.", "quote": "never said"}]}',
    '{"decisions": [{"new": 99, "op": "DELETE", "known": 7, "text": ""}]}',
    '{"facts": "none", "ratings": [{"id": 1, "importance": 99}], "insights": [{"text": 5}]}',
    "[" * 3000,
    "",
)
MORE = """
sleep: {when: off, reflect: {importance: 20, every: 4}}
"""


def sentence(who: str, relation: str, value: str) -> str:
    verb = {"lives_in": "lives in", "likes": "likes", "works_at": "works at"}[relation]
    return f"{who} {verb} {value}."


@dataclass(frozen=True)
class Known:
    """All that the life of memory is about: equal where an agent is in the same place."""

    records: tuple[Any, ...]
    changes: tuple[Any, ...]
    links: tuple[Any, ...]
    names: tuple[Any, ...]
    cursors: tuple[Any, ...]
    found: tuple[str, ...]

    @classmethod
    def of(cls, agent: Agent) -> "Known":
        state = agent.state
        # Episodes are as old as their turns, whenever they are made.
        records = [
            p for p in everything(agent) if p.provenance.status != "retired" and p.kind != "episode"
        ]
        context = agent._between.sleep._context(Report())
        links = {
            (link.low, link.high)
            for some in state.links.of([p.number for p in records]).values()
            for link in some
        }
        open_changes = [
            (c.job, c.body.get("text"), c.state == "pending")
            for c in state.changes.in_state("candidate", "planned", "pending", "dead")
        ]
        jobs = sorted(json.loads(state.database.meta("sleep", "{}")))
        return cls(
            tuple((p.number, p.text, p.importance, p.provenance.status, p.facets) for p in records),
            tuple(sorted(open_changes, key=repr)),
            tuple(sorted(links)),
            tuple(sorted(state.entities.keys())),
            tuple(
                (job, json.dumps(context.cursor(job)))
                for job in jobs
                if job not in ("fallen", "expire") and context.cursor(job) is not None
            ),
            tuple(
                sorted(
                    hit.id
                    for hit in agent.engine.search(
                        "archival", "Sam lives in Lisbon tea", SearchFilters(), 50
                    ).hits
                )
            ),
        )


def everything(agent: Agent) -> list[Any]:
    """Every record ever, retired ones too."""
    last = agent.state.passages.last_number
    found = agent.state.passages.get(range(1, last + 1))
    assert sorted(found) == list(range(1, last + 1))  # no record is ever lost
    return list(found.values())


def whole(agent: Agent) -> None:
    """No store breaks an invariant, and no law of records is broken."""
    holds(agent)
    found = check_state(agent.state) + check_tiers(agent.state, agent.engine.store)
    assert [each for each in found if each.status == "wrong"] == []
    now = agent.state.clock.now()
    records = everything(agent)
    single: dict[Any, int] = {}
    for record in records:
        if record.kind != "fact" or record.provenance.status != "active" or record.facets.cold:
            continue
        facets = record.facets
        if is_single(facets.relation) and facets.superseded_by is None and record.holds(now):
            matter = (facets.subject_entity, facets.relation, facets.scope, facets.owner)
            assert matter not in single, f"a{single[matter]} and {record.short_id}: {matter}"
            single[matter] = record.number
    hits = agent.engine.search("archival", "Sam Ana lives likes", SearchFilters(), 50).hits
    known = {record.short_id: record for record in records}
    for hit in hits:
        record = known[hit.id]
        assert record.standing == "active", f"{hit.id} is {record.standing}"
        assert record.kind in ORDINARY
        assert record.provenance.status == "active"
        ends = record.facets.valid_to
        assert ends is None or ends > now, f"{hit.id} is over"


class Lives(RuleBasedStateMachine):
    """One agent, what its worker is told, and all that was ever left."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.clock = FrozenClock()
        self.runtime: Runtime
        self.agent: Agent
        self.chance = random.Random(0)
        self.rubbish = 0.0
        self.said: list[tuple[str, str, str]] = []
        self.left: dict[int, Known] = {}
        self.then: dict[int, Known] = {}

    @initialize(review=st.booleans())
    def begin(self, review: bool) -> None:
        self.more = MORE.replace("when: off", "when: off, review: ask") if review else MORE
        self.open()

    def open(self) -> None:
        self.runtime = Runtime(
            Path(self.folder.name) / "home",
            clock=self.clock,
            embedder=HashingEmbedder(64),
            background=False,
        )
        self.talk = ScriptedModel(self.answer, summary=lambda _: "They talked.")
        tools = ("archival_insert", "archival_delete", "fact_add", "fact_close", "fact_search")
        self.answers: list[Any] = []
        self.agent = self.runtime.agent("ada", small(4096, *tools, more=self.more), model=self.talk)

    def teardown(self) -> None:
        if hasattr(self, "runtime"):
            self.runtime.close()
        self.folder.cleanup()

    # --- what models say ------------------------------------------------------------------------

    def answer(self, request: ModelRequest) -> Any:
        if request.purpose != "background":
            return self.answers.pop(0) if self.answers else "Yes."
        if self.chance.random() < self.rubbish:
            if self.chance.random() < 0.2:
                return ModelUnreachable("no route")
            return self.chance.choice(RUBBISH)
        ops = ("ADD", "UPDATE", "SUPERSEDE", "DELETE", "NOOP")
        decisions = [
            {
                "new": n,
                "op": self.chance.choice(ops),
                "known": self.chance.randint(0, 6),
                "text": self.chance.choice(["", "Sam lives in Lisbon and likes tea."]),
            }
            for n in range(1, 5)
        ]
        facts = [
            {
                "quote": sentence(*each),
                "text": sentence(*each),
                "subject": each[0],
                "relation": each[1],
                "object": each[2],
                "since": "",
                "importance": self.chance.randint(0, 12),
            }
            for each in self.said[-6:]
        ]
        insights = [
            {"text": "Sam and Ana often move.", "evidence": [1, 2, 99], "importance": 7},
            {"text": "Sam likes tea a lot", "evidence": [self.chance.randint(0, 9)]},
        ]
        ratings = [{"id": n, "importance": self.chance.randint(-1, 11)} for n in range(1, 6)]
        said = {"facts": facts, "decisions": decisions, "insights": insights, "ratings": ratings}
        more = {"questions": ["Where does Sam live?"], "changes": [], "lessons": []}
        return json.dumps({**said, **more})

    # --- what happens ---------------------------------------------------------------------------

    def turn(self, text: str, *answers: Any, speaker: str = "Sam") -> None:
        before = Known.of(self.agent)
        self.answers = list(answers)
        self.agent.send(text, speaker=speaker)
        self.then[self.agent.state.turns.newest(1)[0].first_seq] = before

    @rule(
        who=st.sampled_from(NAMES),
        relation=st.sampled_from(RELATIONS),
        at=st.integers(0, 2),
        speaker=st.sampled_from(["Sam", "Ana"]),
    )
    def tell(self, who: str, relation: str, at: int, speaker: str) -> None:
        """Somebody says something that the worker may find."""
        value = VALUES[relation][at % len(VALUES[relation])]
        self.said.append((who, relation, value))
        self.turn(sentence(who, relation, value), speaker=speaker)

    @rule(
        who=st.sampled_from(NAMES),
        relation=st.sampled_from(RELATIONS),
        at=st.integers(0, 2),
        days=st.sampled_from([None, -30, 0, 20]),
    )
    def add_fact(self, who: str, relation: str, at: int, days: int | None) -> None:
        """The agent keeps a fact, which may contradict what it knows, or begin at another time."""
        value = VALUES[relation][at % len(VALUES[relation])]
        said: dict[str, Any] = {"subject": who, "relation": relation, "object": value}
        if days is not None:
            from datetime import timedelta

            said["valid_from"] = f"{self.clock.now() + timedelta(days=days):%Y-%m-%d}"
        self.turn("Keep that.", call("fact_add", **said))

    @rule(chance=st.randoms(use_true_random=False))
    def close_fact(self, chance: random.Random) -> None:
        last = self.agent.state.passages.last_number
        self.turn("No more.", call("fact_close", id=f"a{chance.randint(0, last + 1)}"))

    @rule(number=st.integers(0, 5))
    def note(self, number: int) -> None:
        self.turn("Note.", call("archival_insert", content=f"Sam's note {number} on Lisbon tea."))

    @rule(chance=st.randoms(use_true_random=False))
    def link(self, chance: random.Random) -> None:
        state = self.agent.state
        one, other = (chance.randint(0, state.passages.last_number) for _ in "ab")
        with suppress(NotFound):
            state.links.add(one, other, author="user", seq=state.journal.last_seq)

    @rule(chance=st.randoms(use_true_random=False), how=st.sampled_from(["cold", "gone", "model"]))
    def forget(self, chance: random.Random, how: str) -> None:
        """Hidden by a person, cold, or deleted by the model."""
        state = self.agent.state
        number = chance.randint(1, max(1, state.passages.last_number))
        record = state.passages.get([number]).get(number)
        by: dict[str, Any] = {"author": "user", "reason": "forget", "seq": state.journal.last_seq}
        if how == "model":
            self.turn("Delete it.", call("archival_delete", id=f"a{number}"))
        elif record is not None and how == "cold":
            state.passages.edit(number, None, facets=replace(record.facets, cold=True), **by)
        elif record is not None:
            state.passages.set_status(number, "retired", **by)

    @rule(days=st.sampled_from([0.01, 1, 25]))
    def wait(self, days: float) -> None:
        self.clock.advance(days=days)

    @rule(chance=st.randoms(use_true_random=False), rubbish=st.sampled_from([0.0, 0.4, 1.0]))
    def sleep(self, chance: random.Random, rubbish: float) -> None:
        self.chance, self.rubbish = chance, rubbish
        before = len(everything(self.agent))
        report = self.agent.sleep()
        faults = [n for n in report.notes if "no route" not in n and "budget" not in n]
        assert not faults, faults
        assert len(everything(self.agent)) >= before

    @rule(chance=st.randoms(use_true_random=False), yes=st.booleans())
    def decide(self, chance: random.Random, yes: bool) -> None:
        """A person approves or rejects a change that waits."""
        from pagemind.runtime.sleep import review

        if waiting := self.agent.state.changes.in_state("pending"):
            number = chance.choice(waiting).number
            decide = review.approve if yes else review.reject
            with suppress(PagemindError):
                decide(self.agent.state, number, "user")

    @rule()
    def write_back(self) -> None:
        assert self.runtime.drain(self.agent)

    @rule(turns=st.integers(1, 3))
    def undo(self, turns: int) -> None:
        last = self.agent.state.turns.newest(turns)
        if len(last) == turns:
            self.moved(Known.of(self.agent), self.agent.undo(turns), last[-1].first_seq)

    @rule(chance=st.randoms(use_true_random=False))
    def rewind(self, chance: random.Random) -> None:
        here = Known.of(self.agent)
        live = [m.seq for m, _, _ in self.agent.state.journal.live(1)]
        try:
            moved = self.agent.rewind(chance.choice([0, *live]))
        except (UserError, NotFound):
            return
        self.moved(here, moved, moved.taken_back[0].seq if moved.taken_back else 0)

    def moved(self, here: Known, moved: Any, first: int) -> None:
        self.left[moved.from_line] = here
        if moved.taken_back and moved.taken_back[0].seq == first and first in self.then:
            self.same(Known.of(self.agent), self.then[first])

    def same(self, now: Known, then: Known) -> None:
        assert now.records == then.records
        assert now.changes == then.changes
        assert now.links == then.links
        assert now.names == then.names
        assert now.cursors == then.cursors
        assert now.found == then.found

    @rule(chance=st.randoms(use_true_random=False))
    def bring_back(self, chance: random.Random) -> None:
        current = self.agent.state.journal.line
        lines = sorted(set(self.left) - {current})
        if not lines:
            return
        line, here = chance.choice(lines), Known.of(self.agent)
        self.agent.bring_back(line)
        self.same(Known.of(self.agent), self.left[line])
        self.left[current] = here

    @rule()
    def reopen(self) -> None:
        here = Known.of(self.agent)
        self.runtime.close()
        self.open()
        self.same(Known.of(self.agent), here)

    @rule(chance=st.randoms(use_true_random=False), then=st.booleans())
    def fork(self, chance: random.Random, then: bool) -> None:
        """A copy of now, or of a moment."""
        here = Known.of(self.agent)
        name = f"copy {self.clock.new_id()}"
        at = None
        if then:
            at = chance.choice([0, *(m.seq for m, _, _ in self.agent.state.journal.live(1))])
        try:
            made = self.runtime.fork(self.agent, name, at)
        except (UserError, NotFound):  # nothing followed
            return
        self.copied(made.agent, None if then else here)

    @rule()
    def carry(self) -> None:
        """Out into a file, and in again."""
        here = Known.of(self.agent)
        name = f"copy {self.clock.new_id()}"
        path = Path(self.folder.name) / f"{name}.pmz"
        self.runtime.export_agent(self.agent.name, path)
        self.runtime.import_agent(path, name=name)
        self.copied(name, here)

    def copied(self, name: str, here: Known | None) -> None:
        copy = self.runtime.agent(name, model=ScriptedModel(after="No."))
        whole(copy)
        if here is not None:
            self.same(Known.of(copy), here)
        copy.close()
        self.runtime.delete(name)

    @invariant()
    def all_is_whole(self) -> None:
        if hasattr(self, "agent"):
            whole(self.agent)


TestLives = Lives.TestCase
TestLives.settings = settings(
    max_examples=int(os.environ.get("PAGEMIND_LIVES", "2")),
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
