"""Reads examples/read_the_library.yaml to its end twice, once killed on the way: the facts must be
the same, and kills must cost next to nothing.

    python benchmarks/library.py [--documents 200] [--kills 10] [--seed 5] [--json FILE]

The model is scripted: it reads like a careful one, part by part, and takes out what it read
(tests/examples/library_child.py). Tokens are as that model counts, four characters each.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from machine import ROOT, header, parser, table, write

sys.path.append(str(ROOT / "tests"))

from library_kit import disturbed, library


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--documents", type=int, default=200)
    arguments.add_argument("--kills", type=int, default=10)
    arguments.add_argument("--seed", type=int, default=5)
    asked = arguments.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="pagemind-bench-") as folder:
        calm_folder = library(Path(folder) / "calm", asked.documents)
        papers = sorted((calm_folder / "read_the_library" / "documents").iterdir())
        texts = [path.read_text(encoding="utf-8") for path in papers]
        calm = disturbed(calm_folder, kills=0, seed=0)
        torn = disturbed(library(Path(folder) / "torn", asked.documents), asked.kills, asked.seed)
    rows = [
        {
            "run": name,
            "kills": outcome.kills,
            "facts_right": outcome.right,
            "facts": 5 * len(texts),
            "tokens": outcome.tokens,
            "largest_request": outcome.largest,
            "exit_code": outcome.exit_code,
        }
        for name, outcome in (("undisturbed", calm), ("killed", torn))
    ]
    table(list(rows[0]), [list(row.values()) for row in rows])
    figures = {
        **header(seed=asked.seed, data=texts),
        "document_tokens": sum(map(len, texts)) // 4,
        "rows": rows,
        "same_facts": calm.facts == torn.facts,
        "tokens_killed_vs_undisturbed": round(torn.tokens / calm.tokens, 4),
    }
    print(
        f"documents: {figures['document_tokens']:,} tokens; same facts: {figures['same_facts']};"
        f" tokens of the killed run {figures['tokens_killed_vs_undisturbed']} of the other's"
    )
    write(asked.json, figures)
    return 0 if calm.facts == torn.facts else 1


if __name__ == "__main__":
    sys.exit(main())
