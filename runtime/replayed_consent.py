"""The person of a replay: consents to what ran in the record, refuses what was refused there."""

import re
from collections.abc import Callable, Mapping, Sequence

from pagemind.runtime.errors import Cancelled
from pagemind.runtime.person import ApprovalRequest, Consent

_REFUSED = re.compile(r"\S+ was not run: a person declined it(?:: (?P<reason>.*))?", re.DOTALL)
_STOPPED = "was not run: the turn was stopped"


class RecordedPerson:
    """`ran` says whether a call was made in the record, by its id; `returned` gives the texts that
    calls came to there."""

    def __init__(
        self, ran: Callable[[str], bool], returned: Callable[[], Mapping[str, str]]
    ) -> None:
        self._ran = ran
        self._returned = returned

    def approve(self, request: ApprovalRequest) -> Consent | None:
        """What was answered then; None where nobody was there. Raises Cancelled."""
        if self._ran(request.call_id):
            return Consent(True)
        said = self._returned().get(request.call_id, "")
        if refused := _REFUSED.match(said):
            return Consent(False, reason=refused["reason"] or "")
        if _STOPPED in said:
            raise Cancelled("stopped, as in the record")
        return None

    def ask(self, question: str, choices: Sequence[str]) -> str | None:
        """Answers to questions are answers of a function, which the record has."""
        return None
