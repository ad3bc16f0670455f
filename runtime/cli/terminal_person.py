"""The person at the terminal of a chat, asked in the middle of a turn.

What was typed before the question stood there is no answer to it: it stays for the next prompt.
Ctrl-C refuses and stops the turn; Ctrl-D leaves the call waiting, as a lost connection does.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.cli.consent_view import exact, fenced, rows_of
from pagemind.runtime.errors import Cancelled
from pagemind.runtime.person import ApprovalRequest, Consent
from pagemind.runtime.settings import CONSENT_ROWS

_CONSENT = "run it? y once · a always · n [WHY] no: "
_VIEW_FIRST = "run it? v view all of it · n [WHY] no: "
_ANSWER = "your answer (Enter for none): "
_CHOICE = "your answer (a number, or words; Enter for none): "


class TerminalPerson:
    """`aside` clears the terminal for a question and takes it back; `put` reads one line of what
    is typed from then on, and raises EOFError and KeyboardInterrupt."""

    def __init__(
        self,
        put: Callable[[str], str],
        aside: Callable[[], AbstractContextManager[Any]],
        columns: Callable[[], int],
        cancel: CancelToken,
    ) -> None:
        self._put = put
        self._aside = aside
        self._columns = columns
        self._cancel = cancel

    def approve(self, request: ApprovalRequest) -> Consent | None:
        """Show it and ask until the answer is one; what is long must be seen whole before yes."""
        seen = len(rows_of(request, self._columns())) <= CONSENT_ROWS
        with self._aside():
            self._show(rows_of(request, self._columns(), CONSENT_ROWS))
            while (answer := self._read(_CONSENT if seen else _VIEW_FIRST)) is not None:
                word, _, reason = answer.strip().partition(" ")
                match word.lower().strip(",.:;!"):
                    case "y" | "yes" if seen:
                        return Consent(True)
                    case "a" | "always" if seen:
                        return Consent(True, always=True)
                    case "n" | "no":
                        return Consent(False, reason=reason.strip())
                    case "v" | "view":
                        self._show(rows_of(request, self._columns()))
                        seen = True
        return None

    def ask(self, question: str, choices: Sequence[str]) -> str | None:
        """Show the question with its choices; a number means one of them."""
        with self._aside():
            self._show(["the agent asks:", *fenced(question, self._columns())])
            self._show([f"  {at}  {exact(each)}" for at, each in enumerate(choices, 1)])
            answer = self._read(_CHOICE if choices else _ANSWER)
        if answer is None:
            return None
        number = answer.strip()
        if number.isdecimal() and 1 <= int(number) <= len(choices):
            return choices[int(number) - 1]
        return answer

    def _show(self, rows: Sequence[str]) -> None:
        for row in rows:
            print(row)
        sys.stdout.flush()

    def _read(self, question: str) -> str | None:
        """A line; None where nobody will answer. Raises Cancelled."""
        try:
            answer = self._put(question)
        except EOFError:
            return None
        except KeyboardInterrupt:
            self._cancel.cancel()
            raise Cancelled("stopped while it asked") from None
        self._cancel.check()
        return answer
