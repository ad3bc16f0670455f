"""sources_now(): what a memory function's write comes from: the running turn's event, what tools of
the world have answered in it so far, and what else was untrusted in view of a tainted step."""

from pagemind.runtime.function_names import tells_new
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import StepTrust


def sources_now(state: State, step: StepTrust | None = None) -> tuple[str, ...]:
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
    seen = step.seen if step is not None and step.tainted else ()
    return tuple(dict.fromkeys((f"m{turn.first_seq}", *told, *seen)))
