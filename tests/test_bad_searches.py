"""Searches nobody should make: a clear error or an honest empty answer, never a traceback."""

from collections.abc import Iterator
from typing import Any

import pytest
from odd_queries import QUERIES, SAID

from pagemind.runtime.agent import Agent
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.testing import FrozenClock, ScriptedModel, call, temporary_runtime

DEFINITION = """
name: small
system: You are a test agent.
context_window: 32768
tools: [recall, archival]
timezone: Europe/Lisbon
"""


@pytest.fixture(scope="module")
def world() -> Iterator[tuple[Agent, list[Any]]]:
    """An agent that was told odd things, some of them in LanceDB and some not yet."""
    script: list[Any] = []
    model = ScriptedModel(iter(lambda: script.pop(0), None))
    with temporary_runtime(clock=FrozenClock()) as runtime:
        agent = runtime.agent("ada", definition=parse_definition(DEFINITION), model=model)
        for number, text in enumerate(SAID):
            script.append("Noted.")
            agent.send(text)
            if number == 2:
                runtime._write_back.drain(agent.id, 30)
        tags = ["a,b", 'c"d', "e'f"]
        kept = call("archival_insert", content="Nomad was built in 1974.", tags=tags)
        script.extend([kept, "Kept."])
        agent.send("Keep this.")
        yield agent, script


def ask(world: tuple[Agent, list[Any]], name: str, **arguments: Any) -> tuple[bool, str]:
    """Whether the function did what it was asked, and its result as the model reads it."""
    agent, script = world
    script.extend([call(name, **arguments), "Done."])
    turn = agent.send("Search.")
    assert turn.text == "Done."
    (made,) = turn.tool_calls
    result = agent.state.journal.newest(2)[-1]
    assert result.role == "tool"
    return made.ok, result.text


@pytest.mark.parametrize("kind", QUERIES)
def test_any_query_has_an_answer(kind: str, world: tuple[Agent, list[Any]]) -> None:
    """What it finds is right, and how much was looked through is always said."""
    query, must = QUERIES[kind]
    for name, total in (("recall_search", "messages"), ("archival_search", "passage")):
        ok, text = ask(world, name, query=query)
        assert ok, text
        head = text.splitlines()[0]
        assert f" {total}" in head
        if must is not None and name == "recall_search":
            found = {line.split()[0] for line in text.splitlines()[1:] if line.startswith("m")}
            assert must <= found if must else head.startswith("0 matches among ")


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("recall_search", {"start": "2026-05-09", "end": "2026-05-08"}, "lies after end"),
        ("recall_search", {"start": "31 February 2023"}, "is not a date; write it like"),
        ("recall_search", {"end": "99999999999 days ago"}, "is not a date"),
        ("recall_search", {"start": "9" * 5000}, "is not a date"),
        ("recall_search", {"query": "boat", "part": 0}, "part 0 is not there"),
        ("recall_search", {"query": "boat", "part": 10**9}, "part 1000000000 is not there"),
        ("recall_search", {"query": "boat", "part": -1}, "part -1 is not there"),
        ("recall_search", {"query": ["boat", {"a": 1}]}, "query"),
        ("archival_search", {"query": "boat", "part": 10**9}, "this search has part 1 only"),
        ("archival_search", {"query": "boat", "importance": 99}, "a number from 1 to 10"),
        ("archival_search", {"query": "boat", "tags": ["x"] * 5 + [7] * 2}, ""),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    name: str, arguments: dict[str, Any], said: str, world: tuple[Agent, list[Any]]
) -> None:
    """With what would do; short, whatever came."""
    ok, text = ask(world, name, **arguments)
    assert ok is (said == "")
    assert said in text
    assert len(text) < 500
    assert "Traceback" not in text


@pytest.mark.parametrize("tag", ["a,b", 'c"d', "e'f"])
def test_tags_with_commas_and_quotes_are_found(tag: str, world: tuple[Agent, list[Any]]) -> None:
    """A tag is one text, whatever stands in it."""
    ok, text = ask(world, "archival_search", query="Nomad", tags=[tag])
    assert ok
    assert text.splitlines()[1].startswith("a1 ")
    assert ask(world, "archival_search", query="Nomad", tags=[f"{tag}'"])[1].startswith("0 match")
