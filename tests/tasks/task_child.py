"""The process that is killed: it runs a task, and at the NTH passing of POINT kills itself. At
"none" and "go on" it does not; "go on" says --continue.

    python task_child.py FOLDER POINT WHEN NTH [workers]

With "workers" inputs are done by those of an executor, which die with the process.
"""

import os
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

from pagemind.runtime.agent import Agent
from pagemind.runtime.function_executor import FunctionExecutor
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.state.journal import Journal
from pagemind.runtime.state.ledger import Ledger
from pagemind.runtime.state.shared_blocks import SharedBlocks
from pagemind.runtime.tasks.handing_in import HandingIn
from pagemind.runtime.tasks.hired import Hiring
from pagemind.runtime.tasks.opening import Answers
from pagemind.runtime.tasks.outputs import Outputs
from pagemind.runtime.tasks.runner import run_task
from pagemind.runtime.tasks.task_file import load_task
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel

OWNERS: dict[str, tuple[Any, str]] = {
    "send": (Agent, "send"),
    "call": (FunctionExecutor, "call"),
    "share": (SharedBlocks, "change"),
    "message": (Journal, "append"),
    "write": (Outputs, "append"),
    "first write": (Ledger, "set_output"),
    "begin action": (Ledger, "begin_action"),
    "end action": (Ledger, "end_action"),
    "begin input": (Ledger, "begin_input"),
    "end input": (Ledger, "end_input"),
    "close": (Ledger, "close"),
    "take action": (Ledger, "take_action"),
    "spool": (HandingIn, "_spool"),
    "import": (Runtime, "import_agent"),
}


def put_fuse(point: str, when: str, nth: int) -> None:
    owner, name = OWNERS[point]
    function: Callable[..., Any] = getattr(owner, name)
    passing = count(1)  # safe in threads: each call has its own number

    def burning(*arguments: Any, **named: Any) -> Any:
        mine = next(passing) == nth
        if mine and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*arguments, **named)
        if mine and when == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, burning)


def main(folder: str, point: str, when: str, nth: str, who: str = "") -> None:
    here = Path(folder)
    if point in OWNERS:
        put_fuse(point, when, int(nth))

    def answer(request: ModelRequest) -> str:
        return f"re {request.messages[-1].text.rpartition('] ')[2]}"

    def ring(number: int) -> str:
        """Ring the bell of the world."""
        with (here / "bell.txt").open("a") as file:
            file.write(f"{number}\n")
        return f"rung {number}"

    with Runtime(here / "home", embedder=HashingEmbedder(16), background=False) as runtime:
        report = run_task(
            runtime,
            load_task(here / "task.yaml"),
            answers=Answers(go_on=point == "go on"),
            hiring=Hiring(model=ScriptedModel(answer), tools=[ring]),
            executor=ThreadPoolExecutor(4) if who == "workers" else None,
            keep_agents=who == "workers",
        )
    sys.exit(report.exit_code)


if __name__ == "__main__":
    main(*sys.argv[1:])
