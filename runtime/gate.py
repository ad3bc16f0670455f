"""Gate: what a tainted step may do. Decided by rule, never by asking the model.

A step is tainted while untrusted text stands in its window. It may not write core memory, set a
timer or pin what is untrusted; functions that change the world run by the rules of the definition's
section `trust`. Where the taint comes from earlier turns only, it is taken out of view and the
model decides anew: the call that it made while it stood there is not run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pagemind.runtime.function_names import GROUPS, WORK
from pagemind.runtime.main_context import MainContext
from pagemind.runtime.queue_manager import QueueManager
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.template import load
from pagemind.runtime.tool import Tool, ToolContext
from pagemind.runtime.trust_terms import TrustTerms

# Memory that acts by itself later: a tainted step cannot write it, whoever would be asked.
STANDING = frozenset((*GROUPS["core"], *WORK["timers"])) - {"schedules_list"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """`aside`: not run, and what is untrusted leaves the window before the next step."""

    kind: Literal["allow", "ask", "refuse", "aside"]
    why: str = ""


_ALLOWED = Verdict("allow")


class Gate:
    """Of one agent. `terms` are its definition's."""

    def __init__(
        self, terms: TrustTerms, context: MainContext, queue_manager: QueueManager
    ) -> None:
        self._terms = terms
        self._context = context
        self._queue_manager = queue_manager
        self._repeats: set[int] = set()  # results that brought nothing untrusted in by themselves
        self._clear = False

    def verdict(self, tool: Tool, arguments: Mapping[str, Any], context: ToolContext) -> Verdict:
        """What becomes of a call that the running turn's step made."""
        standing = tool.name in STANDING
        if not untrusted(context.trust) or not (standing or tool.effect == "world"):
            return _ALLOWED
        rule = "allow" if tool.name in self._terms.allow else self._terms.world
        if not standing and rule == "allow":
            return _ALLOWED
        if self._clearable(context.turn):
            self._clear = True
            return Verdict("aside", load("aside_not_run").fill(name=tool.name).strip())
        seen = ", ".join(self._seen()) or "memory"
        if standing:
            return Verdict("refuse", load("tainted_memory").fill(name=tool.name, seen=seen).strip())
        if rule == "ask":
            return Verdict("ask", f"text from outside was in view: {seen}")
        return Verdict("refuse", load("tainted_world").fill(name=tool.name, seen=seen).strip())

    def brought(self, seq: int, trust: int) -> None:
        """A result was stored that is itself, whoever asked for it, as trusted as that."""
        if not untrusted(trust):
            self._repeats.add(seq)

    def begin(self) -> None:
        """A turn begins."""
        self._repeats.clear()
        self._clear = False
        if self._terms.aside == "each_turn":
            self._queue_manager.set_aside()

    def cleared(self) -> bool:
        """After the calls of a reply: take out of view what one of them was not run for. Whether
        that was done."""
        if not self._clear:
            return False
        self._clear = False
        self._queue_manager.set_aside()
        return True

    def _clearable(self, turn: int) -> bool:
        """Whether nothing untrusted would be in view without earlier turns and what followed from
        them."""
        context = self._context
        if self._terms.aside == "never" or untrusted(
            min(context.pinned.trust, context.core_trust())
        ):
            return False
        held = [context.held] if context.held is not None else []
        return not any(
            untrusted(entry.message.provenance.trust)
            and entry.tells
            and entry.message.turn == turn
            and entry.message.role != "assistant"
            and entry.seq not in self._repeats
            for entry in (*held, *context.queue)
        )

    def _seen(self) -> list[str]:
        """What is untrusted and in view, by id, the newest last."""
        found = [
            f"{entry.message.short_id} ({entry.message.name or entry.message.speaker})"
            for entry in self._context.queue
            if entry.tells
            and untrusted(entry.message.provenance.trust)
            and entry.message.role != "assistant"
        ]
        return found[-5:]
