"""confined(): Python code in a process of its own, which has given up what the code shall not have:
confined_python.py says what that is. The functions python and skill_run use it."""

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.settings import PROCESS_FILE_BYTES, PROCESS_TASKS
from pagemind.tools.process import Ran, run

_CHILD = Path(__file__).with_name("confined_python.py")


def confined(
    code: str,
    *,
    seconds: float,
    megabytes: int,
    network: bool = False,
    env: Mapping[str, str] | None = None,
    cancel: CancelToken | None = None,
) -> Ran:
    """Run it to its end, in an empty folder that is gone afterwards. Raises ToolFailed where no
    process can be started, Cancelled."""
    with tempfile.TemporaryDirectory(prefix="pagemind-python-", ignore_cleanup_errors=True) as made:
        folder = Path(made).resolve()
        asked = {
            "megabytes": megabytes,
            "file_bytes": PROCESS_FILE_BYTES,
            "processes": PROCESS_TASKS,
            "network": network,
            "write": str(folder),
        }
        return run(
            [sys.executable, "-I", "-X", "utf8", str(_CHILD), json.dumps(asked)],
            folder=folder,
            seconds=seconds,
            env={**(env or {}), "TMPDIR": str(folder), "OPENBLAS_NUM_THREADS": "1"},
            given=code,
            cancel=cancel,
        )
