"""How far a very small model gets under `protocol: guided`.

Three sets with a real local model: 12 easy and 12 harder single steps (the right function, or the
right words in the reply), and ten sayings followed, after a restart, by ten questions about them.

    python benchmarks/small_model.py [--model local/NAME] [--set known|fresh] [--only steps|talk]
                                     [--json FILE]

What the two sets are, and what was seen of them, is said in small_model_cases.py.
"""

import argparse
import json
import platform
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from small_model_cases import SETS, Case, CaseSet

from pagemind.runtime.core_memory import Block, CoreMemory
from pagemind.runtime.message import Message, Text, ToolCall
from pagemind.runtime.model import Embedder, Model, ModelReply, ModelRequest, ToolSchema
from pagemind.runtime.models.guided_model import GuidedModel
from pagemind.runtime.models.local_model import LocalModel
from pagemind.runtime.settings import GUIDED_FUNCTIONS
from pagemind.runtime.template import load
from pagemind.tools import find

STORES = ("core_append", "core_edit", "archival_insert")
SEARCHES = ("recall_search", "archival_search")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--model", default="local/qwen2.5-coder-0.5b")
    parser.add_argument("--set", choices=list(SETS), default="known")
    parser.add_argument("--only", choices=["steps", "talk"])
    parser.add_argument("--words-only", action="store_true", help="without the embedder")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args(argv)
    local = LocalModel(arguments.model)
    model = GuidedModel(local, embedder=None if arguments.words_only else _embedder())
    answer: dict[str, Any] = {"schema": 1, "model": local.name, "set": arguments.set, **_where()}
    cases = SETS[arguments.set]
    if arguments.only != "talk":
        answer["steps"] = run_steps(model, cases)
    if arguments.only != "steps":
        answer["talk"] = run_talk(model, cases)
    model.close()
    if arguments.json:
        arguments.json.write_text(json.dumps(answer, indent=2) + "\n", encoding="utf-8")
    return 0


def run_steps(model: Model, cases: CaseSet) -> dict[str, Any]:
    """The 24 single steps."""
    rows = []
    for level, group in (("easy", cases.easy), ("harder", cases.harder)):
        for case in group:
            started = time.perf_counter()
            reply = model.complete(request_of(case))
            ok = judge(case, reply)
            got = "; ".join(f"{c.name} {c.arguments}" for c in reply.tool_calls) or reply.text
            rows.append(
                {"level": level, "kind": case.kind, "said": case.said, "ok": ok, "got": got}
            )
            _print(level, case.kind, ok, time.perf_counter() - started, case.said, got)
    easy = sum(row["ok"] for row in rows if row["level"] == "easy")
    harder = sum(row["ok"] for row in rows if row["level"] == "harder")
    print(f"steps: {easy}/{len(cases.easy)} easy, {harder}/{len(cases.harder)} harder\n")
    return {"easy": easy, "harder": harder, "of": len(rows), "rows": rows}


def run_talk(model: Model, cases: CaseSet) -> dict[str, Any]:
    """Ten sayings in one conversation, then ten questions: with the queue as a restart finds it,
    and with nothing left but core memory."""
    human = Block("human", "", 2000, "What I know about the person.")
    history: list[Message] = []
    for saying, _, _ in cases.talk:
        human, text, seconds = _turn(model, human, history, saying)
        _print("talk", "saying", True, seconds, saying, text)
    print(f"human:\n{human.value}\n")
    told = list(history)
    answer: dict[str, Any] = {"of": len(cases.talk), "human": human.value}
    for what, left in (("restarted", told), ("core only", [])):
        rows = []
        for _, question, words in cases.talk:
            _, text, seconds = _turn(model, human, list(left), question)
            ok = bool(re.search(rf"\b(?:{words})", text.lower()))
            rows.append({"question": question, "ok": ok, "got": text})
            _print("talk", what, ok, seconds, question, text)
        answered = sum(row["ok"] for row in rows)
        print(f"talk, {what}: {answered}/{len(rows)} answered\n")
        answer[what.replace(" ", "_")] = {"answered": answered, "rows": rows}
    return answer


def _turn(
    model: Model, human: Block, history: list[Message], said: str
) -> tuple[Block, str, float]:
    """One turn of a loop in small: blocks are edited, searches find nothing."""
    started = time.perf_counter()
    history.append(Message("user", (Text(said),)))
    for _ in range(8):
        reply = model.complete(_request((human,), history))
        history.append(Message("assistant", (Text(reply.text),), reply.tool_calls))
        if not reply.tool_calls:
            break
        for call in reply.tool_calls:
            human, result = _run(human, call)
            history.append(Message("tool", (Text(result),), tool_call_id=call.id, name=call.name))
    return human, history[-1].text, time.perf_counter() - started


def _run(human: Block, call: ToolCall) -> tuple[Block, str]:
    given = call.parsed()
    if call.name == "core_append":
        human = human.appended(given["content"])
    elif call.name == "core_edit":
        human = human.edited(given["old_text"], given["new_text"])
    else:
        return human, "0 matches among 20 messages"
    return human, f"human is now:\n{human.value}"


def request_of(case: Case) -> ModelRequest:
    """The request of a case's step."""
    roles = ("user", "assistant")
    history: list[Message] = []
    for i, text in enumerate(case.earlier):
        history.append(Message("user" if roles[i % 2] == "user" else "assistant", (Text(text),)))
    history.append(Message("user", (Text(case.said),)))
    for number, (name, arguments, result) in enumerate(case.done):
        call = ToolCall(f"call_{number}", name, json.dumps(arguments))
        history.append(Message("assistant", (), (call,)))
        history.append(Message("tool", (Text(result),), tool_call_id=call.id, name=name))
    human = Block("human", "\n".join(case.known), 2000, "What I know about the person.")
    return _request((human,), history)


def judge(case: Case, reply: ModelReply) -> bool:
    """Whether the step did what was wanted."""
    names = [call.name for call in reply.tool_calls]
    if case.want == "reply":
        if names or not reply.text.strip():
            return False
        text = reply.text.lower()
        if text.strip(" .!") == case.said.lower().strip(" .!"):
            return False  # an echo is no answer
    else:
        allowed = STORES if case.want == "store" else SEARCHES
        if not names or any(name not in allowed for name in names):
            return False
        text = " ".join(call.arguments for call in reply.tool_calls).lower()
    return all(
        any(alternative in text for alternative in word.split("|")) for word in case.words
    ) and not any(word in text for word in case.never)


def _request(blocks: Sequence[Block], history: Sequence[Message]) -> ModelRequest:
    persona = Block("persona", "I am a friendly personal assistant.", 2000, "Who I am.")
    tools: tuple[ToolSchema, ...] = tuple(tool.schema for tool in find(GUIDED_FUNCTIONS))
    core = CoreMemory((persona, *blocks)).render()
    return ModelRequest((load("guided").fill(), core), tuple(history), tools)


def _embedder() -> Embedder:
    from pagemind.runtime.models.minilm_embedder import MiniLmEmbedder

    return MiniLmEmbedder()


def _print(level: str, kind: str, ok: bool, seconds: float, said: str, got: str) -> None:
    mark = "ok " if ok else "BAD"
    print(f"{mark} {level:6} {kind:9} {seconds:5.1f} s  {said}  →  {got}", flush=True)


def _where() -> dict[str, str]:
    head = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
        check=False,
    )
    return {"commit": head.stdout.strip(), "machine": platform.machine()}


if __name__ == "__main__":
    sys.exit(main())
