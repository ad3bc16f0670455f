"""TrustView: what `pagemind inspect --trust` shows. The rules of an agent, what is untrusted in its
window and makes its next step tainted, what is set aside, and what was not run for its sake.

No text of what is untrusted stands in it: only ids, where it came from, and counts.
"""

from dataclasses import dataclass
from typing import Any

from pagemind.runtime.approvals import NOT_RUN
from pagemind.runtime.in_view import Part, parts_in_view
from pagemind.runtime.main_context import MainContext
from pagemind.runtime.message import Message
from pagemind.runtime.quarantine import Quarantine
from pagemind.runtime.settings import TRUST_REFUSALS, TRUST_REFUSALS_OF
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.trust_terms import TrustTerms


@dataclass(frozen=True, slots=True)
class TrustView:
    """`trust` is that of the next step as the window is now; `outside` what is untrusted in it;
    `aside` the first and last message of what is set aside; `blocks` with their trust, `summary`
    that of the summary (None: there is none); `refused` the calls of late that were not run."""

    terms: TrustTerms
    trust: int
    outside: tuple[Part, ...]
    aside: tuple[tuple[str, str], ...]
    blocks: tuple[tuple[str, int], ...]
    summary: int | None
    quarantined: int
    refused: tuple[Message, ...]

    @property
    def tainted(self) -> bool:
        """Whether the next step would be."""
        return untrusted(self.trust)

    def as_json(self) -> dict[str, Any]:
        """The answer of `inspect --trust --json`."""
        return {
            "rules": self.terms.model_dump(mode="json"),
            "tainted": self.tainted,
            "trust": self.trust,
            "untrusted": [part.as_json() for part in self.outside],
            "aside": [{"first": first, "last": last} for first, last in self.aside],
            "blocks": [{"label": label, "trust": trust} for label, trust in self.blocks],
            "summary": self.summary,
            "quarantined": self.quarantined,
            "refused": [
                {
                    "id": message.short_id,
                    "turn": message.turn,
                    "function": message.name,
                    "why": message.text,
                }
                for message in self.refused
            ],
        }


def trust_view(state: State, context: MainContext, terms: TrustTerms) -> TrustView:
    """Gather it."""
    versions = context.core.shown_versions()
    context.core_trust = lambda: state.blocks.least_trust(versions)
    parts = list(parts_in_view(context))
    epoch = state.history.epoch()
    summary = state.pages.summary(epoch.summary if epoch is not None else None)
    late = state.journal.newest(TRUST_REFUSALS_OF)
    refused = [m for m in late if m.role == "tool" and m.provenance.detail == NOT_RUN]
    return TrustView(
        terms=terms,
        trust=min((part.trust for part in parts), default=100),
        outside=tuple(part for part in parts if untrusted(part.trust)),
        aside=tuple(
            (f"m{entry.seq}", f"m{entry.view.tokens}")
            for entry in context.queue
            if entry.view.form == "aside" and not entry.view.hidden
        ),
        blocks=tuple(state.blocks.trusts().items()),
        summary=summary.trust if summary is not None else None,
        quarantined=Quarantine(state).count(),
        refused=tuple(refused[:TRUST_REFUSALS]),
    )
