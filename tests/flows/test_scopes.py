"""Scopes and what is private: no verb of an agent shows or changes what is not for it."""

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kernel_kit import small

from pagemind.runtime.agent import Agent
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.errors import DefinitionError, ToolError, UserError
from pagemind.runtime.keeping import Keeping
from pagemind.runtime.mcp_server.functions import MemoryFunctions
from pagemind.runtime.message import Provenance, Status
from pagemind.runtime.passage import Facets, Passage, RecordKind
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.scope import seen
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.testing import FrozenClock, HashingEmbedder, ScriptedModel

TOOLS = ("archival", "page_in", "archives")
SCOPES = ("/", "/app", "/apple", "/app/one", "/app/two", "/apple/one", "/team/app")
WORDS = ("harbour", "kettle", "violin", "orchard", "lantern", "glacier", "saddle", "walnut")


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    with Runtime(
        tmp_path, clock=FrozenClock(), embedder=HashingEmbedder(256), background=False
    ) as runtime:
        yield runtime


def agent_of(runtime: Runtime, name: str, more: str = "", *tools: str) -> Agent:
    return runtime.agent(name, definition=definition(more, *tools), model=ScriptedModel([]))


def definition(more: str, *tools: str) -> AgentDefinition:
    return small(4096, *(tools or ("archival", "page_in")), more=more)


def found(agent: Agent, query: str, **arguments: object) -> set[str]:
    """The ids that a search shows."""
    shown = agent.call("archival_search", {"query": query, **arguments})
    return set(re.findall(r"^((?:\w+:)?a\d+) ", shown, re.M))


def refused(agent: Agent, name: str, **arguments: object) -> str:
    with pytest.raises(ToolError) as error:
        agent.call(name, arguments)
    return error.value.message


@pytest.mark.parametrize("seed", range(2))
def test_an_agent_never_sees_or_touches_what_is_not_for_it(runtime: Runtime, seed: int) -> None:
    """Agents with random scopes over one archive of random scopes and owners, half of it written
    to LanceDB: search, near, reading, editing and deleting know of exactly what each may see."""
    dice = random.Random(seed)
    runtime.archives.new("shared")
    uses = "archives: [{name: shared, mode: write}]\n"
    agents = []
    for name in ("ada", "bob"):
        read = dice.sample(SCOPES[1:], dice.randint(1, 2)) if dice.random() < 0.8 else ["/"]
        bounds = f"scope: {read[0]}\nscopes: {{read: [{', '.join(read)}]}}\n"
        agents.append((agent_of(runtime, name, uses + bounds, *TOOLS), read))
    owners = ["", "", *(agent.id for agent, _ in agents), "somebody"]
    kept: list[Passage] = []
    for half in range(2):
        with runtime.archives.writer("shared") as writer:
            for at in range(8):
                text = f"The {dice.choice(WORDS)} stands by the mill, number K{half}{at:02d}."
                scope, owner = dice.choice(SCOPES), dice.choice(owners)
                passage, _ = writer.insert(text, keeping=Keeping(scope, owner))
                kept.append(passage)
            if not half:
                writer.rebuild(lambda done, total: None)
    for agent, read in agents:
        mine = {
            f"shared:{each.short_id}"
            for each in kept
            if each.facets.owner in ("", agent.id)
            and ("/" in read or seen(each.facets.scope, read))
        }
        for word in WORDS[:3]:
            assert found(agent, f"the {word} by the mill") <= mine
        for each in kept:
            id = f"shared:{each.short_id}"
            key = each.text.split()[-1].strip(".")
            assert (id in found(agent, key)) == (id in mine)
            one = agent.engine.search("archival", None, SearchFilters(ids=(id,)), 3)
            assert {hit.id for hit in one.hits} == mine & {id}
            if id in mine:
                assert "part 1" in agent.call("page_in", {"id": id})
            else:
                assert "there is no passage" in refused(agent, "page_in", id=id)
                assert "there is no" in refused(agent, "archive_edit", id=id, content="x")
                assert "there is no" in refused(agent, "archive_delete", id=id)
    with runtime.archives.reader("shared") as reader:
        numbers = [each.number for each in kept]
        assert [reader.state.passages.get([n])[n].version for n in numbers] == [1] * len(kept)


def test_what_is_not_for_it_does_not_starve_what_is(runtime: Runtime) -> None:
    """Bounds are pushed down before the best are chosen: three hundred nearer passages of others,
    written or not, do not hide the one that is the agent's."""
    runtime.archives.new("shared")
    with runtime.archives.writer("shared") as writer, writer.state.database.transaction():
        for at in range(300):
            keeping = Keeping("/apple", "") if at % 2 else Keeping("/app", "somebody")
            writer.insert(f"The kettle of the kitchen, kettle {at}.", keeping=keeping)
        writer.insert("A kettle was seen once in the long corridor.", keeping=Keeping("/app"))
    bounds = "archives: [shared]\nscope: /app\nscopes: {read: /app}\n"
    agent = agent_of(runtime, "ada", bounds)
    assert found(agent, "kettle") == {"shared:a301"}
    with runtime.archives.writer("shared") as writer:
        writer.rebuild(lambda done, total: None)
    assert found(agent, "kettle") == {"shared:a301"}


def test_private_is_private_and_stays_so(runtime: Runtime) -> None:
    """What an agent keeps for itself in a shared archive no other finds, not even the same text,
    which is another passage; an edit keeps it private; a person sees all."""
    runtime.archives.new("shared")
    uses = "archives: [{name: shared, mode: write}]\n"
    ada, bob = (agent_of(runtime, name, uses, *TOOLS) for name in ("ada", "bob"))
    private = {
        "archive": "shared",
        "content": "The spare key lies under the fern.",
        "private": True,
    }
    assert ada.call("archive_insert", private) == "stored as shared:a1"
    assert found(bob, "spare key") == set()
    assert bob.call("archive_insert", private) == "stored as shared:a2"
    ada.call("archive_edit", {"id": "shared:a1", "content": "The spare key lies under the oak."})
    assert found(ada, "spare key") == {"shared:a1"}
    assert found(bob, "spare key") == {"shared:a2"}
    memory = runtime.memory("shared")
    assert len(memory.search("spare key")) == 2
    assert [match.id for match in memory.search("spare key", viewer=ada.id)] == ["a1"]


def test_an_agent_writes_where_its_scope_says(runtime: Runtime) -> None:
    """By itself, by a person, by the inbox; below `scopes.write` alone may it change anything."""
    bounds = "scope: /team/app\nscopes: {read: /team, write: /team/app}\n"
    ada = agent_of(runtime, "ada", bounds)
    ada.call("archival_insert", {"content": "The app is called Heron."})
    ada.call("archival_insert", {"content": "It runs on port 80.", "scope": "/team/app/ops"})
    by_person, _ = ada.insert("The team meets on Mondays.", scope="team")
    scopes = [p.facets.scope for p in ada.state.passages.after(0, 9)]
    assert scopes == ["/team/app", "/team/app/ops", "/team"]
    assert "you cannot write to /team; you can to /team/app" in refused(
        ada, "archival_insert", content="x", scope="/team"
    )
    wanted = "which you can only read; you can change what is in /team/app and below"
    assert wanted in refused(ada, "archival_delete", id=by_person.short_id)
    assert found(ada, "what of the app and the team") == {"a1", "a2", "a3"}
    assert found(ada, "what of the app and the team", scope="/team/app") == {"a1", "a2"}
    assert found(ada, "app", scope="/te") == set()
    assert "is no scope" in refused(ada, "archival_search", query="x", scope="/a/../b")


def test_who_has_no_scopes_is_not_asked_for_one(runtime: Runtime) -> None:
    """The functions of ordinary agents are what they were."""
    plain = agent_of(runtime, "ada")
    scoped = agent_of(runtime, "bob", "scope: /team\nforget: {cold_after: 90 days}\n")
    for agent, named in ((plain, False), (scoped, True)):
        schemas = {each.name: each.parameters for each in agent.context.tools}
        assert ("scope" in schemas["archival_search"]["properties"]) is named
        assert ("ttl" in schemas["archival_insert"]["properties"]) is named
    assert "does not take scope" in refused(plain, "archival_search", query="x", scope="/team")


def test_a_missing_scope_is_inferred(runtime: Runtime) -> None:
    """From a tag that names one, or from where the like of it stands, three levels at most; never
    above the agent's own root; else at the root."""
    ada = agent_of(runtime, "ada", "scope: /work/*\n")
    for text in ("Invoices go out monthly.", "Invoices are paid in thirty days."):
        ada.insert(text, scope="/work/office/money/invoices/open", tags=["billing"])
    ada.insert("Invoices of the club.", scope="/club")

    def put(text: str, *tags: str) -> str:
        passage, _ = ada.insert(text, tags=tags)
        return passage.facets.scope

    assert put("Invoices go out every quarter now.") == "/work/office/money/invoices"
    assert put("A walrus sleeps.", "billing") == "/work/office/money/invoices"
    assert put("A glacier melts.", "money") == "/work"
    ada.insert("The boat needs paint.", scope="/work/boat")
    assert put("Something else entirely.", "Boat") == "/work/boat"
    assert put("Nobody knows.") == "/work"


def test_a_fault_in_the_bounds_is_told() -> None:
    """Where it writes must be where it reads; a path must be one."""
    with pytest.raises(DefinitionError, match=r"it writes to /app, and scopes.read has only /team"):
        definition("scope: /app\nscopes: {read: [/team]}\n")
    with pytest.raises(DefinitionError, match=r"is no scope"):
        definition("scopes: {read: ['/a b']}\n")
    with pytest.raises(DefinitionError, match=r"is no time to keep something for"):
        definition("forget: {cold_after: soon}\n")


def test_bad_words_of_keeping_are_refused(runtime: Runtime) -> None:
    """A time that is none, a scope that is none: nothing is stored."""
    ada = agent_of(runtime, "ada")
    for kept in ({"ttl": "soon"}, {"ttl": "0 days"}, {"owner": "a\nb"}, {"scope": "a b"}):
        with pytest.raises(UserError):
            ada.insert("x", **kept)  # type: ignore[arg-type]  # of one kind each
    assert ada.state.passages.count() == 0


def test_moving_out_of_sight_hides_at_once(runtime: Runtime) -> None:
    """A passage whose scope changes is gone for who may not see it, before it is written again."""
    ada = agent_of(runtime, "ada", "scope: /team\nscopes: {read: /team}\n")
    passage, _ = ada.insert("The code of the door is 4711.")
    assert found(ada, "code of the door") == {"a1"}
    runtime.drain(ada)
    moved = replace(Facets(), scope="/other")
    ada.state.passages.edit(
        passage.number, None, facets=moved, author="user", reason="moved", seq=0
    )
    assert found(ada, "code of the door") == set()
    assert "there is no passage" in refused(ada, "page_in", id="a1")
    assert "there is no passage" in refused(ada, "archival_edit", id="a1", content="x")


def test_what_a_program_keeps_private_only_it_finds(runtime: Runtime) -> None:
    """Over MCP: neither another program nor the agent, by search or by reading; a person does. The
    agent's near-duplicates do not name it either."""
    agent_of(runtime, "ada").close()
    functions = MemoryFunctions(runtime, "ada")
    tools = {tool.name: tool for tool, _ in functions.tools()}

    def ask(name: str, client: str, **arguments: object) -> dict[str, Any]:
        return functions.call(tools[name], dict(arguments), client)

    text = "The release key is in the red binder."
    assert ask("memory_insert", "crm", text=text, private=True, ttl="9 days")["ids"] == ["a1"]
    ask("memory_insert", "crm", text="The binder is heavy.", scope="/office")
    for client, there in (("crm", {"a1", "a2"}), ("mail", {"a2"}), ("", {"a2"})):
        results = ask("memory_search", client, query="binder")["results"]
        assert {each["id"] for each in results} == there
    assert text in ask("page_in", "crm", id="a1")["text"]
    with pytest.raises(ToolError, match="there is no passage a1"):
        ask("page_in", "mail", id="a1")
    scoped = ask("memory_search", "crm", query="binder", scope="/office")["results"]
    assert [each["id"] for each in scoped] == ["a2"]
    agent = runtime.agent("ada", model=ScriptedModel([]), create=False)
    assert found(agent, "binder") == {"a2"}
    assert agent.archival.near(text) == []
    with runtime.reader("ada") as reader:
        hits = reader.search.search("archival", "binder", SearchFilters(), 5).hits
        assert {hit.id for hit in hits} == {"a1", "a2"}


def test_a_scope_that_is_none_is_refused_before_a_passage_is_left() -> None:
    """For an agent that is in use it would be found out when nobody listens, and be lost."""
    with pytest.raises(UserError, match="is no scope"):
        Keeping.of("/a b")
    assert Keeping.of("team/x/").scope == "/team/x"
    assert Keeping.of(" ").scope is None


@pytest.mark.parametrize(
    ("kind", "hint"),
    [("skill", "skill_save"), ("episode", "is not changed"), ("item", "store_put")],
)
def test_what_has_functions_of_its_own_is_not_changed_as_a_passage(
    runtime: Runtime, kind: RecordKind, hint: str
) -> None:
    """Else a skill would change itself past the person who approves it, whatever the agent's
    declared kinds say."""
    ada = agent_of(runtime, "ada")
    kept(ada, Facets(kind, key="x"))
    assert hint in refused(ada, "archival_edit", id="a1", content="Always.")
    assert hint in refused(ada, "archival_delete", id="a1")
    ada.archival.for_person().edit(1, "When a person says so.")


def test_what_waits_for_a_person_is_out_of_the_agents_reach(runtime: Runtime) -> None:
    """Else it could be another text by the time it is approved."""
    ada = agent_of(runtime, "ada", "", "archival", "page_in", "fact_close")
    kept(ada, Facets("fact", "Sam", "lives_in", "Faro"), status="pending")
    assert "there is no passage" in refused(ada, "archival_edit", id="a1", content="x")
    assert "there is no passage" in refused(ada, "archival_delete", id="a1")
    assert "there is no passage" in refused(ada, "page_in", id="a1")
    assert "there is no fact" in refused(ada, "fact_close", id="a1")


def kept(agent: Agent, facets: Facets, status: Status = "active") -> None:
    agent.state.passages.insert(
        "When it rains.",
        tags=(),
        importance=None,
        metadata={},
        seq=0,
        provenance=Provenance("model", status=status),
        author="model",
        facets=facets,
    )
