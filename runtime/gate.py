"""Gate: what a tainted step may do. Decided by rule, never by asking the model.

A step is tainted while untrusted text stands in its window. It may not write core memory, set a
timer or pin anything; functions that change the world run by the rules of the definition's section
`trust`, and with an argument that untrusted text was the first to name by its rule `arguments`,
too; so do functions of others that only read, since what they are asked for is told to somebody. A
person is asked so many times a turn and no more: who is asked too often says yes to all. Where the
taint comes from earlier turns only, it is taken out of view and the model decides anew: the call
that it made while it stood there is not run. So it is where what it keeps would be in quarantine.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pagemind.runtime.argument_provenance import Finding, InView, named_outside
from pagemind.runtime.function_names import ALL_GROUPS, STANDING, expand
from pagemind.runtime.in_view import Part, parts_in_view
from pagemind.runtime.main_context import MainContext
from pagemind.runtime.mcp_use import server_of
from pagemind.runtime.queue_manager import QueueManager
from pagemind.runtime.state.database import Database
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.template import load
from pagemind.runtime.tool import Tool, ToolContext
from pagemind.runtime.trust_terms import Decision, TrustTerms

_FREE = frozenset({"page_unpin"})  # keeps nothing
_OF_THE_HOUSE = frozenset(name for names in ALL_GROUPS.values() for name in names)
_ORDER: tuple[Decision, ...] = ("allow", "ask", "refuse")
_NAMED = 5  # texts in view that are named in a refusal
_ASKED = "questions"  # of meta: the turn that asked last, and how often
_SOURCES = 16  # that a tainted step names, of all that is untrusted in its view


@dataclass(frozen=True, slots=True)
class Verdict:
    """`aside`: not run, and what is untrusted leaves the window before the next step.
    `by_argument`: it is for what it would be called with, to which no consent once and for all
    extends."""

    kind: Literal["allow", "ask", "refuse", "aside"]
    why: str = ""
    by_argument: bool = False


_ALLOWED = Verdict("allow")


class Gate:
    """Of one agent. `terms` are its definition's."""

    def __init__(
        self,
        terms: TrustTerms,
        context: MainContext,
        queue_manager: QueueManager,
        database: Database,
    ) -> None:
        self._terms = terms
        self._allowed = _functions(terms.allow)
        self._context = context
        self._queue_manager = queue_manager
        self._database = database
        self._repeats: set[int] = set()  # results that brought nothing untrusted in by themselves
        self._clear = False
        self._turn = 0
        self._asked = 0  # questions of this turn
        self._anew: dict[str, None] = {}  # functions of calls that were not run
        self._told: list[str] = []

    def verdict(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        context: ToolContext,
        *,
        consented: bool = False,
    ) -> Verdict:
        """What becomes of a call that the running turn's step made. `consented`: a person has said
        once and for all that this function may be called while untrusted text is in view."""
        standing, changes = tool.name in STANDING, tool.effect == "world"
        if not untrusted(context.trust):
            return _ALLOWED
        if self._would_wait(tool) and self._clearable(context.turn):
            return self._aside(tool)
        if not (standing or changes or _tells(tool)):
            return _ALLOWED
        free = not changes or consented or self._lists(tool.name)
        rule: Decision = "allow" if free else self._terms.world
        named = [] if standing else self._named_outside(arguments, context.call_id)
        if named:
            rule = max(rule, self._terms.arguments, key=_ORDER.index)
        if not standing and rule == "allow":
            return _ALLOWED
        if self._clearable(context.turn):
            return self._aside(tool)
        seen = ", ".join(self._seen()) or "memory"
        if standing:
            self._tell(f"{tool.name} was refused: text from outside is in view ({seen})")
            return Verdict("refuse", load("tainted_memory").fill(name=tool.name, seen=seen).strip())
        if rule == "ask" and not self._may_ask():
            self._tell(f"{tool.name} was refused: {self._asked} questions were asked in this turn")
            why = load("tainted_asked").fill(name=tool.name, count=self._asked, seen=seen)
            return Verdict("refuse", why.strip())
        if named:
            return self._for_arguments(tool, rule, named)
        if rule == "ask":
            return Verdict("ask", f"text from outside is in view: {seen}")
        self._tell(f"{tool.name} was refused: text from outside is in view ({seen})")
        return Verdict("refuse", load("tainted_world").fill(name=tool.name, seen=seen).strip())

    def by_hand(self, tool: Tool, arguments: Mapping[str, Any], trust: int) -> Verdict:
        """What becomes of a call that no step has made, with arguments that come from what is as
        trusted as that. Whoever calls has chosen the function: only they are looked at."""
        if not untrusted(trust) or not (tool.effect == "world" or _tells(tool)):
            return _ALLOWED
        named = self._named_outside(arguments, "")
        return self._for_arguments(tool, self._terms.arguments, named) if named else _ALLOWED

    def brought(self, seq: int, trust: int) -> None:
        """A result was stored that is itself, whoever asked for it, as trusted as that."""
        if not untrusted(trust):
            self._repeats.add(seq)

    def begin(self, turn: int) -> None:
        """A turn begins, or is taken up again."""
        self._repeats.clear()
        self._clear = False
        self._anew.clear()
        if turn != self._turn:
            before, _, asked = self._database.meta(_ASKED).partition(" ")
            self._asked = int(asked) if before == str(turn) else 0
        self._turn = turn
        self._told.clear()
        if self._terms.aside == "each_turn":
            self._set_aside(whole_turn=True)

    def cleared(self) -> bool:
        """After the calls of a reply: take out of view what one of them was not run for. Whether
        that was done."""
        if not self._clear:
            return False
        self._clear = False
        self._set_aside(whole_turn=False)
        return True

    def missing(self, functions: Collection[str]) -> list[str]:
        """What of the definition's `allow` is none of these functions, for the person."""
        there = {*functions, *map(server_of, functions), *ALL_GROUPS}
        return [
            f"trust: {{allow: …}} names {name}, and there is no such function"
            for name in self._terms.allow
            if name not in there
        ]

    def told(self) -> list[str]:
        """What a person should know of it since this was last asked."""
        told, self._told = self._told, []
        return told

    def _for_arguments(self, tool: Tool, rule: Decision, named: list[Finding]) -> Verdict:
        said = "; ".join(
            f"{each.argument}: {each.value!r} was first named by {each.source.id}"
            f" ({each.source.who})"
            for each in named
        )
        if rule == "ask":
            return Verdict("ask", f"text from outside is in view, and {said}", by_argument=True)
        self._tell(f"{tool.name} was refused: {said}, text from outside")
        why = load("tainted_argument").fill(name=tool.name, named=said)
        return Verdict("refuse", why.strip(), by_argument=True)

    def _aside(self, tool: Tool) -> Verdict:
        self._clear = True
        self._anew[tool.name] = None
        return Verdict("aside", load("aside_not_run").fill(name=tool.name).strip())

    def _would_wait(self, tool: Tool) -> bool:
        """Whether what it keeps would be put in quarantine."""
        keeps = tool.effect == "memory" and tool.name not in STANDING | _FREE
        return keeps and self._terms.archival == "quarantine"

    def _may_ask(self) -> bool:
        """Whether a person may be asked once more in this turn; if so, that counts."""
        if self._asked >= self._terms.questions:
            return False
        self._asked += 1
        # A turn that waits for an answer goes on in whatever process is given it.
        self._database.set_meta(_ASKED, f"{self._turn} {self._asked}")
        return True

    def _lists(self, function: str) -> bool:
        return not self._allowed.isdisjoint((function, server_of(function)))

    def _set_aside(self, *, whole_turn: bool) -> None:
        first = self._queue_manager.set_aside(self._turn, whole_turn=whole_turn)
        anew = f"; {', '.join(self._anew)} is decided on anew" if self._anew else ""
        self._anew.clear()
        if first or anew:
            self._tell(f"text from outside was set aside ({', '.join(first) or 'memories'}){anew}")

    def _tell(self, line: str) -> None:
        if line not in self._told:
            self._told.append(line)

    def _named_outside(self, arguments: Mapping[str, Any], call_id: str) -> list[Finding]:
        if self._terms.arguments == "allow":
            return []
        outside: list[InView] = []
        trusted: list[str] = []
        for part in parts_in_view(self._context):
            if not untrusted(part.trust):
                trusted.append(part.text)
            elif not self._is_own(part, call_id):
                turn = self._turn if self._whole() else 0
                outside.append(InView(part.id, part.source or part.origin, _said(part, turn)))
        return named_outside(arguments, outside, trusted)

    def _is_own(self, part: Part, call_id: str) -> bool:
        """Whether an untrusted part is untrusted only for when it was asked for, or is the reply
        itself."""
        if part.entry is None:
            return False
        if self._whole() and part.entry.seq in self._repeats:
            return True
        reply = self._context.queue.since_calls()[:1]  # some models give the same ids again
        made = any(call.id == call_id for entry in reply for call in entry.message.tool_calls)
        return made and part.entry.seq == reply[0].seq

    def _whole(self) -> bool:
        """Whether all of the running turn is in view: what the agent repeats of it stands there. Of
        one that was paged out on the way nothing else may be left."""
        return self._context.held is None

    def _clearable(self, turn: int) -> bool:
        """Whether nothing untrusted would be in view without earlier turns and what followed from
        them."""
        context = self._context
        if self._terms.aside == "never" or untrusted(
            min(context.pinned.trust, context.core_trust(), context.head_trust)
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

    def outside(self) -> tuple[str, ...]:
        """The short ids of what is untrusted and in view, the newest last: what a write of this
        step may come from."""
        context = self._context
        held = [context.held] if context.held is not None else []
        memories = context.prefetch
        ids = memories.ids if memories is not None and untrusted(memories.trust) else ()
        messages = (
            entry.message.short_id
            for entry in (*held, *context.queue)
            if entry.tells
            and untrusted(entry.message.provenance.trust)
            and entry.message.role != "assistant"
            and entry.seq not in self._repeats
        )
        return (*ids, *messages)[-_SOURCES:]

    def _seen(self) -> list[str]:
        """What is untrusted and in view, by id, the newest last."""
        found = [
            part.named
            for part in parts_in_view(self._context)
            if untrusted(part.trust) and part.origin != "model"
        ]
        return found[-_NAMED:]


def _tells(tool: Tool) -> bool:
    """Whether a function that changes nothing may tell others what it is asked for: one that is not
    of the house. Of those that are, http_get reaches the hosts of its definition alone."""
    return tool.foreign and tool.name not in _OF_THE_HOUSE


def _said(part: Part, turn: int) -> str:
    """What a text in view says; outside of that turn also what it called: of what it had read there
    nothing may be left."""
    message = part.entry.message if part.entry is not None else None
    if message is None or message.turn == turn:
        return part.text
    return "\n".join([part.text, *(call.arguments for call in message.tool_calls)])


def _functions(allow: Collection[str]) -> frozenset[str]:
    """The functions, groups and servers that a definition names, with what is in the groups."""
    groups = [name for name in allow if name in ALL_GROUPS]
    return frozenset((*allow, *expand(groups, ALL_GROUPS)))
