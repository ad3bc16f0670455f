"""The arguments and options that several commands share, as types for their signatures."""

from pathlib import Path
from typing import Annotated

import typer

from pagemind.runtime.cli.shell_completion import agent_names

AgentName = Annotated[
    str,
    typer.Argument(
        metavar="AGENT",
        help="The agent's name.",
        show_default=False,
        autocompletion=agent_names,
    ),
]
HomeFolder = Annotated[
    str | None,
    typer.Option(
        "--home", metavar="FOLDER", help="Where all state is kept; default $PAGEMIND_HOME."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Answer with one JSON object (docs/json.md).")]
DefinitionName = Annotated[
    str | None,
    typer.Option(
        "--definition",
        "-d",
        metavar="NAME|FILE",
        help="What a new agent is made from: a shipped definition or a YAML file.",
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option("--model", "-m", metavar="NAME", help="The model to run on, now and from now on."),
]
Wait = Annotated[
    float,
    typer.Option(
        "--wait",
        metavar="SECONDS",
        min=0,
        show_default=False,
        help="How long to wait for an agent that is in use.",
    ),
]
Speaker = Annotated[
    str, typer.Option("--as", metavar="SPEAKER", help="Who is speaking.", show_default=False)
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what it would do, and do nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Last = Annotated[
    int | None,
    typer.Option("--last", metavar="N", min=1, help="Only the newest N.", show_default=False),
]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG", help="A tag; may be repeated.", show_default=False),
]
# --- what is to be kept ---------------------------------------------------------------------------
TextToKeep = Annotated[
    str,
    typer.Argument(
        metavar="TEXT", help="What to keep; - reads standard input.", show_default=False
    ),
]
Files = Annotated[
    list[Path] | None,
    typer.Option(
        "--file",
        "-f",
        metavar="FILE|FOLDER",
        help="Text, Markdown, HTML, PDF, DOCX, CSV or JSONL; may be repeated.",
    ),
]
Importance = Annotated[
    float | None,
    typer.Option("--importance", metavar="1-10", min=1, max=10, show_default=False),
]
EmbeddingName = Annotated[
    str | None,
    typer.Option(
        "--embedding",
        "-e",
        metavar="NAME",
        help="local/minilm, none, or a litellm embedding model.",
        show_default=False,
    ),
]
Scope = Annotated[
    str,
    typer.Option(
        "--scope", metavar="/PATH", help="Where it is put: /team/project.", show_default=False
    ),
]
Owner = Annotated[
    str,
    typer.Option(
        "--private-to", metavar="NAME", help="Only this program sees it.", show_default=False
    ),
]
Ttl = Annotated[
    str,
    typer.Option(
        "--ttl", metavar="TIME", help='How long it is kept: "30 days".', show_default=False
    ),
]
Evergreen = Annotated[bool, typer.Option("--evergreen", help="Never forgotten by the worker.")]
# --- what is looked for ---------------------------------------------------------------------------
Query = Annotated[
    str,
    typer.Argument(
        metavar="QUERY", help="What to look for; without it, the newest.", show_default=False
    ),
]
Start = Annotated[
    str | None,
    typer.Option("--start", metavar="DATE", help="From then on: 2026-05, yesterday, …"),
]
End = Annotated[str | None, typer.Option("--end", metavar="DATE", help="Up to and including then.")]
InScope = Annotated[
    list[str] | None,
    typer.Option("--scope", metavar="/PATH", help="Only passages in it or below; repeatable."),
]
MaxTokens = Annotated[
    int, typer.Option("--max-tokens", metavar="N", min=1, help="The size of one part.")
]
Part = Annotated[int, typer.Option("--part", metavar="N", min=1, help="Which part.")]
TraceTo = Annotated[
    Path | None,
    typer.Option(
        "--trace", metavar="FILE", help="Append all that happens to FILE (docs/trace.md)."
    ),
]
NoContent = Annotated[
    bool, typer.Option("--no-content", help="Leave texts out of the trace; it cannot be replayed.")
]
WithOtel = Annotated[
    bool,
    typer.Option("--otel", help="Send OpenTelemetry spans, as the OTEL_… variables say."),
]
