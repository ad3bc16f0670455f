"""Shared archives: passages of nobody in particular, made whole, written by one, read by many."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernel_kit import last_result, small

from pagemind.runtime.definition import load_definition, parse_definition
from pagemind.runtime.errors import (
    ArchiveExists,
    ArchiveInUse,
    DefinitionError,
    InvalidName,
    LocalModelError,
    NotFound,
    UnknownArchive,
)
from pagemind.runtime.invariants import check_state, check_tiers
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.state.state import State
from pagemind.runtime.testing import FrozenClock, HashingEmbedder, ScriptedModel, call

READS = "archives: [handbook]\n"
TOOLS = ("archival_insert", "archival_search", "archival_edit", "archival_delete")


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    embedder = HashingEmbedder(64)
    with Runtime(tmp_path, clock=FrozenClock(), embedder=embedder, background=False) as runtime:
        yield runtime


@pytest.fixture
def handbook(runtime: Runtime) -> Runtime:
    """A home with an archive."""
    runtime.archives.new("handbook")
    with runtime.archives.writer("handbook") as writer:
        writer.insert("The office closes at six.", tags=["hours"])
        writer.insert("Parking is behind the house.")
    return runtime


def texts(runtime: Runtime, query: str, name: str = "handbook") -> list[str]:
    with runtime.archives.reader(name) as reader:
        hits = reader.search.search("archival", query, SearchFilters(), 5).hits
        return [hit.text for hit in hits]


# --- the life of an archive -----------------------------------------------------------------------


def test_what_is_inserted_is_found(handbook: Runtime) -> None:
    """By a reader in any process, written out or not; its counts are in its info."""
    assert texts(handbook, "when does the office close")[0] == "The office closes at six."
    info = handbook.archives.info("HANDBOOK")
    assert (info.name, info.passages, info.in_use, info.problem) == ("handbook", 2, False, "")
    assert info.bytes > 0
    assert handbook.agents() == []


def test_everything_holds_after_a_write_back(handbook: Runtime) -> None:
    """The invariants of an agent's stores are those of an archive's."""
    with handbook.archives.writer("handbook") as writer:
        for number in range(40):
            writer.insert(f"Rule {number}: be kind on day {number}.")
    with handbook.archives.reader("handbook") as reader:
        assert reader.state.outbox.count() == 0
        assert reader.store.count("archival") == 42
        assert reader.store.count_missing("archival") == 0
        assert check_state(reader.state) == []
        assert check_tiers(reader.state, reader.store) == []


def test_a_rebuild_fills_the_table_again(handbook: Runtime) -> None:
    """From the state database, with vectors."""
    with handbook.archives.writer("handbook") as writer:
        status = writer.rebuild(lambda done, total: None)
        assert (status.unwritten, status.missing_vectors) == (0, 0)
    with handbook.archives.reader("handbook") as reader:
        shutil.rmtree(reader.state.tiers)  # nobody writes there now
    with handbook.archives.writer("handbook") as writer:
        writer.rebuild(lambda done, total: None)
    assert texts(handbook, "parking")[0].startswith("Parking")


def test_a_name_is_one_word_and_unique(runtime: Runtime) -> None:
    """Without regard to case; `handbook:a7` must be an id."""
    runtime.archives.new("Handbook")
    with pytest.raises(ArchiveExists):
        runtime.archives.new("HANDBOOK")
    for name in ("", "a b", "a:b", "a/b", "..", "-x", "x" * 65):
        with pytest.raises(InvalidName):
            runtime.archives.new(name)
    assert [each.name for each in runtime.archives.all()] == ["Handbook"]
    assert len(list(runtime.archives.registry.root.iterdir())) == 1


def test_an_unknown_name_is_told_its_nearest(handbook: Runtime) -> None:
    """Or the command that makes it."""
    with pytest.raises(UnknownArchive) as refused:
        handbook.archives.reader("handbok")
    assert "did you mean handbook?" in refused.value.hint
    with pytest.raises(UnknownArchive) as refused:
        handbook.archives.delete("zzz")
    assert "archives new zzz" in refused.value.hint


def test_nothing_is_left_of_one_that_could_not_be_made(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a row nor a folder; nor of one whose embedder nobody has."""

    def fail(*_: object, **__: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(State, "close", fail)
    with pytest.raises(OSError, match="no"):
        runtime.archives.new("handbook")
    monkeypatch.undo()
    assert list(runtime.archives.registry.root.iterdir()) == []
    with Runtime(runtime.home.path) as plain, pytest.raises(LocalModelError):
        plain.archives.new("handbook", "local/nothing")
    assert runtime.archives.all() == []


def test_one_writer_at_a_time(handbook: Runtime) -> None:
    """A second one is refused, a reader is not; in use is what the list says."""
    with handbook.archives.writer("handbook") as writer:
        with pytest.raises(ArchiveInUse):
            handbook.archives.writer("handbook")
        with pytest.raises(ArchiveInUse):
            handbook.archives.delete("handbook")
        writer.insert("The code is 12.")
        assert "The code is 12." in texts(handbook, "code")
        assert handbook.archives.info("handbook").in_use
    handbook.archives.writer("handbook").close()


def test_a_deleted_archive_is_gone(handbook: Runtime) -> None:
    """Its folder too; what a crash left of a deletion goes with the next making."""
    folder = handbook.archives.path("handbook")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pagemind.runtime.state.folders.shutil.rmtree", lambda *_, **__: None)
        handbook.archives.delete("handbook")
    assert folder.exists()  # as after a kill
    assert handbook.archives.all() == []
    handbook.archives.new("other")
    assert not folder.exists()


def test_a_stray_with_passages_is_kept(handbook: Runtime) -> None:
    """If the registry lost an archive, its texts are not swept away."""
    folder = handbook.archives.path("handbook")
    handbook.home.database.write("DELETE FROM archives")
    handbook.archives.new("other")
    assert folder.exists()
    assert not handbook.archives.registry.abandoned(folder)


def test_a_passage_is_changed_in_versions(handbook: Runtime) -> None:
    """Text, retirement and restoring."""
    with handbook.archives.writer("handbook") as writer:
        writer.change(1, "The office closes at five.")
        assert writer.retire(2, reason="no parking any more")
        assert not writer.retire(2, reason="again")
        with pytest.raises(NotFound):
            writer.change(2, "x")
        history = writer.state.passages.history(1)
    assert [v.value for v in history] == ["The office closes at six.", "The office closes at five."]
    assert texts(handbook, "office") == ["The office closes at five."]


# --- agents that read it --------------------------------------------------------------------------


def test_an_agent_searches_its_archives(handbook: Runtime) -> None:
    """Its own passages and those of the archive in one result; the ids say where each stands."""
    model = ScriptedModel(
        [
            call("archival_insert", content="Sam's office is on the third floor."),
            "Noted.",
            call("archival_search", query="office"),
            "At six.",
        ]
    )
    agent = handbook.agent("ada", small(4096, *TOOLS, more=READS), model=model)
    assert agent.send("My office is on the third floor.").warnings == ()
    agent.send("When does the office close?")
    shown = last_result(model).text
    assert "handbook:a1" in shown
    assert "The office closes at six." in shown
    assert "third floor" in shown
    assert "among 3 passages" in shown


def test_an_agent_cannot_change_an_archive(handbook: Runtime) -> None:
    """Editing and deleting say why, and change neither the archive nor the agent's own a1."""
    model = ScriptedModel(
        [
            call("archival_insert", content="My own first note."),
            call("archival_edit", id="handbook:a1", content="Never."),
            call("archival_delete", id="[handbook:a1]"),
            "I cannot.",
        ]
    )
    agent = handbook.agent("ada", small(4096, *TOOLS, more=READS), model=model)
    turn = agent.send("Change the handbook.")
    refused = [each for each in turn.tool_calls if not each.ok]
    assert len(refused) == 2
    assert all("shared archive handbook" in (each.error or "") for each in refused)
    assert texts(handbook, "office")[0] == "The office closes at six."
    assert agent.state.passages.get([1])[1].text == "My own first note."


def test_an_archive_that_is_not_there_is_named(runtime: Runtime) -> None:
    """The agent opens, its first turn warns with the command, every search says so; once the
    archive is made, it is searched without opening the agent anew."""
    search = call("archival_search", query="office")
    model = ScriptedModel([search, "Nothing.", "Yes.", search, "At six."])
    agent = runtime.agent("ada", small(4096, *TOOLS, more=READS), model=model)
    first = agent.send("When does the office close?")
    assert any("pagemind archives new handbook" in warning for warning in first.warnings)
    assert "the archive handbook is not there" in last_result(model).text
    assert agent.send("Sure?").warnings == ()  # said once
    runtime.archives.new("handbook")
    with runtime.archives.writer("handbook") as writer:
        writer.insert("The office closes at six.")
    agent.send("And now?")
    assert "handbook:a1" in last_result(model).text
    runtime.archives.delete("handbook")
    assert "not there" in agent.send("And now?").warnings[0]


def test_what_others_insert_meanwhile_is_found(handbook: Runtime) -> None:
    """A reader beside the writer sees each passage as soon as it is acknowledged."""
    agent = handbook.agent("ada", small(4096, *TOOLS, more=READS), model=ScriptedModel())
    filters = SearchFilters()
    assert agent.archival.search("zebra", filters, 5).hits == ()
    with handbook.archives.writer("handbook") as writer:
        writer.insert("The zebra crossing is closed.")
        hits = agent.archival.search("zebra", filters, 5).hits
        assert [(hit.id, hit.archive) for hit in hits] == [("handbook:a3", "handbook")]


def test_a_reader_of_the_agent_searches_them_too(handbook: Runtime) -> None:
    """`memory search` shows what the agent would be shown."""
    handbook.create("ada", small(4096, *TOOLS, more=READS))
    with handbook.reader("ada") as reader:
        result = reader.search.search("archival", "parking", SearchFilters(), 5)
    assert [hit.id for hit in result.hits] == ["handbook:a2"]


def test_an_archive_of_another_embedder_is_found_by_its_words(tmp_path: Path) -> None:
    """Vectors of different models are never compared, and the result says so."""
    with Runtime(tmp_path, embedder=HashingEmbedder(32)) as runtime:
        runtime.archives.new("handbook")
        with runtime.archives.writer("handbook") as writer:
            writer.insert("The office closes at six.")
            writer.rebuild(lambda done, total: None)
    with Runtime(tmp_path, embedder=HashingEmbedder(64)) as runtime:
        agent = runtime.agent("ada", small(4096, *TOOLS, more=READS), model=ScriptedModel())
        result = agent.archival.search("office", SearchFilters(), 5)
    assert [hit.id for hit in result.hits] == ["handbook:a1"]
    assert any("handbook" in warning for warning in result.warnings)


# --- the definition -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "written",
    [
        "archives: [handbook]",
        "archives: [{name: handbook}]",
        "archives: [{name: handbook, mode: read}]",
    ],
)
def test_a_definition_names_its_archives(written: str) -> None:
    """By name alone or with the mode; there is none by default."""
    definition = parse_definition(f"name: ada\n{written}\n")
    assert [(each.name, each.mode) for each in definition.archives] == [("handbook", "read")]
    assert load_definition("assistant").archives == ()


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("archives: [a b]", "spaces or colons"),
        ("archives: [handbook, Handbook]", "listed twice"),
        ("archives: [{name: handbook, mode: rw}]", "write"),
        ("archives: [{nam: handbook}]", "nam"),
        ("archives: handbook", "list"),
        ("archives: [7]", "mapping"),
    ],
)
def test_a_faulty_list_of_archives_is_named_by_line(written: str, says: str) -> None:
    """The line and what would be right."""
    with pytest.raises(DefinitionError, match=says) as refused:
        parse_definition(f"name: ada\n{written}\n", "ada.yaml")
    assert "ada.yaml:2" in refused.value.message
