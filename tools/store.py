"""Functions for JSON values under a namespace and a key: store_put, store_get, store_search,
store_delete, store_list."""

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pagemind.runtime.errors import BadArguments, ToolFailed, UserError
from pagemind.runtime.item import Item
from pagemind.runtime.item_store import ItemStore
from pagemind.runtime.settings import STORE_LIMIT
from pagemind.runtime.shorten import shorten
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.tool import ToolContext, ToolResult, tool

T = TypeVar("T")


@tool(effect="memory")
def store_put(
    ctx: ToolContext,
    namespace: str,
    key: str,
    value: dict[str, Any],
    ttl: str | None = None,
    index: list[str] | None = None,
    if_version: int | None = None,
) -> str:
    """Store a JSON object under a key; what was there is replaced and kept as history.

    Args:
        namespace: Where, such as users/sam.
        key: Its name there, such as settings.
        value: The whole object.
        ttl: How long to keep it after it was last read, such as 30 days; without it for good.
        index: The fields that a search by words reads, such as ["address.city"]; all by default.
        if_version: Only if this is still its version; 0: only if nothing is there.
    """
    store = _store(ctx)
    item = _asked(
        lambda: store.put(namespace, key, value, ttl=ttl, index=index, if_version=if_version)
    )
    return f"stored as version {item.version} of {item.namespace} {item.key}"


@tool(effect="none")
def store_get(ctx: ToolContext, namespace: str, key: str) -> ToolResult:
    """Read what is stored under a key.

    Args:
        namespace: Where, such as users/sam.
        key: Its name there.
    """
    store = _store(ctx)
    item = _asked(lambda: store.get(namespace, key))
    if item is None:
        raise ToolFailed(
            f"nothing is stored under {key} in {namespace}; store_search with this namespace lists"
            " what is"
        )
    shown = f"version {item.version}: {json.dumps(item.value, ensure_ascii=False)}"
    return ToolResult(shown, trust=item.trust)


@tool(effect="none")
def store_search(
    ctx: ToolContext,
    namespace: str = "",
    query: str | None = None,
    filter: dict[str, Any] | None = None,
    limit: int = STORE_LIMIT,
    part: int = 1,
) -> str | ToolResult:
    """Find stored objects, in a namespace and in those below it.

    Args:
        namespace: Where to look, such as users; everywhere by default.
        query: What to look for, in words; without it all, by key.
        filter: What fields must be: {"city": "Faro", "age": {"$gte": 18}}. There are $eq, $ne, $gt,
            $gte, $lt and $lte.
        limit: How many.
        part: Which part of the results, if there are several.
    """
    store = _store(ctx)
    found = _asked(lambda: store.search(namespace, query=query, filter=filter, limit=limit))
    if not found:
        return "nothing stored matches"
    shown = _parted(found, part, ctx.result_tokens)
    return ToolResult(shown, trust=min(item.trust for item in found))


@tool(effect="memory")
def store_delete(ctx: ToolContext, namespace: str, key: str) -> str:
    """Remove what is stored under a key.

    Args:
        namespace: Where, such as users/sam.
        key: Its name there.
    """
    store = _store(ctx)
    if not _asked(lambda: store.delete(namespace, key)):
        raise ToolFailed(f"nothing is stored under {key} in {namespace}")
    return f"{key} is deleted"


@tool(effect="none")
def store_list(ctx: ToolContext, namespace: str = "", depth: int | None = None) -> str:
    """List the namespaces that something is stored in, with how many objects each holds.

    Args:
        namespace: Only those that begin so; * is any one name: users/*/settings.
        depth: Cut them to so many names.
    """
    store = _store(ctx)
    found = _asked(lambda: store.namespaces(namespace, depth=depth))
    if not found:
        return "nothing is stored there"
    return "\n".join(f"{each.path} ({each.items})" for each in found)


def _store(ctx: ToolContext) -> ItemStore:
    assert ctx.store is not None
    return ctx.store


def _asked(ask: Callable[[], T]) -> T:
    """What is wrong with the arguments, as the model reads it."""
    try:
        return ask()
    except UserError as error:
        raise BadArguments(
            f"{error.message}; {error.hint}" if error.hint else error.message
        ) from None


def _parted(items: Sequence[Item], part: int, budget: int) -> str:
    """One part, never without an item; one that is too long for it is shortened."""
    count = TokenCounter().count
    parts: list[list[str]] = [[]]
    used = 0
    for item in items:
        value = json.dumps(item.value, ensure_ascii=False)
        line = shorten(f"{item.namespace} {item.key}: {value}", budget, count)
        cost = count(line)
        if parts[-1] and used + cost > budget:
            parts.append([])
            used = 0
        parts[-1].append(line)
        used += cost
    if not 1 <= part <= len(parts):
        raise BadArguments(f"there is no part {part}; this search has {len(parts)}")
    head = f"{len(items)} found"
    if len(parts) > 1:
        head += f", part {part} of {len(parts)}"
    return "\n".join((head, *parts[part - 1]))
