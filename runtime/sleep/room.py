"""Putting a worker together for one agent: who is asked, what it may cost, what it is given."""

import threading
from collections.abc import Callable
from datetime import datetime, time, tzinfo

from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.model import Model
from pagemind.runtime.services import Core, SearchFilters
from pagemind.runtime.settings import SLEEP_LEAST_TOKENS
from pagemind.runtime.sleep.job import Report, SleepContext
from pagemind.runtime.sleep.jobs import jobs_of
from pagemind.runtime.sleep.worker import SleepWorker
from pagemind.runtime.state.state import State
from pagemind.runtime.tiers.search import Search


def worker_of(
    *,
    name: str,
    state: State,
    definition: AgentDefinition,
    model: Model | None,
    engine: Search,
    zone: tzinfo,
    count: Callable[[str], int],
    window: Callable[[], int],
    written: Callable[[], None],
    left: Callable[[], float | None],
    spent: Callable[[datetime], float],
    lock: threading.RLock,
    core: Callable[[int], Core],
) -> SleepWorker:
    """`window` gives the usable tokens of the worker's model, `left` what the agent's own budget
    has (None: no bound), `spent` what background work has cost since a time, `core` what edits core
    memory at a trust."""
    spec = definition.sleep

    def now() -> datetime:
        return state.clock.now().astimezone(zone)

    def affordable() -> bool:
        own, most = left(), spec.budget.day_usd
        midnight = datetime.combine(now().date(), time(), zone)
        return (own is None or own > 0) and (most is None or spent(midnight) < most)

    def context(report: Report) -> SleepContext:
        return SleepContext(
            agent=name,
            state=state,
            spec=spec,
            model=model,
            near=engine.near,
            near_pages=lambda text, limit: engine.near(text, limit, SearchFilters(), "pages"),
            search=lambda tier, query, filters, limit: (
                engine.search(tier, query, filters, limit).hits
            ),
            now=now,
            zone=zone,
            count=count,
            room=lambda: max(SLEEP_LEAST_TOKENS, window()),
            held=lambda: lock,
            written=written,
            report=report,
            affordable=affordable,
            may_write=definition.memory.writes,
            semantic=definition.semantic,
            profiles=definition.profiles,
            core=core,
            scope=definition.sight().home,
            forget=definition.forget,
        )

    return SleepWorker(context, jobs_of(spec), spec, name=name)
