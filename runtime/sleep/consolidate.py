"""The job "consolidate": compares candidates with what is known, and makes what follows.

A candidate is a row of `changes`: whatever job found it, one with a text in its body. It is first
planned, which is a row again, then made; a run that was cut off between the two is taken up from
the rows. Where a record has changed since, its candidate is planned anew, a few times; then it is
dead and waits for a person. With `review: ask` plans wait for one in any case, and so does what is
untrusted: it is compared with nothing.
"""

from collections.abc import Sequence
from itertools import islice

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import PagemindError
from pagemind.runtime.facts import FactBook
from pagemind.runtime.settings import CHANGE_ATTEMPTS, CONSOLIDATE_AT_ONCE, NEAR_ASKS
from pagemind.runtime.sleep.apply import RECORD_OPS, apply, only_as_planned
from pagemind.runtime.sleep.decide import Asking, decide, fits
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.sleep.plan import Plan, by_model, by_rule, unasked, waiting
from pagemind.runtime.sleep.profiles import for_profiles
from pagemind.runtime.sleep.similar import Cardinality, New, new_of, of_matter, similar
from pagemind.runtime.state.changes import Change
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.wording import likeness

_ROUNDS = 64  # of one run; what is left is due again


class Consolidate:
    """Candidates become records."""

    name = "consolidate"

    def due(self, context: SleepContext) -> bool:
        return context.may_write("semantic") and bool(_planned(context) or _candidates(context, 1))

    def run(self, context: SleepContext, cancel: CancelToken) -> None:
        for _ in range(_ROUNDS):
            with context.held():
                left_over = _planned(context)
            for change in left_over:
                _make(context, change)
            cancel.check()
            with context.held():
                candidates = _candidates(context, CONSOLIDATE_AT_ONCE)
            if not candidates:
                return
            self._decide(context, candidates, cancel)

    def _decide(
        self, context: SleepContext, candidates: Sequence[Change], cancel: CancelToken
    ) -> None:
        """Plan and make each; a model is asked once, about all that rules do not settle."""
        asking: list[Asking] = []
        for change in candidates:
            cancel.check()
            made = _by_rules(context, change)
            if made is None:
                continue
            if any(_twice(made.new, other.new) for other in asking):
                continue  # compared again when the first of the two is there
            if context.model is None:
                _plan(context, made.new, unasked(made.new))
            else:
                asking.append(made)
        asking = asking[: fits(context, asking)]
        if not asking:
            return
        verdicts = decide(context, asking, cancel)
        for each in asking:
            number = each.new.change.number
            verdict = verdicts.get(number) if verdicts is not None else None
            if verdict is None:
                _failed(context, number, "no answer to what should become of it")
                continue
            with context.held():
                book, cardinality = FactBook(context.state), Cardinality(context.state)
                held = sum(known.same_matter for known in each.known)
                plan = by_model(
                    each.new, verdict.op, verdict.meant, verdict.text, cardinality, book, held
                )
            _plan(context, each.new, plan)


def _candidates(context: SleepContext, most: int) -> list[Change]:
    found = context.state.changes.candidates(has="text")
    return list(islice((e for e in found if not e.op and not for_profiles(context, e)), most))


def _planned(context: SleepContext) -> list[Change]:
    return [each for each in context.state.changes.in_state("planned") if each.op in RECORD_OPS]


def _by_rules(context: SleepContext, change: Change) -> Asking | None:
    """Settle a candidate by rules, or say what a model is to be asked."""
    state = context.state
    with context.held():
        if state.changes.open(change.number) is None:
            return None  # somebody else was faster, or its turn was taken back meanwhile
        book = FactBook(state)
        try:
            new = new_of(change, book)
        except ValueError as error:
            state.changes.failed(change.number, str(error), most=1)
            context.report.count("dead")
            return None
        if untrusted(change.trust):
            _plan(context, new, waiting())
            return None
        rivals = of_matter(state, new, context.now())
    found = similar(context, new, rivals)
    with context.held():
        plan = by_rule(new, rivals, found, Cardinality(state), book)
    if isinstance(plan, Plan):
        _plan(context, new, plan)
        return None
    return Asking(new, plan)


def _plan(context: SleepContext, new: New, plan: Plan) -> None:
    """Keep what is decided, then make it, unless a person is to look at it first."""
    changes, change = context.state.changes, new.change
    waits = context.review and plan.op != "noop"
    with context.held(), context.state.database.transaction():
        now = changes.open(change.number)
        if now is None or now.state != "candidate":
            return  # somebody else was faster
        target = plan.target if plan.op != "add" else None
        changes.plan(
            change.number,
            plan.op,
            state="pending" if waits else "planned",
            target=target.short_id if target else "",
            base=target.version if target else None,
            body=plan.body(new),
            why=plan.why,
        )
        planned = changes.get(change.number)
    if waits:
        context.report.count("pending")
    elif planned is not None:
        _make(context, planned)


def _make(context: SleepContext, change: Change) -> None:
    try:
        with context.held():
            made = apply(context.state, change.number)
    except (PagemindError, ValueError) as error:
        told = error.message if isinstance(error, PagemindError) else str(error)
        _failed(context, change.number, told)
        return
    if made is None:
        return
    context.written()
    done = {"applied": change.op, "noop": "noop", "pending": "pending"}.get(made.state, made.state)
    context.report.count({"add": "added", "supersede": "superseded"}.get(done, done))


def _failed(context: SleepContext, number: int, error: str) -> None:
    """It is planned anew; after several attempts it is dead. What tells nothing new is stale."""
    with context.held(), context.state.database.transaction():
        changes = context.state.changes
        now = changes.open(number)
        if now is None or now.state not in ("candidate", "planned"):
            return
        if only_as_planned(now):
            changes.settle(number, "stale", by="worker", error=error)
            return
        if now.state == "planned":
            changes.plan(number, "", state="candidate")
        if changes.failed(number, error, most=CHANGE_ATTEMPTS) == "dead":
            context.report.count("dead")


def _twice(one: New, other: New) -> bool:
    """Whether two new texts may say the same."""
    return likeness(one.text, other.text) >= NEAR_ASKS
