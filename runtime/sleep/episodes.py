"""The job of episodes: makes those of turns that have ended, and has a model word their lessons.

Without a model the lesson is the error and what worked after it. A better line holds if it names
nothing that the episode does not name; those of several episodes are asked for in one call, once.
Those in which strangers' words stand are asked about by themselves: their lessons are trusted as
little as they are.
"""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.cleaning import clean
from pagemind.runtime.episode import Episode, cut, episode_from
from pagemind.runtime.episodes import catch_up, write
from pagemind.runtime.errors import RecordChanged
from pagemind.runtime.gist import holds, telling
from pagemind.runtime.json_reply import read_json
from pagemind.runtime.message import TRUST, clean_text
from pagemind.runtime.passage import Passage
from pagemind.runtime.settings import LESSON_CHARS, LESSONS_AT_ONCE
from pagemind.runtime.shorten import shorten
from pagemind.runtime.sleep.job import UNANSWERABLE, SleepContext
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.template import load
from pagemind.runtime.untrusted import marker

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "lessons": {
            "type": "array",
            "maxItems": LESSONS_AT_ONCE,
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "lesson": {"type": "string", "maxLength": LESSON_CHARS},
                },
                "required": ["id", "lesson"],
            },
        }
    },
    "required": ["lessons"],
}
_WORDS = 30
_TOKENS = 80  # of one lesson in the answer
_LEAST_WORDS = 3


class EpisodesJob:
    """See the head of this file."""

    name = "episodes"

    def due(self, context: SleepContext) -> bool:
        if not context.may_write("episodic"):
            return False
        newest = context.state.database.number("SELECT coalesce(max(turn), 0) FROM turns")
        return newest > int(context.cursor(self.name) or 0) or bool(self._without_lesson(context))

    def run(self, context: SleepContext, cancel: CancelToken) -> None:
        state = context.state
        with context.held(), state.database.transaction():
            newest = state.database.number("SELECT coalesce(max(turn), 0) FROM turns")
            made = catch_up(state)
            context.set_cursor(self.name, newest)
        context.report.count("episodes", made)
        with context.held():
            asked = self._without_lesson(context)
        if asked and context.model is not None:
            self._word(context, asked, cancel)
        context.written()

    def _without_lesson(self, context: SleepContext) -> list[tuple[Passage, Episode]]:
        """Those that a model has not been asked about, the oldest first; none without a model. What
        is trusted and what is not are never in one call."""
        if context.model is None:
            return []
        last = int(context.cursor("lessons") or 0)
        found: list[tuple[Passage, Episode]] = []
        for each in reversed(context.state.passages.newest(LESSONS_AT_ONCE * 8, kind="episode")):
            episode = episode_from(each.metadata)
            if each.number > last and episode is not None and _teaches(episode):
                found.append((each, episode))
        strange = [untrusted(each.provenance.trust) for each, _ in found]
        alike = next((at for at, one in enumerate(strange) if one != strange[0]), len(found))
        return found[: min(alike, LESSONS_AT_ONCE)]

    def _word(
        self,
        context: SleepContext,
        asked: Sequence[tuple[Passage, Episode]],
        cancel: CancelToken,
    ) -> None:
        shown = _fitting(context, [passage for passage, _ in asked])
        asked = asked[: len(shown)]
        notes = "\n\n".join(shown)
        prompt = load("lessons").fill(words=_WORDS, fence=marker(notes), notes=notes)
        said: Mapping[str, str] = {}
        with contextlib.suppress(*UNANSWERABLE):
            reply = context.ask(
                prompt, max_tokens=_TOKENS * len(asked) + 32, schema=_SCHEMA, cancel=cancel
            )
            said = _lessons(reply.text)
        least = min(TRUST["model"], *(passage.provenance.trust for passage, _ in asked))
        with context.held(), context.state.database.transaction():
            for passage, episode in asked:
                line = said.get(passage.short_id, "")
                if _holds(line, passage.text) and self._keep(
                    context, passage, episode, line, least
                ):
                    context.report.count("lessons")
            # An answer that is none does not make the question a better one.
            context.set_cursor("lessons", asked[-1][0].number)

    def _keep(
        self, context: SleepContext, passage: Passage, episode: Episode, line: str, trust: int
    ) -> bool:
        better = replace(episode, lesson=line, lesson_by="model")
        author = context.model.name if context.model else ""
        try:
            made = write(
                context.state, passage, better, reason="lesson", author=author, trust=trust
            )
            return made is not None
        except RecordChanged:  # a person judged the turn meanwhile
            return False


def _fitting(context: SleepContext, episodes: Sequence[Passage]) -> list[str]:
    """As many of them as a request has room for; the first in any case, cut short."""
    left = context.room() - context.count(load("lessons").text) - 32
    shown: list[str] = []
    for each in episodes:
        left -= _TOKENS
        text = f"{each.short_id}\n{clean(each.text)}"
        if not shown:
            text = shorten(text, max(_TOKENS, left), context.count)
        left -= context.count(text) + 2
        if left < 0 and shown:
            break
        shown.append(text)
    return shown


def _teaches(episode: Episode) -> bool:
    return episode.lesson_by != "model" and bool(episode.lesson)


def _lessons(text: str) -> Mapping[str, str]:
    """What was said about each; {} for what is not JSON of this kind."""
    try:
        value = read_json(clean_text(text))
    except ValueError:
        return {}
    listed = value.get("lessons") if isinstance(value, dict) else None
    return {
        str(each["id"]): cut(each["lesson"], LESSON_CHARS)
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, dict) and isinstance(each.get("lesson"), str) and "id" in each
    }


def _holds(line: str, text: str) -> bool:
    """Whether it says something, and names nothing that the episode does not."""
    lower = text.lower()
    return len(line.split()) >= _LEAST_WORDS and all(
        holds(text, word) or (word.isalpha() and word.lower() in lower) for word in telling(line)
    )
