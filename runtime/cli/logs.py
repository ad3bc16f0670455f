"""Logging of the command line: under `pagemind`, without what was said.

By default only warnings and worse go to `pagemind.log` in the home; -v shows more on standard
error, --log-file puts all of it into a file.
"""

import logging
import sys
from pathlib import Path

from pagemind.runtime.errors import UserError
from pagemind.runtime.settings import LOG_BYTES

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_logger = logging.getLogger("pagemind")


def configure(verbose: int, log_file: Path | None) -> None:
    """Set up what was asked for. Raises UserError if the file cannot be written."""
    reset()
    _logger.setLevel(logging.DEBUG)
    if verbose:
        _add(logging.StreamHandler(sys.stderr), logging.DEBUG if verbose > 1 else logging.INFO)
    if log_file is not None:
        try:
            _add(logging.FileHandler(log_file, encoding="utf-8"), logging.DEBUG)
        except OSError as error:
            raise UserError(
                f"{log_file} cannot be written: {(error.strerror or str(error)).lower()}",
                hint="give --log-file another path",
            ) from None


def keep_in(home: Path) -> None:
    """Warnings go to the home's own log, made when the first one comes."""
    if any(isinstance(handler, logging.FileHandler) for handler in _logger.handlers):
        return
    from logging.handlers import RotatingFileHandler

    path = home / "pagemind.log"
    _add(
        RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=1, delay=True, encoding="utf-8"),
        logging.WARNING,
    )


def reset() -> None:
    """Take every handler off again; without one, Python would print warnings by itself."""
    for handler in list(_logger.handlers):
        _logger.removeHandler(handler)
        handler.close()
    _logger.addHandler(logging.NullHandler())
    _logger.propagate = False


def _add(handler: logging.Handler, level: int) -> None:
    handler.setFormatter(logging.Formatter(_FORMAT))
    handler.setLevel(level)
    _logger.addHandler(handler)
