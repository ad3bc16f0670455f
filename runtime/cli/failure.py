"""What a person sees when something goes wrong: one line, what to do next, and an exit code.

report() is the only place where an exception becomes output. A person's mistake never shows a
traceback; a fault of ours shows one with -v, and always leaves it in the log.
"""

import json
import logging
import os
import sys
from dataclasses import dataclass
from typing import Any

import typer

from pagemind.runtime.errors import PagemindError, ToolError
from pagemind.runtime.settings import JSON_SCHEMA

# typer carries its own copy of click from some version on: the base of its errors is found here.
_ClickError: Any = typer.BadParameter.__mro__[2]
_log = logging.getLogger("pagemind.cli")


def report(error: BaseException, *, as_json: bool, verbose: bool) -> int:
    """Tell the person; the exit code."""
    if isinstance(error, KeyboardInterrupt | typer.Abort | EOFError):
        _write("\n")  # the cursor stands after ^C or an unfinished prompt
        return 130
    if isinstance(error, BrokenPipeError):
        _forget_stdout()
        return 0
    told = _told(error)
    if verbose and told.unexpected:
        import traceback

        _write("".join(traceback.format_exception(error)))
    if told.is_help:
        _write(f"{told.hint}\n")
    elif as_json:
        print(json.dumps({"schema": JSON_SCHEMA, "error": told.as_json()}))
    else:
        say_error(told.message, told.hint)
    return told.code


def say_error(message: str, hint: str = "") -> None:
    """`error: …` and `hint: …` on standard error."""
    _write(f"{_styled('error:', '1;31')} {message}\n")
    if hint:
        _write(f"{_styled('hint:', '1')} {hint}\n")


def say(text: str) -> None:
    """A remark beside the answer, on standard error."""
    _write(f"{_styled(text, '2')}\n")


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _styled(text: str, code: str) -> str:
    plain = not sys.stderr.isatty() or os.environ.get("NO_COLOR")
    return text if plain else f"\x1b[{code}m{text}\x1b[0m"


@dataclass(frozen=True, slots=True)
class _Told:
    """An error as it is shown."""

    type: str
    message: str
    hint: str
    code: int
    retryable: bool = False
    unexpected: bool = False
    is_help: bool = False  # a group was named without a command: the hint is its help

    def as_json(self) -> dict[str, object]:
        """The `error` object of contract.md."""
        return {
            "type": self.type,
            "message": self.message,
            "hint": self.hint,
            "code": self.code,
            "retryable": self.retryable,
        }


def _told(error: BaseException) -> _Told:
    kind = type(error).__name__
    if isinstance(error, PagemindError):
        # A function refused what a person, not a model, gave it.
        code = 1 if isinstance(error, ToolError) else error.exit_code
        return _Told(kind, error.message, error.hint, code, error.retryable)
    if isinstance(error, _ClickError):
        context: Any = getattr(error, "ctx", None)
        if kind == "NoArgsIsHelpError":
            return _Told("UsageError", "a command is missing", context.get_help(), 2, is_help=True)
        path = context.command_path if context is not None else "pagemind"
        message = str(error.format_message()).removesuffix(".")
        return _Told("UsageError", message, f"{path} --help", 2)
    _log.error("unexpected", exc_info=error)
    message = f"{kind}: {error}" if str(error) else kind
    hint = f"this is a fault of pagemind's; {_where()}"
    return _Told(kind, message, hint, 4, unexpected=True)


def _where() -> str:
    """Where the traceback is."""
    for handler in logging.getLogger("pagemind").handlers:
        if isinstance(handler, logging.FileHandler):
            return f"the traceback is in {handler.baseFilename}, and -v shows it"
    return "-v shows the traceback"


def _forget_stdout() -> None:
    """Nobody reads on: what is still buffered must not complain when the process ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
