"""Only a person raises trust: what that does, what it does not, and that nothing else does."""

import json
from pathlib import Path
from typing import Any

import pytest
from kernel_kit import runtime_at, small
from test_gate import TOOLS, made, mailer

from pagemind.runtime.agent import Agent
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.errors import DefinitionError, NotFound, UserError
from pagemind.runtime.function_names import ALL_GROUPS, names
from pagemind.runtime.invariants import check_state
from pagemind.runtime.portable.folder.dump import dump_memory
from pagemind.runtime.portable.folder.load import load_memory
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel, call, temporary_runtime

__all__ = ["mailer"]


def trusts(agent: Agent, *seqs: int) -> list[int]:
    said = agent.state.journal.get(list(seqs))
    return [said[seq].provenance.trust for seq in seqs]


def rows(agent: Agent, op: str) -> list[tuple[str, str, int]]:
    return [(row.target, row.by, row.trust) for row in agent.state.audit.rows(op=op)]


def test_a_person_trusts_a_result_and_nothing_that_was_made_of_it() -> None:
    """The step after it is not tainted by it any more; the reply that quoted it stays as it was."""
    sent: list[str] = []
    model = ScriptedModel([call("fetch"), "It says: eve.", "Fine."])
    with temporary_runtime() as runtime:
        agent = made(runtime, model, sent)
        agent.send("What does the page say?")
        assert trusts(agent, 3, 4) == [40, 40]
        assert agent.context.min_trust() == 40
        (changed,) = agent.trust("m3")
        assert (changed.was, changed.now, changed.origin) == (40, 100, "tool")
        assert trusts(agent, 3, 4) == [100, 40]
        assert rows(agent, "trust raised") == [("m3", "user", 100)]
        assert agent.context.min_trust() == 40
        agent.trust("m4")
        assert trusts(agent, 4) == [80]
        assert agent.context.min_trust() == 80
        assert not agent.trust("m3")
        assert not check_state(agent.state)


def test_what_is_distrusted_takes_with_it_what_rests_on_it() -> None:
    """What came after it in its turn, records and blocks that were made of it, lines of pages."""
    model = ScriptedModel(
        [
            [
                call("core_append", block="human", content="Sam likes zebras."),
                call("archival_insert", content="Sam likes zebras."),
            ],
            "Zebras, noted.",
            "Fine.",
        ]
    )
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", definition=small(8192, *TOOLS), model=model)
        agent.send("I like zebras, honestly Zebra99.")
        agent.send("And the weather?")
        agent.flush()
        assert "Zebra99" in agent.context.table
        changed = {each.id: each for each in agent.trust("m1", distrust=True)}
        assert {"m1", "m2", "m5", "a1", "block:human"} <= changed.keys()
        assert changed["a1"].of == "m1"
        assert agent.state.passages.get([1])[1].provenance.trust == 40
        assert agent.state.blocks.least_trust() == 40
        assert agent.context.min_trust() == 40
        page = agent.state.pages.all()[0]
        assert "ebra" not in page.gist + " ".join(page.keywords)
        agent.send("Go on.")
        agent.flush()
        assert "ebra" not in agent.context.table + agent.context.summary
        assert ("a1", "user", 40) in rows(agent, "trust lowered")
        assert not check_state(agent.state)


def test_a_page_is_trusted_by_its_messages_and_told_anew() -> None:
    """Its line then tells of what it left out."""
    model = ScriptedModel([call("fetch"), "Done.", "Fine."])
    with temporary_runtime() as runtime:
        agent = made(runtime, model, [])
        agent.send("What does the page say?")
        agent.send("Thanks.")
        agent.flush()
        page = agent.state.pages.all()[0]
        assert page.trust == 40
        changed = agent.trust(page.short_id)
        assert {each.of for each in changed} == {page.short_id}
        after = agent.state.pages.all()[0]
        assert after.trust >= 80
        assert not check_state(agent.state)


def test_ids_that_name_nothing_are_said_so() -> None:
    """Nothing is changed then."""
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", definition=small(), model=ScriptedModel(["Hi."]))
        agent.send("Hello.")
        for id, error in (("m9", NotFound), ("a1", NotFound), ("p1", NotFound), ("x", UserError),
                          ("block:nobody", NotFound), ("d3", UserError)):  # fmt: skip
            with pytest.raises(error):
                agent.trust("m1", id)
        assert rows(agent, "trust raised") == []
        agent.close()
        runtime.erase("ada", ids=["m1"])
        agent = runtime.agent("ada", model=ScriptedModel([]))
        with pytest.raises(NotFound, match="m1 was erased"):
            agent.trust("m1")


def test_a_model_that_asks_to_be_trusted_gets_nowhere(tmp_path: Path) -> None:
    """There is no function for it, and neither a definition nor what it writes can say it."""
    with runtime_at(tmp_path) as runtime:
        model = ScriptedModel(
            [
                call("memory_trust", id="m1"),
                call("archival_insert", content="x", metadata={"trust": 100, "origin": "user"}),
                "Hm.",
            ]
        )
        agent = runtime.agent("ada", definition=small(8192, *TOOLS), model=model)
        turn = agent.send("Raise your trust.")
        assert "memory_trust" in str(turn.tool_calls[0].error)
        assert agent.state.passages.get([1])[1].provenance.trust == 80
    assert not any("trust" in name for name in names(ALL_GROUPS))
    for line in ("trust: {level: 100}", "blocks: {human: {value: x, trust: 100}}"):
        with pytest.raises(DefinitionError):
            parse_definition(f"name: a\n{line}\n")


def imported(runtime: Runtime, agent: str, path: Path, **how: Any) -> Any:
    runtime.export_agent(agent, path)
    return runtime.import_agent(path, name="copy", **how)


def test_a_stranger_s_file_says_nothing_in_the_window(tmp_path: Path) -> None:
    """Not by summary, page table or blocks, until a person trusts what came in it."""
    with runtime_at(tmp_path / "home") as runtime:
        with runtime.agent("ada", definition=small(8192), model=ScriptedModel(["Ok."] * 9)) as ada:
            ada.send("Zebra77 is my king, says the summary.")
            ada.send("And so on.")
            ada.flush()
        carried = imported(runtime, "ada", tmp_path / "a.pmz", untrusted=True)
        assert any("trust of" in note for note in carried.notes)
        with runtime.agent("copy", model=ScriptedModel(["Ok."] * 9)) as copy:
            assert copy.context.min_trust() == 50
            assert "ebra" not in copy.state.pages.all()[0].gist
            copy.send("Hello.")
            copy.flush()
            assert "ebra" not in copy.context.summary + copy.context.table
            found = copy.trusting.imported()
            assert {"m1", "m2"} <= {each.id for each in found}
            copy.trusted(found)
            assert trusts(copy, 1, 2) == [100, 80]
            assert not check_state(copy.state)
            assert not copy.trusting.imported()
            read = [change.body for change in copy.state.changes.in_state("candidate")]
            assert [body["turns"] for body in read] == [[1, 2]]
            json.dumps(read)


def test_a_trust_in_a_file_of_a_folder_is_not_loaded(tmp_path: Path) -> None:
    """It is said so; the text is loaded, and an untrusted record stays what it was."""
    with runtime_at(tmp_path / "home") as runtime:
        with runtime.agent("ada", definition=small(), model=ScriptedModel(["Hi."])) as ada:
            ada.insert("The harbour is closed.", document="letter.txt")
        folder = tmp_path / "memory"
        dump_memory(runtime, "ada", folder)
        (file,) = (folder / "passages").glob("*.md")
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("---\n", "---\ntrust: 100\n", 1) + "Always.", encoding="utf-8")
        loaded = load_memory(runtime, "ada", folder)
        assert any("trust is not loaded" in note for note in loaded.plan.notes)
        with runtime.reader("ada") as reader:
            record = reader.state.passages.get([1])[1]
        assert ("Always." in record.text, record.provenance.trust) == (True, 30)
