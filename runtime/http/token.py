"""The token that clients show: from a variable of the environment, or from the file `http-token` of
the home, which nobody else may read. Without one only this machine is served."""

import hashlib
import hmac
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from pagemind.runtime.errors import UserError
from pagemind.runtime.http.address import Address
from pagemind.runtime.settings import SERVE_TOKEN_CHARS

FILE = "http-token"
_MAKE = 'python3 -c "import secrets; print(secrets.token_urlsafe(32))"'


@dataclass(frozen=True, slots=True)
class Token:
    """Only its digest is kept: it is compared, in a time that tells nothing, and never shown."""

    digest: bytes

    def fits(self, shown: str) -> bool:
        return hmac.compare_digest(_digest(shown), self.digest)


def find_token(home: Path, variable: str | None, address: Address) -> Token | None:
    """The token to ask for; None where only this machine listens and none was made.

    Raises UserError: for a variable that is empty, a file that others can read, a token that can be
    guessed, or none where others can reach the address.
    """
    path = home / FILE
    if variable is not None:
        text = os.environ.get(variable, "").strip()
        if not text:
            raise UserError(
                f"the variable {variable} is not set", hint=f"export {variable}=$({_MAKE})"
            )
        return _checked(text, f"the variable {variable}")
    if path.exists():
        return _checked(_read(path), str(path))
    if address.loopback:
        return None
    raise UserError(
        f"{address.host} can be reached from other machines, and clients have no token to show",
        hint=f"give one with --token-env NAME, or make it: (umask 077; {_MAKE} > {path})",
    )


def _read(path: Path) -> str:
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        if os.name == "posix" and mode & 0o077:
            raise UserError(
                f"{path} can be read by others (mode {mode:o})", hint=f"chmod 600 {path}"
            )
        return path.read_text(encoding="ascii").strip()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError:
        raise UserError(f"{path} is no token: it is not ASCII") from None


def _checked(text: str, where: str) -> Token:
    if len(text) < SERVE_TOKEN_CHARS or not text.isascii() or any(map(str.isspace, text)):
        raise UserError(
            f"{where} holds no token: that is at least {SERVE_TOKEN_CHARS} ASCII characters without"
            " spaces",
            hint=_MAKE,
        )
    return Token(_digest(text))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
