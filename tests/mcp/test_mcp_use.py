"""A definition names its MCP servers, and every fault in that has a line."""

import pytest

from pagemind.runtime.definition import AgentDefinition, parse_definition
from pagemind.runtime.errors import DefinitionError


def with_tools(text: str) -> AgentDefinition:
    return parse_definition(f"name: x\ntools:\n{text}", "x.yaml")


def test_servers_and_their_terms_are_read() -> None:
    """Options of a server hold for its tools, those of a tool go before; asking is the default."""
    definition = with_tools(
        "  - core\n"
        "  - mcp:\n"
        "      time: {command: mcp-server-time, effect: none, tools: {now: {rule: allow}}}\n"
        "      wiki: {url: 'https://wiki.example.org/mcp', token_env: WIKI, allow: [find], "
        "after: [time__now]}\n"
    )
    time, wiki = definition.servers
    assert time.terms.command == ("mcp-server-time",)
    assert (time.terms_of("now").rule, time.terms_of("now").effect) == ("allow", "none")
    assert time.terms_of("other").rule == "ask"
    assert wiki.wants("find")
    assert not wiki.wants("write")
    assert wiki.terms_of("find").effect == "world"
    again = AgentDefinition.from_json(definition.to_json())
    assert [each.name for each in again.servers] == ["time", "wiki"]
    assert definition.functions == ("core_append", "core_edit", "core_rewrite")


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("mcp", "say which servers: mcp: {time: {command: [mcp-server-time]}}"),
        ("mcp: {}", "say which servers"),
        ("mcp: {a: {}}", "mcp.a: say how it is reached: command:"),
        ("mcp: {a: {command: [x], url: 'http://h/'}}", "say how it is reached"),
        ("mcp: {A b: {command: [x]}}", "'A b' is not a name for a server"),
        ("mcp: {a__b: {command: [x]}}", "'a__b' is not a name for a server"),
        ("mcp: {a: {command: npx -y thing}}", "must be a list: no shell reads it; write [npx, -y"),
        ("mcp: {a: {url: 'ftp://h/'}}", "'ftp://h/' is not an address"),
        ("mcp: {a: {url: 'https://me:pw@h/'}}", "has no name or password in it"),
        ("mcp: {a: {url: 'http://h/', token_env: T}}", "a token is sent over https:// only"),
        ("mcp: {a: {url: 'https://h/', token_env: sk-123}}", "the name of an environment variable"),
        ("mcp: {a: {url: 'https://h/', env: [T]}}", "sees no variables; token_env names"),
        ("mcp: {a: {command: [x], effect: memory}}", "a.effect:"),
        ("mcp: {a: {command: [x], alow: [y]}}", "did you mean 'allow'"),
        ("mcp: {a: {command: [x], allow: [y], tools: {z: {}}}}", "allow does not name it: y"),
        ("mcp: {a: {command: [x], after: [b__c]}}", "this agent has no function 'b__c'"),
    ],
)
def test_what_is_wrong_is_told(entry: str, said: str) -> None:
    """Each fault names its place and what to write instead."""
    with pytest.raises(DefinitionError) as refused:
        with_tools(f"  - {entry}\n")
    assert said in refused.value.message
    assert refused.value.message.startswith("x.yaml:3")
    assert "sk-123" not in refused.value.message
