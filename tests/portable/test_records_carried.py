"""The life of memory in a file: facts, links, names, planned changes and lineage travel whole, and
nothing that comes out of a file acts by itself, is trusted more, or is what no record is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from portable_kit import altered, definition, same, with_rows

from pagemind.runtime.agent import Agent
from pagemind.runtime.errors import BadExport
from pagemind.runtime.facts import FactBook
from pagemind.runtime.message import Provenance
from pagemind.runtime.passage import Facets
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.sleep.job import Report
from pagemind.runtime.testing import ScriptedModel, temporary_runtime

Rows = list[dict[str, Any]]


def lived(runtime: Runtime) -> Agent:
    """One with facts that ended others, an insight, a skill, and changes of every kind."""
    agent = runtime.agent("ada", definition(), model=ScriptedModel(after="Yes."))
    state, book = agent.state, FactBook(agent.state)
    agent.send("I live in Lisbon.")
    book.add("Sam", "lives_in", "Lisbon", provenance=Provenance("model", trust=80, sources=("m1",)))
    agent.send("I live in Porto.")
    book.add("Sam", "lives_in", "Porto", provenance=Provenance("model", trust=80, sources=("m3",)))
    seq = state.journal.last_seq
    skill, _ = state.passages.insert(
        "To greet.",
        tags=(),
        importance=5,
        metadata={"name": "greet", "version": 1, "state": "active", "form": "instructions"},
        seq=seq,
        provenance=Provenance("model", trust=80),
        author="model",
        facets=Facets("skill", key="greet"),
    )
    state.links.add(1, 2, author="worker", seq=seq)
    state.lineage.add("a2", ["a1"], "evidence", seq=seq)
    state.tallies.add(skill.number, good=3)
    for op, now in (("block", "planned"), ("prompt", "pending"), ("add", "candidate")):
        state.changes.add("job", op, {"text": "x"}, state=now, seq=seq, trust=80)  # type: ignore[arg-type]  # words
    made = state.changes.add("job", "add", {"text": "y"}, state="planned", seq=seq, trust=80)
    state.changes.settle(made.number, "applied", by="worker", result="a2")
    agent._between.sleep._context(Report()).set_cursor("job", {"turn": 2, "at": ""})
    runtime.drain(agent)
    return agent


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pmz") / "ada.pmz"
    with temporary_runtime() as runtime:
        lived(runtime).close()
        runtime.export_agent("ada", path)
    return path


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with temporary_runtime() as opened:
        yield opened


def test_all_of_it_travels(tmp_path: Path) -> None:
    """But for what was planned for a block, which waits for a person, it is the same; and an
    increment brings the end of a fact."""
    with temporary_runtime() as runtime:
        agent = lived(runtime)
        runtime.export_agent("ada", tmp_path / "one.pmz")
        runtime.import_agent(tmp_path / "one.pmz", name="eve")
        agent.state.database.write("UPDATE changes SET state = 'pending' WHERE op = 'block'")
        agent.close()
        same(runtime, "ada", "eve")
        agent = runtime.agent("ada", model=ScriptedModel(after="Yes."))
        FactBook(agent.state).close(2)
        agent.send("More.")
        runtime.drain(agent)
        runtime.export_agent("ada", tmp_path / "two.pmz", since=tmp_path / "one.pmz")
        agent.close()
        runtime.import_agent(tmp_path / "two.pmz", name="eve")
        same(runtime, "ada", "eve")


def test_nothing_acts_by_itself_and_nothing_is_trusted_more(runtime: Runtime, made: Path) -> None:
    """Of a file that says that strangers' words are a person's."""

    def forged(rows: Rows) -> Rows:
        return [{**row, "origin": "tool", "trust": 100} for row in rows]

    runtime.import_agent(with_rows(made, "changes", forged), untrusted=True)
    with runtime.reader("ada") as reader:
        changes = [reader.state.changes.get(number) for number in range(1, 5)]
        assert [change.state for change in changes if change] == [
            "pending",
            "pending",
            "candidate",
            "applied",
        ]
        assert {change.trust for change in changes if change} <= set(range(41))
        skill = reader.state.passages.get([3])[3]
        assert (skill.provenance.status, skill.metadata["state"]) == ("pending", "pending")


@pytest.mark.parametrize(
    ("table", "change", "words"),
    [
        ("passages", {"superseded_by": 99}, "superseded by one that is not there"),
        ("passages", {"superseded_by": 1}, "a circle"),
        ("passages", {"kind": "virus"}, "a kind that is none of"),
        ("passages", {"scope": "team"}, "the scope 'team'"),
        ("passages", {"level": -5}, "an odd evergreen, cold or level"),
        ("passages", {"subject_entity": 77}, "about somebody who is not there"),
        ("passages", {"cold": 1}, "not what the newest version says"),
        ("passages", {"valid_to": "soon"}, "valid_to is no time"),
        ("passage_versions", {"facets": "no"}, "facets is no JSON object"),
        ("passage_versions", {"facets": '{"valid_to": "soon"}'}, "facets that no record has"),
        ("passage_versions", {"facets": '{"kind": ["fact"]}'}, "facets that no record has"),
        ("passage_versions", {"facets": '{"scope": "a b"}'}, "facets that no record has"),
        ("lineage", {"derived": "a99"}, "what is not there"),
        ("lineage", {"derived": "rm -rf"}, "a derived that is no id"),
        ("lineage", {"how": "theft"}, "a how that is none of"),
        ("links", {"high": 99}, "between records that are not there"),
        ("entity_names", {"entity": 99}, ""),
        ("changes", {"state": "done"}, "a state that is none of"),
        ("changes", {"body": "[]"}, "body is no JSON object"),
        ("tallies", {"number": 99}, "of records that are not there"),
    ],
)
def test_what_no_record_is_is_refused(
    runtime: Runtime, made: Path, table: str, change: dict[str, Any], words: str
) -> None:
    """In one line, and nothing is left of it."""

    def changed(rows: Rows) -> Rows:
        return [{**rows[0], **change}, *rows[1:]]

    with pytest.raises(BadExport) as caught:
        runtime.import_agent(with_rows(made, table, changed))
    assert words in caught.value.message
    assert "\n" not in caught.value.message
    assert not runtime.agents()


def test_a_lineage_that_goes_round_is_refused(runtime: Runtime, made: Path) -> None:
    """It would never end."""

    def turned(rows: Rows) -> Rows:
        back = {**rows[-1], "derived": rows[-1]["source"], "source": rows[-1]["derived"]}
        return sorted([*rows, back], key=lambda row: (row["derived"], row["source"]))

    with pytest.raises(BadExport, match="of itself"):
        runtime.import_agent(with_rows(made, "lineage", turned))


@pytest.mark.parametrize(
    "stored",
    ["no", "[]", '{"extract": 5}', '{"extract": [["x", 1]]}', '{"extract": [[1, {"a": "rm"}]]}'],
)
def test_odd_places_of_jobs_are_refused(runtime: Runtime, made: Path, stored: str) -> None:
    """A worker would stumble over them at every run."""

    def change(there: dict[str, bytes], told: dict[str, Any]) -> None:
        told["meta"]["sleep"] = stored

    with pytest.raises(BadExport, match="meta: sleep"):
        runtime.import_agent(altered(made, change))


def test_a_file_from_before_lineage_gets_it_from_the_sources(runtime: Runtime, made: Path) -> None:
    """As a home does that is brought up."""

    def older(there: dict[str, bytes], told: dict[str, Any]) -> None:
        del there["tables/lineage.parquet"], told["tables"]["lineage"]

    runtime.import_agent(altered(made, older))
    with runtime.reader("ada") as reader:
        edges = reader.state.database.rows("SELECT derived, source, how FROM lineage")
        assert [tuple(edge) for edge in edges] == [("a1", "m1", "from"), ("a2", "m3", "from")]
