"""`pagemind memory store`: the JSON values that an agent keeps under a namespace and a key."""

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder, Ttl, Wait

if TYPE_CHECKING:
    from pagemind.runtime.item import Item


class Verb(StrEnum):
    """What to do."""

    list = "list"
    search = "search"
    get = "get"
    put = "put"
    delete = "delete"


def store(
    agent: AgentName,
    verb: Annotated[Verb, typer.Argument(help="list, search, get, put or delete.")] = Verb.list,
    namespace: Annotated[
        str, typer.Argument(metavar="NAMESPACE", help="users/sam; / is all.", show_default=False)
    ] = "",
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="Of get, put, delete.", show_default=False)
    ] = "",
    value: Annotated[
        str,
        typer.Argument(metavar="VALUE", help="Of put: JSON; - reads it.", show_default=False),
    ] = "",
    query: Annotated[str, typer.Option("--query", "-q", help="Of search: words.")] = "",
    filter: Annotated[
        str,
        typer.Option("--filter", metavar="JSON", help='Of search: {"age": {"$gte": 18}}.'),
    ] = "",
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many.")] = 100,
    depth: Annotated[
        int | None, typer.Option("--depth", metavar="N", min=1, help="Of list: so many names.")
    ] = None,
    if_version: Annotated[
        int | None,
        typer.Option("--if-version", metavar="N", min=0, help="Only over this version; 0: none."),
    ] = None,
    ttl: Ttl = "",
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """List, search, read and change what an agent's store_* functions keep."""
    from pagemind.runtime.cli.render import answer, listing, table
    from pagemind.runtime.cli.session import opened, text_or_stdin
    from pagemind.runtime.errors import NotFound

    keyed = verb in (Verb.get, Verb.put, Verb.delete)
    if keyed and not key:
        raise typer.BadParameter(f"{verb} needs NAMESPACE and KEY", param_hint="KEY")
    if verb is Verb.put and not value:
        raise typer.BadParameter("put needs a VALUE", param_hint="VALUE")
    if verb in (Verb.put, Verb.delete):
        read = _json(text_or_stdin(value), "VALUE") if verb is Verb.put else None
        with opened(home) as runtime, runtime.writer(agent, wait=wait) as writer:
            kept = writer.items
            if verb is Verb.put:
                item = kept.put(namespace, key, read, ttl=ttl, if_version=if_version)
                tell(item, as_json)
                return
            gone = kept.delete(namespace, key, if_version=if_version)
        if not gone:
            raise NotFound(f"{agent} has nothing under {key!r} in {namespace!r}")
        if as_json:
            answer({"namespace": namespace, "key": key, "deleted": True})
        else:
            print("hidden, not erased")
        return
    wanted = _json(filter, "--filter") if filter else None
    with opened(home) as runtime, runtime.reader(agent) as reader:
        kept = reader.items
        if verb is Verb.get:
            found = kept.get(namespace, key, refresh=False)
            if found is None:
                raise NotFound(
                    f"{agent} has nothing under {key!r} in {namespace!r}",
                    hint=f"`pagemind memory store {agent} search {namespace}` lists what there is",
                )
            tell(found, as_json)
        elif verb is Verb.search:
            items = kept.search(namespace, query=query, filter=wanted, limit=limit, refresh=False)
            if as_json:
                listing([item.as_json() for item in items], len(items))
            else:
                table(["namespace", "key", "value"], [_row(item) for item in items])
        else:
            names = kept.namespaces(namespace, depth=depth, limit=limit)
            if as_json:
                listing([{"path": each.path, "items": each.items} for each in names], len(names))
            else:
                table(["namespace", "items"], [[each.path, str(each.items)] for each in names])


def tell(item: "Item", as_json: bool) -> None:
    """One item, as JSON or as its value."""
    from pagemind.runtime.cli.render import answer

    if as_json:
        answer(item.as_json())
    else:
        print(json.dumps(item.value, ensure_ascii=False, indent=2))


def _row(item: "Item") -> list[str]:
    from pagemind.runtime.cli.render import one_line

    return [item.namespace, item.key, one_line(json.dumps(item.value, ensure_ascii=False))]


def _json(text: str, hint: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"is no JSON: {error}", param_hint=hint) from None
