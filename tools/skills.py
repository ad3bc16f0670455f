"""The functions of skills: skill_save, skill_search, skill_run."""

from typing import Any

from pagemind.runtime.errors import BadArguments, ToolFailed
from pagemind.runtime.services import Skills
from pagemind.runtime.skill import Draft
from pagemind.runtime.tool import ToolContext, ToolResult, tool


def _check(
    ctx: ToolContext,
    name: str,
    when_to_use: str,
    instructions: str | None = None,
    code: str | None = None,
    tests: str | None = None,
) -> Any:
    """What takes its time: the tests, before anything is written."""
    draft = Draft.of(name, when_to_use, instructions, code, tests or "")
    return _skills(ctx).check(draft, ctx.cancel)


@tool(effect="memory", before=_check)
def skill_save(
    ctx: ToolContext,
    name: str,
    when_to_use: str,
    instructions: str | None = None,
    code: str | None = None,
    tests: str | None = None,
) -> str:
    """Keep how something is done, so that you can do it again: as instructions, or as a Python
    function. Code becomes active when its tests pass; instructions when a person approves them.
    The same name again is a new version; the old one stays until the new one is active.

    Args:
        name: Such as sort_invoices. The function in code has this name.
        when_to_use: One sentence on when it is of use: it is found by that alone.
        instructions: The steps, in words.
        code: Python that defines the function. It may call your other skills in code by name.
        tests: Of code: Python with asserts that call the function.
    """
    skill = _skills(ctx).save(ctx.prepared, ctx.turn)
    told = f"{skill.name} version {skill.version}"
    if skill.state == "active":
        return f"{told} is active as {skill.short_id}: {skill.why}"
    if skill.state == "pending":
        return f"{told} is stored as {skill.short_id} and waits for a person: {skill.why}"
    return f"{told} is stored as {skill.short_id}, but not active: {skill.why}"


@tool(effect="none", seconds=None)
def skill_search(ctx: ToolContext, task: str) -> ToolResult:
    """Find skills you have saved that are of use for a task.

    Args:
        task: What is to be done, in a sentence.
    """
    if not task.strip():
        raise BadArguments("task is empty; say in a sentence what is to be done")
    found = _skills(ctx).search(task.strip())
    lines = []
    for each in found:
        went = f" [{each.good} good, {each.bad} bad]" if each.good or each.bad else ""
        lines.append(f"{each.skill.shown}: {each.skill.when_to_use}{went}")
    least = min((each.skill.trust for each in found), default=100)
    return ToolResult("\n".join(lines) or "no skill is of use for that", trust=least)


@tool(effect="world", seconds=None)
def skill_run(ctx: ToolContext, name: str, arguments: dict[str, Any] | None = None) -> str:
    """Use a skill: run its function, or read its instructions.

    Args:
        name: Such as sort_invoices.
        arguments: Of its function, by name: {"rows": [1, 2]}.
    """
    return _skills(ctx).run(name, arguments or {}, ctx.turn, ctx.cancel)


def _skills(ctx: ToolContext) -> Skills:
    if ctx.skills is None:
        raise ToolFailed("this agent keeps no skills")
    return ctx.skills
