"""How much of the evidence the search finds, through the product's own ingest and search.

    python benchmarks/retrieval.py --data locomo10.json [--embedding local/minilm|none]
                                   [--conversation ID …] [--ranking NAME] [--cache FOLDER]
                                   [--dump FILE] [--json FILE]

A question's evidence is a set of turns. Each conversation is lived through by an agent of its own;
questions are asked after its last session. Tokens are cl100k, of the lines as a model is shown
them, one header for each session, nothing shortened. The interval is a bootstrap over
conversations. A second run with the same --cache only searches.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from pathlib import Path
from typing import Any

from corpus import Conversation, Corpus, Question, WrongFile
from ingest import KeptVectors, lived, open_embedder
from locomo import load_locomo
from machine import header, parser, table, write
from scoring import Scored, at_tokens, by, figures, held_in, interval

from pagemind.runtime.services import Hit, SearchResult
from pagemind.runtime.tiers.results import format_hits
from pagemind.runtime.tokens import TokenCounter

LIMIT = 200  # a budget of 3,072 tokens holds more than 50 short lines
SEED = 1


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--data", type=Path, metavar="FILE", required=True)
    arguments.add_argument("--embedding", default="local/minilm")
    arguments.add_argument("--ranking", default=None, help="a named ranking of the search")
    arguments.add_argument("--conversation", nargs="+", metavar="ID")
    arguments.add_argument("--cache", type=Path, metavar="FOLDER", help="keep ingested homes there")
    arguments.add_argument(
        "--dump", type=Path, metavar="FILE", help="ranked hits, a line each question"
    )
    asked = arguments.parse_args(argv)
    try:
        corpus = load_locomo(asked.data)
        if asked.conversation:
            corpus = corpus.only(asked.conversation)
    except WrongFile as error:
        print(error, file=sys.stderr)
        return 2
    if asked.cache is not None:
        asked.cache.mkdir(parents=True, exist_ok=True)
    bench = Bench(corpus, asked.embedding, asked.cache, asked.ranking)
    found = bench.run(asked.dump)
    show(found)
    write(asked.json, found)
    return 0


@dataclass
class Bench:
    """A corpus under one embedding."""

    corpus: Corpus
    embedding: str
    cache: Path | None = None
    ranking: str | None = None

    def run(self, dump: Path | None = None) -> dict[str, Any]:
        """All figures of contract.md; `dump` gets a JSON line for each question."""
        embedder = open_embedder(self.embedding, self.cache)
        scored: list[Scored] = []
        lines: list[str] = []
        try:
            for conversation in self.corpus.conversations:
                for each, line in self.asked(conversation, embedder):
                    scored.append(each)
                    lines.append(line)
        finally:
            if embedder is not None:
                embedder.close()
        if dump is not None:
            dump.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return self.figures(scored)

    def asked(
        self, conversation: Conversation, embedder: KeptVectors | None
    ) -> Iterator[tuple[Scored, str]]:
        """Every question of a conversation that has evidence, and its line of the dump."""
        with lived(conversation, self.embedding, embedder, self.cache) as there:
            turns, costs = there.turns, Costs()
            for question in conversation.questions:
                if not question.evidence:
                    continue
                result = there.ask(question.text, LIMIT, question.as_of, ranking=self.ranking)
                ids = [turns[hit.seq] for hit in result.hits]
                ranks = tuple(
                    ids.index(each) + 1 if each in ids else None for each in question.evidence
                )
                held = held_in(question.evidence, costs.lines(result, ids))
                scored = Scored(conversation.id, question.kind, ranks, held)
                yield scored, _line(conversation, question, result, ids)

    def figures(self, scored: Sequence[Scored]) -> dict[str, Any]:
        main = [each for each in scored if each.kind in self.corpus.main]
        return {
            **header(seed=SEED, data=(each.digest for each in self.corpus.conversations)),
            "corpus": self.corpus.name,
            "embedding": self.embedding,
            "ranking": self.ranking,
            "questions": len(scored),
            "cats_1_4": figures(main),
            "all_5": figures(scored),
            "by_category": {
                kind: {**figures(group), "questions": len(group)}
                for kind, group in by(scored, lambda q: q.kind, self.corpus.categories).items()
            },
            "at_tokens": at_tokens(main),
            "at_tokens_all": at_tokens(scored),
            "interval_r@10": {"cats_1_4": interval(main, 10), "all_5": interval(scored, 10)},
            "by_conversation": {
                name: {
                    "cats_1_4": figures([q for q in group if q.kind in self.corpus.main])["r@10"],
                    "all_5": figures(group)["r@10"],
                }
                for name, group in by(scored, lambda q: q.conversation).items()
            },
            "notes": self.corpus.notes,
        }


class Costs:
    """Tokens of hits as a model is shown them, each counted once."""

    def __init__(self) -> None:
        self._count = TokenCounter().count
        self._known: dict[tuple[str, int], tuple[int, int]] = {}

    def lines(self, result: SearchResult, ids: Sequence[str]) -> list[tuple[str, str, int, int]]:
        """What `held_in` asks for."""
        made = []
        for hit, turn in zip(result.hits, ids, strict=True):
            tokens, head = self._of(hit)
            made.append((turn, str(hit.conversation), tokens, head))
        return made

    def _of(self, hit: Hit) -> tuple[int, int]:
        key = (hit.id, hit.part)
        if key not in self._known:
            # In use a line of the window is not repeated; here every line costs what it has.
            alone = SearchResult((replace(hit, in_context=False),), 1)
            text = format_hits(
                alone,
                part=1,
                budget_tokens=100_000,
                count_tokens=self._count,
                timezone=UTC,
                total_name="messages",
            )
            _, head, line = text.split("\n", 2)
            self._known[key] = self._count(f"{line}\n"), self._count(f"{head}\n")
        return self._known[key]


def _line(
    conversation: Conversation, question: Question, result: SearchResult, ids: Sequence[str]
) -> str:
    return json.dumps(
        {
            "conversation": conversation.id,
            "id": question.id,
            "question": question.text,
            "kind": question.kind,
            "evidence": question.evidence,
            "warnings": result.warnings,
            "hits": [
                {
                    "turn": turn,
                    "seq": hit.seq,
                    "speaker": hit.speaker,
                    "session": hit.conversation,
                    "score": hit.score,
                    "scores": dict(hit.scores),
                    "gold": turn in question.evidence,
                }
                for hit, turn in zip(result.hits, ids, strict=True)
            ],
        },
        ensure_ascii=False,
    )


def show(found: dict[str, Any]) -> None:
    """The figures as tables."""
    keys = ["r@5", "r@10", "r@20", "r@50", "all@10", "mrr"]
    rows: list[list[object]] = []
    for name, group in (
        *found["by_category"].items(),
        ("cats 1-4", found["cats_1_4"]),
        ("all", found["all_5"]),
    ):
        if group:
            rows.append([name, group.get("questions", ""), *(group[key] for key in keys)])
    table([f"{found['corpus']}, {found['embedding']}", "questions", *keys], rows)
    budgets = found["at_tokens"]
    print()
    table(
        ["recall in tokens", *budgets],
        [["cats 1-4", *budgets.values()], ["all", *found["at_tokens_all"].values()]],
    )
    print()
    table(
        ["R@10 of", *found["by_conversation"]],
        [
            ["cats 1-4", *(each["cats_1_4"] for each in found["by_conversation"].values())],
            ["all", *(each["all_5"] for each in found["by_conversation"].values())],
        ],
    )
    for name, (low, high) in found["interval_r@10"].items():
        print(f"R@10 of {name}: 95 % within {low} and {high}")


if __name__ == "__main__":
    sys.exit(main())
