"""`pagemind init`: three questions, or flags, and there is a config and a first agent."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AsJson, HomeFolder, Yes

if TYPE_CHECKING:
    from pagemind.runtime.model_choice import ModelChoice
    from pagemind.runtime.setup import Done

_WIDE = 76  # of 80 columns
_MOST = 4  # models that are listed: all three questions fit on one screen


def init(
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="NAME", help="The model; none leaves it open."),
    ] = None,
    embedding: Annotated[
        str | None,
        typer.Option(
            "--embedding",
            metavar="NAME",
            help="What finds memories by meaning: local/minilm, none.",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="AGENT", help="The first agent's name.")
    ] = None,
    persona: Annotated[
        str | None, typer.Option("--persona", metavar="TEXT", help="Who it is, in its own words.")
    ] = None,
    yes: Yes = False,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Set up: find what is usable here, write a config, make a first agent.

    Asks three questions; what is given by a flag is not asked, and with --yes or without a
    terminal nothing is. Nothing that is there is written over.
    """
    from pagemind.runtime.config import load
    from pagemind.runtime.model_choice import ModelChoice
    from pagemind.runtime.settings import home_path
    from pagemind.runtime.setup import EMBEDDING, NAME, Answers, models, set_up

    folder = home_path(home)
    asking = not yes and not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    before = load(folder)
    found = models(folder)
    if before.model:  # what was chosen once comes first
        chosen_once = ModelChoice(before.model, "chosen before")
        found = [chosen_once, *(each for each in found if each.name != before.model)]
    chosen: ModelChoice | None
    if model is not None:
        chosen = None if model == "none" else _known(model, found)
    elif asking:
        print(f"pagemind keeps everything in {_short(folder)}")
        chosen = _ask_model(found)
    else:
        chosen = found[0] if found else None
    if embedding is None:
        usual = before.embedding or EMBEDDING
        embedding = _ask_embedding(usual) if asking else usual
    if asking and (name is None or persona is None):
        print("\n3 of 3  Your first agent")
        name = name or _ask("name", NAME)
        persona = _ask(
            "who it is, in its own words", "", shown="a brief, friendly, exact assistant"
        )
    answers = Answers(chosen, embedding, name or NAME, persona or "")
    if asking and before != replace(
        before, model=chosen.name if chosen else before.model, embedding=embedding
    ):
        _confirm_changes(folder)
    done = set_up(folder, answers)
    if as_json:
        from pagemind.runtime.cli.render import answer

        answer(
            {
                "agent": answers.name,
                "made": done.made,
                "model": chosen.name if chosen else None,
                "embedding": answers.embedding,
                "config": str(done.config),
                "definition": str(done.definition),
                "wrote": [str(path) for path in done.wrote],
                "kept": list(done.kept),
            }
        )
    else:
        _tell(done, answers.name, chosen)


def _known(name: str, found: Sequence["ModelChoice"]) -> "ModelChoice":
    """A model by name; one that was found brings how it is reached."""
    from pagemind.runtime.model_choice import ModelChoice

    return next((each for each in found if each.name == name), ModelChoice(name, "--model"))


def _ask_model(found: Sequence["ModelChoice"]) -> "ModelChoice | None":
    print("\n1 of 3  Which model?")
    if not found:
        print("  None was found: no key in the environment, no server, no local model.")
        print("  `pagemind models pull` fetches a small one; or export OPENAI_API_KEY=…")
    for number, each in enumerate(found[:_MOST], 1):
        print(_row(number, each.name, each.why))
    answer = _ask("number, or any name that litellm knows", found[0].name if found else "")
    if answer.isdigit() and 1 <= int(answer) <= len(found):
        return found[int(answer) - 1]
    return _known(answer, found) if answer else None


def _ask_embedding(usual: str) -> str:
    from pagemind.runtime.setup import embeddings

    local, *keyed, none = embeddings()
    offered = [local, *keyed[:1], none]
    print("\n2 of 3  What finds memories by their meaning?")
    for number, each in enumerate(offered, 1):
        print(_row(number, each.name, each.why))
    answer = _ask("number or name", usual)
    if answer.isdigit() and 1 <= int(answer) <= len(offered):
        return offered[int(answer) - 1].name
    return answer


def _row(number: int, name: str, why: str) -> str:
    return f"  {number}  {name:<32} {why}"[:_WIDE]


def _ask(question: str, default: str, *, shown: str = "") -> str:
    answer: str = typer.prompt(
        f"  {question} [{shown or default or 'later'}]",
        default=default,
        show_default=False,
        prompt_suffix=": ",
    )
    return answer.strip()


def _confirm_changes(folder: Path) -> None:
    """Where a config is there, its keys are changed only if that is wanted."""
    from pagemind.runtime.config import path_of

    path = path_of(folder)
    if path.exists() and not typer.confirm(f"  change model and embedding in {_short(path)}?"):
        raise typer.Abort()


def _short(path: Path) -> str:
    """With ~, as people write it."""
    try:
        return f"~/{path.relative_to(Path.home())}"
    except ValueError:
        return str(path)


def _tell(done: "Done", name: str, model: "ModelChoice | None") -> None:
    print()
    for path in done.wrote:
        print(f"wrote {_short(path)}")
    if done.made:
        print(f"made  {name}")
    for each in done.kept:
        print(f"kept  {each}")
    if model is None:
        print("no model yet: `pagemind models pull`, or `pagemind config set model NAME`")
    from shlex import quote

    print(f"next: pagemind chat {quote(name)}")
