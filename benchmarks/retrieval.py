"""How much of the evidence the search finds, through the product's own ingest and search.

    python benchmarks/retrieval.py --data FILE        LoCoMo, LongMemEval or MSC-Self-Instruct
    python benchmarks/retrieval.py --synthetic SEED [--turns N] [--held-out]
        [--embedding local/minilm|none|hashing] [--ranking NAME] [--conversation ID …] [--first N]
        [--cache FOLDER] [--dump FILE] [--json FILE]

A question's evidence is a set of turns. Each conversation is lived through by an agent of its own;
questions are asked after its last session, or when the data says. Tokens are cl100k, of the lines
as a model is shown them, one header for each session, nothing shortened. The interval is a
bootstrap over conversations. A second run with the same --cache only searches. On the synthetic
set every third question is held out unless --held-out asks for just these.
"""

import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from pathlib import Path
from typing import Any

from corpus import Conversation, Corpus, Question, WrongFile
from ingest import KeptVectors, lived, open_embedder
from loaders import LOADERS, load
from machine import header, parser, table, write
from scoring import (
    Scored,
    any_or_all,
    at_tokens,
    by,
    figures,
    held_in,
    interval,
    rank_of,
    stale_first,
)
from synthetic import TURNS, split, synthetic

from pagemind.runtime.services import Hit, SearchResult
from pagemind.runtime.tiers.results import format_hits
from pagemind.runtime.tokens import TokenCounter

LIMIT = 200  # a budget of 3,072 tokens holds more than 50 short lines
SEED = 1
MANY = 12  # conversations: more are not listed


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    source = arguments.add_mutually_exclusive_group(required=True)
    source.add_argument("--data", type=Path, metavar="FILE")
    source.add_argument("--synthetic", type=int, metavar="SEED")
    arguments.add_argument("--format", choices=tuple(LOADERS), help="of --data, if it is in doubt")
    arguments.add_argument("--turns", type=int, default=TURNS, help="of the synthetic chat")
    arguments.add_argument("--held-out", action="store_true", help="the split nothing is fitted on")
    arguments.add_argument("--first", type=int, metavar="N", help="only so many conversations")
    arguments.add_argument("--embedding", default="local/minilm")
    arguments.add_argument("--ranking", default=None, help="a named ranking of the search")
    arguments.add_argument("--conversation", nargs="+", metavar="ID")
    arguments.add_argument("--cache", type=Path, metavar="FOLDER", help="keep ingested homes there")
    arguments.add_argument(
        "--dump", type=Path, metavar="FILE", help="ranked hits, a line each question"
    )
    asked = arguments.parse_args(argv)
    try:
        corpus = corpus_of(asked)
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


def corpus_of(asked: Namespace) -> Corpus:
    """What the command line names. Raises WrongFile."""
    if asked.data is not None:
        corpus = load(asked.data, asked.format)
    else:
        corpus = split(synthetic(asked.synthetic, asked.turns), held_out=asked.held_out)
    if asked.conversation:
        corpus = corpus.only(asked.conversation)
    return replace(corpus, conversations=corpus.conversations[: asked.first])


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
            sessions = {turn.id: turn.session for turn in conversation.turns}
            for question in conversation.questions:
                if not question.evidence and not question.stale:
                    continue
                result = there.ask(question.text, LIMIT, question.as_of, ranking=self.ranking)
                ids = [turns[hit.seq] for hit in result.hits]
                scored = score(conversation.id, question, ids, sessions, costs.lines(result, ids))
                yield scored, _line(conversation, question, result, ids)

    def figures(self, everything: Sequence[Scored]) -> dict[str, Any]:
        identifiers = [each for each in everything if each.kind == "identifier"]  # told apart
        scored = [each for each in everything if each.ranks and each not in identifiers]
        forget = [each for each in everything if not each.ranks]
        main = [each for each in scored if each.kind in self.corpus.main]
        groups = by(scored, lambda q: q.kind, self.corpus.categories)
        found: dict[str, Any] = {
            **header(seed=SEED, data=(each.digest for each in self.corpus.conversations)),
            "corpus": self.corpus.name,
            "embedding": self.embedding,
            "ranking": self.ranking,
            "questions": len(scored),
            "cats_1_4": figures(main),
            "all_5": figures(scored),
            "by_category": {
                kind: {**figures(group), "questions": len(group)} for kind, group in groups.items()
            },
            "at_tokens": at_tokens(main),
            "at_tokens_all": at_tokens(scored),
            "any_or_all": any_or_all(scored),
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
        if identifiers:
            first = sum(each.ranks[0] == 1 for each in identifiers)
            found["identifiers"] = {"questions": len(identifiers), "rank_1": first}
        if (stale := stale_first(scored)) is not None:
            found["stale_first"] = stale
        if forget:
            found["forget_found@10"] = stale_first(forget)
        return found


def score(
    conversation: str,
    question: Question,
    ids: Sequence[str],
    sessions: Mapping[str, int],
    lines: Sequence[tuple[str, str, int, int]],
) -> Scored:
    """The outcome of one ranked list of turns."""
    evidence = question.evidence
    ranks = [rank_of(each, ids) for each in evidence]
    order = list(dict.fromkeys(sessions[each] for each in ids))
    wanted = question.sessions or tuple(dict.fromkeys(sessions[each] for each in evidence))
    held = held_in(evidence, lines) if evidence else {}
    if question.one_is_enough:
        found = [rank for rank in ranks if rank is not None]
        ranks = [min(found, default=None)]
        held = {budget: float(share > 0) for budget, share in held.items()}
    stale = None
    if question.stale:  # without evidence: whether it is found at all
        first = min((rank_of(each, ids) or LIMIT for each in question.stale), default=LIMIT)
        best = min((rank or LIMIT for rank in ranks), default=10)
        stale = first < best
    return Scored(
        conversation,
        question.kind,
        tuple(ranks),
        tuple(rank_of(each, order) for each in wanted),
        held,
        stale,
    )


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
    main = "cats 1-4" if found["corpus"] == "locomo" else "without swapped"
    keys = ["r@5", "r@10", "r@20", "r@50", "all@10", "mrr"]
    rows: list[list[object]] = []
    for name, group in (
        *found["by_category"].items(),
        (main, found["cats_1_4"]),
        ("all", found["all_5"]),
    ):
        if group:
            rows.append([name, group.get("questions", ""), *(group[key] for key in keys)])
    table([f"{found['corpus']}, {found['embedding']}", "questions", *keys], rows)
    print()
    budgets = [[main, *found["at_tokens"].values()], ["all", *found["at_tokens_all"].values()]]
    table(["recall in tokens", *found["at_tokens"]], budgets)
    print()
    table(list(found["any_or_all"]), [list(found["any_or_all"].values())])
    print()
    if len(found["by_conversation"]) <= MANY:
        each = found["by_conversation"].values()
        rows = [[main, *(e["cats_1_4"] for e in each)], ["all", *(e["all_5"] for e in each)]]
        table(["R@10 of", *found["by_conversation"]], rows)
    for name, (low, high) in found["interval_r@10"].items():
        print(f"R@10 of {name}: 95 % within {low} and {high}")
    for name in ("identifiers", "stale_first", "forget_found@10"):
        if name in found:
            print(f"{name}: {found[name]}")


if __name__ == "__main__":
    sys.exit(main())
