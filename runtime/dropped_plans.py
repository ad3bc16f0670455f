"""drop_plans(): what a person forgets does not come back from what the worker had planned."""

from pagemind.runtime.passage import Passage
from pagemind.runtime.state.changes import OPEN
from pagemind.runtime.state.state import State
from pagemind.runtime.wording import same_words


def drop_plans(state: State, forgotten: Passage, by: str) -> None:
    """Reject what is not decided or made yet and says the same; within the transaction that hides
    it."""
    for each in state.changes.in_state(*OPEN, "dead"):
        said = each.body.get("text")
        if isinstance(said, str) and same_words(said, forgotten.text):
            why = f"{forgotten.short_id} was forgotten"
            state.changes.settle(each.number, "rejected", by=by, error=why)
