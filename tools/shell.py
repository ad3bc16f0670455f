"""shell: run a command as the person could, once they have agreed to it."""

from pathlib import Path

from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.tool import ToolContext, tool
from pagemind.runtime.tool_use import ShellTerms
from pagemind.runtime.written_path import expanded
from pagemind.tools.process import run


@tool(effect="world", seconds=None)
def shell(ctx: ToolContext, command: str) -> str:
    """Run a shell command and read what it prints.

    Args:
        command: The command line. Nobody can type into it while it runs.
    """
    terms = ctx.terms if isinstance(ctx.terms, ShellTerms) else ShellTerms()
    folder = (ctx.folder / expanded(terms.folder)).resolve()
    if not folder.is_dir():
        raise ToolFailed(f"the folder {terms.folder} is not there; a person has to make it")
    return run(
        ["/bin/sh", "-c", command],
        folder=folder,
        seconds=terms.seconds,
        env=ctx.env,
        home=Path.home(),
        cancel=ctx.cancel,
    ).told()
