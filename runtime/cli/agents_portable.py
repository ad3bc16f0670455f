"""`pagemind agents export` and `import`: an agent as one file (docs/portability.md).

What other tools have exported is agents_foreign.py's.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, DefinitionName, HomeFolder, Wait

if TYPE_CHECKING:
    from pagemind.runtime.portable.carried import Carried

ToFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="Where to write it: ada.pmz.", show_default=False)
]
FromFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="What an export has written.", show_default=False)
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="SEQ|TIME|FILE",
        help="Only what is new since a message, a time or an earlier export.",
        show_default=False,
    ),
]
WithEmbeddings = Annotated[
    bool,
    typer.Option("--embeddings/--no-embeddings", help="Whether vectors go along."),
]


def export(
    agent: AgentName,
    file: ToFile,
    since: Since = None,
    embeddings: WithEmbeddings = True,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Write an agent with all of its memory to one file. It may be in use.

    API keys and values of variables do not go along.
    """
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime:
        done = runtime.export_agent(
            agent, file, since=since, embeddings=embeddings, overwrite=force
        )
    _tell(done, as_json, "exported")


def import_file(
    file: FromFile,
    name: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="Under another name.", show_default=False),
    ] = None,
    into: Annotated[
        str | None,
        typer.Option(
            "--into",
            metavar="AGENT",
            help="Add chats or memories of another tool to an agent that is there.",
            show_default=False,
        ),
    ] = None,
    source: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="TOOL",
            help="auto, pmz, openai, jsonl, letta, mem0, chatgpt or claude.",
        ),
    ] = "auto",
    definition: DefinitionName = None,
    embeddings: WithEmbeddings = True,
    untrusted: Annotated[
        bool, typer.Option("--untrusted", help="Trust nothing in it more than an import.")
    ] = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Make an agent from an exported file, or carry one on with what an increment adds.

    Chats and memories of other tools go into a new agent (--as) or one that is there (--into).
    """
    from pagemind.runtime.cli.agents_foreign import import_foreign, is_foreign
    from pagemind.runtime.cli.session import opened

    source = source.lower()
    if source not in ("auto", "pmz") or into is not None or (source == "auto" and is_foreign(file)):
        options = {"source": source, "name": name, "into": into, "definition": definition}
        import_foreign(home, file, as_json, wait=wait, **options)
        return
    with opened(home) as runtime:
        done = runtime.import_agent(
            file, name=name, embeddings=embeddings, untrusted=untrusted, wait=wait
        )
    _tell(done, as_json, "imported")


def _tell(done: "Carried", as_json: bool, verb: str) -> None:
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import answer, fields, plural, size, visible

    if as_json:
        answer(done.as_json())
        return
    holds = ", ".join(
        plural(count, noun)
        for count, noun in (
            (done.messages, "message"),
            (done.passages, "passage"),
            (done.pages, "page"),
        )
    )
    vectors = f"{done.embeddings:,}" if done.embeddings else "none; they are made when it runs"
    rows: list[tuple[str, object]] = [(verb, done.agent), ("holds", holds)]
    if done.since is not None:
        rows.append(("adds", f"what came after m{done.since}" if done.since else "all of it"))
    rows += [
        ("embeddings", vectors),
        ("file", f"{visible(str(done.path))} ({size(done.bytes)})"),
        ("sha256", done.sha256),
    ]
    fields(rows)
    for note in done.notes:
        say(visible(note))
