"""What tests of profiles share: an agent that keeps one of Sam."""

import json

from pagemind.runtime.agent import Agent
from pagemind.runtime.definition import AgentDefinition, parse_definition

YAML = """
name: keeper
system: You keep a profile.
embedding: none
context_window: {window}
output_reserve: 128
blocks:
  persona: {{value: I keep profiles., limit: 200}}
  sam:
    profile: {profile}
    description: Who Sam is.
    limit: {limit}
    {more}
tools: [core, recall, page_in]
"""
PLAIN = (
    "{additionalProperties: false, properties: {name: {type: string},"
    " pets: {type: array, items: {properties: {name: {type: string}}}}, age: {type: integer}}}"
)


def keeper(
    profile: str = PLAIN, more: str = "", limit: int = 400, window: int = 2400, and_then: str = ""
) -> AgentDefinition:
    return parse_definition(
        YAML.format(profile=profile, more=more, limit=limit, window=window) + and_then
    )


def sam(agent: Agent) -> object:
    return json.loads(agent.context.core.get("sam").value)
