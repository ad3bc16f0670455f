"""local/minilm: CPU of a text by how many word pieces share a batch, as ratios to the setting.

    python benchmarks/embedding.py [--texts 64]

Short texts are chat lines, long ones chunks of 200 word pieces. Peak memory is read after each
size, the smallest first: what a larger batch takes is not given back.
"""

import sys
import time
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from machine import header, parser, table, write

SIZES = (1, 64, 256, 1024, 8192)  # 1: every text by itself
RUNS = 3
SEED = 1


def texts(count: int) -> dict[str, list[str]]:
    """Lines of the synthetic chat, and as many of them in a row as make a chunk."""
    from synthetic import synthetic

    from pagemind.runtime.settings import CHUNK_TOKENS
    from pagemind.runtime.tiers.recipe import chunks

    said = [turn.text for turn in synthetic(SEED).conversations[0].turns]
    long = [text for text in chunks(" ".join(said)) if len(text) > 2 * CHUNK_TOKENS]
    return {"short": said[:count], "long": long[:count]}


def main(argv: Sequence[str] | None = None) -> int:
    from pagemind.runtime import settings
    from pagemind.runtime.models import minilm_embedder

    arguments = parser(__doc__)
    arguments.add_argument("--texts", type=int, default=64)
    asked = arguments.parse_args(argv)
    embedder = minilm_embedder.MiniLmEmbedder()
    embedder.embed(["what loads it"])
    usual_size = settings.EMBED_BATCH_TOKENS
    given = texts(asked.texts)
    rows: list[dict[str, Any]] = []
    for pieces in SIZES:
        minilm_embedder.EMBED_BATCH_TOKENS = pieces
        for kind, each in given.items():
            rows.append(
                {
                    "texts": kind,
                    "batch_pieces": pieces,
                    "cpu_ms": round(1000 * _cpu(embedder, each) / len(each), 2),
                    "peak_mb": _peak_mb(),
                }
            )
    minilm_embedder.EMBED_BATCH_TOKENS = usual_size
    rows.sort(key=lambda row: row["texts"])
    for _, same in groupby(rows, key=lambda row: row["texts"]):
        kinds = list(same)
        usual = next(row["cpu_ms"] for row in kinds if row["batch_pieces"] == usual_size)
        for row in kinds:
            row["cpu_vs_setting"] = round(row["cpu_ms"] / usual, 2)
    table(list(rows[0]), [list(row.values()) for row in rows])
    data = [text for each in given.values() for text in each]
    write(asked.json, {**header(seed=SEED, data=data), "batch_pieces": usual_size, "rows": rows})
    return 0


def _cpu(embedder: Any, given: Sequence[str]) -> float:
    """The least of a few runs, in seconds."""
    found = []
    for _ in range(RUNS):
        started = time.process_time()
        embedder.embed(given)
        found.append(time.process_time() - started)
    return min(found)


def _peak_mb() -> int | None:
    """Of this process so far; None where the system does not say."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak >> (20 if sys.platform == "darwin" else 10))


if __name__ == "__main__":
    raise SystemExit(main())
