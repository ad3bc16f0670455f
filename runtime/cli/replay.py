"""`pagemind replay`: run an agent again from a trace, and name the first difference."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AsJson

if TYPE_CHECKING:
    from pagemind.runtime.replay import Replayed

_DIFFERENT = 4


def replay(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="A file that --trace wrote.")],
    agent: Annotated[
        str | None,
        typer.Option("--agent", metavar="NAME", help="Which agent, if it holds several."),
    ] = None,
    home: Annotated[
        str | None,
        typer.Option(
            "--home", metavar="FOLDER", help="Leave the agent there, to look at; default: nowhere."
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Run an agent again from a trace: no model is asked, nothing in the world is done.

    Each request is compared with the recorded one. The exit code is 0 if all are the same, 4 if
    one is not; the first such is named with the step, the section and a short diff.
    """
    from pagemind.runtime.replay import replay as run

    replayed = run(trace, agent=agent, home=home)
    if as_json:
        from pagemind.runtime.cli.render import answer

        answer(replayed.as_json())
    else:
        _show(replayed, home)
    return _DIFFERENT if replayed.difference else 0


def _show(replayed: "Replayed", home: str | None) -> None:
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import plural, visible

    done = f"{plural(replayed.turns, 'turn')}, {plural(replayed.requests, 'request')}"
    found = replayed.difference
    if found is None:
        print(f"same: {replayed.agent}, {done}")
    else:
        where = f"step {found.step}, {found.section}" if found.step else found.section
        print(f"different after {done}: {where}: {found.what}")
        for line in found.diff:
            print(f"  {visible(line)}")
    if home is not None:
        say(f"{replayed.agent} is in {home}; `pagemind inspect {replayed.agent} --home {home}`")
