"""`pagemind completion`: a script for the shell, and what completes the names of agents.

The script asks the program itself, with _PAGEMIND_COMPLETE set, on every TAB: nothing heavy is
loaded for that.
"""

from enum import StrEnum
from typing import Annotated, Any

import typer

VARIABLE = "_PAGEMIND_COMPLETE"
_NAMES = 200  # more than that nobody reads through


class Shell(StrEnum):
    """Those that have a script."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


_WHERE = {
    Shell.bash: "pagemind completion bash >> ~/.bashrc",
    Shell.zsh: "pagemind completion zsh >> ~/.zshrc",
    Shell.fish: "pagemind completion fish > ~/.config/fish/completions/pagemind.fish",
}


def completion(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print a script that completes commands, options and agents' names.

    For this shell only: `source <(pagemind completion bash)`.
    """
    import sys

    from typer._completion_shared import get_completion_script

    from pagemind.runtime.cli.failure import say

    print(get_completion_script(prog_name="pagemind", complete_var=VARIABLE, shell=str(shell)))
    if sys.stdout.isatty():
        say(f"to keep it: {_WHERE[shell]}")


def agent_names(ctx: Any, incomplete: str) -> list[str]:
    """The agents whose names begin so, the one used last first; none where there is no home."""
    from pagemind.runtime.naming import folded
    from pagemind.runtime.settings import home_path
    from pagemind.runtime.state.database import peek

    asked = (getattr(ctx, "params", None) or {}).get("home")
    database = home_path(asked) / "home.db"
    if not database.exists():
        return []
    try:
        sql = f"SELECT name FROM agents ORDER BY last_active_at DESC, name LIMIT {_NAMES}"
        names = [str(row["name"]) for row in peek(database, sql)]
    except Exception:  # a TAB shows no errors
        return []
    return [name for name in names if folded(name).startswith(folded(incomplete))]


def prepare() -> None:
    """Let the program answer the scripts."""
    from typer._completion_classes import completion_init

    completion_init()
