"""Declared kinds of memory: what an agent may not do, it is not offered, and cannot do."""

from pathlib import Path

import pytest
from kernel_kit import agent_at, last_asked, runtime_at

from pagemind.runtime.definition import AgentDefinition, parse_definition
from pagemind.runtime.errors import DefinitionError, ToolFailed, UnknownTool
from pagemind.runtime.function_names import ALL_GROUPS, GROUPS
from pagemind.runtime.made_of import check_fits
from pagemind.runtime.memory_kinds import KINDS, MemoryKinds
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.testing import ScriptedModel, call
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.tool import ToolContext, tool


def declared(memory: str, more: str = "", window: int = 2400) -> AgentDefinition:
    return parse_definition(
        f"name: one\nsystem: You are a test agent.\nembedding: none\ncontext_window: {window}\n"
        f"output_reserve: 128\nmemory: {{{memory}}}\n{more}"
    )


_ANY = SearchFilters()


@tool(effect="memory")
def meddle(ctx: ToolContext, what: str) -> str:
    """Reach for memory by the back door."""
    if what == "note":
        return ctx.core.append("human", "Meddled.")
    if what == "keep":
        return ctx.archival.insert("Meddled.")[0].short_id
    if what == "recall":
        return str(ctx.recall.search("meddle", _ANY, 5).searched)
    if what == "look":
        return str(ctx.archival.search("meddle", _ANY, 5).searched)
    return ctx.pages.read(what, 1).text


def test_every_memory_function_is_of_a_kind() -> None:
    """One that nobody put into the table would be open to all."""
    nothing = MemoryKinds(working="none", episodic="none", semantic="none", procedural="none")
    work = "clock files agents http_get python shell ask_user timers"
    for group, functions in ALL_GROUPS.items():
        for name in functions:
            assert bool(nothing.forbids(name)) == (group not in work.split()), name


def test_all_may_be_done_by_default() -> None:
    """But instructions are the maker's: procedural memory is read."""
    memory = declared("").memory
    assert [memory.writes(kind) for kind in KINDS] == [True, True, True, False]
    assert all(memory.reads(kind) for kind in KINDS)
    functions = set(declared("").functions)
    assert functions == {n for names in GROUPS.values() for n in names} - {"core_set"}


@pytest.mark.parametrize(
    ("memory", "gone"),
    [
        ("working: r", "core_append core_edit core_rewrite page_pin page_unpin"),
        ("semantic: r", "archival_insert archival_edit archival_delete"),
        ("semantic: none", "archival_insert archival_edit archival_delete archival_search"),
        ("episodic: none", "recall_search page_in page_find page_pin"),
        ("episodic: r", ""),
    ],
)
def test_what_is_not_allowed_is_not_offered(memory: str, gone: str) -> None:
    """Of the groups that the definition names, or has by default, the rest stays."""
    assert set(declared("").functions) - set(declared(memory).functions) == set(gone.split())


def test_a_call_all_the_same_is_refused_with_the_reason(tmp_path: Path) -> None:
    """The model learns why; so does a program that calls by hand. Nothing is written."""
    script = [call("archival_insert", content="Sam likes tea."), "Then not."]
    model = ScriptedModel(script)
    with agent_at(tmp_path, model, declared("semantic: r, working: r")) as agent:
        turn = agent.send("I like tea.")
        result = next(m for m in agent.state.journal.of_turn(turn.turn) if m.role == "tool")
        assert result.text == (
            "archival_insert is not for this agent: it writes semantic memory, which this agent may"
            " only read."
        )
        with pytest.raises(UnknownTool, match="working memory, which this agent may only read"):
            agent.call("core_append", {"block": "human", "content": "Sam"})
        assert agent.state.passages.count() == 0
        assert agent.insert("A person may.")[1]
        agent.write_block("human", "A person may.")


def test_functions_of_ones_own_are_held_to_it(tmp_path: Path) -> None:
    """They get services that refuse what the kinds forbid, and page_in no passage."""
    definition = declared(
        "working: r, semantic: none, episodic: rw",
        f"tools: [recall, pages, '{__name__}:meddle']\n",
    )
    import sys

    sys.modules.setdefault(
        __name__, sys.modules[test_functions_of_ones_own_are_held_to_it.__module__]
    )
    with agent_at(tmp_path, ScriptedModel(after="Hm."), definition) as agent:
        agent.send("Hello.")
        agent.insert("The key lies under the stone.")
        for what in ("note", "keep", "look", "a1"):
            with pytest.raises(ToolFailed, match="not allowed for this agent"):
                agent.call("meddle", {"what": what})
        assert agent.call("meddle", {"what": "recall"})
        with pytest.raises(ToolFailed, match="it reads semantic memory"):
            agent.call("page_in", {"id": "a1"})


def test_prefetch_leaves_out_what_may_not_be_read(tmp_path: Path) -> None:
    """Neither messages nor passages that the agent may not read come before an event."""
    more = "prefetch: {tokens: 200}\n"
    for memory, kept in (("semantic: none", "[m"), ("episodic: none", "[a"), ("", "both")):
        model = ScriptedModel(after="I see.", summary=lambda request: "They talked.")
        with agent_at(tmp_path / memory[:4], model, declared(memory, more, 6000)) as agent:
            agent.send("The harbour gate opens with 5580.")
            agent.insert("The harbour gate is painted blue.")
            agent.send("Good night then, all of you.")
            agent.flush()
            agent.context.summary = agent.context.table = ""  # they would name the code themselves
            agent.send("What about the harbour gate?")
            asked = "\n".join(m.text for m in last_asked(model).messages)
            fetched = asked[asked.rindex("<memories") :] if "<memories" in asked else ""
            assert ("5580" in fetched) == (kept != "[a"), memory
            assert ("painted blue" in fetched) == (kept != "[m"), memory


def test_without_working_memory_there_are_no_blocks(tmp_path: Path) -> None:
    """Neither in the prompt of a new agent nor in one that had some."""
    definition = declared("working: none")
    assert definition.blocks == {}
    check_fits(definition, "default", TokenCounter())
    model = ScriptedModel(after="Hm.")
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent(
            "ada", declared("", "blocks: {human: Sam lives in Porto.}"), model=model
        )
        agent.send("Hello.")
        agent.close()
        runtime.update("ada", definition, apply=True)
        runtime.agent("ada", model=model).send("Hello.")
    assert "Porto" in "\n".join(model.requests[0].system)
    assert "Porto" not in "\n".join(model.requests[1].system)


@pytest.mark.parametrize(
    ("memory", "more", "told"),
    [
        ("semantic: w", "", "memory.semantic: must be rw, r or none, not 'w'"),
        ("semantik: r", "", "did you mean"),
        (
            "working: r",
            "tools: [core_append]",
            "which this agent may only read; memory: {working: rw} would let it",
        ),
        ("working: r", "tools: [core, recall]", "core: it writes working memory"),
        ("episodic: none", "tools: [{recall: {rule: ask}}]", "recall: it reads episodic memory"),
        ("semantic: none", "archives: [handbook]", "handbook: it reads semantic memory"),
        ("semantic: r", "archives: [{name: book, mode: write}]", "book: it writes semantic"),
        ("working: none", "blocks: {human: Sam}", "working: none, so there is none"),
        ("", "semantic: profil", "collection"),
        ("", "semantic: profile", "needs a block with a profile"),
        ("working: r", "semantic: both\nblocks: {sam: {profile: person}}", "writes blocks"),
        ("", "semantic: both\nblocks: {sam: {profile: person, read_only: true}}", "needs a block"),
    ],
)
def test_a_definition_that_contradicts_itself_is_refused(memory: str, more: str, told: str) -> None:
    """With the line, and with what forbids what."""
    with pytest.raises(DefinitionError, match="definition:") as refused:
        declared(memory, more)
    assert told in refused.value.message


def test_the_kinds_live_with_the_agent(tmp_path: Path) -> None:
    """They are part of the stored definition, and hold after it is opened again."""
    definition = declared("semantic: r", "semantic: both\nblocks: {sam: {profile: person}}")
    again = AgentDefinition.from_json(definition.to_json())
    assert (again.memory, again.semantic) == (MemoryKinds(semantic="r"), "both")
    assert "core_set" in again.functions
