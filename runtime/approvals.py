"""Calls that wait for a person's consent: one at most for each agent, kept in its state.

It is written down before anybody is asked, so that it waits through a crash. Nothing was done about
the call until it is answered; whatever else is said to the agent first, it lapses: the history must
be one that a provider takes, and a consent may not come out of its time.
"""

import json
from dataclasses import asdict

from pagemind.runtime.message import Message, Provenance, Text, ToolCall
from pagemind.runtime.person import ApprovalRequest
from pagemind.runtime.queue_manager import QueueManager
from pagemind.runtime.state.database import Database
from pagemind.runtime.template import load

KEY = "approval"  # of the state's meta table
NOT_RUN = "not run"  # where the text of a result comes from that no function gave


class WaitsForApproval(Exception):
    """Nobody is there to consent to a call: the turn ends here, and can go on later."""

    def __init__(self, request: ApprovalRequest) -> None:
        super().__init__(f"{request.name} waits for a person's approval")
        self.request = request


class Approvals:
    """Of one agent."""

    def __init__(self, database: Database, queue_manager: QueueManager) -> None:
        self._database = database
        self._queue_manager = queue_manager
        queue_manager.before_append = self._before

    def wait(self, request: ApprovalRequest) -> None:
        """From now on the call waits, whatever happens to this process."""
        stored = json.dumps(asdict(request), ensure_ascii=False)
        self._database.set_meta(KEY, stored)

    def answered(self) -> None:
        """It does not wait any more."""
        self._database.set_meta(KEY, "")

    def pending(self) -> ApprovalRequest | None:
        """The call that waits, if it is still the newest thing that was said."""
        stored = self._database.meta(KEY)
        if not stored:
            return None
        request = ApprovalRequest(**json.loads(stored))
        _, calls = self.open_calls()
        return request if any(call.id == request.call_id for call in calls) else None

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
        if request is None:
            return
        opening, calls = self.open_calls()
        assert opening is not None
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

    def _before(self, message: Message) -> None:
        """Before anything but a result is said."""
        if message.role != "tool":
            self.lapse()
