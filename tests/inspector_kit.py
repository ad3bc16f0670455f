"""What tests of the inspector's page share: an agent with something of everything, its page."""

import base64
import gzip
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kernel_kit import runtime_at, sentence, small

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.inspector.page import write_page
from pagemind.runtime.reader import AgentReader
from pagemind.runtime.testing import ScriptedModel, call

# What would run, or close the data's element, if it ever became markup.
NASTY = (
    "</script><script>window.hacked = 1</script><!-- <img src=x onerror='window.hacked = 2'>"
    " &lt;b&gt; ]]> \u2028\u2029 \ufeff -->"
)
_PIECE = re.compile(r'<script type="text/plain" data-table="(\w+)" data-rows="(\d+)">([^<]*)<')


def lively(home: Path, turns: int = 40) -> None:
    """An agent "ada" that was told nasty things, edits its memory, stores and looks up."""
    script: list[Any] = []
    for number in range(turns):
        if number % 5 == 1:
            script.append(call("core_append", block="human", content=f"{number} <i>nasty</i>"))
        if number % 7 == 2:
            script.append(call("archival_insert", content=f"Berth {number}. {NASTY}"))
        script.append(f"Reply {number} about item K{number:04d}.")
    with runtime_at(home) as runtime:
        clock = runtime.clock
        assert isinstance(clock, FrozenClock)
        model = ScriptedModel(script, after="I see.", count=lambda text: len(text) // 4 + 1)
        agent = runtime.agent("ada", definition=small(limit=2000), model=model)
        for number in range(turns):
            agent.send(f"{sentence(number)} {NASTY if number % 4 == 0 else ''}", speaker="Sam")
            clock.advance(minutes=7)
        agent.queue_manager.pinning.pin("m2")  # the first reply


@contextmanager
def reading(home: Path) -> Iterator[AgentReader]:
    with runtime_at(home) as runtime, runtime.reader("ada") as reader:
        yield reader


def page_of(home: Path) -> str:
    """The page of the agent "ada", whole."""
    written: list[str] = []
    with reading(home) as reader:
        write_page(written.append, reader)
    return "".join(written)


def embedded(page: str) -> dict[str, list[Any]]:
    """Every table in a page, unpacked as its script does."""
    tables: dict[str, list[Any]] = {}
    for table, rows, packed in _PIECE.findall(page):
        piece = json.loads(gzip.decompress(base64.b64decode(packed)))
        assert len(piece) == int(rows)
        tables.setdefault(table, []).extend(piece)
    return tables
