"""forget(): what an answer has quoted is erased for good; the same question then finds nothing.

The answer itself repeats what it quotes: it goes with it, as does all else that came from it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pagemind.runtime.demo.asking import Answered, Asking
from pagemind.runtime.demo.stage import AGENT
from pagemind.runtime.erasure.receipt import Receipt
from pagemind.runtime.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was erased, its receipt, and the same question afterwards."""

    message: str
    receipt: Receipt
    after: Answered

    @property
    def gone(self) -> bool:
        """Whether the receipt proves it, and the answer quotes nothing any more."""
        return self.receipt.verified and not self.after.quote

    def as_json(self) -> dict[str, Any]:
        """`erasure` of --json."""
        receipt = self.receipt
        return {
            "id": self.message,
            "erased": receipt.erased.to_dict(),
            "verified": receipt.verified,
            "looked": dict(receipt.looked),
            "receipt": str(receipt.path),
            "question": self.after.question,
            "quote": self.after.quote,
            "gone": self.gone,
        }


def forget(home: Path, known: Answered) -> Forgotten:
    """Erase the message that an answer quoted, and ask once more."""
    with Runtime(home, background=False) as runtime:
        receipt = runtime.erase(AGENT, ids=(known.message,))
    with Asking(home) as asking:
        return Forgotten(known.message, receipt, asking.ask(known.question))
