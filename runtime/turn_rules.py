"""The rules of functions within one turn: shown to the model, and held.

What was called in the turn is read from the journal, so that a turn that is taken up again after a
crash or an approval goes on counting where it was.
"""

from collections.abc import Iterable, Sequence

from pagemind.runtime.approvals import NOT_RUN
from pagemind.runtime.message import Message
from pagemind.runtime.template import load
from pagemind.runtime.tool import Tool
from pagemind.runtime.tool_use import Terms

_NO_TERMS = Terms()


def terms_of(tool: Tool) -> Terms:
    """Its terms, or those that allow everything."""
    return tool.terms or _NO_TERMS


def described(tool: Tool) -> str:
    """Its description with its rules, as the model reads it."""
    terms = terms_of(tool)
    lines = [tool.description]
    if terms.rule == "ask":
        lines.append(load("rule_ask").fill().strip())
    if terms.at_most:
        lines.append(load("rule_at_most").fill(count=terms.at_most).strip())
    if terms.after:
        lines.append(load("rule_after").fill(names=" or ".join(terms.after)).strip())
    if terms.then:
        lines.append(load("rule_then").fill(names=", ".join(terms.then)).strip())
    if terms.required:
        lines.append(load("rule_required").fill().strip())
    return "\n".join(lines)


def refusal(tool: Tool, tools: Iterable[Tool], turn: Sequence[Message]) -> str | None:
    """Why the rules allow no other call of this function now. `turn` is what was said in it."""
    terms, name = terms_of(tool), tool.name
    ran = [m for m in turn if m.role == "tool" and m.provenance.detail != NOT_RUN]
    done = {message.name for message in ran if message.ok}
    if terms.at_most:
        times = sum(message.name == name for message in ran)
        if times >= terms.at_most:
            return (
                f"{name} may be called {terms.at_most} times a turn, and was; go on without it, or"
                " answer the person"
            )
    if terms.after and not done & set(terms.after):
        return f"{name} may be called only after {' or '.join(terms.after)}; call that first"
    for other in tools:
        then = terms_of(other).then
        if then and other.name in done and name not in then:
            return f"after {other.name} only {', '.join(then)} may be called in this turn"
    return None


def missing(tools: Iterable[Tool], turn: Sequence[Message]) -> list[str]:
    """The functions that must have succeeded before the turn ends, and have not."""
    done = {message.name for message in turn if message.role == "tool" and message.ok}
    return [t.name for t in tools if terms_of(t).required and t.name not in done]
