"""The worker's prompts as the judge answers them: it is shown the data of each, and says what it
finds in the form that the prompt asks for.

A prompt that it does not know is answered with an empty text, and counted in `unknown`: a figure
of a run with such calls says less than it could.
"""

import json
import re
from collections import Counter

from lifecycle_judge import Judge
from synth_life_words import PEOPLE, SPEAKERS

from pagemind.runtime.model import ModelRequest

MADE_UP = 999  # a number that nothing has
_NEW = re.compile(r"^New (\d+): (.*)$")
_KNOWN = re.compile(r"^\s+Known (\d+): (.*)$")
_FACT = re.compile(r"^Fact (\d+): (.*)$", re.M)
_HOLDS = re.compile(r"^Profile ([^:]+): fields .*\nholds (.*)$", re.M)
_NAME = re.compile(rf"\b(?:{'|'.join((*SPEAKERS, *PEOPLE))})\b")
_MEMORY = re.compile(r"^\W*(\d+)\W+ (.*)$", re.M)
_RATED = re.compile(r"^(\d+)\. ", re.M)


class Answers:
    """What the worker's model says."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.unknown = Counter[str]()

    def __call__(self, request: ModelRequest) -> str:
        prompt = "\n".join([*request.system, *(message.text for message in request.messages)])
        if '{"facts"' in prompt:
            return self._facts(prompt)
        if "only: NOTHING" in prompt:
            return self._lines(prompt)
        if '{"decisions"' in prompt:
            return self._decisions(prompt)
        if '{"changes"' in prompt:
            return self._fields(prompt)
        if '{"ratings"' in prompt:
            rated = [{"id": int(n), "importance": 4} for n in _RATED.findall(prompt)]
            return json.dumps({"ratings": rated})
        if '{"questions"' in prompt:
            names = Counter(_NAME.findall(prompt)).most_common(3)
            return json.dumps({"questions": [f"What moves {name}?" for name, _ in names]})
        if '{"insights"' in prompt:
            return self._insight(prompt)
        if '{"add"' in prompt:
            return json.dumps({"add": [1], "replace": []})
        if '{"lessons"' in prompt:
            return json.dumps({"lessons": []})
        self.unknown[prompt[:60]] += 1
        return ""

    def _insight(self, prompt: str) -> str:
        """One, of whom two memories name: what is drawn is not measured, only what it costs."""
        for name, many in Counter(_NAME.findall(prompt)).most_common():
            numbers = [int(n) for n, text in _MEMORY.findall(prompt) if name in text]
            if many > 1 and len(numbers) > 1:
                text = f"{name} is often spoken of."
                found = {"text": text, "evidence": numbers[:3], "importance": 4}
                return json.dumps({"insights": [found]})
        return json.dumps({"insights": []})

    def _facts(self, prompt: str) -> str:
        found, slip = self._judge.extract(prompt)
        if slip == "prose":
            return "These people told me many interesting things, and I enjoyed it."
        facts = []
        for each in found:
            quote = each.quote
            if slip == "misquoted":
                quote = f"It was said that {quote.rstrip('.').lower()}, as far as I know."
            facts.append(
                {
                    "quote": quote,
                    "text": each.text,
                    "subject": each.subject,
                    "relation": each.relation,
                    "object": each.object,
                    "since": each.valid_from,
                    "importance": 4,
                }
            )
        return json.dumps({"facts": facts}, ensure_ascii=False)

    def _lines(self, prompt: str) -> str:
        found, slip = self._judge.extract(prompt)
        if slip == "prose":
            return "I would rather talk about something else."
        lines = [f"{e.subject} | {e.relation} | {e.object} | {e.quote}" for e in found]
        return "\n".join(lines) or "NOTHING"

    def _fields(self, prompt: str) -> str:
        """Fields of profiles, which are named like their people and relations."""
        holds = dict(_HOLDS.findall(prompt))
        changes = []
        for number, text in _FACT.findall(prompt):
            found = self._judge.field(text)
            if found is None:
                continue
            (subject, relation, value), beside = found
            block = subject.lower()
            if f'"{value}"' in holds.get(block, "") and beside:
                continue
            path = f"{relation}[-]" if beside else relation
            changes.append({"fact": int(number), "block": block, "path": path, "value": value})
        return json.dumps({"changes": changes}, ensure_ascii=False)

    def _decisions(self, prompt: str) -> str:
        """Each new text is judged by itself, and errs by itself."""
        made: list[dict[str, object]] = []
        new, numbers, known = 0, [], []
        text = ""

        def close() -> None:
            if new:
                op, place = self._judge.decide(text, known)
                meant = place is not None and place < len(numbers)
                number = numbers[place] if meant else 0 if place is None else MADE_UP
                joined = f"{known[place]} {text}" if op == "UPDATE" and meant else ""
                made.append({"new": new, "op": op, "known": number, "text": joined})

        for line in prompt.splitlines():
            if found := _NEW.match(line):
                close()
                new, text, numbers, known = int(found[1]), found[2], [], []
            elif (found := _KNOWN.match(line)) and new:
                numbers.append(int(found[1]))
                known.append(found[2])
        close()
        return json.dumps({"decisions": made}, ensure_ascii=False)
