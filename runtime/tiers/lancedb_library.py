"""The lancedb package, imported here first: without a REST client that nobody here speaks through.

LanceDB takes some data classes from that client's package, and the package brings its API along:
half of the CPU that importing LanceDB costs. So the package is put in place without its contents;
its parts are imported as they are asked for, and whoever asks for a name of it gets all of it.
"""

import importlib.util
import os
import sys
import threading
from typing import Any

from pagemind.runtime.settings import READ_AHEAD_BYTES

_CLIENT = "lance_namespace_urllib3_client"
_lock = threading.Lock()


def load() -> Any:
    """The module, quiet and with our read-ahead: LanceDB reads both switches when it is loaded."""
    with _lock:
        if "lancedb" not in sys.modules:
            prepare()
        import lancedb

        return lancedb


def prepare() -> None:
    """What must be in place before the import."""
    os.environ.setdefault("LANCEDB_LOG", "error")
    os.environ.setdefault("LANCE_DEFAULT_IO_BUFFER_SIZE", str(READ_AHEAD_BYTES))
    if _CLIENT not in sys.modules:
        _put_shell(_CLIENT)


def _put_shell(name: str) -> None:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None or spec.submodule_search_locations is None:
        return
    shell, loader = importlib.util.module_from_spec(spec), spec.loader
    filling = threading.RLock()

    def fill(wanted: str) -> Any:
        if wanted.startswith("__"):  # asked for by tools that look at every module
            raise AttributeError(f"module {name!r} has no attribute {wanted!r}")
        with filling:
            if vars(shell).pop("__getattr__", None):
                loader.exec_module(shell)
        return getattr(shell, wanted)

    vars(shell)["__getattr__"] = fill
    sys.modules[name] = shell
