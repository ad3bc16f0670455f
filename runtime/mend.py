"""mend(): every call in the queue has its result, so that the history is legal.

A process may have ended, or a turn been stopped, between a call and what came of it. A call on the
world may have happened: its outcome is unknown, and it is never repeated.
"""

from collections.abc import Callable

from pagemind.runtime.message import Message, Provenance, Text
from pagemind.runtime.queue_manager import QueueManager
from pagemind.runtime.template import load


def mend(queue_manager: QueueManager, effect: Callable[[str], str]) -> None:
    """Give every resident call without a result a synthetic one. `effect` is that of a function."""
    since = [entry.message for entry in queue_manager.context.queue.since_calls()]
    answered = {message.tool_call_id for message in since[1:]}
    for opening in since[:1]:
        for call in opening.tool_calls:
            if call.id in answered:
                continue
            world = effect(call.name) == "world"
            outcome = "it may have happened" if world else "it did not happen"
            text = load("interrupted").fill(name=call.name, outcome=outcome).strip()
            queue_manager.append(
                Message(
                    "tool",
                    (Text(text),),
                    tool_call_id=call.id,
                    name=call.name,
                    turn=opening.turn,
                    conversation=opening.conversation,
                    speaker=call.name,
                    provenance=Provenance("runtime", call.name),
                    ok=False,
                )
            )
