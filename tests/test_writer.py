"""The writer changes the memory of an agent at rest: no model is asked for, nothing is lost."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.errors import AgentInUse, BlockNotFound, NotFound
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.testing import FrozenClock, HashingEmbedder, ScriptedModel, call

PLAIN = "name: ada\nembedding: none\ncontext_window: 4096\n"


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    """A home with one agent, for which no model may be looked for."""
    with Runtime(tmp_path, clock=FrozenClock(), embedder=HashingEmbedder(32)) as runtime:
        runtime.create("ada", parse_definition(PLAIN))
        monkeypatch.setattr("pagemind.runtime.runtime.choose", _never)
        yield runtime


def _never(*_: object, **__: object) -> None:
    pytest.fail("a model was looked for")


def found(runtime: Runtime, query: str) -> list[str]:
    with runtime.reader("ada") as reader:
        hits = [*reader.search.search("recall", query, SearchFilters(), 5).hits]
        hits += reader.search.search("archival", query, SearchFilters(), 5).hits
        return [hit.id for hit in hits]


def test_an_insert_needs_no_model(runtime: Runtime) -> None:
    """A passage is stored and found, and the same text again is the same passage."""
    with runtime.writer("ada") as writer:
        passage, new = writer.insert("The boat is called Nomad.", tags=["boat"])
        again, fresh = writer.insert("The boat is called Nomad.")
    assert (passage.short_id, new) == ("a1", True)
    assert (again.short_id, fresh) == ("a1", False)
    assert passage.provenance.origin == "user"
    assert found(runtime, "Nomad") == ["a1"]


def test_a_piece_of_a_document_says_where_it_is_from(runtime: Runtime) -> None:
    """Its origin is the document, so that it is trusted less than a person's word."""
    with runtime.writer("ada") as writer:
        passage, _ = writer.insert("Berth 42.", document="notes.md")
    assert (passage.provenance.origin, passage.provenance.detail) == ("document", "notes.md")
    assert passage.provenance.trust < 100


def test_an_observation_before_the_first_turn_is_in_its_queue(runtime: Runtime) -> None:
    """What is recorded while nobody runs the agent stands in the next request."""
    with runtime.writer("ada") as writer:
        message = writer.observe("The harbour light went out.", source="sensor")
    assert message.short_id == "m1"
    assert found(runtime, "harbour light") == ["m1"]
    model = ScriptedModel(["I know."])
    with runtime.agent("ada", model=model) as agent:
        agent.send("Anything new?")
    assert any("harbour light" in m.text for m in model.requests[0].messages)


def test_nobody_runs_the_agent_meanwhile(runtime: Runtime) -> None:
    """The writer holds the agent's lock, and releases it."""
    with runtime.writer("ada"), pytest.raises(AgentInUse):
        runtime.agent("ada", model=ScriptedModel())
    runtime.agent("ada", model=ScriptedModel()).close()


def test_a_block_gets_a_former_value_back(runtime: Runtime) -> None:
    """Restoring is a new version by the user; the model sees the old value again."""
    with runtime.agent(
        "ada", model=ScriptedModel([call("core_append", block="human", content="Sam"), "Noted."])
    ) as agent:
        agent.send("I am Sam.")
        assert agent.context.core.get("human").value == "Sam"
        assert agent.restore_block("human", 1) == ""
        assert agent.context.core.get("human").value == ""
    with runtime.writer("ada") as writer:
        assert writer.restore_block("human", 2) == "Sam"
        with pytest.raises(NotFound, match="no version 9"):
            writer.restore_block("human", 9)
        with pytest.raises(BlockNotFound):
            writer.restore_block("humna", 1)
    with runtime.reader("ada") as reader:
        versions = reader.state.blocks.history("human")
    assert [v.value for v in versions] == ["", "Sam", "", "Sam"]
    assert versions[-1].author == "user"


def test_a_retired_passage_comes_back(runtime: Runtime) -> None:
    """Restoring a version of a deleted passage makes it active and found again."""
    with runtime.writer("ada") as writer:
        passage, _ = writer.insert("The boat is called Nomad.")
        state = writer.state
        state.passages.edit(passage.number, "It is Ida.", author="model", reason="edited", seq=0)
        state.passages.set_status(
            passage.number, "retired", author="model", reason="deleted", seq=0
        )
        restored = writer.restore_passage(passage.number, 1)
        with pytest.raises(NotFound):
            writer.restore_passage(99, 1)
    assert restored.text == "The boat is called Nomad."
    assert found(runtime, "Nomad") == ["a1"]


def test_a_rebuild_fills_the_tiers_from_the_database(runtime: Runtime) -> None:
    """Rows and vectors are all there again, and everything is found."""
    with runtime.agent("ada", model=ScriptedModel(["Hello Sam."])) as agent:
        agent.send("My boat is called Nomad.")
        agent.insert("Berth 42 in Horta.")
    steps: list[tuple[int, int]] = []
    with runtime.writer("ada") as writer:
        status = writer.rebuild(lambda done, total: steps.append((done, total)))
        assert (status.unwritten, status.missing_vectors, status.last_error) == (0, 0, None)
        assert writer.store.count("recall") == 2
        assert writer.store.count("archival") == 1
    assert steps[-1] == (3, 3)
    assert found(runtime, "Nomad")[0] == "m1"


def test_an_agent_that_cannot_be_opened_is_not_left_behind(tmp_path: Path) -> None:
    """A failed first opening leaves no agent, and a model that cannot be used is not kept."""
    from pagemind.runtime.errors import LocalModelError

    with Runtime(tmp_path, clock=FrozenClock()) as runtime:
        with pytest.raises(LocalModelError):
            runtime.agent("ada", parse_definition(PLAIN), model="local/nothing")
        assert not runtime.home.exists("ada")
        runtime.create("ada", parse_definition(PLAIN))
        with pytest.raises(LocalModelError):
            runtime.agent("ada", model="local/nothing")
        assert runtime.home.find("ada").model == ""
