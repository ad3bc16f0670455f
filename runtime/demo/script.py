"""The script that plays the model in the demo: a function of the request, and of nothing else.

It answers what the talk says with the talk's replies, saves something when the notice comes, and
answers a question by searching, paging in and quoting; one that names a minute it answers by
walking down the tree of pages. What it quotes it has read in the request.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache

from pagemind.runtime.demo.talk import talk
from pagemind.runtime.demo.tree_walk import asked_time, page_table, towards
from pagemind.runtime.message import ERASED, Message, ToolCall
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.models.scripted_model import Answer, ScriptedModel, call
from pagemind.runtime.tiers.lexical import coverage, rarity, terms
from pagemind.runtime.tiers.recipe import spoken_date

_HIT = re.compile(r"(m\d+)(?: \((p\d+)\))?(?: (\d\d:\d\d))? ([^:]+): (.*)")
_HEADER = re.compile(r"-- conversation \d+, (.*)")
_READ = re.compile(r"^(m\d+) \[(\d{4}-\d\d-\d\d) (\d\d:\d\d)\] ([^:\n]+): ", re.MULTILINE)
_PART = re.compile(r"\[(\w+) part (\d+) of (\d+)\]\n")
_TELLING = re.compile(r"\b[A-Z]{2}[\w-]*\d[\w-]*|\d+(?:[-.,:]\d+)*|(?<=[a-z] )[A-Z]\w+")
_ANSWER = re.compile(r"On .+? said: “(.*)” \((m\d+)(?:, page (p\d+)|, still in view)\)", re.DOTALL)
_ECHO = re.compile(r"On .{8,60} (you|I) said: “")  # an answer given before
_ENOUGH = 0.3  # of what the question asks for: below it a line is about something else


@dataclass(frozen=True, slots=True)
class Found:
    """A line of a search result or of a page. `when` is the date as people say it."""

    message: str
    page: str
    when: str
    speaker: str
    text: str


def model() -> ScriptedModel:
    """The model. A summary is asked for and not written, so that the kernel makes its own."""
    return ScriptedModel(answer, summary=lambda _: "", keep=1)


def answer(request: ModelRequest) -> Answer:
    """The next reply or call."""
    messages = request.messages
    event = max(i for i, m in enumerate(messages) if m.role == "user" and m.kind == "talk")
    notice = max((i for i, m in enumerate(messages) if m.kind == "notice" and m.seq), default=None)
    said = messages[event]
    done = messages[event + 1 :]
    reply = _replies().get(_spoken(said))
    if reply is None:
        question = _spoken(said)
        minute = asked_time(question)
        return _walk(minute, done, messages) if minute else _recollect(question, done, messages)
    if notice is not None and not _called(messages[notice:], "archival_insert"):
        kept = _worth_keeping(messages[:notice])
        if kept is not None and kept.said_at is not None:
            return call(
                "archival_insert",
                call_id=f"keep-{said.seq}",
                content=f"{kept.said_at:%Y-%m-%d}, {kept.speaker}: {_spoken(kept)}",
                tags=["lighthouse"],
            )
    return reply


def parse(answer: str) -> tuple[str, str, str]:
    """What an answer of this script quotes: the words, the message, the page; "" for nothing."""
    found = _ANSWER.fullmatch(answer)
    return (found[1], found[2], found[3] or "") if found else ("", "", "")


@cache
def _replies() -> dict[str, str]:
    return {each.said: each.reply for each in talk()}


def _spoken(message: Message) -> str:
    """What was said, without the memories, the time and the name that the kernel puts before it."""
    own = message.text.rpartition("</memories>\n")[2]
    return own.split(f"{message.speaker}: ", 1)[-1]


def _called(messages: Sequence[Message], name: str) -> bool:
    return any(each.name == name for m in messages for each in m.tool_calls)


def _worth_keeping(messages: Sequence[Message]) -> Message | None:
    """The message of a person that names most: codes, numbers, names."""
    said = [m for m in messages if m.role == "user" and m.kind == "talk"]
    return max(said, key=lambda m: len(_TELLING.findall(_spoken(m))), default=None)


# --- questions --------------------------------------------------------------------------------


def _recollect(question: str, done: Sequence[Message], window: Sequence[Message]) -> Answer:
    """Search, then read the page around the best line, then quote it."""
    search = next((m.text for m in reversed(done) if m.name == "recall_search"), None)
    reading = next((m.text for m in reversed(done) if m.name == "page_in"), None)
    hit = _best(question, _lines(search, window)) if search is not None else None
    if reading is not None and (header := _PART.match(reading)):
        target, part, parts = header[1], int(header[2]), int(header[3])
        found = _in_reading(question, target, reading[header.end() :], hit)
        if found is not None:
            return _quote(found)
        if part < parts:
            return _call("page_in", done, id=target, part=part + 1)
        return f"{target} should hold it, but I could not read it."
    if search is None:
        return _call("recall_search", done, query=question)
    if hit is None:
        among = search.split("among ", 1)[-1].splitlines()[0].split(", part")[0]
        return f"I looked among {among} and found nothing about that."
    return _call("page_in", done, id=hit.page or hit.message)


def _walk(minute: str, done: Sequence[Message], window: Sequence[Message]) -> Answer:
    """From the page table to a directory, to a page, to the words of that minute; no search."""
    reading = next((m.text for m in reversed(done) if m.name == "page_in"), None)
    if reading is None:
        below = towards(minute, page_table(window))
        return _call("page_in", done, id=below) if below else f"No page of mine holds {minute}."
    header = _PART.match(reading)
    if header is None:
        return f"I could not read on: {reading}"
    target, part, parts = header[1], int(header[2]), int(header[3])
    body = reading[header.end() :]
    if target.startswith("d"):
        if below := towards(minute, body):
            return _call("page_in", done, id=below)
    else:
        at = datetime.fromisoformat(minute)
        when = f"{spoken_date(at)} at {at:%H:%M}"
        for line in _page_lines(target, body):
            if line.when == when and line.text == ERASED:
                return f"What was said {when} was erased: nothing of it is left."
            if line.when == when and line.speaker != "assistant":
                return _quote(line)
    if part < parts:
        return _call("page_in", done, id=target, part=part + 1)
    return f"{target} should hold it, but I could not read it."


def _call(name: str, done: Sequence[Message], /, **arguments: str | int) -> ToolCall:
    """A call whose id is the same in every run: it is part of what is sent and counted."""
    last = done[-1].seq if done else 0
    return call(name, call_id=f"look-{name}-{last}", **arguments)


def _quote(found: Found) -> str:
    who = "I" if found.speaker == "assistant" else "you"
    where = f"page {found.page}" if found.page else "still in view"
    return f"On {found.when} {who} said: “{found.text}” ({found.message}, {where})"


def _lines(result: str, window: Sequence[Message]) -> list[Found]:
    """The lines of a search result; what stands in the window is read there."""
    shown = {m.short_id: _spoken(m) for m in window if m.seq}
    lines = []
    date = ""
    for line in result.splitlines():
        if header := _HEADER.fullmatch(line):
            date = header[1]
        elif hit := _HIT.fullmatch(line):
            message, page, time, speaker, text = hit.groups(default="")
            text = shown.get(message, "") if text == "[in context]" else text
            lines.append(Found(message, page, f"{date} at {time}", speaker, text))
    return lines


def _in_reading(question: str, target: str, body: str, hit: Found | None) -> Found | None:
    """The line of a reading that the search meant; the best one if the search is out of view."""
    if target.startswith("m"):  # the message alone, without a date: the search has said it
        return replace(hit, text=body) if hit is not None and hit.message == target else None
    lines = _page_lines(target, body)
    if hit is not None and hit.page == target:
        return next((line for line in lines if line.message == hit.message), None)
    return _best(question, lines)


def _page_lines(page: str, body: str) -> list[Found]:
    """The messages of a page as it was read."""
    lines = []
    starts = [*_READ.finditer(body)]
    for start, after in zip(starts, [*starts[1:], None], strict=False):  # one more at the end
        at = datetime.fromisoformat(start[2])
        text = body[start.end() : after.start() if after else None].strip()
        lines.append(Found(start[1], page, f"{spoken_date(at)} at {start[3]}", start[4], text))
    return lines


def _best(question: str, lines: Sequence[Found]) -> Found | None:
    """The line that holds most of the question's rare words; a person's own before an echo."""
    lines = [line for line in lines if line.text != question and not _ECHO.match(line.text)]
    words = [set(terms(line.text)) for line in lines]
    weights = rarity(set(terms(question)) - _ASKING, words, len(lines))
    scores = [
        coverage(weights, held) * (0.9 if line.speaker == "assistant" else 1.0)
        - (0.3 if line.text.endswith("?") else 0.0)
        for line, held in zip(lines, words, strict=True)
    ]
    best = max(range(len(lines)), key=lambda i: scores[i], default=None)
    return lines[best] if best is not None and scores[best] >= _ENOUGH else None


_ASKING = frozenset(
    terms("what which who whom whose when where why how much many did do does said say tell me you")
)
