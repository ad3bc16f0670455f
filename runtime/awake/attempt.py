"""One attempt at an event: its agent is opened, the turn is run, and what becomes of the event."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from pagemind.runtime.agent import Agent
from pagemind.runtime.approvals import pending_in
from pagemind.runtime.awake.callers import Caller
from pagemind.runtime.awake.events import Kind
from pagemind.runtime.awake.fate import DONE, Fate, after_error, after_turn
from pagemind.runtime.awake.inbox import SPEAKER
from pagemind.runtime.awake.kept_agents import KeptAgents
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import PagemindError, UnknownAgent
from pagemind.runtime.event import UserMessage
from pagemind.runtime.person import ApprovalRequest
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.state.mailbox import Mail
from pagemind.runtime.trace import ignore
from pagemind.runtime.turn import TurnResult

_log = logging.getLogger("pagemind.awake")
_UNPAID_SECONDS = 3600.0  # at most, until a spent budget is looked at again
_UNANSWERED = Fate("again", "a call waits for consent (send --approve|--deny)", 5.0, tried=False)


class Say(Protocol):
    """Tells what happens."""

    def __call__(self, happened: Kind, /, **data: Any) -> None: ...


@dataclass
class Work:
    """An event whose turn runs. `cut`: stopped by the keeper, and not by its caller."""

    mail: Mail
    callers: list[Caller]
    cancel: CancelToken = field(init=False)
    cut: bool = False

    def __post_init__(self) -> None:
        self.cancel = self.callers[0].cancel if self.callers else CancelToken()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an attempt came to: a result, a fault, or neither where the turn did not begin."""

    fate: Fate
    result: TurnResult | None = None
    fault: Exception | None = None


class Attempts:
    """Of one keeper."""

    def __init__(
        self,
        runtime: Runtime,
        agents: KeptAgents,
        opens: Callable[[str], Agent] | None,
        say: Say,
    ) -> None:
        self._runtime = runtime
        self._agents = agents
        self._opens = opens
        self._say = say

    def run(self, work: Work, failures: int) -> Outcome:
        """Never raises for what a model, an agent or an event did. `failures`: in a row, before."""
        mail, opened = work.mail, False
        try:
            if not self._runtime.is_open(mail.agent) and self._asks(work, self._pending_of(mail)):
                return Outcome(_UNANSWERED)  # not opened: who answers opens it
            with self._agents.using(mail.agent, self._opens) as agent:
                opened = True
                if work.callers and not any([each.begin() for each in work.callers]):
                    return Outcome(DONE)  # taken back before it began
                if self._asks(work, agent.pending()):
                    return Outcome(_UNANSWERED)
                if not work.callers and (seconds := self._till_paid(agent)):
                    return Outcome(Fate("again", "the day's budget is spent", seconds, tried=False))
                result = self._turn(agent, work)
                return Outcome(after_turn(result, tries=mail.tries, failures=failures), result)
        except UnknownAgent as error:  # deleted meanwhile
            return Outcome(DONE, fault=error)
        except Exception as error:
            if not isinstance(error, PagemindError):
                _log.exception("event %d", mail.number)
            fate = after_error(error, opened=opened, tries=mail.tries, failures=failures)
            return Outcome(fate, fault=error)

    def _pending_of(self, mail: Mail) -> ApprovalRequest | None:
        with self._runtime.reader(self._runtime.home.of_id(mail.agent).name) as reader:
            return pending_in(reader.state)

    def _asks(self, work: Work, pending: ApprovalRequest | None) -> bool:
        """Whether a call of an earlier turn waits for a person's consent, which this event must not
        let lapse. What a person says does, as ever."""
        event = work.mail.event
        by_person = isinstance(event, UserMessage) and event.speaker != SPEAKER
        return pending is not None and not work.callers and not by_person

    def _turn(self, agent: Agent, work: Work) -> TurnResult:
        event = self.of(work.mail)
        self._say("turn_started", **event)
        observer = work.callers[0].observer if work.callers else ignore
        result = agent.handle(work.mail.event, observer=observer, cancel=work.cancel)
        usage = result.usage
        self._say(
            "turn_ended",
            **event,
            turn=result.turn,
            stop_reason=result.stop_reason,
            text=result.text,
            tokens=usage.prompt_tokens + usage.completion_tokens,
            cost=result.cost if result.cost_known else None,
        )
        return result

    def _till_paid(self, agent: Agent) -> float:
        """Seconds until the agent may spend again: its next midnight, at most an hour on."""
        left = agent.loop.day_left()
        if left is None or left > 0:
            return 0.0
        now = self._runtime.clock.now().astimezone(agent.zone)
        midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
        return max(1.0, min(_UNPAID_SECONDS, midnight.timestamp() - now.timestamp()))

    def of(self, mail: Mail) -> dict[str, Any]:
        """What is told of an event. Raises UnknownAgent."""
        name = self._runtime.home.of_id(mail.agent).name
        return {"agent": name, "id": mail.id, "kind": type(mail.event).__name__}
