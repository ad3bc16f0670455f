"""dmr: questions over many sessions, asked in four ways side by side.

    paging    the product: prefetch, page table, summary, functions that search and read
    summary   the same agent with nothing but its recursive summary and the newest messages
    window    the newest messages that fit the same window
    replay    everything that was ever said

The synthetic set by default, LoCoMo, MSC-Self-Instruct (deep memory retrieval) or LongMemEval with
--data. Without --model a scripted reader asks page_find and reads the two best pages, and what is
scored is retrieval: the share of the evidence that stands word for word in a request, beside the
input tokens of the question. With --model a model answers: F1, BLEU-1 (answer_scores.py), and the
judge's verdict where --judge names one. Answers and retrieval are different things; never put one
beside the other.
"""

import re
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from answer_scores import JUDGE, bleu1, f1
from corpus import Conversation, Corpus, Question, Turn
from ingest import KeptVectors, lived, open_embedder
from loaders import load
from machine import header, table, write
from paging_kit import Lookup, Talker, Watch, pages_in, result, scripted
from paging_walk import read
from synthetic import synthetic

from pagemind.runtime.message import Message, Text
from pagemind.runtime.model import Model, ModelRequest
from pagemind.runtime.model_choice import ModelChoice, make_model
from pagemind.runtime.parts import Parts
from pagemind.runtime.settings import home_path
from pagemind.runtime.testing import call
from pagemind.runtime.tokens import TokenCounter

SEED = 1
TURNS = 1000  # of the synthetic chat
READ = 2  # pages that the scripted reader reads
WAYS = ("paging", "summary", "window", "replay")
ANSWER_TOKENS = 256
SHORT = "Answer with a short phrase, in the words of the conversation where you can."
NOT_THERE = ' If it was never said, answer "not mentioned".'
PLAIN = "Below is a conversation. Answer the question at its end from it. "
BARE = Parts(warning=False, table=False, prefetch=False)
COUNT = TokenCounter().count


def run(asked: Namespace) -> int:
    """`paging.py dmr`."""
    corpus = load(asked.data, asked.format) if asked.data else synthetic(SEED, TURNS)
    corpus = replace(corpus, conversations=corpus.conversations[: asked.first])
    bench = Bench(corpus, asked.window, asked.embedding or "local/minilm", asked.questions)
    embedder = open_embedder(bench.embedding, asked.cache)
    try:
        if asked.model:
            figures = bench.answers(embedder, asked.model, asked.judge)
        else:
            figures = bench.retrieval(embedder)
    finally:
        if embedder is not None:
            embedder.close()
    show(figures)
    write(asked.json, figures)
    return 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question, one way. Scores from 0 to 1; None where they were not asked for."""

    way: str
    kind: str
    tokens: int
    held: float | None = None  # of the evidence, in the requests
    f1: float | None = None
    bleu1: float | None = None
    judged: float | None = None


@dataclass
class Bench:
    """A corpus, asked under one window."""

    corpus: Corpus
    window: int
    embedding: str
    limit: int | None = None  # questions of each conversation

    def asked(self, conversation: Conversation) -> list[Question]:
        """What is asked after the last turn and has an answer there."""
        found = [q for q in conversation.questions if q.evidence and q.as_of is None]
        return found[: self.limit]

    # --- without a model ----------------------------------------------------------------------

    def retrieval(self, embedder: KeptVectors | None) -> dict[str, Any]:
        outcomes: list[Outcome] = []
        for conversation in self.corpus.conversations:
            questions = self.asked(conversation)
            for way in ("paging", "summary"):
                outcomes += self._looked_up(conversation, questions, way, embedder)
            fixed, usable = self._plain_size()
            for way in ("window", "replay"):
                room = usable - fixed if way == "window" else None
                lines = transcript(conversation.turns, room)
                cost = fixed + COUNT("\n".join(lines))
                text = "\n".join(lines)
                for question in questions:
                    held = _held(conversation, question, [text])
                    outcomes.append(Outcome(way, question.kind, cost, held))
        return self._figures("scripted", outcomes)

    def _looked_up(
        self,
        conversation: Conversation,
        questions: Sequence[Question],
        way: str,
        embedder: KeptVectors | None,
    ) -> Iterator[Outcome]:
        """An agent lives through it, and every request of a question is looked at."""
        talker = Talker(lambda request: "I see.")
        watch = Watch(scripted(talker), keep=True)
        with self._agent(conversation, way, embedder, watch) as there:
            for question in questions:
                before = len(watch.requests)
                reads = _reader(question.text) if way == "paging" else _nothing()
                talker.look(there.agent, question.text, reads)
                texts = [_text(each) for each in watch.requests[before:]]
                tokens = sum(each.tokens for each in watch.sent[-len(texts) :])
                held = _held(conversation, question, texts)
                yield Outcome(way, question.kind, tokens, held)
                del watch.requests[:]

    def _agent(
        self,
        conversation: Conversation,
        way: str,
        embedder: KeptVectors | None,
        model: Model | str,
    ) -> Any:
        more: dict[str, Any] = {"context_window": self.window}
        if way == "paging":
            return lived(conversation, self.embedding, embedder, None, model=model, **more)
        more["tools"] = ["clock"]
        return lived(conversation, self.embedding, embedder, None, model=model, parts=BARE, **more)

    def _plain_size(self) -> tuple[int, int]:
        """Tokens of the plain prompt without its conversation, and what may be used of the
        window: as much as the agent may."""
        return COUNT(PLAIN + SHORT + NOT_THERE) + 40, int(self.window * 0.81)

    # --- with a model ---------------------------------------------------------------------------

    def answers(self, embedder: KeptVectors | None, name: str, judge: str | None) -> dict[str, Any]:
        model = make_model(ModelChoice(name, "benchmark"), home_path(), None)
        judging = make_model(ModelChoice(judge, "benchmark"), home_path(), None) if judge else None
        outcomes: list[Outcome] = []
        left_out: list[str] = []
        for conversation in self.corpus.conversations:
            questions = [q for q in self.asked(conversation) if q.gold or q.kind == "adversarial"]
            for way in WAYS:
                lines = transcript(conversation.turns, None)
                window = model.window()
                if way == "replay" and window and COUNT("\n".join(lines)) > window.tokens * 0.9:
                    left_out.append(conversation.id)  # it does not fit the model
                    continue
                said = self._said(conversation, questions, way, embedder, model, name)
                for question, answer, tokens in said:
                    print(way, question.text, "→", answer, file=sys.stderr, flush=True)
                    verdict = _judged(judging, question, answer) if judging else None
                    outcomes.append(
                        Outcome(
                            way,
                            question.kind,
                            tokens,
                            f1=f1(answer, question.gold, question.kind),
                            bleu1=bleu1(answer, question.gold),
                            judged=verdict,
                        )
                    )
        figures = self._figures(name, outcomes)
        return {**figures, "judge": judge, "replay_left_out": left_out}

    def _said(
        self,
        conversation: Conversation,
        questions: Sequence[Question],
        way: str,
        embedder: KeptVectors | None,
        model: Model,
        name: str,
    ) -> Iterator[tuple[Question, str, int]]:
        """The answers of one way, each with its input tokens."""
        if way in ("paging", "summary"):
            with self._agent(conversation, way, embedder, name) as there:
                for question in questions:
                    turn = there.agent.send(f"{question.text}\n{_how(questions)}")
                    yield question, turn.text, turn.usage.prompt_tokens
            return
        fixed, usable = self._plain_size()
        lines = transcript(conversation.turns, usable - fixed if way == "window" else None)
        for question in questions:
            body = "\n".join([*lines, "", f"Question: {question.text}"])
            request = ModelRequest(
                system=(PLAIN + _how(questions),),
                messages=(Message("user", (Text(body),)),),
                max_tokens=ANSWER_TOKENS,
            )
            reply = model.complete(request)
            tokens = reply.usage.prompt_tokens or COUNT(request.system[0]) + COUNT(body)
            yield question, reply.text, tokens

    # --- figures ----------------------------------------------------------------------------

    def _figures(self, model: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
        rows = [_row(way, [o for o in outcomes if o.way == way]) for way in WAYS]
        kinds = list(dict.fromkeys(o.kind for o in outcomes))
        by_kind = [
            {"kind": kind, **_row(way, [o for o in outcomes if (o.way, o.kind) == (way, kind)])}
            for kind in kinds
            for way in WAYS
        ]
        return {
            **header(seed=SEED, data=(each.digest for each in self.corpus.conversations)),
            "corpus": self.corpus.name,
            "model": model,
            "window": self.window,
            "embedding": self.embedding,
            "conversations": len(self.corpus.conversations),
            "messages": sum(len(each.turns) for each in self.corpus.conversations),
            "rows": [row for row in rows if row["questions"]],
            "by_kind": [row for row in by_kind if row["questions"]],
        }


def _how(questions: Sequence[Question]) -> str:
    """How to answer. "Not mentioned" is offered only where that is right now and then: a very small
    model says it to everything."""
    adversarial = any(question.kind == "adversarial" for question in questions)
    return SHORT + NOT_THERE if adversarial else SHORT


def _row(way: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Means in percent, and input tokens of a question."""

    def mean(values: Iterable[float | None]) -> float | None:
        told = [each for each in values if each is not None]
        return round(100 * sum(told) / len(told), 1) if told else None

    scores: Mapping[str, float | None] = {
        "evidence_in_view": mean(o.held for o in outcomes),
        "f1": mean(o.f1 for o in outcomes),
        "bleu1": mean(o.bleu1 for o in outcomes),
        "judged_right": mean(o.judged for o in outcomes),
    }
    return {
        "way": way,
        "questions": len(outcomes),
        **{name: value for name, value in scores.items() if value is not None},
        "input_tokens": round(sum(o.tokens for o in outcomes) / max(1, len(outcomes))),
    }


def transcript(turns: Sequence[Turn], room: int | None) -> list[str]:
    """The conversation as lines, a date over each session: all, or the newest that fit."""
    lines: list[str] = []
    costs: list[int] = []
    session = 0
    for turn in turns:
        if turn.session != session:
            lines.append(f"[{turn.at:%Y-%m-%d %H:%M}]")
            session = turn.session
        lines.append(f"{turn.speaker}: {turn.text}")
    if room is None:
        return lines
    for line in reversed(lines):
        costs.append((costs[-1] if costs else 0) + COUNT(line) + 1)
        if costs[-1] > room:
            return lines[len(lines) - len(costs) + 1 :]
    return lines


def _held(conversation: Conversation, question: Question, texts: Sequence[str]) -> float:
    """The share of the evidence that stands in one of these texts."""
    said = {turn.id: _plain(turn.text) for turn in conversation.turns}
    seen = [_plain(text) for text in texts]
    found = [any(said[turn] in text for text in seen) for turn in question.evidence]
    return float(any(found)) if question.one_is_enough else sum(found) / len(found)


def _plain(text: str) -> str:
    return " ".join(text.split())


def _text(request: ModelRequest) -> str:
    return "\n".join([*request.system, *(message.text for message in request.messages)])


def _reader(query: str) -> Lookup[None]:
    """What a model without wits does: find, and read the best."""
    request = yield call("page_find", query=query)
    for page in pages_in(result(request))[:READ]:
        yield from read(page)


def _nothing() -> Lookup[None]:
    """No call at all."""
    yield from ()


def _judged(judge: Model, question: Question, answer: str) -> float:
    prompt = JUDGE.format(question=question.text, gold=question.gold, answer=answer)
    request = ModelRequest(system=(), messages=(Message("user", (Text(prompt),)),), max_tokens=8)
    said = judge.complete(request).text.upper()
    return float(bool(re.search(r"\bCORRECT\b", said)) and "WRONG" not in said)


def show(figures: dict[str, Any]) -> None:
    """The figures as tables."""
    for name in ("by_kind", "rows"):
        rows = figures[name]
        if rows:
            columns = list(dict.fromkeys(key for row in rows for key in row))
            table(columns, [[row.get(key, "") for key in columns] for row in rows])
            print()
