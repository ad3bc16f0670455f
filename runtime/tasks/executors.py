"""Executors by their name: `processes` on this machine, or `dask://HOST:PORT`; or one's own.

An engine that exists does the work of spreading it; this is the one place that knows which.
"""

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pagemind.runtime.errors import UserError
from pagemind.runtime.settings import TASK_AT_ONCE, TASK_CLUSTER_SECONDS
from pagemind.runtime.tasks.processes import Processes


@dataclass(frozen=True)
class Workers:
    """An executor, how much it can do at once, whether it is on this machine, and whether what it
    is given goes to other processes."""

    executor: Executor
    width: int
    here: bool
    apart: bool


@contextmanager
def opened(asked: Executor | str, at_once: int | None) -> Iterator[Workers]:
    """The executor; one that was asked for by name is closed again. Raises UserError."""
    if isinstance(asked, Executor):
        yield _of(asked)
    elif asked == "processes":
        number = at_once or os.cpu_count() or 1
        processes = Processes(min(number, TASK_AT_ONCE))
        try:
            yield Workers(processes, processes.number, here=True, apart=True)
        finally:
            processes.shutdown(wait=False, cancel_futures=True)
    elif asked.startswith("dask://"):
        with _dask(asked) as workers:
            yield workers
    else:
        raise UserError(f"{asked!r} is no executor", hint="write  processes  or  dask://HOST:PORT")


def _of(executor: Executor) -> Workers:
    if isinstance(executor, ThreadPoolExecutor):
        return Workers(executor, executor._max_workers, here=True, apart=False)
    if isinstance(executor, ProcessPoolExecutor):
        width: int = executor._max_workers  # type: ignore[attr-defined]  # not in its stubs
        return Workers(executor, width, here=True, apart=True)
    return Workers(executor, 1, here=False, apart=True)


@contextmanager
def _dask(address: str) -> Iterator[Workers]:
    try:
        make: Any = import_module("distributed").Client
    except ImportError:
        raise UserError(
            f"{address} needs the library distributed",
            hint="pip install 'pagemind[distributed]', here and where the workers are",
        ) from None
    scheduler = f"tcp://{address.removeprefix('dask://')}"
    try:
        client = make(scheduler, timeout=TASK_CLUSTER_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UserError(
            f"no scheduler answers at {address}: {' '.join(str(error).split())[:200]}",
            hint="dask://HOST:PORT is what `dask scheduler` prints as tcp://HOST:PORT",
        ) from None
    try:
        width = sum(client.nthreads().values())
        if not width:
            raise UserError(
                f"the scheduler at {address} has no workers",
                hint=f"start some:  dask worker {scheduler} --nthreads 4",
            )
        yield Workers(client.get_executor(pure=False), width, here=False, apart=True)
    finally:
        client.close(timeout=TASK_CLUSTER_SECONDS)
