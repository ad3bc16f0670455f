"""Functions for work with the other agents of the home: list_agents, send_message_to,
send_message_to_all."""

from pagemind.runtime.errors import BadArguments, ToolFailed
from pagemind.runtime.services import Answer, Reach, Team
from pagemind.runtime.tool import ToolContext, ToolResult, tool
from pagemind.runtime.tool_use import AgentsTerms


@tool(effect="none")
def list_agents(ctx: ToolContext) -> str:
    """List the agents that you can write to, with their tags and what they are for."""
    team, reach = _team(ctx)
    lines = []
    for member in team.members(reach):
        tags = f" [{', '.join(member.tags)}]" if member.tags else ""
        about = f": {member.description}" if member.description else ""
        lines.append(f"{member.name}{tags}{about}")
    return "\n".join(lines) or "there are none yet"


@tool(effect="world", foreign=True, seconds=None)
def send_message_to(ctx: ToolContext, agent: str, text: str, wait: bool = True) -> ToolResult:
    """Tell another agent something. It sees that the message is yours, and nothing else of what
    you know; it remembers it.

    Args:
        agent: Its name.
        text: All that it needs to know to do what you want.
        wait: Wait for its answer; otherwise the answer comes to you later, as a message.
    """
    team, reach = _team(ctx)
    if not wait:
        count = team.leave(agent, _said(text), reach, call=ctx.call_id, trust=ctx.trust)
        return ToolResult(f"left for {agent}; {count} waiting there")
    answer = team.ask(
        agent, _said(text), reach, call=ctx.call_id, cancel=ctx.cancel, trust=ctx.trust
    )
    if answer.why:
        raise ToolFailed(_not_answered(answer))
    return ToolResult(answer.text, trust=answer.trust)


@tool(effect="world", foreign=True, seconds=None)
def send_message_to_all(ctx: ToolContext, tags: list[str], text: str) -> ToolResult:
    """Tell the same to all agents with one of these tags, and wait for all of their answers. They
    work at the same time.

    Args:
        tags: Such as ["worker"].
        text: All that they need to know to do what you want.
    """
    team, reach = _team(ctx)
    wanted = [tag.strip() for tag in tags if tag.strip()]
    answers = team.ask_all(
        wanted, _said(text), reach, call=ctx.call_id, cancel=ctx.cancel, trust=ctx.trust
    )
    if all(answer.why for answer in answers):
        raise ToolFailed("\n".join(map(_not_answered, answers)))
    said = [
        _not_answered(answer) if answer.why else f"{answer.agent}: {answer.text}"
        for answer in answers
    ]
    return ToolResult("\n\n".join(said), trust=min(answer.trust for answer in answers))


def _team(ctx: ToolContext) -> tuple[Team, Reach]:
    if ctx.team is None:
        raise ToolFailed("there are no other agents here")
    terms = ctx.terms
    if not isinstance(terms, AgentsTerms):
        return ctx.team, Reach()
    return ctx.team, Reach(terms.reach, terms.tags)


def _said(text: str) -> str:
    if not text.strip():
        raise BadArguments("text is empty; write what the other agent needs to know")
    return text


def _not_answered(answer: Answer) -> str:
    said = f" It said: {answer.text}" if answer.text else ""
    return f"{answer.agent} did not answer: {answer.why}.{said}"
