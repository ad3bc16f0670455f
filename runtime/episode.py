"""An episode: what a turn was about, what was tried in it, and how it went. Pure.

Made from what is stored of a turn, without a model. How it went says, in this order: a person
(good, bad), the check of a task (`expect`), how the turn ended, an error that nothing made good;
else it is unknown. An example is one that went well, a warning one that failed.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from pagemind.runtime.message import Message
from pagemind.runtime.settings import (
    EPISODE_ACTIONS,
    EPISODE_ARGUMENT_CHARS,
    EPISODE_ARGUMENTS,
    EPISODE_ERROR_CHARS,
    EPISODE_SITUATION_CHARS,
)

Result = Literal["ok", "failed", "unknown"]
RESULTS: Final[tuple[Result, ...]] = ("ok", "failed", "unknown")
# How turns end that got nowhere; the others say nothing about what was tried.
FAILED_STOPS = frozenset({"steps", "tool_errors", "repeated_call", "page_ins", "time", "empty"})
# Looking up what was tried is not trying something.
LOOKING = frozenset({"episode_search", "skill_search"})


@dataclass(frozen=True, slots=True)
class Tried:
    """One call: the function, its arguments cut short, and its error if it had one."""

    name: str
    arguments: Mapping[str, str]
    error: str = ""

    @property
    def shown(self) -> str:
        """As in code."""
        return f"{self.name}({', '.join(f'{k}={v}' for k, v in self.arguments.items())})"


@dataclass(frozen=True, slots=True)
class Episode:
    """`because` says what the outcome is known from: feedback, expect, stop, error or nothing."""

    turn: int
    situation: str
    actions: tuple[Tried, ...]
    outcome: Result
    because: str
    lesson: str = ""
    lesson_by: str = "runtime"

    @property
    def errors(self) -> tuple[str, ...]:
        return tuple(each.error for each in self.actions if each.error)

    @property
    def approach(self) -> tuple[str, ...]:
        """What was tried: the same for two episodes that went the same way."""
        return tuple(each.shown for each in self.actions)

    @property
    def text(self) -> str:
        """What is searched: the situation first, since others are looked for by theirs."""
        lines = [self.situation, f"tried: {'; '.join(self.approach) or 'an answer'}"]
        lines.append(f"{self.outcome}: {self.lesson}" if self.lesson else self.outcome)
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """The metadata of its record."""
        return {
            "turn": self.turn,
            "situation": self.situation,
            "actions": [
                {"name": each.name, "arguments": dict(each.arguments), "error": each.error}
                for each in self.actions
            ],
            "errors": list(self.errors),
            "outcome": self.outcome,
            "because": self.because,
            "lesson": self.lesson,
            "lesson_by": self.lesson_by,
        }


@dataclass(frozen=True, slots=True)
class Recalled:
    """An episode as it is shown. `times`: how often the same was tried with the same outcome, as
    far as it was found."""

    id: str
    episode: Episode
    trust: int
    times: int = 1


def episode_from(stored: Mapping[str, Any]) -> Episode | None:
    """The inverse of as_json(); None for what is no episode."""
    try:
        return Episode(
            turn=int(stored["turn"]),
            situation=str(stored["situation"]),
            actions=tuple(
                Tried(
                    str(each["name"]),
                    {str(k): str(v) for k, v in each["arguments"].items()},
                    str(each["error"]),
                )
                for each in stored["actions"]
            ),
            outcome=next(each for each in RESULTS if each == stored["outcome"]),
            because=str(stored["because"]),
            lesson=str(stored["lesson"]),
            lesson_by=str(stored["lesson_by"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration):
        return None  # the metadata of a record may be anything: it came with an import


def episode_of(
    turn: int, messages: Sequence[Message], stop_reason: str, result: Mapping[str, Any]
) -> Episode | None:
    """The episode of a turn with these messages; None where nothing was tried. `result` is what is
    stored of it, with `feedback` and `expect` where there are any."""
    talk = [each for each in messages if each.kind in ("talk", "reading")]
    event = next((each for each in talk if each.role == "user"), None)
    actions = tuple(_actions(talk))[:EPISODE_ACTIONS]
    judged = result.get("feedback") or result.get("expect")
    if event is None or event.erased or (not actions and not judged):
        return None
    outcome, because = _outcome(actions, stop_reason, result)
    made = Episode(turn, cut(event.text, EPISODE_SITUATION_CHARS), actions, outcome, because)
    return replace(made, lesson=_lesson(made, result))


def _actions(messages: Sequence[Message]) -> Iterator[Tried]:
    results = {each.tool_call_id: each for each in messages if each.role == "tool"}
    for message in messages:
        for call in message.tool_calls:
            if call.name in LOOKING:
                continue
            came = results.get(call.id)
            failed = came is not None and not came.ok
            given = list(call.parsed().items())[:EPISODE_ARGUMENTS]
            yield Tried(
                call.name,
                {name: _shown(value) for name, value in given},
                cut(came.text, EPISODE_ERROR_CHARS) if came is not None and failed else "",
            )


def _shown(value: Any) -> str:
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return cut(written, EPISODE_ARGUMENT_CHARS)


def cut(text: str, characters: int) -> str:
    """In one line, of so many characters at most."""
    line = " ".join(text.split())
    return line if len(line) <= characters else f"{line[: characters - 1].rstrip()}…"


def _outcome(
    actions: Sequence[Tried], stop_reason: str, result: Mapping[str, Any]
) -> tuple[Result, str]:
    if feedback := result.get("feedback"):
        return ("ok" if feedback.get("verdict") == "good" else "failed"), "feedback"
    if expect := result.get("expect"):
        return ("ok" if expect.get("ok") else "failed"), "expect"
    if stop_reason in FAILED_STOPS:
        return "failed", "stop"
    if _unmended(actions):
        return "failed", "error"
    return "unknown", ""


def _unmended(actions: Sequence[Tried]) -> bool:
    """Whether the last that was tried was in vain."""
    return bool(actions) and bool(actions[-1].error)


def _lesson(episode: Episode, result: Mapping[str, Any]) -> str:
    """What went wrong, and what worked after it."""
    said = (result.get("feedback") or {}).get("why") or (result.get("expect") or {}).get("why")
    lines = [cut(str(said), EPISODE_ERROR_CHARS)] if said else []
    actions = episode.actions
    at = next((n for n, each in enumerate(actions) if each.error), None)
    if at is not None:
        lines.append(f"{actions[at].shown} failed: {actions[at].error}")
        after = [each for each in actions[at + 1 :] if not each.error]
        same = [each for each in after if each.name == actions[at].name]
        if worked := (same or after)[:1]:
            lines.append(f"{worked[0].shown} worked")
    return "; ".join(lines)
