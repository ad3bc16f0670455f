"""What tests of exported agents share: an agent with something of everything, the tables of two
agents side by side, and .pmz files with something changed in them."""

import hashlib
import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kernel_kit import sentence, small

from pagemind.runtime.agent import Agent
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.invariants import check_state, check_tiers
from pagemind.runtime.portable.tables import EXPORTED, META_LEFT_OUT
from pagemind.runtime.reader import AgentReader
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.testing import ScriptedModel, call
from pagemind.runtime.tiers.store import TIERS

TOOLS = (
    "core_append",
    "recall_search",
    "archival_insert",
    "archival_edit",
    "archival_delete",
    "page_in",
)


def definition(more: str = "") -> AgentDefinition:
    return small(2048, *TOOLS, more=more)


def replies(turns: int) -> list[Any]:
    """What a model says that uses every function."""
    found: list[Any] = []
    for at in range(turns):
        if at % 4 == 0:
            said = f"The {at}th crate holds {at * 7} lamps."
            found.append(call("archival_insert", content=said, tags=["crates", f"n{at}"]))
        if at % 9 == 3:
            found.append(call("core_append", block="human", content=f"Likes the number {at}."))
        if at == 10:
            found.append(call("archival_edit", id="a1", content="The first crate is empty now."))
        if at == 12:
            found.append(call("archival_delete", id="a2"))
        if at == 14:
            found.append(call("recall_search", query="lamps"))
        if at == 16:
            found.append(call("page_in", target="p1"))
        found.append(sentence(at))
    return found


def lived(runtime: Runtime, name: str = "ada", turns: int = 20) -> Agent:
    """An agent that has talked, paged out, noted, corrected, pinned, searched and observed."""
    model = ScriptedModel(replies(turns), after="Well.")
    agent = runtime.agent(name, definition=definition(), model=model)
    agent.send("Call me Sam.")
    for at in range(1, turns):
        agent.send(f"Question {at}: {sentence(500 + at)}", speaker="sam" if at % 3 else "kim")
    agent.observe("The harbour light went out. 灯台 🌊", source="sensor")
    agent.pin("m1")
    runtime.drain(agent)
    return agent


def tables(reader: AgentReader) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, but for what is one home's own."""
    database = reader.state.database
    there = {row[0] for row in database.rows("SELECT name FROM sqlite_master WHERE type='table'")}
    found = {}
    for name in sorted(there - {"audit", "outbox", "sqlite_sequence"}):
        rows = [tuple(row) for row in database.rows(f"SELECT * FROM {name}")]
        if name == "meta":
            rows = [row for row in rows if row[0] not in META_LEFT_OUT - {"definition"}]
        found[name] = sorted(rows, key=repr)
    assert set(found) - {"meta"} <= set(EXPORTED)
    return found


def same(runtime: Runtime, one: str, other: str) -> None:
    """Two agents are equal: tables, next request, numbers to come, search, invariants."""
    for name in (one, other):  # scores count what the newest index knows
        with runtime.writer(name) as writer:
            writer.store.compact()
    with runtime.reader(one) as a, runtime.reader(other) as b:
        left, right = tables(a), tables(b)
        for name in left:
            assert left[name] == right[name], name
        assert a.request() == b.request()
        assert a.window() == b.window()
        for name in ("messages", "passages"):
            sql = f"SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = '{name}'"
            assert a.state.database.number(sql) == b.state.database.number(sql)
        for tier in TIERS:
            for query in ("lamps", "K0003", "harbour light", "crate"):
                assert found(a, tier, query) == found(b, tier, query), (tier, query)
        sound(b)


def found(reader: AgentReader, tier: Any, query: str) -> list[tuple[str, float]]:
    hits = reader.search.search(tier, query, SearchFilters(), 10).hits
    return [(hit.id, round(hit.score, 4)) for hit in hits]


def sound(reader: AgentReader) -> None:
    """Nothing is wrong with its state and its tiers."""
    wrong = [each for each in check_state(reader.state) if each.status == "wrong"]
    assert not wrong, wrong
    wrong = [e for e in check_tiers(reader.state, reader.store) if e.status == "wrong"]
    assert not wrong, wrong


def members(path: Path) -> dict[str, bytes]:
    """What stands in a file, by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def manifest(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(members(path)["manifest.json"])
    return found


def write(path: Path, entries: Sequence[tuple[str, bytes]], **zipped: Any) -> Path:
    """A zip with these members."""
    with zipfile.ZipFile(path, "w", **zipped) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return path


def altered(
    path: Path,
    change: Callable[[dict[str, bytes], dict[str, Any]], None],
    *,
    honest: bool = True,
) -> Path:
    """A copy in which something was changed; `honest`: the manifest says the new sums."""
    there = members(path)
    told = json.loads(there.pop("manifest.json"))
    change(there, told)
    if honest:
        told["members"] = {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in there.items()
        }
    return write(
        path.with_name("altered.pmz"),
        [*there.items(), ("manifest.json", json.dumps(told).encode())],
    )


def with_rows(
    path: Path, table: str, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
) -> Path:
    """A copy in which the rows of a table are others, and everything said of them is true."""
    import io

    import pyarrow as pa
    from pyarrow import parquet

    from pagemind.runtime.portable.tables import Column, RowsDigest, Table

    def rewrite(there: dict[str, bytes], told: dict[str, Any]) -> None:
        member = f"tables/{table}.parquet"
        old = parquet.read_table(io.BytesIO(there[member]))
        rows = change(old.to_pylist())
        new = pa.Table.from_pylist(rows, schema=old.schema)
        buffer = io.BytesIO()
        parquet.write_table(new, buffer)
        there[member] = buffer.getvalue()
        columns = tuple(Column(name, "text", False) for name in old.schema.names)
        digest = RowsDigest(Table(table, columns, (0,)))
        for row in rows:
            digest.add(tuple(row.values()))
        told["tables"][table] |= {
            "rows": len(rows),
            "carried": len(rows),
            "sha256": digest.sha256,
        }

    return altered(path, rewrite)
