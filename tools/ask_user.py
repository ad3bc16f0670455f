"""ask_user: put a question to the person who is there."""

from pagemind.runtime.template import load
from pagemind.runtime.tool import ToolContext, tool


@tool(effect="none", seconds=None)
def ask_user(ctx: ToolContext, question: str, choices: list[str] | None = None) -> str:
    """Ask the person something and wait for the answer. Use it where you cannot go on without.

    Args:
        question: What you want to know.
        choices: Answers to choose from, if there are some.
    """
    answer = None
    if ctx.person is not None:
        answer = ctx.person.ask(question.strip(), choices or ())
    if answer is None:
        return load("nobody").fill().strip()
    return answer.strip() or load("no_answer").fill().strip()
