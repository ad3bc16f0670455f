"""An increment carries an agent on that was imported from what it goes on from, and no other."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernel_kit import sentence
from portable_kit import definition, lived, manifest, same, tables

from pagemind.runtime.agent import Agent
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import UnknownAgent, UserError
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel, temporary_runtime


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with temporary_runtime() as opened:
        yield opened


def go_on(runtime: Runtime, turns: int, first: int = 100) -> None:
    """More of everything."""
    agent = runtime.agent("ada", model=ScriptedModel(lambda _: sentence(first)))
    for at in range(first, first + turns):
        agent.send(f"And {at}: {sentence(at)}")
    agent.insert(f"A new passage about crate {first}.", tags=["new"])
    agent.write_block("human", f"Block of {first}.")
    runtime.drain(agent)
    agent.close()


def test_increments_follow_each_other(runtime: Runtime, tmp_path: Path) -> None:
    """Base, then each onto the one before: at each step the copy is the agent. Each is smaller
    than a whole one."""
    lived(runtime).close()
    whole = runtime.export_agent("ada", tmp_path / "0.pmz")
    runtime.import_agent(tmp_path / "0.pmz", name="eva")
    same(runtime, "ada", "eva")
    for number in (1, 2, 3):
        go_on(runtime, 3, 100 * number)
        before = tmp_path / f"{number - 1}.pmz"
        step = runtime.export_agent("ada", tmp_path / f"{number}.pmz", since=before)
        assert step.bytes < whole.bytes
        made = runtime.import_agent(tmp_path / f"{number}.pmz", name="eva")
        assert (made.messages, made.since) == (step.messages, step.since)
        assert step.embeddings >= made.embeddings > 0
        same(runtime, "ada", "eva")


def test_only_what_is_new_is_carried(runtime: Runtime, tmp_path: Path) -> None:
    """Of what only grew the new rows; nothing of what did not change; texts by who refers to
    them."""
    lived(runtime).close()
    runtime.export_agent("ada", tmp_path / "0.pmz")
    agent = runtime.agent("ada", model=ScriptedModel(["Yes."]))
    agent.send("One more.")
    agent.close()
    runtime.export_agent("ada", tmp_path / "1.pmz", since=tmp_path / "0.pmz")
    told = manifest(tmp_path / "1.pmz")["tables"]
    assert (told["messages"]["mode"], told["messages"]["carried"]) == ("added", 2)
    assert (told["turns"]["mode"], told["turns"]["carried"]) == ("added", 1)
    for table in ("passages", "passage_versions", "block_versions", "documents"):
        assert (told[table]["mode"], told[table]["carried"]) == ("same", 0)
    assert told["texts"]["mode"] in ("same", "added")


def test_nothing_new_is_an_increment_too(runtime: Runtime, tmp_path: Path) -> None:
    """A backup every night, also after a quiet day; a second time it says that all is there."""
    lived(runtime, turns=4).close()
    runtime.export_agent("ada", tmp_path / "0.pmz")
    runtime.import_agent(tmp_path / "0.pmz", name="eva")
    runtime.export_agent("ada", tmp_path / "1.pmz", since=tmp_path / "0.pmz")
    assert runtime.import_agent(tmp_path / "1.pmz", name="eva").messages
    same(runtime, "ada", "eva")


@pytest.mark.parametrize("how", ["seq", "short id", "time", "nothing"])
def test_since_a_message_or_a_time(tmp_path: Path, how: str) -> None:
    """What the file does not know of the reader it carries whole; the messages are those after."""
    clock = FrozenClock()
    with temporary_runtime(clock=clock) as runtime:
        lived(runtime, turns=6).close()
        runtime.export_agent("ada", tmp_path / "0.pmz")
        runtime.import_agent(tmp_path / "0.pmz", name="eva")
        seq = manifest(tmp_path / "0.pmz")["seq"]
        clock.advance(hours=48)
        at = clock.now()
        go_on(runtime, 3)
        since: object = {"seq": seq, "short id": f"m{seq}", "time": at, "nothing": 0}[how]
        done = runtime.export_agent("ada", tmp_path / "1.pmz", since=since)
        assert done.since == (0 if how == "nothing" else seq)
        if how != "nothing":
            runtime.import_agent(tmp_path / "1.pmz", name="eva")
            same(runtime, "ada", "eva")


def test_a_correction_of_the_past_is_carried(runtime: Runtime, tmp_path: Path) -> None:
    """Edited and retired passages, and blocks, are as they are now; so is what is searched."""
    agent = lived(runtime, turns=6)
    agent.close()
    runtime.export_agent("ada", tmp_path / "0.pmz")
    runtime.import_agent(tmp_path / "0.pmz", name="eva")
    agent = runtime.agent("ada", model=ScriptedModel())
    agent.state.passages.set_status(1, "retired", author="user", reason="wrong", seq=1)
    agent.insert("Another lamp.")
    runtime.drain(agent)
    agent.close()
    runtime.export_agent("ada", tmp_path / "1.pmz", since=tmp_path / "0.pmz")
    runtime.import_agent(tmp_path / "1.pmz", name="eva")
    same(runtime, "ada", "eva")


def test_what_was_taken_back_is_carried(runtime: Runtime, tmp_path: Path) -> None:
    """Turns that were undone are hidden in the copy too, and come back there as here."""
    lived(runtime, turns=8).close()
    runtime.export_agent("ada", tmp_path / "0.pmz")
    runtime.import_agent(tmp_path / "0.pmz", name="eva")
    agent = runtime.agent("ada", model=ScriptedModel(["Yes."]))
    agent.undo(3)
    agent.send("Another way.")
    runtime.drain(agent)
    agent.close()
    runtime.export_agent("ada", tmp_path / "1.pmz", since=tmp_path / "0.pmz")
    runtime.import_agent(tmp_path / "1.pmz", name="eva")
    same(runtime, "ada", "eva")


def test_a_blob_is_carried_once(runtime: Runtime, tmp_path: Path) -> None:
    """The copy has it from the first file on; where it never came, that is said."""
    lived(runtime, turns=2).close()
    blobs = runtime.path("ada") / "blobs"
    blobs.mkdir()
    for number, data in enumerate((b"one", b"two")):
        (blobs / hashlib.sha256(data).hexdigest()).write_bytes(data)
        since = tmp_path / "0.pmz" if number else None
        runtime.export_agent("ada", tmp_path / f"{number}.pmz", since=since)
        told = manifest(tmp_path / f"{number}.pmz")
        assert len(told["blobs"]) == number + 1
        assert len([name for name in told["members"] if name.startswith("blobs/")]) == 1
        assert not runtime.import_agent(tmp_path / f"{number}.pmz", name="eva").notes
    assert len(list((runtime.path("eva") / "blobs").iterdir())) == 2


def refuses(runtime: Runtime, path: Path, *words: str) -> None:
    with runtime.reader("eva") as reader:
        before = tables(reader)
    with pytest.raises(UserError) as caught:
        runtime.import_agent(path, name="eva")
    for word in words:
        assert word in caught.value.message, caught.value.message
    assert caught.value.hint
    with runtime.reader("eva") as reader:
        assert tables(reader) == before


def test_what_does_not_follow_on_is_refused(runtime: Runtime, tmp_path: Path) -> None:
    """One left out, one twice, one after the copy has lived on: it stays as it was."""
    lived(runtime, turns=5).close()
    runtime.export_agent("ada", tmp_path / "0.pmz")
    runtime.import_agent(tmp_path / "0.pmz", name="eva")
    for number in (1, 2):
        go_on(runtime, 2, 100 * number)
        runtime.export_agent(
            "ada", tmp_path / f"{number}.pmz", since=tmp_path / f"{number - 1}.pmz"
        )
    refuses(runtime, tmp_path / "2.pmz", "does not follow on", "ends at")
    runtime.import_agent(tmp_path / "1.pmz", name="eva")
    refuses(runtime, tmp_path / "1.pmz", "already")
    agent: Agent = runtime.agent("eva", model=ScriptedModel(["Yes."]))
    agent.send("I live on.")
    agent.close()
    refuses(runtime, tmp_path / "2.pmz", "does not follow on", "has gone on")


def test_a_copy_whose_past_is_another_is_refused(runtime: Runtime, tmp_path: Path) -> None:
    """As many messages, and not the same: found by the sums, after all rows were read."""
    lived(runtime, turns=3).close()
    runtime.export_agent("ada", tmp_path / "0.pmz")
    runtime.import_agent(tmp_path / "0.pmz", name="eva")
    go_on(runtime, 1)
    runtime.export_agent("ada", tmp_path / "1.pmz", since=tmp_path / "0.pmz")
    agent = runtime.agent("eva", model=ScriptedModel())
    agent.state.database.write("UPDATE messages SET speaker = 'someone' WHERE seq = 1")
    agent.close()
    refuses(runtime, tmp_path / "1.pmz", "does not follow on", "messages")


def test_bad_starts(runtime: Runtime, tmp_path: Path) -> None:
    """A message that is not there, no date, another agent's file, a base for nobody."""
    lived(runtime, turns=2).close()
    runtime.export_agent("ada", tmp_path / "0.pmz")
    runtime.agent("bob", definition=definition(), model=ScriptedModel()).close()
    for since, words in (
        (9999, "there is no m9999"),
        ("whenever", "not a date"),
        (tmp_path / "no.pmz", "is not there"),
    ):
        with pytest.raises(UserError, match=words):
            runtime.export_agent("ada", tmp_path / "x.pmz", since=since)
    with pytest.raises(UserError, match="holds another agent"):
        runtime.export_agent("bob", tmp_path / "x.pmz", since=tmp_path / "0.pmz")
    assert [each.name for each in tmp_path.iterdir()] == ["0.pmz"]
    runtime.export_agent("ada", tmp_path / "1.pmz", since=tmp_path / "0.pmz")
    with pytest.raises(UnknownAgent):
        runtime.import_agent(tmp_path / "1.pmz", name="nobody")


def test_the_embedder_of_the_copy_may_be_another(tmp_path: Path) -> None:
    """Its vectors stay its own: those of the increment are made anew."""
    with temporary_runtime() as runtime:
        lived(runtime, turns=4).close()
        runtime.export_agent("ada", tmp_path / "0.pmz")
        go_on(runtime, 2)
        runtime.export_agent("ada", tmp_path / "1.pmz", since=tmp_path / "0.pmz")
    with temporary_runtime(embedder=HashingEmbedder(32)) as runtime:
        runtime.import_agent(tmp_path / "0.pmz")
        agent = runtime.agent("ada", model=ScriptedModel())
        epochs = agent.state.database.number("SELECT count(*) FROM epochs")
        runtime.drain(agent)
        agent.close()
        assert epochs
        made = runtime.import_agent(tmp_path / "1.pmz")
        assert made.embeddings == 0
        assert any("made anew" in note for note in made.notes)
