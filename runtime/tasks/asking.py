"""Asking a person what a task may not decide: what to do about an action that failed, or a call
that may have happened, and whether a call may be made.

A person is whoever a chat has, too (runtime/person.py): `ask(question, choices)` and
`approve(request)`; with `choose(question, choices)` the task's own questions can be told from
those of its agents. Any may give None: nobody is there after all. Then the question waits in the
ledger and its input with it, until an answer is given there (`pagemind tasks answer`) or beside the
run (`Answers`).
"""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

from pagemind.runtime.person import ApprovalRequest, Consent, Person
from pagemind.runtime.settings import TASK_ASKED_AGAIN
from pagemind.runtime.state.ledger import Ledger
from pagemind.runtime.state.task_questions import About
from pagemind.runtime.tasks.failing import Waits
from pagemind.runtime.tasks.parts import OnApproval

Answer = TypeVar("Answer")
FAILED = ("retry", "skip", "stop")
UNKNOWN = ("redo", "skip")
APPROVAL = ("approve", "deny")


@dataclass(frozen=True, slots=True)
class GivenAnswers:
    """What was said beforehand to what waits; "" is nothing. It holds for questions that have
    waited, not for those that come up."""

    failed: str = ""
    unknown: str = ""
    approval: str = ""


class Asking:
    """Of one run. Safe to use from any thread: one question is asked at a time."""

    def __init__(self, person: Person | None = None, given: GivenAnswers | None = None) -> None:
        self.person = _OneAtATime(person) if person is not None else None
        self.given = given or GivenAnswers()

    def choose(
        self,
        ledger: Ledger,
        task: str,
        key: str,
        place: str,
        about: About,
        text: str,
        choices: Sequence[str],
        *,
        ends: bool = False,
    ) -> str:
        """One of the choices. Raises Waits where nobody is there to say; `ends`: nothing else of
        the task can be done before."""
        answer = self._given(ledger, task, key, place, about, choices)
        answer = answer or self.hear(text, choices)
        if not answer:
            ledger.questions.ask(task, key, place, about, text, choices)
            raise Waits(text, ends=ends)
        # Taken before it is acted upon: after a kill it is asked again.
        ledger.questions.forget(task, key)
        return answer

    def consent(
        self,
        ledger: Ledger,
        task: str,
        key: str,
        place: str,
        text: str,
        request: ApprovalRequest,
        *,
        ends: bool,
    ) -> Consent:
        """Whether a call may be made. Raises Waits."""
        answer = self._given(ledger, task, key, place, "approval", APPROVAL)
        consent = Consent(answer == APPROVAL[0]) if answer else None
        if consent is None and self.person is not None:
            consent = self.person.approve(request)
        if consent is None:
            ledger.questions.ask(task, key, place, "approval", text, APPROVAL)
            raise Waits(text, ends=ends)
        ledger.questions.forget(task, key)
        return consent

    def _given(
        self,
        ledger: Ledger,
        task: str,
        key: str,
        place: str,
        about: About,
        choices: Sequence[str],
    ) -> str:
        """What was said beforehand to a question that has waited; "" for nothing."""
        waiting = ledger.questions.of(task, key)
        if waiting is None or (waiting.place, waiting.about) != (place, about):
            return ""
        answer: str = waiting.answer or getattr(self.given, about)
        return answer if answer in choices else ""

    def may_go_on(self, ledger: Ledger, task: str, key: str) -> bool:
        """Whether an input that waits can be taken up again."""
        if self.person is not None or self.given != GivenAnswers():
            return True
        return ledger.questions.ready_inside(task, key)

    def hear(self, text: str, choices: Sequence[str]) -> str:
        """What the person chooses; "" where nobody does."""
        for _ in range(TASK_ASKED_AGAIN):
            said = self.person.choose(text, choices) if self.person is not None else None
            if said is None:
                return ""
            word = said.strip().lower()
            fits = [each for each in choices if word and each.startswith(word)]
            if len(fits) == 1:
                return fits[0]
        return ""


class ByPolicy:
    """The person whom an agent of a task asks: calls that want consent follow the policy."""

    def __init__(self, policy: OnApproval, person: Person | None) -> None:
        self._policy = policy
        self._person = person

    def approve(self, request: ApprovalRequest) -> Consent | None:
        if self._policy == "allow":
            return Consent(True)
        if self._policy == "deny":
            return Consent(False, reason="nobody may be asked about it in this task")
        return self._person.approve(request) if self._person is not None else None

    def ask(self, question: str, choices: Sequence[str]) -> str | None:
        return self._person.ask(question, choices) if self._person is not None else None


@runtime_checkable
class Chooser(Protocol):
    """Who can tell a task's own questions from those of its agents."""

    def choose(self, question: str, choices: Sequence[str]) -> str | None:
        """One of the choices, or the beginning of it."""


class _OneAtATime:
    """Several threads may want the same person; who is gone once is not asked again."""

    def __init__(self, person: Person) -> None:
        self._person = person
        self._lock = threading.Lock()
        self._gone = False

    def approve(self, request: ApprovalRequest) -> Consent | None:
        return self._asked(lambda: self._person.approve(request))

    def ask(self, question: str, choices: Sequence[str]) -> str | None:
        return self._asked(lambda: self._person.ask(question, choices))

    def choose(self, question: str, choices: Sequence[str]) -> str | None:
        person = self._person
        choose = person.choose if isinstance(person, Chooser) else person.ask
        return self._asked(lambda: choose(question, choices))

    def _asked(self, ask: Callable[[], Answer | None]) -> Answer | None:
        with self._lock:
            answer = None if self._gone else ask()
            self._gone = answer is None
            return answer


def wants(name: str, arguments: Mapping[str, Any]) -> str:
    """A call that wants consent, in one line."""
    return f"{name} {json.dumps(dict(arguments), ensure_ascii=False)[:300]} wants approval"
