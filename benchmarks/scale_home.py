"""The homes that scale.py searches: agents with so many messages, as a long life would leave them.

Journal and tables are the product's own, written in large batches: a turn for each of a million
messages would take a day and measure the journal, which turn_overhead.py does. What is written
here is what write-back writes, with vectors that are given; its upkeep is the product's.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scale_data import Corpus, CorpusEmbedder, Question

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.state.state import State
from pagemind.runtime.tiers.store import TierStore

DEFINITION = parse_definition("name: bench\nembedding: none\ncontext_window: 8192\n")
LARGE = "large"


def prepare(home: Path, corpus: Corpus, names: list[str]) -> dict[str, Any]:
    """Agents with all rows of the corpus each; what that took."""
    took = {"rows": corpus.rows * len(names), "journal": 0.0, "put": 0.0, "upkeep": 0.0}
    with Runtime(home, background=False) as runtime:
        for name in names:
            registered = runtime.create(name, DEFINITION)
            state = State(runtime.home.folder(registered.id), runtime.clock)
            try:
                state.database.take()
                _fill(state, corpus, took)
            finally:
                state.close()
    return {name: round(value, 2) for name, value in took.items()}


def _fill(state: State, corpus: Corpus, took: dict[str, Any]) -> None:
    store = TierStore(state.tiers, corpus.identity)
    for messages, rows in corpus.blocks():
        with _cpu(took, "journal"), state.database.transaction():
            for message in messages:
                state.journal.append(message, tokens=len(message.text) // 4)
            state.outbox.clear()
        with _cpu(took, "put"):
            store.put("recall", rows)
    with state.database.transaction():  # all of it has left the window
        state.history.begin_epoch(
            "start",
            system="",
            tools="",
            blocks={},
            summary=None,
            table="",
            pins=(),
            queue_start=corpus.rows + 1,
            held=None,
        )
    with _cpu(took, "upkeep"):
        while store.maintain():
            pass
    with _cpu(took, "upkeep"):
        store.compact()  # what the next pauses would do: old versions go
    store.close()


@contextmanager
def opened(home: Path, corpus: Corpus, questions: list[Question]) -> Iterator[Runtime]:
    """The runtime of a home, with the corpus's embedder."""
    with Runtime(home, embedder=CorpusEmbedder(corpus, questions)) as runtime:
        yield runtime


@contextmanager
def _cpu(took: dict[str, Any], what: str) -> Iterator[None]:
    began = time.process_time()
    yield
    took[what] += time.process_time() - began
