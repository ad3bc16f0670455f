"""mend(): every call in the queue has its result, so that the history is legal.

A process may have ended, or a turn been stopped, between a call and what came of it. A call on the
world may have happened: its outcome is unknown, and it is never repeated. So may one whose effect
stands in the home, beside the agent's own state: an edit of a shared block, a timer.
"""

from collections.abc import Callable, Container, Mapping
from typing import Any

from pagemind.runtime.message import Message, Provenance, Text
from pagemind.runtime.queue_manager import QueueManager
from pagemind.runtime.template import load

_OF_THE_HOME = ("schedule", "cancel_schedule")


def mend(
    queue_manager: QueueManager, effect: Callable[[str], str], shared: Container[object] = ()
) -> None:
    """Give every resident call without a result a synthetic one. `effect` is that of a function,
    `shared` are the labels of blocks that are shared."""
    since = [entry.message for entry in queue_manager.context.queue.since_calls()]
    answered = {message.tool_call_id for message in since[1:]}
    for opening in since[:1]:
        for call in opening.tool_calls:
            if call.id in answered:
                continue
            apart = stands_apart(call.name, effect(call.name), call.parsed(), shared)
            outcome = "it may have happened" if apart else "it did not happen"
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


def stands_apart(
    name: str, effect: str, arguments: Mapping[str, Any], shared: Container[object]
) -> bool:
    """Whether what a call does is committed apart from its result: in the world, or in the home."""
    of_the_home = name in _OF_THE_HOME or str(arguments.get("block")) in shared
    return effect == "world" or (effect == "memory" and of_the_home)
