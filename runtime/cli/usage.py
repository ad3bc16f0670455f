"""`pagemind usage`: tokens and cost of each agent, day, model or purpose, background work and
embeddings among them."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagemind.runtime.cli.options import AsJson, HomeFolder

if TYPE_CHECKING:
    from pagemind.runtime.runtime import Runtime
    from pagemind.runtime.state.spending import Spent

NOBODY = "(no agent)"  # embeddings of archives and searches from the command line


class By(StrEnum):
    """What the rows are."""

    agent = "agent"
    day = "day"
    model = "model"
    purpose = "purpose"


def usage(
    by: Annotated[
        By, typer.Option("--by", metavar="WHAT", help="agent, day (of UTC), model or purpose.")
    ] = By.agent,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="DAY", help="From this day on: 2026-05-08, 3 days ago."),
    ] = None,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Show what model calls took: tokens and cost, of turns, background work and embeddings.

    Summaries and gists are background work. Of tokens and cost – is unknown, and ≥ stands before
    a sum that some calls are missing from.
    """
    from pagemind.runtime.cli.render import listing
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime:
        first = _day(since, runtime) if since else ""
        spent = [each for each in _all(runtime) if each.day >= first]
        agents = [(info.name, info.model) for info in runtime.agents()]
    if by is By.agent:
        items = _by_agent(spent, agents, everyone=not first)
    else:
        items = [
            {str(by): getattr(each, by) or NOBODY, "calls": each.calls, **_json(each)}
            for each in _summed(spent, lambda s: getattr(s, by))
        ]
        items.sort(key=lambda item: str(item[by]))
    if as_json:
        listing(items)
    elif by is By.agent:
        _show_agents(items, spent)
    else:
        _show(items, by, spent)


def _day(text: str, runtime: "Runtime") -> str:
    from pagemind.runtime.errors import UserError
    from pagemind.runtime.when import parse_span

    try:
        return f"{parse_span(text, runtime.clock.now()).start:%Y-%m-%d}"
    except ValueError as error:
        raise UserError(f"--since {text}: {error}", hint="--since 2026-05-08") from None


def _all(runtime: "Runtime") -> list["Spent"]:
    """Turns from the agents, the rest from the home. An agent that cannot be read is left out."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.errors import PagemindError
    from pagemind.runtime.state.spending import of_turns

    found = runtime.spending.all()
    for info in runtime.agents():
        try:
            with runtime.reader(info.name) as reader:
                found += of_turns(reader.state.database, info.name)
        except PagemindError as error:
            say(f"{info.name} is not counted: {error.message}")
    return found


def _summed(spent: Sequence["Spent"], key: Callable[["Spent"], str]) -> list["Spent"]:
    """One entry for each key; the key stands in every field."""
    from pagemind.runtime.state.spending import summed

    return summed(spent, lambda s: (key(s),) * 4)


def _json(spent: "Spent") -> dict[str, Any]:
    return {
        "prompt_tokens": spent.usage.prompt_tokens,
        "completion_tokens": spent.usage.completion_tokens,
        "cached_tokens": spent.usage.cached_tokens,
        "cost": {"amount": spent.cost, "currency": "USD", "known": not spent.unpriced},
    }


def _by_agent(
    spent: Sequence["Spent"], agents: Sequence[tuple[str, str]], *, everyone: bool
) -> list[dict[str, Any]]:
    """What turns took, as steps; background and embeddings beside them; the cost is of all."""
    from pagemind.runtime.state.spending import Spent

    models = dict(agents)
    names = [name for name, _ in agents]
    names += sorted({each.agent for each in spent} - set(names))
    items = []
    for name in names:
        own = [each for each in spent if each.agent == name]
        if not own and not everyone:
            continue
        empty = Spent("", name, "", "")
        kinds = {"turn": empty, "background": empty, "embeddings": empty}
        for each in own:
            kind = {"turn": "turn", "embedding": "embeddings"}.get(each.purpose, "background")
            kinds[kind] += each
        whole = kinds["turn"] + kinds["background"] + kinds["embeddings"]
        items.append(
            {
                "agent": name or NOBODY,
                "model": models.get(name, ""),
                "steps": kinds["turn"].calls,
                **_json(kinds["turn"]),
                **{
                    kind: {"calls": kinds[kind].calls, **_json(kinds[kind])}
                    for kind in ("background", "embeddings")
                },
                "total_cost": _json(whole)["cost"],
            }
        )
    return items


def _tokens(item: dict[str, Any]) -> str:
    """Tokens there and back; – where there were calls and nobody told."""
    total = item["prompt_tokens"] + item["completion_tokens"]
    return f"{total:,}" if total or not item["calls"] else "–"


def _cost(cost: dict[str, Any]) -> str:
    from pagemind.runtime.cli.render import money

    return money(cost["amount"], cost["known"])


def _show_agents(items: Sequence[dict[str, Any]], spent: Sequence["Spent"]) -> None:
    from pagemind.runtime.cli.render import table

    table(
        [
            "agent",
            "calls",
            "sent",
            "cached",
            "received",
            "background",
            "embeddings",
            "cost",
            "model",
        ],
        [
            [
                item["agent"],
                f"{item['steps']:,}",
                f"{item['prompt_tokens']:,}",
                f"{item['cached_tokens']:,}",
                f"{item['completion_tokens']:,}",
                _tokens(item["background"]),
                f"{item['embeddings']['calls']:,}",
                _cost(item["total_cost"]),
                item["model"] or "–",
            ]
            for item in items
        ],
        right="calls sent cached received background embeddings cost",
        spare="cached embeddings received",
    )
    _tell_unpriced(spent)


def _show(items: Sequence[dict[str, Any]], by: By, spent: Sequence["Spent"]) -> None:
    from pagemind.runtime.cli.render import table

    table(
        ["calls", "sent", "cached", "received", "cost", str(by)],
        [
            [
                f"{item['calls']:,}",
                f"{item['prompt_tokens']:,}",
                f"{item['cached_tokens']:,}",
                f"{item['completion_tokens']:,}",
                _cost(item["cost"]),
                item[by] or NOBODY,
            ]
            for item in items
        ],
        right="calls sent cached received cost",
        spare="cached",
    )
    _tell_unpriced(spent)


def _tell_unpriced(spent: Sequence["Spent"]) -> None:
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import plural

    if unpriced := sum(each.unpriced for each in spent):
        say(f"{plural(unpriced, 'call')} without a known price")
