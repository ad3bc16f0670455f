"""`pagemind upgrade`: bring a home of an older version up to date, after backups."""

from typing import Annotated

import typer

from pagemind.runtime.cli.options import AsJson, HomeFolder, Wait

_PARTLY = 3


def upgrade(
    dry: Annotated[bool, typer.Option("--dry", help="Say what is due and change nothing.")] = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Bring the home, every agent and every archive to this version. Each file is copied first.

    Opening an agent does the same for that one. The exit code is 3 if some could not be done.
    """
    from pagemind.runtime.cli.render import listing, visible
    from pagemind.runtime.runtime import Runtime

    done = Runtime.upgrade(home, dry=dry, wait=wait)
    behind = [each for each in done if each.status in ("in_use", "failed")]
    if as_json:
        listing([each.as_json() for each in done])
        return _PARTLY if behind else 0
    changed = [each for each in done if each.status != "current"]
    for each in changed:
        step = f"version {each.before} → {each.after}"
        more = {
            "done": f"{step}; what it was is in {each.backup}",
            "due": f"{step} is due",
        }.get(each.status, each.detail)
        print(visible(f"{each.agent or each.archive or 'home'}: {more}"))
    if not changed:
        print("everything is of this version")
    return _PARTLY if behind else 0
