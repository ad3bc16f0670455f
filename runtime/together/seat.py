"""The seat of one agent among the others: sends its messages, and the answers to those it got.

Every message carries its sender and its chain. What would go on for ever is refused: a chain that
is too deep or too long, and waiting for an agent that waits for this one.
"""

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errand import Errand
from pagemind.runtime.errors import AgentInUse, Cancelled, PagemindError, ToolFailed, UnknownAgent
from pagemind.runtime.intake import checked_text
from pagemind.runtime.message import TRUST
from pagemind.runtime.model import Usage
from pagemind.runtime.services import Answer, Member, Reach
from pagemind.runtime.settings import (
    AGENT_ANSWER_SECONDS,
    AGENT_CHAIN_MESSAGES,
    AGENT_DEPTH,
    AGENT_FAN_OUT,
)
from pagemind.runtime.state.home import Registered
from pagemind.runtime.state.state import State
from pagemind.runtime.together.post import Post, Until, said_trust
from pagemind.runtime.together.roster import find, tagged, within
from pagemind.runtime.turn import Turn, TurnResult

_FUNCTIONS = ("send_message_to", "send_message_to_all")
_OPEN = ("interrupted", "model_error", "approval")  # a turn that ends so may yet be answered


class Seat:
    """Implements errand.Teamwork. `follow` takes up what others made of the shared blocks."""

    def __init__(
        self, post: Post, registered: Registered, state: State, follow: Callable[[], object]
    ) -> None:
        self._post = post
        self._me = registered
        self._state = state
        self._follow = follow
        self._turn: Turn | None = None

    # --- its turns ------------------------------------------------------------------------------

    def begin(self, turn: Turn) -> None:
        self._turn = turn

    def ended(self, turn: TurnResult, errand: Errand | None = None) -> None:
        self._turn = None
        errand = errand or Errand.kept(self._state, turn.turn)
        if errand is None or not errand.later or turn.stop_reason in _OPEN:
            return
        try:
            asker = self._post.runtime.home.find(errand.sender)
        except UnknownAgent:
            return
        text = turn.text
        if turn.stop_reason != "answered":
            text = "\n".join(filter(None, [text, f"({'; '.join(turn.reasons)})"]))
        back = Errand(
            self._me.name,
            f"answer {errand.id}",
            errand.chain,
            errand.depth + 1,
            later=False,
            trust=said_trust(self._state, turn.turn),
        )
        counted = self._post.chains.count(errand.chain, AGENT_CHAIN_MESSAGES)
        if counted and text.strip() and errand.depth < AGENT_DEPTH:
            self._post.leave(asker.id, back, text)

    def spent(self, client_ids: str) -> tuple[int, Usage, float, int]:
        return self._post.chains.spent(f"{self._me.id} {client_ids}")

    # --- what its functions ask -----------------------------------------------------------------

    def members(self, reach: Reach) -> list[Member]:
        others = within(self._post.runtime, reach, without=self._me.id)
        return [each.member for each in others]

    def ask(
        self,
        agent: str,
        text: str,
        reach: Reach,
        *,
        call: str,
        cancel: CancelToken | None,
        trust: int,
    ) -> Answer:
        other = find(self._post.runtime, agent, reach, sender=self._me)
        errand = self._errand(other.id, text, call, later=False, trust=trust)
        answer, turn = self._answer(other.id, other.name, errand, text, cancel)
        self._joined([turn])
        return answer

    def ask_all(
        self,
        tags: Sequence[str],
        text: str,
        reach: Reach,
        *,
        call: str,
        cancel: CancelToken | None,
        trust: int,
    ) -> list[Answer]:
        others = tagged(within(self._post.runtime, reach, without=self._me.id), tags)
        errands = [self._errand(each.id, text, call, later=False, trust=trust) for each in others]
        with ThreadPoolExecutor(AGENT_FAN_OUT, thread_name_prefix="fan-out") as pool:
            begun = [
                pool.submit(partial(self._answered, each.id, each.name, errand, text, cancel))
                for each, errand in zip(others, errands, strict=True)
            ]
        answers = [each.result() for each in begun]
        self._joined([turn for _, turn in answers])
        if cancel is not None:
            cancel.check()
        return [answer for answer, _ in answers]

    def leave(self, agent: str, text: str, reach: Reach, *, call: str, trust: int) -> int:
        other = find(self._post.runtime, agent, reach, sender=self._me)
        errand = self._errand(other.id, text, call, later=True, trust=trust)
        return self._post.leave(other.id, errand, text)

    # --- one message ----------------------------------------------------------------------------

    def _errand(self, to: str, text: str, call: str, *, later: bool, trust: int) -> Errand:
        """Raises ToolFailed where the chain has gone on for too long."""
        checked_text(text)
        turn = self._turn
        came = Errand.kept(self._state, turn.number) if turn is not None else None
        depth = came.depth + 1 if came else 1
        if depth > AGENT_DEPTH:
            raise ToolFailed(
                f"this message would be the {depth}th of a chain of messages that answer each"
                f" other, and {AGENT_DEPTH} may; it was not sent: answer with what you have"
            )
        chain = came.chain if came else self._chain(turn, call)
        if not self._post.chains.count(chain, AGENT_CHAIN_MESSAGES):
            raise ToolFailed(
                f"one request has led to {AGENT_CHAIN_MESSAGES} messages between agents, which is"
                " all that may be; it was not sent: answer with what you have"
            )
        id = self._id(to, text, call, turn)
        return Errand(self._me.name, id, chain, depth, later, min(TRUST["agent"], trust))

    def _chain(self, turn: Turn | None, call: str) -> str:
        """What a person's turn, or a call by hand, begins. It starts with the client's id, by
        which a task finds what its actions have led to."""
        if turn is None:
            return f"{self._me.id} {call or self._post.runtime.clock.new_id()}"
        row = self._state.turns.get(turn.number)
        begun = row.client_id if row is not None else None
        return f"{self._me.id} {begun or ''} {turn.number}"

    def _id(self, to: str, text: str, call: str, turn: Turn | None) -> str:
        """The same for a message that is sent again because the turn was taken up after a kill;
        another one for a message that is repeated."""
        before = 0
        if turn is not None:
            said = self._state.journal.of_turn(turn.number)
            ok = {m.tool_call_id for m in said if m.role == "tool" and m.ok}
            calls = [c for m in said for c in m.tool_calls if c.id in ok]
            before = sum(c.name in _FUNCTIONS and c.parsed().get("text") == text for c in calls)
        parts = [self._me.id, str(turn.number) if turn else call, to, text, str(before)]
        if turn is None and not call:
            parts.append(self._post.runtime.clock.new_id())
        return "agent " + hashlib.sha256("\0".join(parts).encode("utf-8")).hexdigest()[:32]

    def _answered(
        self, id: str, name: str, errand: Errand, text: str, cancel: CancelToken | None
    ) -> tuple[Answer, TurnResult | None]:
        """As _answer, but nothing is raised: one of many."""
        try:
            return self._answer(id, name, errand, text, cancel)
        except PagemindError as error:
            return Answer(name, "", error.message), None

    def _answer(
        self, id: str, name: str, errand: Errand, text: str, cancel: CancelToken | None
    ) -> tuple[Answer, TurnResult | None]:
        runtime, chains = self._post.runtime, self._post.chains
        with self._post.waits.waiting(self._me.id, id) as way:
            if way:
                names = [name, *(runtime.home.of_id(each).name for each in way[1:])]
                raise ToolFailed(
                    f"{' waits for '.join(names)}: to wait for {name} here would be for ever; it"
                    " was not sent: answer first, or send it with wait: false"
                )
            until = Until(cancel, runtime, AGENT_ANSWER_SECONDS)
            try:
                turn, trust = self._post.deliver(id, errand, text, until, AGENT_ANSWER_SECONDS)
            except AgentInUse as error:
                return Answer(name, "", f"it is in use now ({error.message}); try later"), None
            except Cancelled:
                if cancel is not None:
                    cancel.check()
                return Answer(name, "", _late()), None
            except UnknownAgent as error:
                raise ToolFailed(error.message) from None
        if turn.stop_reason == "interrupted" and cancel is not None:
            cancel.check()
        chains.spend(
            errand.chain,
            steps=turn.steps,
            usage=turn.usage,
            cost=turn.cost,
            unpriced=not turn.cost_known,
        )
        if turn.stop_reason == "answered":
            return Answer(name, turn.text, trust=trust), turn
        late = turn.stop_reason == "interrupted" and until.late
        why = _late() if late else "; ".join(turn.reasons)
        return Answer(name, turn.text, why, trust), turn

    def _joined(self, turns: Sequence[TurnResult | None]) -> None:
        """They count for the turn that asked, and what they wrote on shared blocks is seen."""
        if self._turn is not None:
            for turn in turns:
                if turn is not None:
                    self._turn.others = self._turn.others.plus(turn)
        self._follow()


def _late() -> str:
    return f"no answer within {AGENT_ANSWER_SECONDS:g} seconds; its turn was stopped"
