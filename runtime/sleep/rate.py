"""Rate: records that nobody gave an importance get one, many in one call.

What a model does not answer, or not with a number from 1 to 10, stays unrated and is not asked
about again: importance_of() speaks for it. Pieces of documents and what waits for a person are
left alone.
"""

from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.cleaning import clean_line
from pagemind.runtime.errors import RecordChanged
from pagemind.runtime.passage import Passage
from pagemind.runtime.settings import (
    JOB_REPLY_TOKENS,
    JOB_TEXT_TOKENS,
    RATE_ATTEMPTS,
    RATE_BATCH,
)
from pagemind.runtime.shorten import shorten
from pagemind.runtime.sleep.asked import asked, whole
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.template import load
from pagemind.runtime.untrusted import marker

# Anything beyond the shape is looked at answer by answer: one bad one must not spoil the rest.
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "ratings": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {}, "importance": {}},
                "required": ["id", "importance"],
            },
        }
    },
    "required": ["ratings"],
}


class Rate:
    """Implements Job."""

    name = "rate"

    def due(self, context: SleepContext) -> bool:
        if context.model is None or not context.may_write("semantic"):
            return False
        return bool(self._waiting(context, 1))

    def run(self, context: SleepContext, cancel: CancelToken) -> None:
        with context.held():
            waiting = self._waiting(context, RATE_BATCH)
            texts = _fitting(context, waiting)
        if not texts:
            return
        shown = waiting[: len(texts)]
        lines = "\n".join(f"{n}. {text}" for n, text in enumerate(texts, 1))
        prompt = load("rate").fill(records=lines, fence=marker(lines))
        answer = asked(context, prompt, _SCHEMA, cancel)
        ratings = _ratings(answer, len(shown))
        with context.held(), context.state.database.transaction():
            at = self._at(context)
            failed = 0 if ratings else at["failed"] + 1
            if ratings or failed >= RATE_ATTEMPTS:
                at, failed = {"after": shown[-1].number}, 0
            for n, importance in ratings.items():
                self._keep(context, shown[n - 1], importance)
            context.set_cursor(self.name, {**at, "failed": failed})
        context.written()

    def _waiting(self, context: SleepContext, limit: int) -> list[Passage]:
        return context.state.passages.unrated(self._at(context)["after"], limit)

    def _at(self, context: SleepContext) -> dict[str, int]:
        return {"after": 0, "failed": 0, **(context.cursor(self.name) or {})}

    def _keep(self, context: SleepContext, record: Passage, importance: float) -> None:
        try:
            changed = context.state.passages.edit(
                record.number,
                None,
                importance=importance,
                base=record.version,
                author="worker",
                reason="rated",
                seq=context.state.journal.last_seq,
            )
        except RecordChanged:
            return  # whoever changed it meanwhile may have rated it
        if changed is not None:
            context.report.count("rated")


def _fitting(context: SleepContext, records: list[Passage]) -> list[str]:
    """The texts of as many of them as a request has room for."""
    head = context.count(load("rate").text)
    left = context.room() - head - context.reply(JOB_REPLY_TOKENS)
    texts: list[str] = []
    for record in records:
        text = shorten(clean_line(record.text), JOB_TEXT_TOKENS, context.count)
        left -= context.count(text) + 8
        if left < 0:
            break
        texts.append(text)
    return texts


def _ratings(answer: Any, count: int) -> dict[int, float]:
    """The first usable rating of each record, by its number in the list."""
    found: dict[int, float] = {}
    for each in answer["ratings"] if answer else ():
        n, importance = whole(each["id"]), whole(each["importance"])
        if n is not None and 1 <= n <= count and importance is not None and 1 <= importance <= 10:
            found.setdefault(n, float(importance))
    return found
