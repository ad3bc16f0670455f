"""One asyncio loop in one daemon thread for the whole process: every provider call runs there.

A task on it can be cancelled within milliseconds, which closes the connection so that the server
stops generating; a blocked synchronous read cannot. litellm's own worker breaks on several loops,
hence exactly one.
"""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def submit(coroutine: Coroutine[Any, Any, None]) -> "Future[None]":
    """Start the coroutine; cancel the future to stop it."""
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(
                target=_loop.run_forever, name="pagemind-model-io", daemon=True
            ).start()
    return asyncio.run_coroutine_threadsafe(coroutine, _loop)
