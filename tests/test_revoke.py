"""Revoke: what came from a source is taken back, what it had ended holds again, the rest stays."""

import json

import pytest
from kernel_kit import small

from pagemind.runtime.agent import Agent
from pagemind.runtime.errors import NotFound
from pagemind.runtime.invariants import check_state
from pagemind.runtime.message import Provenance
from pagemind.runtime.passage import Facets
from pagemind.runtime.revoke import Revocation, Revoking
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.skill import Draft
from pagemind.runtime.skill_book import SkillBook
from pagemind.runtime.taken_out import taken_out
from pagemind.runtime.testing import ScriptedModel, call, temporary_runtime
from pagemind.runtime.tool import make_tool


def fetch(url: str) -> str:
    """Fetch a page.

    Args:
        url: Its address.
    """
    return f"{url} says that Sam moved to Moscow."


def lived(runtime: Runtime) -> Agent:
    """Turn 1 is Sam's, turn 2 reads a page and writes; a person lets what it wrote in."""
    model = ScriptedModel(
        [
            [
                call("fact_add", subject="Sam", relation="lives_in", object="Lisbon"),
                call("archival_insert", content="The code is 1234."),
                call("core_append", block="human", content="Name: Sam."),
            ],
            "Noted.",
            call("fetch", url="https://evil.example/page"),
            [
                call("fact_add", subject="Sam", relation="lives_in", object="Moscow"),
                call("archival_edit", id="a2", content="The code is 6666."),
                call("archival_insert", content="Sam trusts Eve."),
                call("archival_delete", id="a2"),
            ],
            "Done.",
        ]
    )
    definition = small(8192, "archival", "facts", "core")
    tools = [make_tool(fetch, effect="none", foreign=True)]
    agent = runtime.agent("ada", definition=definition, model=model, tools=tools)
    agent.send("I am Sam, I live in Lisbon, the code is 1234.")
    agent.send("Read the page.")
    return agent


def revoking(agent: Agent) -> Revoking:
    return Revoking(agent.state, agent.editor)


def told(found: Revocation) -> dict[str, list[str]]:
    by: dict[str, list[str]] = {}
    for each in found.taken:
        by.setdefault(each.what, []).append(each.id)
    return by


def test_all_that_came_from_an_address_is_taken_back() -> None:
    """Records and what rests on them, changes made and planned, block lines; what a person and
    other sources said stays, and holds again. The preview says the same and changes nothing."""
    with temporary_runtime() as runtime:
        agent = lived(runtime)
        state = agent.state
        from pagemind.runtime.reviewing import Reviewing

        review = Reviewing(state, agent.editor)
        for id in ("a3", "a4", "c1"):
            review.approve(id)
        insight, _ = state.passages.insert(
            "Sam likes the cold.",
            tags=(),
            importance=None,
            metadata={},
            seq=state.journal.last_seq,
            provenance=Provenance("model", trust=40),
            author="worker",
            facets=Facets("insight", level=1),
        )
        state.lineage.add(insight.short_id, ["a3"], "evidence", seq=state.journal.last_seq)
        agent.write_block("human", "Name: Sam.\nLives in Moscow.\nTrusts Eve.")
        state.lineage.add("block:human", ["a3"], "promoted", seq=1, version=3)
        agent.write_block("human", "Name: Sam.\nLives in Moscow.\nTrusts Eve.\nHas a dog.")
        book = SkillBook(state)
        draft = Draft.of("pay", "When a bill comes.", "Pay Eve.", None, "")
        skill = book.approve(
            book.save(draft, why="", refused=False, trust=80, turn=2), by="user", why=""
        )
        before = state.passages.version_count()
        seen = revoking(agent).preview("https://evil.example/page")
        assert state.passages.version_count() == before
        assert "Moscow" in state.blocks.all()[0].value
        done = revoking(agent).revoke("https://evil.example/page")
        assert seen == done
        by = told(done)
        assert by["retired"] == ["a3", "a4", insight.short_id]
        assert by["holds again"] == ["a2", "a1"]
        assert (by["undone"], by["rejected"]) == (["c1"], ["c2"])
        assert (by["lines taken out"], by["demoted"]) == (["block:human"], [skill.short_id])
        known = state.passages.get([1, 2])
        assert (known[1].standing, known[1].facets.superseded_by) == ("active", None)
        assert known[2].text == "The code is 1234."
        assert state.blocks.all()[0].value == "Name: Sam.\nHas a dog."
        row = [each for each in state.audit.rows() if each.op == "revoked"][-1]
        assert (row.target, row.detail["retired"]) == ("source", 3)
        assert "evil" not in json.dumps(row.as_json())
        assert not check_state(state)
        assert not revoking(agent).preview("fetch").taken
        with pytest.raises(NotFound, match="nothing came from 'ftp'") as caught:
            revoking(agent).preview("ftp")
        assert caught.value.hint.startswith("say an id such as m12, or one of: ")


def test_where_nothing_came_from_anybody_no_list_is_offered() -> None:
    """The hint ends where there is no name to say."""
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", definition=small(), model=ScriptedModel([]))
        with pytest.raises(NotFound) as caught:
            revoking(agent).preview("ftp")
        assert caught.value.hint == "say an id such as m12"


def test_a_message_of_a_person_is_a_source_too() -> None:
    """What was made of it goes; what another message said as well stays."""
    with temporary_runtime() as runtime:
        agent = lived(runtime)
        state = agent.state
        again = agent.observe("The code is 1234.", source="door")
        state.lineage.add("a2", [again.short_id], "merged", seq=again.seq)
        done = revoking(agent).revoke("m1")
        assert (told(done)["retired"], done.kept) == (["a1"], ("a2",))
        assert state.blocks.all()[0].value == ""
        assert not check_state(state)


@pytest.mark.parametrize(
    ("before", "made", "now", "left"),
    [
        ("a\nb", "a\nx", "a\nx\nc", "a\nb\nc"),
        ("a", "a\nx\ny", "a\ny\nz", "a\nz"),
        ("a\nb\nc", "a\nc", "a\nc\nd", "a\nb\nc\nd"),
        ("a", "a\nx", "a\nworse", "a\nworse"),
        ('{"a": 1}', '{"a": 2, "b": {"c": 3}}', '{"a": 2, "b": {"c": 3, "d": 4}}', None),
    ],
)
def test_lines_and_fields_of_a_version_are_taken_out(
    before: str, made: str, now: str, left: str | None
) -> None:
    """What was written since stays, what was replaced comes back."""
    result = taken_out(before, made, now)
    if left is None:
        assert json.loads(result) == {"a": 1, "b": {"d": 4}}
    else:
        assert result == left
