"""Reflect: insights that are drawn from many memories (after Generative Agents, arXiv 2304.03442).

Due when memories of enough importance came in sum, or enough messages, or when a conversation that
held something is over. A model is asked which questions the recent memories raise; what memory has
on them is looked up; and it says what follows, each insight with the memories that it rests on.
What cites nothing, names what stands in none of them or is known already is dropped, alone.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.passage import ORDINARY
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.settings import (
    CONVERSATION_PAUSE_SECONDS,
    INSIGHT_CHARS,
    JOB_REPLY_TOKENS,
    NEAR_SUPERSEDES,
    REFLECT_FOUND,
    REFLECT_INSIGHTS,
    REFLECT_LEAST,
    REFLECT_QUESTIONS,
    REFLECT_RECENT,
)
from pagemind.runtime.sleep.asked import asked
from pagemind.runtime.sleep.derived import propose, record_body
from pagemind.runtime.sleep.inherited import inherited
from pagemind.runtime.sleep.insight import checked
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.sleep.recent import (
    Memory,
    numbered,
    of_messages,
    of_records,
    still_standing,
)
from pagemind.runtime.template import load
from pagemind.runtime.untrusted import marker

_QUESTIONS: dict[str, Any] = {
    "type": "object",
    "properties": {"questions": {"type": "array"}},
    "required": ["questions"],
}
_INSIGHTS: dict[str, Any] = {
    "type": "object",
    "properties": {"insights": {"type": "array"}},
    "required": ["insights"],
}


class Reflect:
    """Implements Job."""

    name = "reflect"

    def due(self, context: SleepContext) -> bool:
        bounds = context.spec.reflect
        if context.model is None or bounds is None or not context.may_write("semantic"):
            return False
        said, stored = self._since(context, bounds.every)
        worth = sum(memory.importance for memory in (*said, *stored))
        if worth >= bounds.importance or len(said) >= bounds.every:
            return True
        return worth >= REFLECT_LEAST and self._is_over(context, said)

    def run(self, context: SleepContext, cancel: CancelToken) -> None:
        with context.held():
            seq = context.state.journal.last_seq
            number = context.state.passages.last_number
            recent = self._recent(context)
        found: list[Memory] = []
        insights: list[tuple[dict[str, Any], list[Memory]]] = []
        if questions := self._questions(context, recent, cancel):
            found = self._found(context, questions)
            insights = self._insights(context, questions, found, cancel)
        with context.held(), context.state.database.transaction():
            least = min((m.trust for m in (*recent, *found)), default=0)  # of all it was shown
            for insight, evidence in insights:
                self._keep(context, insight, evidence, least)
            # Whatever it answered: nothing is lost, what is recent now is so next time.
            context.set_cursor(self.name, {"seq": seq, "number": number})
        context.written()

    # --- when ---------------------------------------------------------------------------------

    def _since(self, context: SleepContext, most: int) -> tuple[list[Memory], list[Memory]]:
        """What was said and stored since the last time, the newest of it."""
        at = {"seq": 0, "number": 0, **(context.cursor(self.name) or {})}
        said = [m for m in context.state.journal.newest(most) if m.seq > at["seq"]]
        newest = context.state.passages.newest(REFLECT_RECENT)
        stored = [p for p in newest if p.number > at["number"]]
        return of_messages(said), of_records(stored, context.scope, derived=False)

    @staticmethod
    def _is_over(context: SleepContext, said: Sequence[Memory]) -> bool:
        """Whether a conversation has ended in which some of this was said."""
        if not said:
            return False
        known = context.state.journal.get([int(m.id[1:]) for m in said])
        if any(m.conversation != context.state.journal.conversation for m in known.values()):
            return True
        newest = max(m.at for m in said)
        return context.now() - newest >= timedelta(seconds=CONVERSATION_PAUSE_SECONDS)

    # --- what is asked ------------------------------------------------------------------------

    @staticmethod
    def _recent(context: SleepContext) -> list[Memory]:
        """The newest memories, the newest first."""
        said = of_messages(context.state.journal.newest(REFLECT_RECENT))
        stored = of_records(context.state.passages.newest(REFLECT_RECENT), context.scope)
        return sorted([*said, *stored], key=lambda m: m.at, reverse=True)[:REFLECT_RECENT]

    @staticmethod
    def _questions(
        context: SleepContext, recent: Sequence[Memory], cancel: CancelToken
    ) -> list[str]:
        prompt = load("reflect_questions")
        room = context.room() - context.count(prompt.text) - context.reply(JOB_REPLY_TOKENS)
        lines = numbered(context, recent, room)
        if not lines:
            return []
        shown = "\n".join(lines)
        filled = prompt.fill(most=REFLECT_QUESTIONS, memories=shown, fence=marker(shown))
        answer = asked(context, filled, _QUESTIONS, cancel)
        said = [q for q in answer["questions"] if isinstance(q, str)] if answer else []
        questions = [" ".join(q.split())[:INSIGHT_CHARS] for q in said]
        return [q for q in dict.fromkeys(questions) if q][:REFLECT_QUESTIONS]

    @staticmethod
    def _found(context: SleepContext, questions: Sequence[str]) -> list[Memory]:
        """What memory has on the questions, the best of each in turn."""
        ordinary = SearchFilters(kinds=ORDINARY)
        ids: list[list[str]] = []
        for question in questions:
            near = [id for id, _ in context.near(question, REFLECT_FOUND, ordinary)]
            words = context.search("archival", question, ordinary, REFLECT_FOUND)
            talk = context.search("recall", question, SearchFilters(), REFLECT_FOUND)
            own = [*near, *(hit.id for hit in words if not hit.archive)]
            ids.append([*dict.fromkeys(own), *(hit.id for hit in talk)])
        in_turn = dict.fromkeys(
            each[at] for at in range(max(map(len, ids))) for each in ids if at < len(each)
        )
        with context.held():
            seqs = [int(id[1:]) for id in in_turn if id[0] == "m"]
            numbers = [int(id[1:]) for id in in_turn if id[0] == "a"]
            said = of_messages(context.state.journal.get(seqs).values())
            stored = of_records(context.state.passages.get(numbers).values(), context.scope)
        known = {memory.id: memory for memory in (*said, *stored)}
        return [known[id] for id in in_turn if id in known][: REFLECT_FOUND * len(questions)]

    def _insights(
        self,
        context: SleepContext,
        questions: Sequence[str],
        found: list[Memory],
        cancel: CancelToken,
    ) -> list[tuple[dict[str, Any], list[Memory]]]:
        """What holds of an answer, with its evidence. `found` is cut to what was shown."""
        prompt = load("reflect")
        asked_for = "\n".join(f"- {question}" for question in questions)
        room = (
            context.room()
            - context.count(prompt.text + asked_for)
            - context.reply(JOB_REPLY_TOKENS)
        )
        lines = numbered(context, found, room)
        del found[len(lines) :]
        if not lines:
            return []
        shown = "\n".join(lines)
        filled = prompt.fill(
            most=REFLECT_INSIGHTS * len(questions),
            questions=asked_for,
            memories=shown,
            fence=marker(f"{asked_for}\n{shown}"),
        )
        answer = asked(context, filled, _INSIGHTS, cancel)
        kept: dict[str, tuple[dict[str, Any], list[Memory]]] = {}
        for each in (answer["insights"] if answer else [])[: REFLECT_INSIGHTS * len(questions)]:
            insight = checked(each, found, shown)
            if insight is None or self._is_known(context, insight[0]["text"]):
                context.report.count("dropped")
            else:
                kept.setdefault(insight[0]["text"].casefold(), insight)
        return list(kept.values())

    @staticmethod
    def _is_known(context: SleepContext, text: str) -> bool:
        """Whether an insight says the same already."""
        near = context.near(text, 1, SearchFilters(kinds=("insight",)))
        return bool(near) and near[0][1] >= NEAR_SUPERSEDES

    # --- what is kept -------------------------------------------------------------------------

    def _keep(
        self,
        context: SleepContext,
        insight: dict[str, Any],
        evidence: Sequence[Memory],
        trust: int,
    ) -> None:
        """Store it one level above its evidence, as far as that still stands."""
        standing = still_standing(context, [memory.id for memory in evidence])
        left = [memory for memory in evidence if memory.id in standing]
        records = [memory.record for memory in left if memory.record is not None]
        heirs = inherited(
            records,
            shown_trust=trust,
            scope=context.scope,
            messages=len(records) < len(left),
        )
        if not left or heirs is None:
            context.report.count("dropped")
            return
        body = record_body(
            insight["text"],
            "insight",
            insight["importance"],
            heirs,
            level=heirs.level + 1,
            how="evidence",
        )
        state = propose(
            context,
            self.name,
            "add",
            body,
            sources=[memory.id for memory in left],
            trust=heirs.trust,
            why="reflection",
        )
        context.report.count("insights", int(state == "applied"))
