"""Parts: which mechanisms of paging are at work. All of them, but where a benchmark leaves one out
to see what it buys (the ablation of benchmarks/paging.py).

Not a setting for people: with a part off an agent is worse, and nothing is freed for it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parts:
    """False leaves a mechanism out.

    `warning`: the notice at WARN. `table`: the page table in main context; pages are written and
    read without it. `prefetch`: memories before an event, whatever the definition says. `summary`:
    the recursive summary. `handles`: stage 0 of a flush, which turns tool results of finished
    turns into one-line handles before any talk is evicted.
    """

    warning: bool = True
    table: bool = True
    prefetch: bool = True
    summary: bool = True
    handles: bool = True


ALL = Parts()
