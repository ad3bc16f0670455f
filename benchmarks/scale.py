"""Search and upkeep by size: one large agent, and many small ones.

    python benchmarks/scale.py [--rows 1000 10000 …] [--small 1000] [--questions 40]
                               [--keep FOLDER] [--ten-million] [--json FILE]

Each size is searched by a process of its own, through the product's own search over a real state
database and real tables (scale_home.py), with ten messages that LanceDB does not have yet. A
question is five words of a row and a vector beside the row's; embedding is apart: vectors are
given. `p50_cpu_ms`, `p99_cpu_ms` and the wall times are those of a whole hybrid search (two
lexical fields and vectors, ten hits). `bare_*` is one LanceDB vector query for ten ids, as the
product would have to ask for the same recall; `plain_*` the same with LanceDB's own defaults.
`recall@10` compares the vector leg with an exact comparison of every row in numpy. `append_*` is
the calling thread's time of a single message while another thread searches. `--keep` leaves the
homes there and takes them from there the next time.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any

from machine import header, parser, table, write
from scale_data import BLOCK, DAYS, START, Corpus, Question, tag_of
from scale_home import LARGE, opened, prepare

from pagemind.runtime.reader import AgentReader
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.settings import TEXT_RECIPE, TIER_SCHEMA
from pagemind.runtime.tiers.row_filter import RowFilter

SEED = 7
SIZES = (1_000, 10_000, 100_000)
SMALL_ROWS = 1_000
UNWRITTEN = 10
WARM_UP = 8
TAG = tag_of(1)
SHOWN = (
    *("rows", "agents", "filter", "p50_cpu_ms", "p99_cpu_ms", "vs_bare_cpu", "vs_bare_wall"),
    *("recall@10", "append_p50_ms", "rss_mb", "bytes"),
)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, nargs="*", default=list(SIZES))
    arguments.add_argument("--small", type=int, default=0, metavar="AGENTS")
    arguments.add_argument("--questions", type=int, default=40)
    arguments.add_argument("--keep", type=Path, metavar="FOLDER")
    arguments.add_argument("--ten-million", action="store_true", help="another hour, and 30 GB")
    arguments.add_argument("--one", nargs=2, metavar=("KIND", "HOME"), help="for its own use")
    asked = arguments.parse_args(argv)
    if asked.one:
        kind, home = asked.one
        measure = large if kind == LARGE else small
        print(json.dumps(measure(Path(home), asked.rows[0], asked.small, asked.questions)))
        return 0
    sizes = [*asked.rows, *([10_000_000] if asked.ten_million else [])]
    rows, ingests = [], []
    with tempfile.TemporaryDirectory(prefix="pagemind-bench-") as scratch:
        place = asked.keep or Path(scratch)
        kinds = [(LARGE, size, 1) for size in sizes]
        if asked.small:
            kinds.append(("small", SMALL_ROWS, asked.small))
        for kind, size, agents in kinds:
            home = place / f"{kind}-{size}-{agents}-v{TIER_SCHEMA}.{TEXT_RECIPE}"
            ingests.append(ingest(home, size, agents))
            command = ["--one", kind, str(home), "--rows", str(size), "--small", str(agents)]
            done = subprocess.run(
                [sys.executable, __file__, *command, "--questions", str(asked.questions)],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            found = json.loads(done.stdout)
            rows.extend(found)
            table(SHOWN, [[row.get(key, "") for key in SHOWN] for row in found])
    figures = {"questions": asked.questions, "rows": rows, "ingest": ingests, **ratios(rows)}
    print(json.dumps(ratios(rows)))
    write(asked.json, {**header(seed=SEED, data=_sample()), **figures})
    return 0


def ingest(home: Path, size: int, agents: int) -> dict[str, Any]:
    """Make the home, unless it was kept; what it took, in CPU seconds."""
    note = home.parent / f"{home.name}.json"
    if not note.exists():
        names = [LARGE] if agents == 1 else [f"a{number}" for number in range(agents)]
        took = prepare(home, Corpus(size, SEED), names)
        spent = took["journal"] + took["put"] + took["upkeep"]
        took["rows_per_cpu_second"] = round(took["rows"] / spent)
        note.write_text(json.dumps({**took, "agents": agents}), encoding="utf-8")
    found: dict[str, Any] = json.loads(note.read_text(encoding="utf-8"))
    return found


def ratios(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The largest size against the one nearest to 10,000 rows, without a filter."""
    single = [row for row in rows if row["agents"] == 1 and row["filter"] == "none"]
    if len(single) < 2:
        return {}
    base = min(single, key=lambda row: abs(row["rows"] - 10_000))
    last = max(single, key=lambda row: int(row["rows"]))
    keys = ("p50_cpu_ms", "p50_wall_ms", "append_p50_ms")
    return {f"{key}_last_vs_10k": round(last[key] / base[key], 2) for key in keys}


# --- one large agent ------------------------------------------------------------------------------


def large(home: Path, size: int, _agents: int, count: int) -> list[dict[str, Any]]:
    """A row of figures for each filter."""
    corpus = Corpus(size, SEED)
    questions = corpus.questions(count + WARM_UP)
    wheres = filters()
    best = exact(corpus, questions, wheres)
    rows = []
    with opened(home, corpus, questions) as runtime:
        appends = append_while_searching(runtime, questions)
        with runtime.reader(LARGE) as reader:
            folder = reader.state.tiers
            bare = bare_queries(reader, questions)
            for name, (asked, where) in wheres.items():
                times = searches(reader, questions, asked)
                found = [nearest(reader, question, where, size) for question in questions]
                hits = sum(
                    len(a & b) / max(1, len(b)) for a, b in zip(found, best[name], strict=True)
                )
                rows.append(
                    {
                        "rows": size,
                        "agents": 1,
                        "filter": name,
                        **times,
                        **bare,
                        "vs_bare_cpu": round(times["p50_cpu_ms"] / bare["bare_cpu_ms"], 2),
                        "vs_bare_wall": round(times["p50_wall_ms"] / bare["bare_wall_ms"], 2),
                        "recall@10": round(hits / len(questions), 4),
                        **appends,
                    }
                )
            weight = {"rss_mb": _rss(), "bytes": _bytes(folder), "files": _files(folder)}
    return [{**row, **weight} for row in rows]


def nearest(reader: AgentReader, question: Question, where: RowFilter, size: int) -> set[int]:
    """The ten best of the vector leg, as the product asks for it, without what was appended."""
    found = reader.store.search_vector("recall", question.vector.tolist(), where, 100)
    return {seq for seq in [match.seq for match in found if match.seq <= size][:10]}


def filters() -> dict[str, tuple[SearchFilters, RowFilter]]:
    """None, a tenth of the rows all over the table, and the last hundredth of them."""
    since, until = START + timedelta(days=DAYS) * 0.99, START + timedelta(days=DAYS + 1)
    active = ("active",)
    return {
        "none": (SearchFilters(), RowFilter(statuses=active)),
        "tag": (SearchFilters(tags=(TAG,)), RowFilter(statuses=active, tags=(TAG,))),
        "date": (
            SearchFilters(start=since, end=until),
            RowFilter(statuses=active, start=since, end=until),
        ),
    }


def exact(
    corpus: Corpus,
    questions: Sequence[Question],
    wheres: dict[str, tuple[SearchFilters, RowFilter]],
) -> dict[str, list[set[int]]]:
    """The seqs of the ten nearest rows of each question under each filter."""
    import numpy as np

    asked = np.array([question.vector for question in questions])
    top: dict[str, Any] = {name: None for name in wheres}
    for number in range(-(-corpus.rows // BLOCK)):
        seqs = np.arange(number * BLOCK + 1, min((number + 1) * BLOCK, corpus.rows) + 1)
        cosines = asked @ corpus.vectors(number).T
        for name, (_, where) in wheres.items():
            kept = np.ones(len(seqs), dtype=bool)
            if where.tags:
                kept &= np.array([tag_of(int(seq)) == TAG for seq in seqs])
            if where.start is not None:
                kept &= np.array([corpus.said_at(int(seq)) >= where.start for seq in seqs])
            scored = (cosines[:, kept], np.broadcast_to(seqs[kept], (len(questions), kept.sum())))
            if top[name] is not None:
                scored = tuple(np.hstack(pair) for pair in zip(top[name], scored, strict=True))
            order = np.argsort(-scored[0], axis=1)[:, :10]
            top[name] = tuple(np.take_along_axis(each, order, axis=1) for each in scored)
    return {name: [{int(s) for s in row} for row in found[1]] for name, found in top.items()}


def searches(
    reader: AgentReader, questions: Sequence[Question], asked: SearchFilters
) -> dict[str, float]:
    """What whole searches take."""

    def search(question: Question) -> None:
        found = reader.search.search("recall", question.text, asked, 10)
        assert not found.warnings, found.warnings

    return timed(search, questions)


def bare_queries(reader: AgentReader, questions: Sequence[Question]) -> dict[str, float]:
    """One LanceDB query for ten ids: at the product's recall, and with LanceDB's defaults."""
    store = reader.store
    lance: Any = store._open("recall")
    probes = store._census("recall", lance).probes(None)

    def plain(question: Question) -> None:
        query = lance.search(question.vector, vector_column_name="vector").distance_type("cosine")
        query.select(["id", "_distance"]).limit(10).to_arrow()

    def alike(question: Question) -> None:
        query = lance.search(question.vector, vector_column_name="vector").distance_type("cosine")
        query = query.bypass_vector_index() if probes is None else query.nprobes(probes)
        query = query if probes is None else query.refine_factor(20)
        query.select(["id", "_distance"]).limit(10).to_arrow()

    found = {}
    for name, query in (("bare", alike), ("plain", plain)):
        times = timed(query, questions)
        found[f"{name}_cpu_ms"] = times["p50_cpu_ms"]
        found[f"{name}_wall_ms"] = times["p50_wall_ms"]
    return found


def append_while_searching(runtime: Runtime, questions: Sequence[Question]) -> dict[str, float]:
    """Single messages, each when some search is under way; ten stay unwritten."""
    stop = threading.Event()

    def search() -> None:
        with runtime.reader(LARGE) as reader:
            while not stop.is_set():
                for question in questions:
                    reader.search.search("recall", question.text, SearchFilters(), 10)
                    if stop.is_set():
                        return

    thread = threading.Thread(target=search, daemon=True)
    with runtime.writer(LARGE) as writer:
        thread.start()
        time.sleep(0.2)

        def append(question: Question) -> None:
            writer.observe(f"heard: {question.text}", source="bench")

        walls, cpus = [], []
        for question in questions[:UNWRITTEN]:
            began, cpu = time.perf_counter(), time.thread_time()
            append(question)
            walls.append(time.perf_counter() - began)
            cpus.append(time.thread_time() - cpu)
        stop.set()
        thread.join()
    return {
        "append_p50_ms": _ms(median(cpus)),
        "append_p99_ms": _ms(max(cpus)),
        "append_wall_p50_ms": _ms(median(walls)),
    }


# --- many small ones ------------------------------------------------------------------------------


def small(home: Path, size: int, agents: int, count: int) -> list[dict[str, Any]]:
    """Each question put to another agent: opened for it, and once more when it is open."""
    corpus = Corpus(size, SEED)
    questions = corpus.questions(count + WARM_UP)
    draw = random.Random(SEED)
    where = filters()["none"][1]
    best = exact(corpus, questions, {"none": filters()["none"]})["none"]
    names = [f"a{draw.randrange(agents)}" for _ in questions]
    hits = 0.0
    readers: dict[str, AgentReader] = {}
    with opened(home, corpus, questions) as runtime:

        def cold(question: Question) -> None:
            name = names[questions.index(question)]
            if (before := readers.pop(name, None)) is not None:
                before.close()
            readers[name] = runtime.reader(name)
            readers[name].search.search("recall", question.text, SearchFilters(), 10)

        def warm(question: Question) -> None:
            reader = readers[names[questions.index(question)]]
            reader.search.search("recall", question.text, SearchFilters(), 10)

        opening = timed(cold, questions)
        times = timed(warm, questions)
        for question, name, wanted in zip(questions, names, best, strict=True):
            hits += len(nearest(readers[name], question, where, size) & wanted) / len(wanted)
        bare = bare_queries(readers[names[-1]], questions)
        for reader in readers.values():
            reader.close()
    return [
        {
            "rows": size * agents,
            "agents": agents,
            "filter": "none",
            **times,
            **bare,
            "vs_bare_cpu": round(times["p50_cpu_ms"] / bare["bare_cpu_ms"], 2),
            "vs_bare_wall": round(times["p50_wall_ms"] / bare["bare_wall_ms"], 2),
            "recall@10": round(hits / len(questions), 4),
            "open_p50_cpu_ms": opening["p50_cpu_ms"],
            "rss_mb": _rss(),
            "bytes": sum(_bytes(path) for path in (home / "agents").glob("*/lance")),
        }
    ]


# --- figures --------------------------------------------------------------------------------------


def timed(run: Callable[[Question], None], questions: Sequence[Question]) -> dict[str, float]:
    """CPU of all threads, and wall time, after a warm-up."""
    for question in questions[:WARM_UP]:
        run(question)
    cpus, walls = [], []
    for question in questions[WARM_UP:]:
        wall, cpu = time.perf_counter(), time.process_time()
        run(question)
        cpus.append(time.process_time() - cpu)
        walls.append(time.perf_counter() - wall)
    return {
        "p50_cpu_ms": _ms(median(cpus)),
        "p99_cpu_ms": _ms(_p99(cpus)),
        "p50_wall_ms": _ms(median(walls)),
        "p99_wall_ms": _ms(_p99(walls)),
    }


def _p99(values: Sequence[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.99))]


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)


def _rss() -> int:
    """The most that this process ever held, in MB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most >> 20 if sys.platform == "darwin" else most >> 10


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _files(folder: Path) -> int:
    return sum(len(files) for _, _, files in os.walk(folder))


def _sample() -> list[str]:
    """What the data is, by its first rows."""
    corpus = Corpus(1_000, SEED)
    return [message.text for message in corpus.messages(0)] + [
        str(corpus.vectors(0)[:10].round(4).tolist())
    ]


if __name__ == "__main__":
    sys.exit(main())
