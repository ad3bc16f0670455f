"""The JSON contracts as REST, what only reads: each answers what its command prints with --json
(docs/json.md), also beside a turn that runs.

A query parameter that is not known is a 400 with the nearest: nothing is asked for in vain.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from starlette.requests import Request
from starlette.responses import Response

from pagemind.runtime.approvals import pending_in
from pagemind.runtime.filters import filters_of
from pagemind.runtime.http.bodies import check_keys
from pagemind.runtime.http.faults import HttpFault, json_response
from pagemind.runtime.http.running import Service
from pagemind.runtime.memory_answers import (
    blocks_json,
    one_page_json,
    pages_json,
    passage_json,
    version_json,
    versions_of,
)
from pagemind.runtime.past import Past
from pagemind.runtime.reader import AgentReader
from pagemind.runtime.request_json import request_json
from pagemind.runtime.search_answer import Where, part_of, search
from pagemind.runtime.settings import CLI_PART_TOKENS, JSON_SCHEMA
from pagemind.runtime.tiers.composite import ranking_of

_SEARCH = (
    *("query", "tier", "role", "speaker", "start", "end", "tag", "any_tag"),
    *("importance", "origin", "id", "ranking", "max_tokens", "part"),
    *("scope", "viewer", "standing", "kind", "as_of"),
)
Body = dict[str, Any]


async def health(service: Service, request: Request) -> Response:
    """GET /health: whether it serves. It tells nothing of whom."""
    return json_response({"ok": True})


async def agents(service: Service, request: Request) -> Response:
    """GET /agents: as `agents list`"""
    _query(request)
    found = await service.read(service.runtime.agents)
    return listing([each.as_json() for each in found if service.serves(each.id)])


async def agent(service: Service, request: Request) -> Response:
    """GET /agents/{agent}: as `agents show`"""
    return await _read(service, request, (), lambda reader, query: reader.info().as_json())


async def inspect(service: Service, request: Request) -> Response:
    """GET /agents/{agent}/inspect?request: as `inspect`"""

    def answer(reader: AgentReader, query: "Query") -> Body:
        body = reader.inspect().as_json()
        if query.flag("request"):
            body["request"] = request_json(reader.request())
        return body

    return await _read(service, request, ("request",), answer)


async def history(service: Service, request: Request) -> Response:
    """GET /agents/{agent}/history?last&before&all: as `agents history`"""

    def answer(reader: AgentReader, query: "Query") -> Body:
        found = Past(reader, service.runtime.counter).turns(
            last=query.number("last"), before=query.one("before"), every_line=query.flag("all")
        )
        turns = [turn.as_json() for turn in found.turns]
        events = [event.as_json() for event in found.events]
        return {"items": turns, "total": found.total, "events": events}

    return await _read(service, request, ("last", "before", "all"), answer)


async def blocks(service: Service, request: Request) -> Response:
    """GET /agents/{agent}/blocks: as `memory blocks`"""
    count = service.runtime.counter.count
    return await _read(service, request, (), lambda reader, _: _items(blocks_json(reader, count)))


async def versions(service: Service, request: Request) -> Response:
    """GET /agents/{agent}/blocks/{target}/history, or …/passages/…: as `memory history`"""
    target = request.path_params["target"]

    def answer(reader: AgentReader, _: "Query") -> Body:
        return _items([version_json(each) for each in versions_of(reader, target)])

    return await _read(service, request, (), answer)


async def passages(service: Service, request: Request) -> Response:
    """GET /agents/{agent}/passages?last: as `memory passages`"""

    def answer(reader: AgentReader, query: "Query") -> Body:
        stored = reader.state.passages
        total = stored.count()
        found = stored.newest(query.number("last") or max(1, total))
        return {"items": [passage_json(each) for each in found], "total": total}

    return await _read(service, request, ("last",), answer)


async def find(service: Service, request: Request) -> Response:
    """GET /agents/{agent}/search?query&tier&…: as `memory search`"""

    def answer(reader: AgentReader, query: "Query") -> Body:
        role, speaker = query.one("role"), query.one("speaker")
        tier = query.choice("tier", get_args(Where), "both")
        if role is not None or speaker is not None:  # these are of messages alone
            if tier not in ("both", "recall"):
                raise HttpFault(400, f"{tier} have no role and no speaker", param="tier")
            tier = "recall"
        given = {
            "role": role,
            "speaker": speaker,
            "start": query.one("start"),
            "end": query.one("end"),
            "tags": query.all("tag"),
            "any_tags": query.all("any_tag"),
            "importance": query.one("importance"),
            "origins": query.all("origin"),
            "ids": query.all("id"),
            "scopes": query.all("scope"),
            "viewer": query.one("viewer"),
            "standings": query.all("standing"),
            "kinds": query.all("kind"),
            "as_of": query.one("as_of"),
        }
        filters = filters_of(given, service.runtime.clock.now().astimezone(reader.zone))
        ranking = query.one("ranking")
        ranking_of(ranking)
        found = search(reader, tier, query.one("query") or "", filters, ranking)
        size = query.number("max_tokens") or CLI_PART_TOKENS
        part = part_of(found, query.number("part") or 1, size, service.runtime.counter.count)
        return part.as_json()

    return await _read(service, request, _SEARCH, answer)


async def pages(service: Service, request: Request) -> Response:
    """GET /agents/{agent}/pages: as `memory pages`"""
    return await _read(service, request, (), lambda reader, _: _items(pages_json(reader.state)))


async def page(service: Service, request: Request) -> Response:
    """GET /agents/{agent}/pages/{page}: as `memory pages AGENT PAGE`; d0 lists the tops"""
    written = request.path_params["page"]

    def answer(reader: AgentReader, _: "Query") -> Body:
        if written.lower() == "d0":
            return _items(pages_json(reader.state, tops=True))
        return one_page_json(reader, written)

    return await _read(service, request, (), answer)


async def pending(service: Service, request: Request) -> Response:
    """GET /agents/{agent}/pending: the call that waits for consent, as `pending` of `send`"""

    def answer(reader: AgentReader, _: "Query") -> Body:
        waiting = pending_in(reader.state)
        return _items([waiting.as_json()] if waiting else [])

    return await _read(service, request, (), answer)


async def schedules(service: Service, request: Request) -> Response:
    """GET /agents/{agent}/schedules: as `schedules list`"""

    def answer(reader: AgentReader, _: "Query") -> Body:
        timers = service.runtime.timers(reader.name).all()
        return _items([each.as_json(reader.name) for each in timers])

    return await _read(service, request, (), answer)


async def queue(service: Service, request: Request) -> Response:
    """GET /agents/{agent}/queue: as `queue list`"""

    def answer(reader: AgentReader, _: "Query") -> Body:
        waiting = service.keeper.mailbox.all(reader.registered.id)
        return _items([each.as_json(reader.name) for each in waiting])

    return await _read(service, request, (), answer)


# --- what they have in common ---------------------------------------------------------------------


class Query:
    """The parameters behind the `?`."""

    def __init__(self, request: Request, known: Sequence[str]) -> None:
        self._given = request.query_params
        check_keys(list(self._given), known or ("",), "the query")

    def one(self, key: str) -> str | None:
        """The last of that name; None where it is not there or empty."""
        return self._given.get(key) or None

    def all(self, key: str) -> list[str]:
        return [each for each in self._given.getlist(key) if each]

    def flag(self, key: str) -> bool:
        """Named at all, but for `0` and `false`."""
        return key in self._given and self._given[key].lower() not in ("0", "false")

    def number(self, key: str) -> int | None:
        value = self.one(key)
        if value is None:
            return None
        if not (value.isascii() and value.isdigit() and int(value[:18]) > 0):
            raise HttpFault(400, f"{key!r} must be a number from 1 on", param=key)
        return int(value[:18])

    def choice(self, key: str, known: Sequence[Any], default: Any) -> Any:
        value = self.one(key) or default
        if value not in known:
            raise HttpFault(400, f"{key!r} is one of {', '.join(known)}", param=key)
        return value


def _query(request: Request) -> Query:
    return Query(request, ())


async def _read(
    service: Service,
    request: Request,
    known: Sequence[str],
    answer: Callable[[AgentReader, Query], Body],
) -> Response:
    query = Query(request, known)
    name = (await service.find(request.path_params["agent"])).name

    def read() -> Body:
        with service.runtime.reader(name) as reader:
            return answer(reader, query)

    return json_response(with_schema(await service.read(read)))


def with_schema(body: Mapping[str, Any]) -> Body:
    return {"schema": JSON_SCHEMA, **body}


def listing(items: Sequence[Mapping[str, Any]]) -> Response:
    return json_response(with_schema(_items(items)))


def _items(items: Sequence[Mapping[str, Any]]) -> Body:
    return {"items": list(items), "total": len(items)}
