"""The agents that ship are complete, name no model, and say what they were tested with."""

from importlib.resources import files
from pathlib import Path

import pytest

from pagemind.runtime.definition import load_definition, shipped_definitions
from pagemind.runtime.function_names import GROUPS, expand


def test_seven_agents_ship() -> None:
    """The names that the README promises are there."""
    names = ["assistant", "coder", "companion", "reader", "researcher", "secretary", "support"]
    assert shipped_definitions() == names


@pytest.mark.parametrize("name", shipped_definitions())
def test_a_shipped_agent_loads_in_an_empty_environment(name: str) -> None:
    """No key or variable is needed, no model is fixed, and every function is at hand."""
    agent = load_definition(name, environ={})
    assert agent.name == name
    assert agent.description
    assert agent.model is None
    memory = expand(("core", "recall", "archival", "pages", "clock"))
    wanted = [each for each in memory if each != "core_set" or agent.profiles]
    assert list(agent.functions[: len(wanted)]) == wanted


@pytest.mark.parametrize("name", shipped_definitions())
def test_a_shipped_agent_describes_its_blocks(name: str) -> None:
    """Each has a persona with a value, a human block to fill, and says what each block is for."""
    blocks = load_definition(name, environ={}).blocks
    assert blocks["persona"].value
    assert blocks["human"].value in ("", "{}")  # of a profile
    assert all(block.description for block in blocks.values())


@pytest.mark.parametrize("name", shipped_definitions())
def test_a_shipped_agent_says_what_it_was_tested_with(name: str) -> None:
    """The comment at the head is part of what ships."""
    text = (files("pagemind.agents") / f"{name}.yaml").read_text(encoding="utf-8")
    assert "# Tested with: " in text.partition("\nname:")[0]


def test_the_researcher_has_a_desk() -> None:
    """The researcher works in a scratch block."""
    assert "scratch" in load_definition("researcher", environ={}).blocks


def test_the_reader_reads_where_it_is_made() -> None:
    """And may change nothing, there or elsewhere."""
    reader = load_definition("reader", environ={})
    assert reader.folder == Path.cwd()
    more = [use.name for use in reader.uses if use.name not in expand(GROUPS)]
    assert more == ["read_file", "list_files", "grep_files", "read_document", "ask_user"]


def test_the_rules_of_support_are_not_the_models_to_change() -> None:
    """Persona and policy of the support agent are read-only."""
    blocks = load_definition("support", environ={"PAGEMIND_PRODUCT": "Lantern"}).blocks
    assert blocks["policy"].read_only
    assert blocks["persona"].read_only
    assert "Lantern" in blocks["persona"].value


def test_the_assistant_leaves_protocol_and_system_open() -> None:
    """The runtime may choose the protocol that suits the model it found."""
    assistant = load_definition("assistant", environ={})
    assert not assistant.states("protocol")
    assert not assistant.states("system")
