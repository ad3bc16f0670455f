"""python: run code in a process of its own, with bounds on time and memory, and no network."""

from pagemind.runtime.tool import ToolContext, tool
from pagemind.runtime.tool_use import PythonTerms
from pagemind.tools.confined import confined


@tool(effect="world", seconds=None)
def python(ctx: ToolContext, code: str) -> str:
    """Run Python code and read what it prints. Each call starts anew, in an empty folder that is
    gone afterwards; there is no network.

    Args:
        code: The program; print what you want to know.
    """
    terms = ctx.terms if isinstance(ctx.terms, PythonTerms) else PythonTerms()
    return confined(
        code,
        seconds=terms.seconds,
        megabytes=terms.megabytes,
        network=terms.network,
        env=ctx.env,
        cancel=ctx.cancel,
    ).told()
