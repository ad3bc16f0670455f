"""python: run code in a process of its own, with bounds on time and memory, and no network."""

import json
import sys
import tempfile
from pathlib import Path

from pagemind.runtime.settings import PROCESS_FILE_BYTES, PROCESS_TASKS
from pagemind.runtime.tool import ToolContext, tool
from pagemind.runtime.tool_use import PythonTerms
from pagemind.tools.process import run

_CHILD = Path(__file__).with_name("confined_python.py")


@tool(effect="world", seconds=None)
def python(ctx: ToolContext, code: str) -> str:
    """Run Python code and read what it prints. Each call starts anew, in an empty folder that is
    gone afterwards; there is no network.

    Args:
        code: The program; print what you want to know.
    """
    terms = ctx.terms if isinstance(ctx.terms, PythonTerms) else PythonTerms()
    with tempfile.TemporaryDirectory(prefix="pagemind-python-", ignore_cleanup_errors=True) as made:
        folder = Path(made).resolve()
        asked = {
            "megabytes": terms.megabytes,
            "file_bytes": PROCESS_FILE_BYTES,
            "processes": PROCESS_TASKS,
            "network": terms.network,
            "write": str(folder),
        }
        ran = run(
            [sys.executable, "-I", "-X", "utf8", str(_CHILD), json.dumps(asked)],
            folder=folder,
            seconds=terms.seconds,
            env={**ctx.env, "TMPDIR": str(folder), "OPENBLAS_NUM_THREADS": "1"},
            given=code,
            cancel=ctx.cancel,
        )
    return ran.told()
