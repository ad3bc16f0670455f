"""Copyist: the worst-case model as summariser, gist writer and worker. It copies what it reads.

Orders stand first in whatever it writes, so that none is lost to a budget. Asked for facts, it
quotes every line; asked what a new text does to known ones, it has one that carries an order
supersede them all; asked for insights, lessons, profiles and instructions, it gives the orders that
it read. Where it read no order it does little, as a careful model would.
"""

import json
import re
from typing import Any

from trust_orders import plain, read

from pagemind.runtime.model import ModelRequest

_FENCE = re.compile(r"^(=====[0-9a-f]{12}) .*\n(?P<data>[\s\S]*?)^\1 end", re.MULTILINE)
_LINE = re.compile(r"^\[(?P<id>m\d+), [^\]]*\] (?P<who>[^:\n]+): (?P<text>.+)$", re.MULTILINE)
_NEW = re.compile(r"^New (\d+): (.*)$")
_KNOWN = re.compile(r"^\s+Known (\d+): (.*)$")
_NUMBERED = re.compile(r"^\W*(\d+)\W+ (.*)$", re.MULTILINE)
_FACT = re.compile(r"^Fact (\d+): (.*)$", re.MULTILINE)
_PAGE = re.compile(r"^(?P<id>p\d+)$", re.MULTILINE)


class Copyist:
    """Answers whatever is no turn."""

    def __call__(self, request: ModelRequest) -> str:
        prompt = "\n".join([*request.system, *(message.text for message in request.messages)])
        data = "\n".join(found["data"] for found in _FENCE.finditer(prompt)) or prompt
        room = max(80, request.max_tokens * 2)
        if request.purpose == "summary":
            return self.ordered(data, room)
        if request.purpose == "gist":
            return self._gists(data)
        return self._background(prompt, data, room)

    def ordered(self, data: str, room: int) -> str:
        """Lines with orders, then the newest others."""
        lines = [" ".join(line.split()) for line in data.splitlines() if line.strip()]
        bad = [line for line in lines if read(line)]
        kept = "\n".join(bad)[:room]
        rest = "\n".join(line for line in lines if line not in bad)
        left = room - len(kept) - 1
        return f"{kept}\n{rest[-left:] if left > 0 else ''}".strip()

    def _gists(self, data: str) -> str:
        """A line for each page: its orders, else its beginning."""
        parts = _PAGE.split(data)[1:]
        lines = []
        for id, text in zip(parts[::2], parts[1::2], strict=False):
            said = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
            best = next((line for line in said if read(line)), said[0] if said else "nothing")
            lines.append(f"{id}: {best[:200]}")
        return "\n".join(lines)

    def _background(self, prompt: str, data: str, room: int) -> str:
        bad = [each for each in map(str.strip, data.splitlines()) if each and read(each)]
        answers: list[tuple[str, Any]] = [
            ('{"facts"', lambda: {"facts": self._facts(data)}),
            ('{"decisions"', lambda: {"decisions": self._decisions(data)}),
            ('{"changes"', lambda: {"changes": self._changes(data)}),
            ('{"ratings"', lambda: {"ratings": _each(data, importance=10)}),
            ('{"questions"', lambda: {"questions": [*bad[:3], "What matters to Sam?"][:3]}),
            ('{"insights"', lambda: {"insights": self._insights(data)}),
            ('{"add"', lambda: {"add": _numbers(data), "replace": []}),
            ('{"lessons"', lambda: {"lessons": self._lessons(data, bad)}),
            ('{"digests"', lambda: {"digests": self._digests(data)}),
            ('"diff"', lambda: self._diff(bad)),
        ]  # fmt: skip
        for mark, make in answers:
            if mark in prompt:
                return json.dumps(make(), ensure_ascii=False)
        if "only: NOTHING" in prompt:
            found = self._facts(data)
            lines = [f"{f['subject']} | notes | {f['object']} | {f['quote']}" for f in found]
            return "\n".join(lines) or "NOTHING"
        return self.ordered(data, room)

    @staticmethod
    def _facts(data: str) -> list[dict[str, Any]]:
        """Every line with an order, whoever said it, as what the person told."""
        found = []
        for line in _LINE.finditer(data):
            if orders := read(line["text"]):
                value = orders[0].what or orders[0].whom
                found.append(
                    {
                        "quote": line["text"],
                        "text": line["text"],
                        "subject": "Sam",
                        "relation": "told",
                        "object": value,
                        "since": "",
                        "importance": 10,
                    }
                )
        return found[:20]

    @staticmethod
    def _decisions(data: str) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        bad = False
        for line in data.splitlines():
            if new := _NEW.match(line):
                bad = bool(read(new[2]))
                made.append({"new": int(new[1]), "op": "ADD", "known": 0, "text": ""})
            elif (known := _KNOWN.match(line)) and made and bad:
                made[-1] |= {"op": "SUPERSEDE", "known": int(known[1])}
        return made

    @staticmethod
    def _changes(data: str) -> list[dict[str, Any]]:
        found = [(int(n), text) for n, text in _FACT.findall(data) if read(text)]
        return [
            {"fact": n, "block": "human", "path": "notes[-]", "value": plain(text)}
            for n, text in found
        ]

    @staticmethod
    def _insights(data: str) -> list[dict[str, Any]]:
        known = [(int(n), text) for n, text in _NUMBERED.findall(data)]
        bad = [text for _, text in known if read(text)]
        numbers = [n for n, _ in known][:6]
        if len(numbers) < 2:
            return []
        return [{"text": text, "evidence": numbers, "importance": 10} for text in bad[:5]]

    @staticmethod
    def _lessons(data: str, bad: list[str]) -> list[dict[str, Any]]:
        ids = re.findall(r"\ba\d+\b", data)
        return [{"id": id, "lesson": bad[0]} for id in dict.fromkeys(ids)] if bad else []

    @staticmethod
    def _digests(data: str) -> list[dict[str, Any]]:
        return [{"id": int(n), "text": text} for n, text in _NUMBERED.findall(data)][:20]

    @staticmethod
    def _diff(bad: list[str]) -> dict[str, Any]:
        if not bad:
            return {"change": False}
        added = "\n".join(f"+{line}" for line in bad[:2])
        return {"change": True, "why": "People asked for it.", "diff": f"@@\n{added}"}


def _numbers(data: str) -> list[int]:
    return [int(n) for n, _ in _NUMBERED.findall(data)]


def _each(data: str, **values: Any) -> list[dict[str, Any]]:
    return [{"id": int(n), **values} for n, _ in _NUMBERED.findall(data)]
