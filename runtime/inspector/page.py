"""Writes the inspector's page: one HTML file that needs nothing else and asks no network.

Everything from the agent is JSON, compressed and in base64: no text of a message can end an
element or become one. The page's policy allows its own style and script by their hashes, and
nothing else. Rows are read, packed and written piece by piece, so that memory stays flat.
"""

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Callable, Iterable, Iterator
from importlib import resources
from typing import Any

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.inspector.tables import TABLES, Tables, Values
from pagemind.runtime.reader import AgentReader
from pagemind.runtime.settings import INSPECTOR_PIECE_CHARS, INSPECTOR_ROWS

# Joined in this order to the page's one script: each uses what stands before it.
SCRIPTS = (
    "elements.js",
    "data.js",
    "list.js",
    "diff.js",
    "window.js",
    "chart.js",
    "timeline.js",
    "pages.js",
    "memory.js",
    "messages.js",
    "start.js",
)


def write_page(write: Callable[[str], object], reader: AgentReader) -> dict[str, int]:
    """Write the page of an agent through `write`, as it was at one instant; how many rows of each
    table stand in it."""
    style, script = asset("page.css"), "\n".join(asset(part) for part in SCRIPTS)
    head, foot = asset("page.html").split("<!-- data -->")
    for mark, value in {
        "<!-- policy -->": _policy(style, script),
        "<!-- title -->": html.escape(f"{reader.name} · pagemind"),
        "/* style */": style,
    }.items():
        head = head.replace(mark, value, 1)
    write(head)
    with reader.state.database.reading():
        write(_element("about", [_about(reader)]))
        counts = dict.fromkeys(TABLES, 0)
        tables = Tables(reader.state)
        for table in TABLES:
            for piece in _pieces(tables.rows(table)):
                counts[table] += len(piece)
                write(_element(table, piece))
    write(foot.replace("/* script */", script, 1))
    return counts


def _about(reader: AgentReader) -> dict[str, Any]:
    """What is no table: whose page it is, and the window as it is now."""
    found = reader.inspect()
    return {
        "name": reader.name,
        "made_at": rfc3339(reader.state.clock.now()),
        "zone": reader.definition.timezone or "",
        "tables": TABLES,
        "window": found.as_json(),
        "reserve": found.window.scaled(found.calibration.factor).reserve,
    }


def asset(name: str) -> str:
    """One of the page's files, as it ships with the package."""
    return resources.files("pagemind.runtime.inspector").joinpath(name).read_text("utf-8")


def _pieces(rows: Iterable[Values]) -> Iterator[list[Values]]:
    """Rows in pieces that a browser unpacks without a pause."""
    piece: list[Values] = []
    size = 0
    for row in rows:
        piece.append(row)
        size += sum(len(value) for value in row if isinstance(value, str))
        if len(piece) >= INSPECTOR_ROWS or size >= INSPECTOR_PIECE_CHARS:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _element(table: str, rows: list[Any]) -> str:
    packed = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    text = base64.b64encode(gzip.compress(packed, 6, mtime=0)).decode("ascii")
    marks = f'type="text/plain" data-table="{table}" data-rows="{len(rows)}"'
    return f"<script {marks}>{text}</script>\n"


def _policy(style: str, script: str) -> str:
    """A content security policy: nothing may be loaded, and only these two texts count."""
    return (
        f"default-src 'none'; style-src {_hashed(style)}; script-src {_hashed(script)};"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hashed(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
