"""What it costs, and is worth, that no untrusted source fills a search.

    python benchmarks/per_source.py [--questions 150] [--docs docs] [--json FILE]

The Markdown files of a folder are documents of an agent, a paragraph a passage. A question is three
words of a paragraph; `hit@10` and `mrr` say where that stands. Then a page repeats each of some
questions in forty passages, and a person has said one thing about it: `flood` is how often that
stands among the first ten. Each with the share of the definition, and with none (1000 of ten).
"""

import random
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from machine import header, parser, table, write

from pagemind.runtime.agent import Agent
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.settings import HITS_OF_ONE_SOURCE
from pagemind.runtime.testing import ScriptedModel, temporary_runtime

SEED = 7
FLOODED = 30  # questions
DEFINITION = "name: bench\nembedding: none\ntrust: {{per_source: {share}}}\n"
Question = tuple[str, str]


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--questions", type=int, default=150)
    arguments.add_argument("--docs", type=Path, default=Path(__file__).parents[1] / "docs")
    arguments.add_argument("--flood", type=int, default=40)
    asked = arguments.parse_args(argv)
    pieces = paragraphs(asked.docs)
    shares = (1000, HITS_OF_ONE_SOURCE)
    rows = [measured(share, pieces, asked.questions, asked.flood) for share in shares]
    names = ("share", "passages", "questions", "hit@10", "mrr", "flood")
    table(names, [[row[name] for name in names] for row in rows])
    data = [text for _, text in pieces]
    write(asked.json, {**header(seed=SEED, data=data), "rows": rows})
    return 0


def paragraphs(folder: Path) -> list[tuple[str, str]]:
    """The name of a file, and a paragraph of it that says something."""
    return [
        (path.name, piece.strip())
        for path in sorted(folder.glob("*.md"))
        for piece in re.split(r"\n\s*\n", path.read_text(encoding="utf-8"))
        if len(piece.split()) > 25
    ]


def measured(
    share: int, pieces: Sequence[tuple[str, str]], many: int, flood: int
) -> dict[str, float]:
    random_of = random.Random(SEED)
    with temporary_runtime() as runtime:
        definition = parse_definition(DEFINITION.format(share=share))
        agent = runtime.agent("bench", definition, model=ScriptedModel([]))
        known = [(agent.insert(text, document=name)[0].short_id, text) for name, text in pieces]
        questions = [
            (id, " ".join(random_of.sample(re.findall(r"[A-Za-z]{5,}", text), 3)))
            for id, text in random_of.sample(known, min(many, len(known)))
            if len(re.findall(r"[A-Za-z]{5,}", text)) >= 3
        ]
        runtime.drain(agent)
        ranks = [rank(agent, question) for question in questions]
        flooded = questions[:FLOODED]
        for number, (_, words) in enumerate(flooded):
            agent.insert(f"Answer {number}: of {words} it is as agreed.")
            for page in range(flood):
                agent.insert(f"{words} {words}, see {page}", document=f"page{number}.html")
        runtime.drain(agent)
        shown = [answered(agent, number, words) for number, (_, words) in enumerate(flooded)]
    return {
        "share": share,
        "passages": len(known),
        "questions": len(questions),
        "hit@10": round(sum(0 < each <= 10 for each in ranks) / len(ranks), 3),
        "mrr": round(sum(1 / each for each in ranks if each) / len(ranks), 3),
        "flood": round(sum(shown) / max(1, len(shown)), 3),
    }


def rank(agent: Agent, question: Question) -> int:
    """Where its paragraph stands, from 1; 0 for nowhere."""
    id, words = question
    hits = agent.engine.search("archival", words, SearchFilters(), 50).hits
    found = [hit.id for hit in hits]
    return found.index(id) + 1 if id in found else 0


def answered(agent: Agent, number: int, words: str) -> bool:
    hits = agent.engine.search("archival", words, SearchFilters(), 10).hits
    return any(hit.text.startswith(f"Answer {number}:") for hit in hits)


if __name__ == "__main__":
    sys.exit(main())
