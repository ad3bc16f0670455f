"""The person who is there while an agent works: says yes or no to a call, answers a question.

A chat gives one to its agent (`agent.person`); a script or a task may give one that answers by
rule; where there is none, a turn that needs consent ends with `approval` and waits.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pagemind.runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A call that wants consent. `effect` is none, memory or world; `about` says what of the
    function's terms a person must know: where a command runs, which folders are meant."""

    agent: str
    turn: int
    call_id: str
    name: str
    arguments: Mapping[str, Any]
    effect: str
    about: str = ""
    tainted: bool = False  # it is asked for since text from outside is in view

    def as_json(self) -> dict[str, Any]:
        """`pending` of `send --json`."""
        return {
            "id": self.call_id,
            "name": self.name,
            "arguments": dict(self.arguments),
            "effect": self.effect,
            "about": self.about,
            "tainted": self.tainted,
        }


@dataclass(frozen=True, slots=True)
class Consent:
    """The answer. `always`: also to every further call of that function, until the agent is
    closed. `reason` is read by the model."""

    allowed: bool
    always: bool = False
    reason: str = ""


class Person(Protocol):
    """Who can be asked. Either answer may be None: nobody is there after all."""

    def approve(self, request: ApprovalRequest) -> Consent | None:
        """Whether the call may be made."""

    def ask(self, question: str, choices: Sequence[str]) -> str | None:
        """A question of the agent's; `choices` are suggestions, and may be empty."""


class Unhurried:
    """A person whose time to answer is told, so that it is not counted as the agent's."""

    def __init__(self, person: Person, clock: Clock, waited: Callable[[float], None]) -> None:
        self._person = person
        self._clock = clock
        self._waited = waited

    def approve(self, request: ApprovalRequest) -> Consent | None:
        """As the person does."""
        begun = self._clock.monotonic()
        try:
            return self._person.approve(request)
        finally:
            self._waited(self._clock.monotonic() - begun)

    def ask(self, question: str, choices: Sequence[str]) -> str | None:
        """As the person does."""
        begun = self._clock.monotonic()
        try:
            return self._person.ask(question, choices)
        finally:
            self._waited(self._clock.monotonic() - begun)


@dataclass
class ScriptedPerson:
    """For tests and rules: consents to the functions in `allow`, refuses the others, and answers
    questions in order, then with nobody there."""

    allow: frozenset[str] = frozenset()
    answers: list[str] = field(default_factory=list)
    asked: list[ApprovalRequest | str] = field(default_factory=list)

    def approve(self, request: ApprovalRequest) -> Consent | None:
        self.asked.append(request)
        return Consent(request.name in self.allow)

    def ask(self, question: str, choices: Sequence[str]) -> str | None:
        self.asked.append(question)
        return self.answers.pop(0) if self.answers else None
