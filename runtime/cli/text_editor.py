"""A text in the person's own editor: $VISUAL, $EDITOR, or one that is there."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pagemind.runtime.errors import UserError

_COMMON = ("nano", "vim", "vi", "emacs")
_HINT = "set EDITOR to one that is installed, such as nano, or `code --wait`"


def edited(text: str, *, name: str) -> str:
    """The text as the person saved it, without the line end that editors add. Raises UserError if
    there is no editor or no terminal for one, or if it fails: the text is as it was then."""
    words = _of_their_own() or _common()
    # A name that says what it is: it stands in the editor's title.
    stem = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in name)
    with tempfile.TemporaryDirectory(prefix="pagemind-") as folder:
        path = Path(folder) / f"{stem}.md"
        path.write_text(f"{text}\n" if text else "", encoding="utf-8")
        try:
            code = subprocess.call([*words, str(path)])
        except OSError as error:
            raise UserError(f"{words[0]} does not start: {error.strerror}", hint=_HINT) from error
        if code != 0:
            raise UserError(
                f"{words[0]} ended with code {code}: {name} is as it was", hint="save and leave it"
            )
        try:
            saved = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            raise UserError(f"the file is gone: {name} is as it was", hint=_HINT) from None
    return saved.removesuffix("\n")


def _of_their_own() -> list[str]:
    for variable in ("VISUAL", "EDITOR"):
        if written := os.environ.get(variable, "").strip():
            try:
                words = shlex.split(written)
            except ValueError:
                raise UserError(f"{variable} cannot be read: {written}", hint=_HINT) from None
            if shutil.which(words[0]) is None:
                raise UserError(f"{variable} is {written}, which is not there", hint=_HINT)
            return words
    return []


def _common() -> list[str]:
    """One that needs a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError(
            "an editor needs a terminal, and there is none", hint="give the text: --text TEXT or -"
        )
    for name in _COMMON:
        if shutil.which(name):
            return [name]
    raise UserError("there is no editor here", hint=_HINT)
