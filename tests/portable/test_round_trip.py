"""An agent that is exported and imported is the same agent."""

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_kit import runtime_at, sentence
from odd_texts import ODD
from portable_kit import definition, lived, manifest, members, same, sound, tables

from pagemind.runtime.errors import AgentExists, ToolFailed, UserError
from pagemind.runtime.portable.tables import EXPORTED, LEFT_OUT, META_LEFT_OUT
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.state import schema
from pagemind.runtime.testing import (
    FrozenClock,
    HashingEmbedder,
    ScriptedModel,
    temporary_runtime,
)


def test_everything_is_as_it_was(tmp_path: Path) -> None:
    """Tables, the next request, search and invariants; and the copy goes on by itself."""
    with temporary_runtime() as runtime:
        lived(runtime).close()
        done = runtime.export_agent("ada", tmp_path / "ada.pmz")
        info = runtime.info("ada")
        assert (done.messages, done.passages) == (info.messages, info.passages)
        assert done.passages > 2
        assert done.pages > 5
        made = runtime.import_agent(tmp_path / "ada.pmz", name="eva")
        assert (made.agent, made.sha256, made.messages) == ("eva", done.sha256, done.messages)
        same(runtime, "ada", "eva")
        assert runtime.path("ada") != runtime.path("eva")
        agent = runtime.agent("eva", model=ScriptedModel(["Still here."]))
        assert agent.send("Are you there?").text == "Still here."
        with runtime.reader("ada") as reader:
            last = reader.state.journal.last_seq
        assert agent.state.journal.last_seq > last


def test_every_table_goes_along_or_is_left_out_for_a_reason() -> None:
    """A new table of state.db has to be thought of here."""
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", definition=definition(), model=ScriptedModel())
        rows = agent.state.database.rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
        there = {row[0] for row in rows}
    assert there <= set(EXPORTED) | set(LEFT_OUT)
    assert not set(EXPORTED) & set(LEFT_OUT)
    assert all(LEFT_OUT.values())
    assert "CREATE TABLE messages" in schema.STATE


def test_each_key_of_meta_goes_along_but_a_home_s_own(tmp_path: Path) -> None:
    """The lock's epoch, the folder of the tiers and the id are a home's; all else is the
    agent's."""
    with temporary_runtime() as runtime:
        agent = lived(runtime, turns=3)
        agent.state.database.set_meta("something new", "7")
        agent.close()
        runtime.export_agent("ada", tmp_path / "ada.pmz")
        told = manifest(tmp_path / "ada.pmz")
        assert told["meta"]["something new"] == "7"
        assert not set(told["meta"]) & META_LEFT_OUT


def test_the_same_agent_makes_the_same_bytes(tmp_path: Path) -> None:
    """Exported twice, and from a copy of its own: but for the id, nothing differs."""
    with temporary_runtime() as runtime:
        lived(runtime).close()
        one = runtime.export_agent("ada", tmp_path / "one.pmz")
        two = runtime.export_agent("ada", tmp_path / "two.pmz")
        assert one.sha256 == two.sha256
        runtime.import_agent(tmp_path / "one.pmz", name="eva")
        runtime.export_agent("eva", tmp_path / "eva.pmz")
    there, again = members(tmp_path / "one.pmz"), members(tmp_path / "eva.pmz")
    assert set(there) == set(again)
    assert [name for name in there if there[name] != again[name]] == ["manifest.json"]


def test_an_agent_in_use_is_exported_as_it_is_at_one_instant(tmp_path: Path) -> None:
    """The writer goes on; what it has acknowledged is in the file."""
    with temporary_runtime() as runtime:
        agent = lived(runtime, turns=5)
        done = runtime.export_agent("ada", tmp_path / "ada.pmz")
        agent.send("And on.")
        runtime.import_agent(tmp_path / "ada.pmz", name="eva")
        with runtime.reader("eva") as reader:
            assert reader.state.journal.count() == done.messages
            sound(reader)


def test_with_embeddings_nothing_is_embedded_again(tmp_path: Path) -> None:
    """The vectors of the file are used where the same model made them."""
    with temporary_runtime() as runtime:
        lived(runtime).close()
        done = runtime.export_agent("ada", tmp_path / "ada.pmz")
        assert done.embeddings > 50

    class Counting(HashingEmbedder):
        texts = 0

        def embed(self, texts):  # type: ignore[no-untyped-def]
            Counting.texts += len(texts)
            return super().embed(texts)

    with temporary_runtime(embedder=Counting(64)) as runtime:
        made = runtime.import_agent(tmp_path / "ada.pmz")
        assert made.embeddings == done.embeddings
        agent = runtime.agent("ada", model=ScriptedModel(["Yes."]))
        runtime.drain(agent)
        assert Counting.texts == 0
        with runtime.reader("ada") as reader:
            assert reader.store.count_missing("recall") == 0


@pytest.mark.parametrize("how", ["not exported", "not imported", "another model"])
def test_without_embeddings_they_are_made_anew(tmp_path: Path, how: str) -> None:
    """Text search works at once, and vectors come when the agent runs."""
    with temporary_runtime() as runtime:
        lived(runtime, turns=6).close()
        runtime.export_agent("ada", tmp_path / "ada.pmz", embeddings=how != "not exported")
    dimensions = 32 if how == "another model" else 64
    with temporary_runtime(embedder=HashingEmbedder(dimensions)) as runtime:
        made = runtime.import_agent(tmp_path / "ada.pmz", embeddings=how != "not imported")
        assert made.embeddings == 0
        assert any("made anew" in note for note in made.notes) == (how == "another model")
        agent = runtime.agent("ada", model=ScriptedModel(["Yes."]))
        assert runtime.drain(agent)
        with runtime.reader("ada") as reader:
            assert reader.store.count("recall") > 0
            assert reader.store.count_missing("recall") == 0
            sound(reader)


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    """The agent that is there stays, and the hint says how to import it all the same."""
    with temporary_runtime() as runtime:
        lived(runtime, turns=2).close()
        runtime.export_agent("ada", tmp_path / "ada.pmz")
        before = tables_of(runtime, "ada")
        with pytest.raises(AgentExists) as caught:
            runtime.import_agent(tmp_path / "ada.pmz")
        assert "--as" in caught.value.hint
        assert tables_of(runtime, "ada") == before
        assert len(list((runtime.home.path / "agents").iterdir())) == 1


def tables_of(runtime: Runtime, name: str) -> object:
    with runtime.reader(name) as reader:
        return tables(reader)


def test_a_file_is_not_written_over_unasked(tmp_path: Path) -> None:
    """`overwrite` says so; a folder that is not there is a plain error. Nothing is left behind."""
    with temporary_runtime() as runtime:
        lived(runtime, turns=2).close()
        path = tmp_path / "ada.pmz"
        path.write_text("mine")
        with pytest.raises(UserError, match="there already"):
            runtime.export_agent("ada", path)
        assert path.read_text() == "mine"
        runtime.export_agent("ada", path, overwrite=True)
        with pytest.raises(UserError, match="is not there"):
            runtime.export_agent("ada", tmp_path / "no" / "ada.pmz")
        with pytest.raises(UserError, match="is a folder"):
            runtime.export_agent("ada", tmp_path)
        assert [each.name for each in tmp_path.iterdir()] == ["ada.pmz"]


def test_blobs_go_along(tmp_path: Path) -> None:
    """Each by its hash; what lies there under another name is no blob."""
    import hashlib

    data = b"\x89PNG" + bytes(range(256)) * 40
    sha256 = hashlib.sha256(data).hexdigest()
    with temporary_runtime() as runtime:
        lived(runtime, turns=2).close()
        blobs = runtime.path("ada") / "blobs"
        blobs.mkdir()
        (blobs / sha256).write_bytes(data)
        (blobs / "note.txt").write_text("no blob")
        (blobs / ("0" * 64)).write_bytes(b"damaged")
        done = runtime.export_agent("ada", tmp_path / "ada.pmz")
        assert any("damaged" in note for note in done.notes)
        runtime.import_agent(tmp_path / "ada.pmz", name="eva")
        there = runtime.path("eva") / "blobs"
        assert [each.name for each in there.iterdir()] == [sha256]
        assert (there / sha256).read_bytes() == data


ACTS = st.lists(
    st.sampled_from(["talk", "odd", "note", "insert", "observe", "pin", "flush", "reopen", "undo"]),
    min_size=1,
    max_size=25,
)


@given(ACTS, st.randoms(use_true_random=False))
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
def test_any_agent_comes_back_equal(acts: list[str], random: object) -> None:
    """Whatever it did, in whatever order."""
    folder = Path(tempfile.mkdtemp(prefix="pmz-"))
    try:
        with runtime_at(folder / "home", FrozenClock()) as runtime:
            live(runtime, acts, random)
            runtime.export_agent("ada", folder / "ada.pmz")
            runtime.import_agent(folder / "ada.pmz", name="eva")
            same(runtime, "ada", "eva")
    finally:
        shutil.rmtree(folder)


def live(runtime: Runtime, acts: list[str], random: object) -> None:
    at = 0

    model = ScriptedModel(lambda request: sentence(at))
    agent = runtime.agent("ada", definition=definition(), model=model)
    for act in acts:
        at += 1
        if act == "odd":
            agent.send(random.choice(sorted(ODD.values())))  # type: ignore[attr-defined]
        elif act == "note":
            agent.write_block("human", f"Note {at}.")
        elif act == "insert":
            agent.insert(f"A passage about lamp {at}.", tags=["lamps"])
        elif act == "observe":
            agent.observe(sentence(at), source="sensor")
        elif act == "pin" and agent.state.journal.last_seq:
            with suppress(ToolFailed):  # it may be too long
                agent.pin(f"m{agent.state.journal.last_seq}")
        elif act == "flush":
            agent.flush()
        elif act == "reopen":
            agent.close()
            agent = runtime.agent("ada", model=model)
        elif act == "undo" and hasattr(agent, "undo") and at > 3:
            agent.send("To be undone.")
            agent.undo()
        else:
            agent.send(sentence(at))
    runtime.drain(agent)
    agent.close()
