"""What the library for MCP does besides: it logs, with tracebacks, and Python prints what nobody
takes. A person is told of faults by us."""

import logging

_LOGGERS = ("mcp", "httpx2")


def quiet() -> None:
    """Print nothing of its log by itself; whoever listens to it still gets it."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
