"""The job of prompts: from what people said of answers, a small change of the agent's instructions.

One call a sleep, and only where there is feedback since the last one and no proposal waits. What
comes of it is always a proposal: a change that a person approves, with its diff. One that does not
apply, or is not small, is put aside with the reason. What functions answered is not shown; a talk
in which strangers' words stood in view makes the proposal as little trusted as they are.
"""

import contextlib
from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.episode import cut
from pagemind.runtime.instructions import TARGET, checked, own_of, shipped_of
from pagemind.runtime.json_reply import read_json
from pagemind.runtime.message import TRUST, clean_text
from pagemind.runtime.patch import DoesNotApply, diff_of
from pagemind.runtime.settings import (
    CHANGE_ATTEMPTS,
    PROMPT_ANSWER_TOKENS,
    PROMPT_JUDGED,
    PROMPT_SAID_CHARS,
)
from pagemind.runtime.sleep.job import UNANSWERABLE, SleepContext
from pagemind.runtime.state.state import State
from pagemind.runtime.state.turns import TurnRow
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.structured import faults_of
from pagemind.runtime.template import load
from pagemind.runtime.untrusted import marker

JOB = "prompts"
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "change": {"type": "boolean"},
        "why": {"type": "string"},
        "diff": {"type": "string"},
    },
    "required": ["change"],
}


class PromptsJob:
    """See the head of this file."""

    name = JOB

    def due(self, context: SleepContext) -> bool:
        if not context.spec.prompts or context.model is None:
            return False
        if context.state.changes.in_state("planned", job=JOB, limit=1):
            return True
        return not self._waits(context.state) and bool(self._judged(context))

    def run(self, context: SleepContext, cancel: CancelToken) -> None:
        self._retry(context)
        with context.held():
            state = context.state
            if self._waits(state):
                return
            judged = self._judged(context)
            own, general = own_of(state.database), shipped_of(state.database)
            told = "\n\n".join(_told(state, row) for row in judged)
            trust = min((_trust(state, row) for row in judged), default=TRUST["model"])
        if not judged:
            return
        prompt = load("instructions").fill(
            fence=marker(f"{general}{own.text}{told}"), general=general, own=own.text, judged=told
        )
        said = ""
        with contextlib.suppress(*UNANSWERABLE):
            said = context.ask(
                prompt, max_tokens=PROMPT_ANSWER_TOKENS, schema=_SCHEMA, cancel=cancel
            ).text
        with context.held(), context.state.database.transaction():
            self._take(context, judged, own.text, clean_text(said), trust)

    def _take(
        self, context: SleepContext, judged: list[TurnRow], before: str, text: str, trust: int
    ) -> None:
        """What the model said, as a proposal, or put aside."""
        last = judged[-1]
        cursor = {"turn": last.turn, "at": last.result["feedback"]["at"]}
        try:
            value = read_json(text)
            if fault := faults_of(value, _SCHEMA):
                raise ValueError(fault)
        except ValueError as error:
            tries = int((context.cursor(JOB) or {}).get("tries", 0)) + 1
            if tries < CHANGE_ATTEMPTS:
                context.set_cursor(JOB, {**(context.cursor(JOB) or {}), "tries": tries})
                return
            context.set_cursor(JOB, cursor)
            self._put_aside(context, judged, {"answer": cut(text, 500)}, str(error), "", trust)
            return
        context.set_cursor(JOB, cursor)
        diff, why = str(value.get("diff", "")), cut(str(value.get("why", "")), 300)
        if not value["change"]:
            context.report.count("prompts_kept")
            return
        own = own_of(context.state.database)
        try:
            if own.text != before:
                raise DoesNotApply("the instructions changed meanwhile")
            after = checked(own, diff)
        except DoesNotApply as error:
            self._put_aside(context, judged, {"diff": diff}, str(error), why, trust)
            return
        context.state.changes.add(
            JOB,
            "prompt",
            _body(own.text, after),
            state="pending",
            seq=context.state.journal.last_seq,
            target=TARGET,
            why=why,
            sources=[f"t{row.turn}" for row in judged],
            trust=trust,
        )
        context.report.count("prompts_proposed")

    def _retry(self, context: SleepContext) -> None:
        """What was put aside and is to be tried anew: the instructions may be others by now."""
        state = context.state
        with context.held(), state.database.transaction():
            for change in state.changes.in_state("planned", job=JOB):
                own = own_of(state.database)
                try:
                    after = checked(own, str(change.body.get("diff", "")))
                except DoesNotApply as error:
                    state.changes.settle(change.number, "dead", by=JOB, error=str(error))
                    continue
                body = _body(own.text, after)
                state.changes.plan(
                    change.number, "prompt", state="pending", target=TARGET, body=body
                )

    def _put_aside(
        self,
        context: SleepContext,
        judged: list[TurnRow],
        body: dict[str, str],
        error: str,
        why: str,
        trust: int,
    ) -> None:
        changes = context.state.changes
        made = changes.add(
            JOB,
            "prompt",
            body,
            state="planned",
            seq=context.state.journal.last_seq,
            target=TARGET,
            why=why,
            sources=[f"t{row.turn}" for row in judged],
            trust=trust,
        )
        changes.settle(made.number, "dead", by=JOB, error=error)
        context.report.count("prompts_refused")

    def _judged(self, context: SleepContext) -> list[TurnRow]:
        """Turns of the current line that were judged since the last time, the oldest first."""
        cursor = context.cursor(JOB) or {}
        seen, at = int(cursor.get("turn", 0)), str(cursor.get("at", ""))
        rows = context.state.turns.judged(since=seen)
        new = [row for row in rows if row.turn > seen or row.result["feedback"].get("at") != at]
        return new[-PROMPT_JUDGED:]

    @staticmethod
    def _waits(state: State) -> bool:
        return bool(state.changes.in_state("pending", job=JOB, limit=1))


def _body(before: str, after: str) -> dict[str, str]:
    return {"diff": diff_of(before, after, "instructions"), "before": before, "after": after}


def _told(state: State, row: TurnRow) -> str:
    """A judged answer: what was asked, what was said, what a person thought of it."""
    feedback = row.result["feedback"]
    lines = [f"t{row.turn}: {feedback['verdict']}"]
    if why := feedback.get("why"):
        lines.append(f"the person says: {cut(str(why), PROMPT_SAID_CHARS)}")
    for message in state.journal.of_turn(row.turn):
        if message.role == "tool" or message.kind != "talk" or not message.said.strip():
            continue
        if message.erased:
            continue
        if untrusted(message.provenance.trust):
            lines.append(f"{message.role}: (not shown)")
        else:
            lines.append(f"{message.role}: {cut(message.said, PROMPT_SAID_CHARS)}")
    return "\n".join(lines)


def _trust(state: State, row: TurnRow) -> int:
    """The least of what stood in view when the answer was made."""
    return min(TRUST["model"], state.history.least_trust(row.turn))
