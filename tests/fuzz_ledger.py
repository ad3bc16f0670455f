"""The ledger of a fuzzed agent: what was acknowledged, what was only tried, what was seen since.

Acknowledged is what a call that returned was given: it must be there once and stay there, whatever
came after. What a call that raised was given may be there once, or not.
"""

import json
from collections import Counter

from pagemind.runtime.agent import Agent
from pagemind.runtime.message import Message, clean_text
from pagemind.runtime.state.blocks import BlockVersion
from pagemind.runtime.state.passages import digest
from pagemind.runtime.turn import TurnResult


class Broken(AssertionError):
    """An invariant does not hold; `stuck`: what was asked for never ends or is never answered."""

    def __init__(self, message: str, *, stuck: bool = False) -> None:
        super().__init__(message)
        self.stuck = stuck


def must(true: bool, otherwise: str) -> None:
    if not true:
        raise Broken(otherwise)


class Ledger:
    """Kept beside the agent, and compared with its stores."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.tried: list[str] = []
        self.passages: list[str] = []
        self._journal: list[Message] = []  # as it was last seen
        self._said: Counter[str] = Counter()
        self._blocks: dict[str, list[BlockVersion]] = {}

    def tries(self, text: str) -> None:
        if text not in self.tried:
            self.tried.append(text)

    def keeps(self, text: str) -> None:
        if text not in self.kept:
            self.kept.append(text)

    def answered(self, agent: Agent, result: TurnResult) -> None:
        """What a result says is so."""
        must(result.steps <= 8, "more steps than the limit")
        stored = agent.state.journal.get([int(each[1:]) for each in result.message_ids])
        must(len(stored) == len(result.message_ids), "messages of a result are not there")
        if result.stop_reason == "answered":
            must(bool(result.text), "answered, and said nothing")
            said = "\n\n".join(m.said for m in stored.values() if m.role == "assistant" and m.said)
            must(result.text in said or bool(result.tool_calls), "an answer is not stored")
        for made in result.tool_calls:
            if made.ok and made.name in ("archival_insert", "archival_edit"):
                self.passages.append(clean_text(str(made.arguments["content"])))
            if made.ok and made.name == "core_rewrite":
                values = [v.value for v in agent.state.blocks.history(made.arguments["block"])]
                must(made.arguments["content"] in values, "a rewritten block has no such version")

    def read_on(self, agent: Agent) -> None:
        """What is new since it was last seen; nothing that was there is gone."""
        journal = agent.state.journal
        must(journal.last_seq >= len(self._journal), "messages are gone")
        for message, _, _ in journal.range(len(self._journal) + 1, journal.last_seq):
            self._journal.append(message)
            if message.role == "user" and message.kind != "notice":
                self._said[message.text] += 1
        for text in self.tried[-3:]:
            must(self._said[clean_text(text)] <= 1, f"twice: {text[:20]}")
        self._memory(agent)

    def look_anew(self, agent: Agent) -> None:
        """All that was ever seen is still there, to the letter; all that was acknowledged, once."""
        known, self._journal = self._journal, []
        self._said.clear()
        self.read_on(agent)
        must(self._journal[: len(known)] == known, "messages have changed or gone")
        left = Counter(
            clean_text(json.loads(body)["text"])
            for _, kind, body, _ in agent.state.inbox()
            if kind == "observe"
        )
        for text in self.kept:
            found = self._said[clean_text(text)] + left[clean_text(text)]
            must(found == 1, f"{found} times: {text[:20]}")
        for text in self.tried:
            must(self._said[clean_text(text)] <= 1, f"twice: {text[:20]}")
        rows = agent.state.database.rows("SELECT text FROM passage_versions")
        ever = {digest(row["text"]) for row in rows}
        for text in self.passages:
            must(digest(text) in ever, f"a passage is gone: {text[:20]}")

    def _memory(self, agent: Agent) -> None:
        for block in agent.state.blocks.all():
            history = agent.state.blocks.history(block.label)
            known = self._blocks.get(block.label, [])
            must(history[: len(known)] == known, f"versions of {block.label} are gone")
            self._blocks[block.label] = history
            must(history[-1].value == block.value, f"{block.label} is not its newest version")
            must(len(block.value) <= block.limit, f"{block.label} is over its limit")
            must(agent.context.core.get(block.label) == block, f"{block.label} is stale")
