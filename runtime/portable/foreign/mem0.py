"""mem0's memories: what get_all() answers (a list, or `results`), or an export with `memories`.

A memory has `memory` (its text), `id`, `created_at`, `categories`, `metadata` and whose it is:
`user_id`, `agent_id`, `run_id`, `app_id`. Each becomes a passage.
"""

from collections.abc import Iterator
from typing import Any

from pagemind.runtime.portable.foreign.items import Item, Kept, Left
from pagemind.runtime.portable.foreign.source import Source
from pagemind.runtime.portable.foreign.times import Times

_LISTS = ("results", "memories", "data", "items")
_WHOSE = ("user_id", "agent_id", "run_id", "app_id", "actor_id")


def read(source: Source, times: Times) -> Iterator[Item]:
    """Every memory, in the order of the file."""
    inside = "" if source.starts() == "[" else f"{source.first_key(_LISTS) or _LISTS[0]}."
    prefix = f"{inside}item"
    for value in source.items(prefix):
        if not isinstance(value, dict):
            yield Left("memory", "it is no JSON object")
            continue
        text = next((value[k] for k in ("memory", "text", "data") if value.get(k)), None)
        if not isinstance(text, str) or not text.strip():
            yield Left("memory", "it has no text")
            continue
        yield Kept(text, str(value.get("id") or text), times.of(value), _tags(value), _more(value))


def _tags(memory: dict[str, Any]) -> tuple[str, ...]:
    named = memory.get("categories")
    return tuple(str(each)[:100] for each in named if each) if isinstance(named, list) else ()


def _more(memory: dict[str, Any]) -> dict[str, Any]:
    own = memory.get("metadata")
    more = dict(own) if isinstance(own, dict) else {}
    more |= {key: memory[key] for key in _WHOSE if memory.get(key)}
    return more
