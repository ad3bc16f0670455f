"""The litellm package, imported here and nowhere else: offline, quiet and late.

Importing it costs seconds of CPU, so `load()` is called where a model is first used and
`preload()` while a person types. The switches must be set before the import: without them litellm
fetches a price list over the network and reads a `.env` file into the process.
"""

import functools
import logging
import os
import sys
import threading
from typing import Any

_SWITCHES = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # no fetch of prices at import
    "LITELLM_MODE": "PRODUCTION",  # no load_dotenv()
    # A long line of dashes is not a stuck model: the default of 100 equal chunks aborts it.
    "REPEATED_STREAMING_CHUNK_LIMIT": "100000",
}
_lock = threading.Lock()


def load() -> Any:
    """The module, configured. Blocks while another thread imports it."""
    with _lock:
        return _load()


@functools.cache
def _load() -> Any:
    for name, value in _SWITCHES.items():
        os.environ.setdefault(name, value)
    import litellm

    litellm.suppress_debug_info = True  # else it prints advertisements on standard output
    litellm.drop_params = False
    litellm.modify_params = False  # legalise.py does the mending, visibly
    litellm.telemetry = False
    # aiohttp sessions are never closed by litellm and complain at exit; httpx's are silent.
    litellm.disable_aiohttp_transport = True
    logger = logging.getLogger("LiteLLM")
    logger.handlers.clear()
    logger.setLevel(logging.ERROR)
    return litellm


def listened_to() -> bool:
    """Whether somebody has put callbacks into litellm, which are told of each call's end."""
    litellm = load()
    names = ("callbacks", "success_callback", "_async_success_callback", "failure_callback")
    return any(getattr(litellm, name, None) for name in names)


def sees_images(name: str) -> bool:
    """Whether its registry knows that a model takes images."""
    try:
        return bool(load().supports_vision(model=name))
    except Exception:  # it raises whatever it likes about names it does not know
        return False


def known_models() -> list[str]:
    """Chat models of its registry, by the names it takes; none before it is loaded."""
    litellm = sys.modules.get("litellm")
    prices: dict[str, Any] = getattr(litellm, "model_cost", {})
    return sorted(name for name, each in prices.items() if each.get("mode") == "chat")


def preload() -> None:
    """Import in the background; a second call costs nothing."""
    threading.Thread(target=_quietly, name="pagemind-litellm-import", daemon=True).start()


def _quietly() -> None:
    try:
        load()
    except Exception:  # whoever needs it will meet the same error where it can be shown
        logging.getLogger("pagemind.models").debug("importing litellm failed", exc_info=True)
