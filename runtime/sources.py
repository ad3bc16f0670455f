"""sources_now(): what a memory function's write comes from: the running turn's event, and what
tools of the world have answered in it so far."""

from pagemind.runtime.function_names import tells_new
from pagemind.runtime.state.state import State


def sources_now(state: State) -> tuple[str, ...]:
    """Short ids of messages; none between turns."""
    running = state.turns.unfinished()
    if not running:
        return ()
    turn = running[-1]
    told = [
        message.short_id
        for message in state.journal.of_turn(turn.turn)
        if message.role == "tool" and tells_new(message.name)
    ]
    return (f"m{turn.first_seq}", *told)
