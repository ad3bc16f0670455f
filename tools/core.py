"""Core memory functions: core_append, core_edit, core_rewrite; core_set for blocks that are
profiles."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pagemind.runtime.profile import Profile
from pagemind.runtime.template import load
from pagemind.runtime.tool import Tool, ToolContext, tool


@tool(effect="memory")
def core_append(ctx: ToolContext, block: str, content: str) -> str:
    """Add a line to a core memory block, which you always see.

    Args:
        block: The block's label.
        content: One short fact, with names and dates.
    """
    value = ctx.core.append(block, content)
    return f"{block} is now:\n{value}"


@tool(effect="memory")
def core_edit(ctx: ToolContext, block: str, old_text: str, new_text: str) -> str:
    """Replace one exact piece of text in a core memory block, for example when a fact changed.

    Args:
        block: The block's label.
        old_text: Text that occurs exactly once in the block.
        new_text: What stands there instead; empty to delete it.
    """
    value = ctx.core.edit(block, old_text, new_text)
    return f"{block} is now:\n{value}"


@tool(effect="memory")
def core_rewrite(ctx: ToolContext, block: str, content: str) -> str:
    """Replace the whole text of a core memory block, for example to tidy a full one.

    Args:
        block: The block's label.
        content: The complete new text; the old one is kept as history.
    """
    value = ctx.core.rewrite(block, content)
    if not ctx.core.shows_edits:  # until the next flush it stands here alone
        return f"{block} is now:\n{value}"
    return f"{block} is rewritten ({len(content)} characters)"


@tool(effect="memory")
def core_set(
    ctx: ToolContext,
    block: str,
    path: str,
    value: str
    | int
    | float
    | bool
    | list[str | int | float | dict[str, Any]]
    | dict[str, Any]
    | None,
) -> str:
    """Set one field of a profile: a core memory block of JSON, which you always see.

    Args:
        block: The profile's label.
        path: The field, like name, work.role, pets[0].name, or likes[-] to add to a list.
        value: What it is from now on; null deletes it.
    """
    value = None if value == "null" else value  # what weak models write
    text = ctx.core.set(block, path, value)
    if not ctx.core.shows_edits:  # until the next flush it stands here alone
        return f"{block} is now:\n{text}"
    return f"{block}: {path} is {'deleted' if value is None else 'set'}"


def for_profiles(tool: Tool, profiles: Mapping[str, Profile]) -> Tool:
    """core_set as an agent with these profiles has it: with their names and fields."""
    fields = [
        load("profile_fields").fill(block=k, fields=p.outline).strip() for k, p in profiles.items()
    ]
    properties = {**tool.parameters["properties"]}
    properties["block"] = {**properties["block"], "enum": list(profiles)}
    return replace(
        tool,
        description="\n".join([tool.description, *fields]),
        parameters={**tool.parameters, "properties": properties},
    )
