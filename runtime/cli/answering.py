"""Which options of `pagemind send` go with a TEXT, which with an answer to a call that waits."""

from collections.abc import Sequence

import typer


def check_usage(
    text: str | None,
    *,
    approve: bool,
    deny: bool,
    answer: Sequence[tuple[str, object, bool]],
    more: Sequence[tuple[str, object]],
    call: str | None,
) -> None:
    """A TEXT, or an answer to a call that waits. Raises BadParameter. `answer` names options that
    go with one of the two, and whether it is there; `more` those that go with a TEXT."""
    if approve and deny:
        raise typer.BadParameter("not together with --approve", param_hint="--deny")
    for name, given, fits in (*answer, ("--call", call, approve or deny)):
        if given and not fits:
            needed = {"--reason": "--deny", "--always": "--approve"}.get(name, "--approve, --deny")
            raise typer.BadParameter(f"goes with {needed}", param_hint=name)
    if not (approve or deny):
        if text is None:
            raise typer.BadParameter("say something, or --approve or --deny", param_hint="TEXT")
        return
    named = "--approve" if approve else "--deny"
    if text is not None:
        raise typer.BadParameter(
            f"not together with {named}: say it once the turn has ended", param_hint="TEXT"
        )
    for name, given in more:
        if given:
            raise typer.BadParameter(f"not together with {named}", param_hint=name)
