"""Makes what a file says of calls and results legal: every result after its call, each call with
one result, in the order of the calls.

A result without its call is kept as something that was observed; a call without a result gets one
that says so.
"""

import json
from collections.abc import Iterator
from dataclasses import replace

from pagemind.runtime.portable.foreign.items import Call, Left, Said

_NO_RESULT = "(the file has no result of this call)"


class Exchanges:
    """add() takes messages in order; what is complete comes out as groups, close() gives the rest.

    A group is one message, or an assistant's with calls and all their results.
    """

    def __init__(self) -> None:
        self._head: Said | None = None
        self._results: dict[str, Said] = {}

    def add(self, said: Said) -> Iterator[list[Said] | Left]:
        if said.role == "tool":
            waiting = self._waiting()
            answers = said.answers or next(iter(waiting), "")
            if answers in waiting:
                self._results[answers] = replace(said, answers=answers)
                return
            # An answer to nothing that is known would make the history illegal.
            yield from self.close()
            if said.text.strip():
                yield [said]
            else:
                yield Left("result", "it is empty, and its call is not there")
            return
        yield from self.close()
        if said.calls:
            calls = _told_apart(said.calls)
            self._head = replace(said, calls=calls)
            if len(calls) < len(said.calls):
                yield Left("call", "its id stands twice in one message")
        elif said.text.strip():
            yield [said]
        else:
            yield Left("message", "it is empty")

    def close(self) -> Iterator[list[Said]]:
        """The group that is open, complete."""
        if (head := self._head) is None:
            return
        results = [self._results.get(call.id) or _none(head, call) for call in head.calls]
        named = zip(results, head.calls, strict=True)
        self._head, self._results = None, {}
        yield [head, *(replace(result, speaker=call.name) for result, call in named)]

    def _waiting(self) -> dict[str, None]:
        calls = self._head.calls if self._head is not None else ()
        return {call.id: None for call in calls if call.id not in self._results}


def _told_apart(calls: tuple[Call, ...]) -> tuple[Call, ...]:
    """Each id once, none empty; arguments that are the JSON of an object."""
    found: dict[str, Call] = {}
    for number, call in enumerate(calls):
        id = call.id or f"call_{number}"
        found.setdefault(id, Call(id, call.name, _object(call.arguments)))
    return tuple(found.values())


def _object(text: str) -> str:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        value = None
    return text or "{}" if isinstance(value, dict) else json.dumps({"input": text})


def _none(head: Said, call: Call) -> Said:
    key = f"{head.key} {call.id}"
    return Said("tool", _NO_RESULT, key, head.at, call.name, answers=call.id, ok=False)
