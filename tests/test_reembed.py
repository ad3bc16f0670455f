"""A change of embedder: refused with both names, then carried out without downtime or loss."""

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from kernel_kit import sentence, small
from processes import python

from pagemind.runtime import reembed as module
from pagemind.runtime import runtime as runtime_module
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.errors import EmbeddingMismatch, ModelUnreachable
from pagemind.runtime.invariants import check_state, check_tiers
from pagemind.runtime.model import Embedder
from pagemind.runtime.reader import AgentReader
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel, call

OLD, NEW = "hashing", "hashing/other"
MESSAGES = 40


class Flaky(HashingEmbedder):
    """Fails from the nth call on."""

    works = 1 << 30

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if Flaky.works <= 0:
            raise ModelUnreachable("no route to the embedder")
        Flaky.works -= 1
        return super().embed(texts)


class Stop(Exception):
    pass


def make(name: str) -> Embedder | None:
    return {OLD: HashingEmbedder(16), NEW: Flaky(32), "none": None}[name]


@pytest.fixture(autouse=True)
def _embedders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime_module, "make_embedder", make)
    monkeypatch.setattr(module, "WRITE_BACK_ROWS", 10)
    Flaky.works = 1 << 30


def with_embedding(name: str) -> AgentDefinition:
    return small(2048, "archival_insert", more=f"embedding: {name}\n")


def talked(home: Path) -> None:
    """An agent of the old embedder whose definition names the new one by now."""
    archive = call("archival_insert", content="The boat is Nomad.")
    model = ScriptedModel([archive, "Kept."], after="Yes.")
    with Runtime(home, background=False) as runtime:
        agent = runtime.agent("ada", with_embedding(OLD), model=model)
        for number in range(MESSAGES // 2):
            agent.send(sentence(number))
        assert runtime.drain(agent)
        agent.close()
        runtime.update("ada", with_embedding(NEW), apply=True)


def finds(reader: AgentReader, number: int) -> bool:
    """Whether the item is found, by words and by vectors, without a warning."""
    found = reader.search.search("recall", f"item K{number:04d}", SearchFilters(), 5)
    assert found.warnings == ()
    return any(f"K{number:04d}" in hit.text for hit in found.hits)


def quiet(done: int, total: int) -> None:
    assert done <= total


def test_an_agent_of_another_embedder_is_refused_with_both_names(tmp_path: Path) -> None:
    """Nothing is dropped or mixed: the error says what made the tiers, what is asked for and the
    command that changes them; reading goes on with the old one."""
    talked(tmp_path)
    with Runtime(tmp_path) as runtime:
        with pytest.raises(EmbeddingMismatch) as refused:
            runtime.agent("ada", model=ScriptedModel(after="Yes."))
        assert f"made by {OLD}" in refused.value.message
        assert f"says {NEW}" in refused.value.message
        assert "pagemind memory reembed ada" in refused.value.hint
        with runtime.reader("ada") as reader:
            assert finds(reader, 3)
            assert check_tiers(reader.state, reader.store) == []


def test_reembedding_makes_the_tiers_anew(tmp_path: Path) -> None:
    """All rows have vectors of the new embedder, the old tables are gone, the agent goes on."""
    talked(tmp_path)
    with Runtime(tmp_path) as runtime:
        with runtime.writer("ada") as writer:
            done = writer.reembed(quiet)
            assert (done.before, done.after) == (OLD, NEW)
            assert (done.resumed, done.missing_vectors) == (0, 0)
            assert check_state(writer.state) == check_tiers(writer.state, writer.store) == []
            assert [each.name for each in writer.folder.glob("lance*") if each.is_dir()] == [
                "lance.2"
            ]
        agent = runtime.agent("ada", model=ScriptedModel(after="Still here."))
        assert agent.send("Are you there?").text == "Still here."
        agent.close()
        with runtime.reader("ada") as reader:
            assert finds(reader, 3)


def test_a_reader_is_served_before_during_and_after(tmp_path: Path) -> None:
    """One that stays open all the time finds the same at every batch, and in the new tables."""
    talked(tmp_path)
    with Runtime(tmp_path) as runtime, runtime.reader("ada") as reader:
        seen = []

        def on_rows(done: int, total: int) -> None:
            seen.append(finds(reader, 1) and finds(reader, 9))

        with runtime.writer("ada") as writer:
            writer.reembed(on_rows)
        assert len(seen) >= 4
        assert all(seen)
        assert finds(reader, 1)
        assert reader.store.location.folder.name == "lance.2"


def test_an_embedder_that_fails_costs_a_batch(tmp_path: Path) -> None:
    """The error says how to go on; the old tables are in use; the next run does the rest only."""
    talked(tmp_path)
    with Runtime(tmp_path) as runtime:
        with runtime.writer("ada") as writer:
            Flaky.works = 2
            with pytest.raises(ModelUnreachable) as failed:
                writer.reembed(quiet)
            assert "goes on where it stopped" in failed.value.hint
            assert finds(writer, 3)
        with runtime.writer("ada") as writer:
            Flaky.works = 1 << 30
            done = writer.reembed(quiet)
            assert done.resumed >= 20
            assert check_tiers(writer.state, writer.store) == []


def test_what_changed_between_two_runs_is_not_stale(tmp_path: Path) -> None:
    """Passages that were edited, retired or added after they were carried over are as they are."""
    talked(tmp_path)
    with Runtime(tmp_path) as runtime, runtime.writer("ada") as writer:
        for number in range(12):
            writer.insert(f"Note {number} about the mast.")

        def on_rows(done: int, total: int) -> None:
            if json.loads(writer.state.database.meta("reembedding"))["archival"] == 10:
                raise Stop

        with pytest.raises(Stop):
            writer.reembed(on_rows)
        passages = writer.state.passages
        passages.edit(2, "Changed.", author="user", reason="", seq=0)
        passages.set_status(3, "retired", author="user", reason="", seq=0)
        writer.insert("A late note.")
        writer.reembed(quiet)
        assert check_tiers(writer.state, writer.store) == []


def test_another_wish_in_between_begins_anew(tmp_path: Path) -> None:
    """Half of one embedder's tables is nothing to another; no folder is left behind."""
    talked(tmp_path)
    with Runtime(tmp_path) as runtime:
        with runtime.writer("ada") as writer:
            Flaky.works = 2
            with pytest.raises(ModelUnreachable):
                writer.reembed(quiet)
        runtime.update("ada", with_embedding("none"), apply=True)
        with runtime.writer("ada") as writer:
            done = writer.reembed(quiet)
            assert (done.resumed, done.after) == (0, "none")
            assert check_tiers(writer.state, writer.store) == []
            folders = [each for each in writer.folder.glob("lance*") if each.is_dir()]
            assert folders == [writer.state.tiers]


KILLED = """
    import os, signal, sys
    sys.path.insert(0, {tests!r})
    import test_reembed as t
    t.runtime_module.make_embedder = t.make
    t.module.WRITE_BACK_ROWS = 10
    def on_rows(done, total):
        if done >= {at}:
            os.kill(os.getpid(), signal.SIGKILL)
    def die(state):
        os.kill(os.getpid(), signal.SIGKILL)
    if {at} < 0:
        t.module.sweep_tiers = die  # after the switch, before the old tables are removed
    with t.Runtime(sys.argv[1]) as runtime, runtime.writer("ada") as writer:
        writer.reembed(on_rows if {at} >= 0 else t.quiet)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills itself with SIGKILL")
@pytest.mark.parametrize("at", [10, 30, MESSAGES])
def test_killed_in_the_middle_it_resumes(tmp_path: Path, at: int) -> None:
    """What was done is not done again, the old tables serve meanwhile, and nothing is lost."""
    talked(tmp_path)
    child = python(KILLED.format(tests=str(Path(__file__).parent), at=at), tmp_path)
    errors = child.communicate(timeout=60)[1]
    assert child.returncode == -signal.SIGKILL, errors
    with Runtime(tmp_path) as runtime, runtime.writer("ada") as writer:
        assert writer.state.tiers.name == "lance"
        assert finds(writer, 3)
        done = writer.reembed(quiet)
        assert done.resumed >= at
        assert check_state(writer.state) == check_tiers(writer.state, writer.store) == []


@pytest.mark.skipif(os.name == "nt", reason="kills itself with SIGKILL")
def test_killed_after_the_switch_the_new_tables_are_in_use(tmp_path: Path) -> None:
    """The one commit decides; the old folder goes when the agent is opened."""
    talked(tmp_path)
    script = KILLED.format(tests=str(Path(__file__).parent), at=-1)
    # The plan sweeps once at its beginning: only the second call kills.
    script = script.replace(
        "t.module.sweep_tiers = die",
        "real = t.module.sweep_tiers; calls = []; t.module.sweep_tiers ="
        " lambda s: die(s) if calls else (calls.append(1), real(s))",
    )
    child = python(script, tmp_path)
    errors = child.communicate(timeout=60)[1]
    assert child.returncode == -signal.SIGKILL, errors
    with Runtime(tmp_path) as runtime:
        agent = runtime.agent("ada", model=ScriptedModel(after="Yes."))
        assert agent.state.tiers.name == "lance.2"
        assert not (agent.state.folder / "lance").exists()
        assert check_tiers(agent.state, agent.engine.store) == []
