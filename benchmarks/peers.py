"""The same lines and questions through pagemind, mem0 and CrewAI memory: recall, CPU and bytes.

    python benchmarks/peers.py --make work.json
    python benchmarks/peers.py --system pagemind --workload work.json
    PEERS/bin/python benchmarks/peers.py --system mem0 --workload work.json

Each peer runs on its own interpreter (peers.md says how to make one) and is imported nowhere else.
No model is asked: what would ask one raises. All get the same vectors, and the time of making them
is counted for none.
"""

import base64
import importlib.metadata
import json
import os
import tempfile
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from machine import header, parser, table, write

K = 10
SEED = 1
FEWEST = 1000  # turns in which the set has room for its facts
NAMES = {"pagemind": "pagemind", "mem0": "mem0ai", "crewai": "crewai"}


@dataclass(frozen=True, slots=True)
class Line:
    """One thing said."""

    id: str
    role: str
    speaker: str
    text: str
    at: str

    @property
    def spoken(self) -> str:
        """As the peers get it: they know no speakers, and lines without them say less."""
        return f"{self.speaker}: {self.text}"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the lines that answer it."""

    text: str
    evidence: tuple[str, ...]
    one_is_enough: bool


class Vectors:
    """Vectors by text. `seconds` is the CPU that making them took; what is not known is made by
    `maker`, if there is one."""

    def __init__(
        self,
        known: dict[str, list[float]],
        maker: Callable[[list[str]], list[list[float]]] | None = None,
    ) -> None:
        self.known = known
        self.seconds = 0.0
        self._maker = maker

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        started = time.thread_time()
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            if self._maker is None:
                raise LookupError(f"no vector for {new[0][:60]!r}")
            self.known.update(zip(new, self._maker(new), strict=True))
        self.seconds += time.thread_time() - started
        return [self.known[text] for text in texts]


@dataclass(frozen=True, slots=True)
class Workload:
    """What every system is given."""

    lines: tuple[Line, ...]
    questions: tuple[Asked, ...]
    vectors: dict[str, list[float]]

    @property
    def data(self) -> list[str]:
        return [json.dumps(asdict(each)) for each in (*self.lines, *self.questions)]


class System(Protocol):
    """A memory. Closed by the context manager that made it."""

    def insert(self, line: Line) -> None: ...

    def settle(self) -> None:
        """Wait until everything is where it will be."""

    def search(self, question: str) -> list[str]:
        """Ids of the best K lines."""


# --- the workload ---------------------------------------------------------------------------------


def make(lines: int, questions: int) -> Workload:
    """The beginning of the synthetic chat; runs where pagemind is installed."""
    from synth_build import UNSCORED
    from synthetic import synthetic

    chat = synthetic(SEED, max(lines, FEWEST)).conversations[0]
    told = {turn.id for turn in chat.turns[:lines]}
    asked = [
        Asked(q.text, q.evidence, q.one_is_enough)
        for q in chat.questions
        if q.evidence and q.kind not in UNSCORED and q.as_of is None and told.issuperset(q.evidence)
    ]
    step = max(1.0, len(asked) / questions)  # of every kind: they stand together
    chosen = [asked[int(n * step)] for n in range(min(questions, len(asked)))]
    said = [
        Line(t.id, t.role, t.speaker, t.text, t.at.isoformat()) for t in chat.turns if t.id in told
    ]
    texts = [*(line.spoken for line in said), *(q.text for q in chosen)]
    return Workload(tuple(said), tuple(chosen), dict(zip(texts, _maker()(texts), strict=True)))


def _maker() -> Callable[[list[str]], list[list[float]]]:
    from pagemind.runtime.models.minilm_embedder import MiniLmEmbedder

    return MiniLmEmbedder().embed


def save(workload: Workload, path: Path) -> None:
    packed = {
        text: base64.b64encode(array("f", vector).tobytes()).decode()
        for text, vector in workload.vectors.items()
    }
    body = {
        "lines": [asdict(line) for line in workload.lines],
        "questions": [asdict(question) for question in workload.questions],
        "vectors": packed,
    }
    path.write_text(json.dumps(body), encoding="utf-8")


def load(path: Path) -> Workload:
    body = json.loads(path.read_text(encoding="utf-8"))
    questions = [Asked(**{**q, "evidence": tuple(q["evidence"])}) for q in body["questions"]]
    vectors = {t: list(array("f", base64.b64decode(v))) for t, v in body["vectors"].items()}
    return Workload(tuple(Line(**line) for line in body["lines"]), tuple(questions), vectors)


# --- the systems ----------------------------------------------------------------------------------


@contextmanager
def pagemind(folder: Path, vectors: Vectors) -> Iterator[System]:
    """The queue manager appends as in a turn; the search is the agent's own."""
    from pagemind.runtime.clock import FrozenClock
    from pagemind.runtime.definition import parse_definition
    from pagemind.runtime.message import TRUST, Message, Origin, Provenance, Text
    from pagemind.runtime.models.minilm_embedder import MiniLmEmbedder
    from pagemind.runtime.runtime import Runtime
    from pagemind.runtime.services import SearchFilters
    from pagemind.runtime.testing import ScriptedModel

    class Embedder:
        identity = MiniLmEmbedder.identity

        def embed(self, texts: Sequence[str]) -> list[list[float]]:
            return vectors(texts)

        def close(self) -> None:
            """Nothing is held."""

    clock = FrozenClock()
    definition = parse_definition("name: bench\ntimezone: UTC\ncontext_window: 8192\n")
    with Runtime(folder, clock=clock, embedder=Embedder(), background=False) as runtime:
        agent = runtime.agent("bench", definition, model=ScriptedModel((), name="local/none"))
        ids: dict[str, str] = {}

        class Pagemind:
            def insert(self, line: Line) -> None:
                at = datetime.fromisoformat(line.at)
                clock.advance(seconds=(at - clock.now()).total_seconds())
                by: Origin = "model" if line.role == "assistant" else "user"
                message = Message(
                    "assistant" if line.role == "assistant" else "user",
                    (Text(line.text),),
                    speaker=line.speaker,
                    said_at=at,
                    provenance=Provenance(by, "", TRUST[by]),
                )
                stored = agent.queue_manager.append(message)
                ids[stored.short_id] = line.id
                if len(ids) % 100 == 0:
                    agent.queue_manager.make_room()

            def settle(self) -> None:
                while not runtime.drain(agent, 60.0):
                    time.sleep(0.1)
                with runtime.reader("bench") as reader:
                    while reader.store.count_missing("recall"):
                        time.sleep(0.1)

            def search(self, question: str) -> list[str]:
                found = agent.engine.search("recall", question, SearchFilters(), K)
                return [ids[hit.id] for hit in found.hits if hit.id in ids]

        yield Pagemind()


@contextmanager
def mem0(folder: Path, vectors: Vectors) -> Iterator[System]:
    """`add(infer=False)` stores a line as it is; Qdrant on disk, in this process."""
    os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder / "mem0"))
    from mem0 import Memory
    from mem0.embeddings.base import EmbeddingBase

    class Embedding(EmbeddingBase):  # type: ignore[misc]  # not installed where this is checked
        def embed(self, text: str, memory_action: str | None = None) -> list[float]:
            return vectors([text])[0]

        def embed_batch(self, texts: list[str], memory_action: str = "add") -> list[list[float]]:
            return vectors(texts)

    store = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": 384}
    memory = Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": store},
            "embedder": {"provider": "openai", "config": {"api_key": "none"}},
            "llm": {"provider": "openai", "config": {"api_key": "none"}},
            "history_db_path": str(folder / "history.db"),
        }
    )
    memory.embedding_model = Embedding()
    memory.llm = None

    class Mem0:
        def insert(self, line: Line) -> None:
            said = {"role": line.role, "content": line.spoken, "name": line.speaker}
            memory.add([said], user_id="bench", metadata={"line": line.id}, infer=False)

        def settle(self) -> None:
            """An add is complete when it returns."""

        def search(self, question: str) -> list[str]:
            found = memory.search(question, filters={"user_id": "bench"}, top_k=K, threshold=0.0)
            return [hit["metadata"]["line"] for hit in found["results"]]

    yield Mem0()


@contextmanager
def crewai(folder: Path, vectors: Vectors) -> Iterator[System]:
    """All fields given and consolidation off: no model is asked; shallow recall; LanceDB."""
    os.environ.update(OTEL_SDK_DISABLED="true", CREWAI_DISABLE_TELEMETRY="true")
    os.environ.update(CREWAI_STORAGE_DIR=str(folder), CREWAI_TRACING_ENABLED="false")
    os.environ["XDG_DATA_HOME"] = str(folder / "data")
    from crewai.events.utils.console_formatter import set_suppress_console_output
    from crewai.llms.base_llm import BaseLLM
    from crewai.memory.unified_memory import Memory

    class NoModel(BaseLLM):  # type: ignore[misc]  # not installed where this is checked
        def call(self, *_: Any, **__: Any) -> str:
            raise AssertionError("a model was asked")

    set_suppress_console_output(True)  # its panels cost more than its searches
    memory = Memory(
        llm=NoModel(model="none"),
        storage=str(folder / "crewai"),
        embedder=vectors,
        consolidation_threshold=1.0,
    )

    class CrewAi:
        def insert(self, line: Line) -> None:
            memory.remember(
                line.spoken,
                scope="/bench",
                categories=[],
                metadata={"line": line.id},
                importance=0.5,
            )

        def settle(self) -> None:
            memory.drain_writes()

        def search(self, question: str) -> list[str]:
            found = memory.recall(question, scope="/bench", limit=K, depth="shallow")
            return [str(hit.record.metadata["line"]) for hit in found]

    yield CrewAi()
    memory.close()


SYSTEMS = {"pagemind": pagemind, "mem0": mem0, "crewai": crewai}


# --- measuring ------------------------------------------------------------------------------------


def measure(name: str, workload: Workload) -> dict[str, Any]:
    """One run in an empty folder."""
    maker = _maker() if name == "pagemind" else None  # names leave its queries: other texts
    vectors = Vectors(dict(workload.vectors), maker)
    with tempfile.TemporaryDirectory(prefix="pagemind-peers-") as place:
        folder = Path(place)
        with SYSTEMS[name](folder, vectors) as system:
            insert = _cpu(vectors, lambda: _tell(system, workload.lines))
            found: list[list[str]] = []
            system.search(workload.questions[0].text)  # what loads at the first search
            search = _cpu(
                vectors, lambda: found.extend(system.search(q.text) for q in workload.questions)
            )
            size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
    scores = [_recall(q, hits[:K]) for q, hits in zip(workload.questions, found, strict=True)]
    return {
        "system": name,
        "version": importlib.metadata.version(NAMES[name]),
        "lines": len(workload.lines),
        "questions": len(workload.questions),
        "recall@10": round(100 * sum(scores) / len(scores), 1),
        "insert_cpu_ms": round(1000 * insert / len(workload.lines), 2),
        "search_cpu_ms": round(1000 * search / len(workload.questions), 2),
        "bytes_per_line": round(size / len(workload.lines)),
    }


def _tell(system: System, lines: Sequence[Line]) -> None:
    for line in lines:
        system.insert(line)
    system.settle()


def _cpu(vectors: Vectors, work: Callable[[], Any]) -> float:
    """CPU seconds of all threads, without those of embedding."""
    before = vectors.seconds
    started = time.process_time()
    work()
    return max(0.0, time.process_time() - started - (vectors.seconds - before))


def _recall(question: Asked, hits: Sequence[str]) -> float:
    found = sum(line in hits for line in question.evidence)
    return float(found > 0) if question.one_is_enough else found / len(question.evidence)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--system", choices=list(SYSTEMS), default="pagemind")
    arguments.add_argument("--workload", type=Path, metavar="FILE")
    arguments.add_argument("--make", type=Path, metavar="FILE", help="write the workload and end")
    arguments.add_argument("--lines", type=int, default=1000)
    arguments.add_argument("--questions", type=int, default=200)
    asked = arguments.parse_args(argv)
    if asked.make:
        workload = make(asked.lines, asked.questions)
        save(workload, asked.make)
        print(f"{len(workload.lines):,} lines and {len(workload.questions)} questions")
        return 0
    if asked.workload is None and asked.system != "pagemind":
        arguments.error("--workload: make one with --make where pagemind is installed")
    workload = load(asked.workload) if asked.workload else make(asked.lines, asked.questions)
    row = measure(asked.system, workload)
    table(list(row), [list(row.values())])
    write(asked.json, {**header(seed=SEED, data=workload.data), "rows": [row]})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
