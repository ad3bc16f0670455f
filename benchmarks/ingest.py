"""Ingest: a conversation lived through by an agent of the product, and searched as it searches.

Turns are appended by the queue manager under a clock that shows when they were said, pages leave
the window as they do in use, and the write-back thread carries everything to LanceDB. A prepared
home is kept under a cache folder, named by all that it depends on, so that the next run only
searches. Vectors are kept apart from homes, by text: another index does not embed anew.
"""

import hashlib
import json
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from corpus import Conversation
from machine import ROOT

from pagemind.runtime.agent import Agent
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.definition import AgentDefinition, parse_definition
from pagemind.runtime.message import TRUST, Message, Origin, Provenance, Text
from pagemind.runtime.model import Embedder, Model
from pagemind.runtime.models.embedders import make_embedder
from pagemind.runtime.parts import ALL, Parts
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import SearchFilters, SearchResult
from pagemind.runtime.settings import (
    CONVERSATION_PAUSE_SECONDS,
    STATE_SCHEMA,
    TEXT_RECIPE,
    TIER_SCHEMA,
)
from pagemind.runtime.testing import ScriptedModel

AGENT = "bench"
DRAIN_SECONDS = 3600.0
ASKED_AFTER = timedelta(hours=1)  # the last turn
# What decides which rows a conversation becomes: with other code a kept home is another one.
_MAKERS = ("recipe.py", "schema.py", "store.py", "write_back.py")


class KeptVectors:
    """An embedder that remembers across processes: vectors by text, in one file."""

    def __init__(self, inner: Embedder, folder: Path | None) -> None:
        self._inner = inner
        self.identity = inner.identity
        name = hashlib.sha256(json.dumps(inner.identity.as_json(), sort_keys=True).encode())
        self._path = folder / f"vectors-{name.hexdigest()[:12]}.npz" if folder else None
        self._known: dict[str, list[float]] = {}
        self._new = 0
        if self._path is not None and self._path.exists():
            import numpy as np

            with np.load(self._path) as kept:
                self._known = dict(zip(kept["keys"].tolist(), kept["values"].tolist(), strict=True))

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        keys = [hashlib.sha256(text.encode("utf-8")).hexdigest()[:32] for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True)}
        missing = {key: text for key, text in missing.items() if key not in self._known}
        if missing:
            made = self._inner.embed(list(missing.values()))
            self._known.update(zip(missing, made, strict=True))
            self._new += len(missing)
        return [self._known[key] for key in keys]

    def save(self) -> None:
        """Keep what was made since the last time."""
        if self._path is None or not self._new:
            return
        import numpy as np

        unfinished = self._path.with_suffix(".unfinished.npz")
        values = np.array(list(self._known.values()), dtype=np.float32)
        np.savez(unfinished, keys=np.array(list(self._known)), values=values)
        unfinished.replace(self._path)
        self._new = 0

    def close(self) -> None:
        self.save()
        self._inner.close()


@dataclass
class Lived:
    """An agent that lived through a conversation. `seqs` has each turn's seq, `turns` the way
    back."""

    runtime: Runtime
    agent: Agent
    clock: FrozenClock
    seqs: dict[str, int]
    last: datetime  # when the last turn was said

    @property
    def turns(self) -> dict[int, str]:
        return {seq: turn for turn, seq in self.seqs.items()}

    def ask(
        self, query: str, limit: int, as_of: datetime | None = None, **more: Any
    ) -> SearchResult:
        """The product's search at a time: what was said after it is not there yet."""
        at = as_of or self.last + ASKED_AFTER
        self.clock.advance(seconds=(at - self.clock.now()).total_seconds())
        filters = SearchFilters(end=at) if at <= self.last else SearchFilters()
        return self.agent.engine.search("recall", query, filters, limit, **more)

    @contextmanager
    def copied(self, model: Model, embedder: Embedder | None) -> Iterator["Lived"]:
        """The agent as it is now, in a home of its own: what it does there leaves no trace here."""
        with tempfile.TemporaryDirectory(prefix="pagemind-bench-") as folder:
            home = Path(folder) / "home"
            shutil.copytree(self.runtime.home.path, home)
            clock = FrozenClock(self.clock.now() + ASKED_AFTER)  # its ids are those of its time
            with Runtime(home, clock=clock, embedder=embedder, background=False) as runtime:
                agent = runtime.agent(AGENT, model=model, create=False)
                yield Lived(runtime, agent, clock, self.seqs, self.last)


def open_embedder(name: str, cache: Path | None) -> KeptVectors | None:
    """The embedder of a name (`none` is None), with the vectors that the cache has."""
    inner = make_embedder(name)
    return KeptVectors(inner, cache) if inner is not None else None


@contextmanager
def lived(
    conversation: Conversation,
    embedding: str,
    embedder: KeptVectors | None,
    cache: Path | None,
    *,
    model: Model | str | None = None,
    parts: Parts = ALL,
    **more: Any,
) -> Iterator[Lived]:
    """An agent that lived through the conversation: from the cache if it is there.

    With a `model`, which answers afterwards, the window is flushed as it fills, and the model
    writes the summaries. `parts` and `more`, further keys of the definition, need no cache.
    """
    assert cache is None or not (more or model)
    with tempfile.TemporaryDirectory(prefix="pagemind-bench-") as folder:
        home = Path(folder) / "home"
        if cache is not None:
            name = re.sub(r"[^\w-]", "_", conversation.id)
            home = cache / f"{name}-{_key(conversation, embedding)}"
        marker = home / "lived.json"
        if not marker.exists():
            shutil.rmtree(home, ignore_errors=True)  # a run that was stopped
            _live(home, conversation, embedding, embedder, model, parts, more)
        seqs = json.loads(marker.read_text(encoding="utf-8"))
        last = max(turn.at for turn in conversation.turns)
        clock = FrozenClock(last + ASKED_AFTER)
        opened = Runtime(home, clock=clock, embedder=embedder, background=False, parts=parts)
        with opened as runtime:
            agent = runtime.agent(AGENT, model=model or _model(), create=False)
            yield Lived(runtime, agent, clock, seqs, last)


def _live(
    home: Path,
    conversation: Conversation,
    embedding: str,
    embedder: KeptVectors | None,
    model: Model | str | None,
    parts: Parts,
    more: Mapping[str, Any],
) -> None:
    """Let an agent live through the conversation, to the last vector."""
    first = conversation.turns[0].at
    clock = FrozenClock(first)
    seqs: dict[str, int] = {}
    with Runtime(home, clock=clock, embedder=embedder, background=False, parts=parts) as runtime:
        agent = runtime.agent(AGENT, _definition(embedding, more), model=model or _model())
        queue, session = agent.queue_manager, conversation.turns[0].session
        # One transaction: a commit for each turn is what durability costs, and not measured here.
        # Nothing leaves the window before it ends.
        with nullcontext() if model else agent.state.database.transaction():
            for turn in conversation.turns:
                passed = (turn.at - clock.now()).total_seconds()
                clock.advance(seconds=passed)
                if turn.session != session and passed < CONVERSATION_PAUSE_SECONDS:
                    agent.new_conversation()
                session = turn.session
                origin: Origin = "model" if turn.role == "assistant" else "user"
                stored = queue.append(
                    Message(
                        "assistant" if turn.role == "assistant" else "user",
                        (Text(turn.text),),
                        speaker=turn.speaker,
                        said_at=turn.at,
                        provenance=Provenance(origin, "", TRUST[origin]),
                    )
                )
                seqs[turn.id] = stored.seq
                if model:
                    queue.settle()
        queue.make_room()
        assert runtime.drain(agent, DRAIN_SECONDS), "the write-back did not end"
        if embedder is not None:
            _wait_for_vectors(runtime)
    if embedder is not None:
        embedder.save()
    (home / "lived.json").write_text(json.dumps(seqs), encoding="utf-8")


def _wait_for_vectors(runtime: Runtime) -> None:
    """A backlog is written first and embedded afterwards, by the same thread."""
    until = time.monotonic() + DRAIN_SECONDS
    with runtime.reader(AGENT) as reader:
        while missing := reader.store.count_missing("recall"):
            if time.monotonic() > until:
                raise RuntimeError(f"{missing:,} rows have no vector: the embedder failed")
            time.sleep(0.2)


def _definition(embedding: str, more: Mapping[str, Any]) -> AgentDefinition:
    written = {
        "name": AGENT, "embedding": embedding, "timezone": "UTC", "context_window": 8192, **more
    }  # fmt: skip
    return parse_definition(json.dumps(written), "benchmark")  # JSON is YAML


def _model() -> ScriptedModel:
    """Nobody is asked anything: summaries are made without a model, as for embedded ones."""
    return ScriptedModel((), name="local/none")


def _key(conversation: Conversation, embedding: str) -> str:
    found = hashlib.sha256(
        f"{conversation.digest} {embedding} {STATE_SCHEMA} {TIER_SCHEMA} {TEXT_RECIPE}".encode()
    )
    for name in _MAKERS:
        found.update((ROOT / "runtime" / "tiers" / name).read_bytes())
    return found.hexdigest()[:12]
