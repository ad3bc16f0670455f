"""What an import would bring back: messages and records of a state that is being filled which were
erased from the home before. They are erased from it again, with all that rests on them."""

from pagemind.runtime.erasure.closure import plan_of
from pagemind.runtime.erasure.scrub import scrub
from pagemind.runtime.erasure.wanted import wanted
from pagemind.runtime.state.denied import ERASED, Denied
from pagemind.runtime.state.state import State

_ROWS = 500


def keep_out(state: State, denied: Denied) -> str:
    """Inside the transaction of an import; one line that says what was left out, "" for nothing."""
    if not denied.anything:
        return ""
    messages = _messages(state, denied)
    records = _records(state, denied)
    if not messages and not records:
        return ""
    ids = [f"m{seq}" for seq in messages] + [f"a{number}" for number in records]
    plan = plan_of(state, wanted(ids=ids))
    scrub(state, plan)
    return f"{len(plan.messages):,} messages and {len(plan.passages):,} records: {ERASED}"


def _messages(state: State, denied: Denied) -> list[int]:
    found = []
    last = state.journal.last_seq
    for start in range(1, last + 1, _ROWS):
        for message, _, _ in state.journal.range(start, min(last, start + _ROWS - 1)):
            if not message.erased and (denied.has_id(message.id) or denied.has_text(message.text)):
                found.append(message.seq)
    return found


def _records(state: State, denied: Denied) -> list[int]:
    rows = state.database.rows("SELECT number, id, text FROM passages")
    return [
        row["number"] for row in rows if denied.has_id(row["id"]) or denied.has_text(row["text"])
    ]
