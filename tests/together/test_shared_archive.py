"""A shared archival space: agents store passages where others find them."""

import threading
from pathlib import Path

import pytest
from kernel_kit import runtime_at
from together_kit import Teller, does, model_of

from pagemind.runtime.agent import Agent
from pagemind.runtime.definition import AgentDefinition, parse_definition
from pagemind.runtime.errors import DefinitionError
from pagemind.runtime.runtime import Runtime


def keeper(mode: str = "write", tools: str = "[archival]") -> AgentDefinition:
    return parse_definition(
        "name: keeper\nsystem: You keep notes.\nembedding: none\ncontext_window: 8192\n"
        f"output_reserve: 128\narchives: [{{name: notes, mode: {mode}}}]\ntools: {tools}\n"
    )


def agents(runtime: Runtime, *names: str) -> list[Agent]:
    runtime.archives.new("notes", "none")
    return [runtime.agent(name, keeper(), model=Teller()) for name in names]


def result(agent: Agent) -> str:
    return model_of(agent).requests[-1].messages[-1].text


def test_what_one_stores_another_finds_marked_with_who_wrote_it(tmp_path: Path) -> None:
    """At once; the same text again is no second passage."""
    with runtime_at(tmp_path) as runtime:
        ada, ben = agents(runtime, "ada", "ben")
        does(ada, "archive_insert", archive="notes", content="The bar is 3.9 m.", tags=["bar"])
        assert result(ada) == "stored as notes:a1"
        does(ben, "archival_search", query="bar")
        assert "notes:a1" in result(ben)
        assert "The bar is 3.9 m." in result(ben)
        does(ben, "archive_insert", archive="Notes", content="The bar is 3.9 m.")
        assert result(ben) == "this text is stored already, as notes:a1"
        with runtime.archives.reader("notes") as reader:
            (passage,) = reader.state.passages.newest(9)
        assert (passage.provenance.origin, passage.provenance.detail) == ("agent", "ada")


def test_what_is_wrong_is_changed_by_whoever_may_write(tmp_path: Path) -> None:
    """Its history says who."""
    with runtime_at(tmp_path) as runtime:
        ada, ben = agents(runtime, "ada", "ben")
        does(ada, "archive_insert", archive="notes", content="The bar is 3.9 m.")
        does(ben, "archival_edit", id="notes:a1", content="x")
        assert "call archive_edit or archive_delete" in result(ben)
        does(ben, "archive_edit", id="notes:a1", content="The bar is 2.8 m.")
        assert result(ben) == "notes:a1 is now version 2"
        does(ada, "archive_delete", id="notes:a1")
        does(ada, "archival_search", query="bar")
        assert "notes:a1" not in result(ada)
        with runtime.archives.reader("notes") as reader:
            assert [v.author for v in reader.state.passages.history(1)] == ["ada", "ben", "ada"]


def test_many_who_write_at_once_lose_nothing(tmp_path: Path) -> None:
    """Each holds the archive only while it changes it."""
    with runtime_at(tmp_path) as runtime:
        team = agents(runtime, "ada", "ben", "cat")

        def work(agent: Agent) -> None:
            for number in range(5):
                does(agent, "archive_insert", archive="notes", content=f"{agent.name} {number}")

        threads = [threading.Thread(target=work, args=(agent,)) for agent in team]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with runtime.archives.reader("notes") as reader:
            texts = {passage.text for passage in reader.state.passages.newest(99)}
        assert texts == {f"{agent.name} {number}" for agent in team for number in range(5)}


def test_only_who_may_write_has_the_functions(tmp_path: Path) -> None:
    """The definition says who: `mode: write` brings them, and they stand for nothing without."""
    assert "archive_insert" in keeper().functions
    assert "archive_insert" not in keeper("read").functions
    assert "archive_delete" not in keeper(tools="[archival, archive_insert]").functions
    with pytest.raises(DefinitionError, match=r"no archive may be written to: archives: \[\{name"):
        keeper("read", tools="[archives]")


def test_an_archive_that_cannot_be_written_to_is_said_so(tmp_path: Path) -> None:
    """With those that can."""
    with runtime_at(tmp_path) as runtime:
        (ada,) = agents(runtime, "ada")
        does(ada, "archive_insert", archive="ntes", content="x")
        assert result(ada) == "you cannot write to an archive 'ntes'; did you mean notes?"
        does(ada, "archive_edit", id="a1", content="x")
        assert "ids look like handbook:a7" in result(ada)
        runtime.archives.delete("notes")
        does(ada, "archive_insert", archive="notes", content="x")
        assert "`pagemind archives new notes`" in result(ada)
