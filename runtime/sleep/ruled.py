"""carry_out(): a change that a job plans by rule, without a model: made at once, or put before a
person where the agent is set to review."""

from collections.abc import Mapping
from typing import Any

from pagemind.runtime.errors import PagemindError
from pagemind.runtime.passage import Passage
from pagemind.runtime.sleep.apply import apply
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.state.changes import Op


def carry_out(
    context: SleepContext,
    job: str,
    op: Op,
    target: Passage,
    body: Mapping[str, Any],
    *,
    why: str,
    source: Passage,
    trust: int,
    counts: str,
) -> None:
    """Plan it on the target as it is, for the sake of `source`; what is made counts as `counts`.
    Under the lock, in a transaction."""
    change = context.state.changes.add(
        job,
        op,
        body,
        state="pending" if context.review else "planned",
        seq=context.state.journal.last_seq,
        target=target.short_id,
        base=target.version,
        why=why,
        sources=[source.short_id],
        origin="runtime",
        trust=trust,
    )
    if context.review:
        context.report.count("pending")
        return
    try:
        apply(context.state, change.number)
    except PagemindError as error:
        context.state.changes.failed(change.number, error.message, most=1)
    else:
        context.report.count(counts)
