"""Calls that wait for a person's consent: one at most for each agent, kept in its state.

It is written down before anybody is asked, so that it waits through a crash. Nothing was done about
the call until it is answered; whatever else is said to the agent first, it lapses: the history must
be one that a provider takes, and a consent may not come out of its time.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pagemind.runtime.message import Message, Provenance, Text, ToolCall
from pagemind.runtime.person import ApprovalRequest
from pagemind.runtime.queue_manager import QueueManager
from pagemind.runtime.settings import MAX_CALLS
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.state import State
from pagemind.runtime.template import load

KEY = "approval"  # of the state's meta table
NOT_RUN = "not run"  # where the text of a result comes from that no function gave


class WaitsForApproval(Exception):
    """Nobody is there to consent to a call: the turn ends here, and can go on later."""

    def __init__(self, request: ApprovalRequest) -> None:
        super().__init__(f"{request.name} waits for a person's approval")
        self.request = request


class Approvals:
    """Of one agent. `lapsed` is where it is noted, for the person, what did."""

    def __init__(
        self,
        database: Database,
        queue_manager: QueueManager,
        lapsed: list[str] | None = None,
    ) -> None:
        self._database = database
        self._queue_manager = queue_manager
        queue_manager.before_append = self._before
        self._lapsed: list[str] = [] if lapsed is None else lapsed

    def wait(self, request: ApprovalRequest) -> None:
        """From now on the call waits, whatever happens to this process."""
        stored = json.dumps(asdict(request), ensure_ascii=False)
        self._database.set_meta(KEY, stored)

    def answered(self) -> None:
        """It does not wait any more."""
        self._database.set_meta(KEY, "")

    def pending(self) -> ApprovalRequest | None:
        """The call that waits, if it is still the newest thing that was said."""
        request = _stored(self._database)
        opening, calls = self.open_calls()
        return request if _waits(request, opening, calls) else None

    def open_calls(self) -> tuple[Message | None, list[ToolCall]]:
        """The newest reply with calls, and those that have no result."""
        since = [entry.message for entry in self._queue_manager.context.queue.since_calls()]
        if not since:
            return None, []
        results = {message.tool_call_id for message in since[1:]}
        return since[0], [call for call in since[0].tool_calls if call.id not in results]

    def lapse(self) -> None:
        """Nobody answered in time: the model reads that the call was not run."""
        request = self.pending()
        opening, calls = self.open_calls()
        copied = self._database.meta(KEY) and _stored(self._database) is None
        if opening is None or not (request or copied):
            return
        if request is not None:
            self._lapsed.append(
                f"the call of {request.name} that waited for approval (turn {request.turn})"
                " lapsed: it was not run"
            )
        with self._database.transaction():
            self.answered()
            for call in calls:
                text = load("not_approved").fill(name=call.name).strip()
                self._queue_manager.append(
                    Message(
                        "tool",
                        (Text(text),),
                        tool_call_id=call.id,
                        name=call.name,
                        turn=opening.turn,
                        conversation=opening.conversation,
                        speaker=call.name,
                        provenance=Provenance("runtime", NOT_RUN),
                        ok=False,
                    )
                )

    def told(self) -> list[str]:
        """What has lapsed since this was last asked, for the person."""
        lapsed = list(self._lapsed)
        self._lapsed.clear()
        return lapsed

    def _before(self, message: Message) -> None:
        """Before anything but a result is said."""
        if message.role != "tool":
            self.lapse()


def no_copy_waits(state: State) -> None:
    """In a copy of an agent: what waits in the other one lapses here, once this one is opened."""
    request = _stored(state.database)
    last = next(iter(state.turns.newest(1)), None)
    turn = request.turn if request is not None else 0
    if last is not None and last.stop_reason == "approval":
        turn = last.turn
    if turn:
        state.database.set_meta(KEY, json.dumps({"turn": turn, "lapsed": True}))


def pending_in(state: State) -> ApprovalRequest | None:
    """The call that waits, for whoever only reads."""
    request = _stored(state.database)
    if request is None:
        return None
    results: set[str | None] = set()
    for message in state.journal.newest(MAX_CALLS + 1):
        if message.role != "tool":
            open_calls = [call for call in message.tool_calls if call.id not in results]
            return request if _waits(request, message, open_calls) else None
        results.add(message.tool_call_id)
    return None


def _waits(
    request: ApprovalRequest | None, opening: Message | None, calls: Sequence[ToolCall]
) -> bool:
    """Whether it is one of these calls of a reply. Not by its id alone: some models give the same
    ids again and again, and a consent must not become that to another call."""
    if request is None or opening is None or opening.turn != request.turn:
        return False
    asked = (request.call_id, request.name, _said(request.arguments))
    return any((call.id, call.name, _said(call.parsed())) == asked for call in calls)


def _said(arguments: Mapping[str, Any]) -> str:
    return json.dumps(dict(arguments), sort_keys=True)


def _stored(database: Database) -> ApprovalRequest | None:
    stored = json.loads(database.meta(KEY) or "{}")
    return ApprovalRequest(**stored) if stored and "lapsed" not in stored else None
