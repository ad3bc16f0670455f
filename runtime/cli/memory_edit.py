"""`pagemind memory edit`: change a block of core memory, in $EDITOR or with a text."""

from typing import Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder, Wait


def edit(
    agent: AgentName,
    block: Annotated[
        str, typer.Argument(metavar="BLOCK", help="A block, such as human.", show_default=False)
    ],
    text: Annotated[
        str | None,
        typer.Option(
            "--text",
            metavar="TEXT",
            help="What the block says from now on; - reads standard input.",
            show_default=False,
        ),
    ] = None,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Change what a block says, in your $EDITOR; `memory restore` goes back to an older version."""
    from pagemind.runtime.cli.memory_show import tell_versions
    from pagemind.runtime.cli.session import opened, text_or_stdin
    from pagemind.runtime.cli.text_editor import edited
    from pagemind.runtime.memory_answers import versions_of

    with opened(home) as runtime, runtime.writer(agent, wait=wait) as writer:
        before = writer.context.core.get(block)
        value = edited(before.value, name=before.label) if text is None else text_or_stdin(text)
        if value != before.value:
            value = writer.write_block(before.label, value)
        versions = versions_of(writer, before.label)
    if as_json:
        tell_versions(versions, as_json)
    elif value == before.value:
        print(f"{before.label} is as it was")
    else:
        print(f"{before.label} is changed: {len(value):,} of {before.limit:,} characters")
