"""What was erased from a home, as salted hashes: an import, an ingestion, a replay or the run of a
task asks here, so that none of them brings it back. A person who says it again is heard.

Texts are compared as a whole, made plain: width, case and white space do not count. Short ones that
anybody may say are not denied by their words; the message that said them is, by its id.
"""

import hashlib
import hmac
import secrets
import unicodedata
from collections.abc import Iterable

from pagemind.runtime.settings import DENIED_TEXT_CHARS
from pagemind.runtime.state.database import Database

ERASED = "erased from this home before, and left out"
_SALT = "denial_salt"


class Denied:
    """The denylist of a home."""

    def __init__(self, database: Database) -> None:
        self._db = database

    @property
    def anything(self) -> bool:
        return bool(self._db.rows("SELECT 1 FROM denied LIMIT 1"))

    @property
    def salt(self) -> bytes:
        """One for the whole home, made when it is first needed. It never leaves it."""
        if not (salt := self._db.meta(_SALT)):
            with self._db.transaction():
                if not (salt := self._db.meta(_SALT)):
                    salt = secrets.token_hex(32)
                    self._db.set_meta(_SALT, salt)
        return bytes.fromhex(salt)

    def add(self, erasure: str, digests: Iterable[str]) -> None:
        """Digests of the functions below; those that are known stay."""
        self._db.write_many(
            "INSERT OR IGNORE INTO denied VALUES (?, ?)", [(each, erasure) for each in digests]
        )

    def count(self, erasure: str | None = None) -> int:
        return self._db.number(
            "SELECT count(*) FROM denied WHERE ? IS NULL OR erasure = ?", (erasure, erasure)
        )

    # --- digests ----------------------------------------------------------------------------------

    def of_text(self, text: str) -> str | None:
        """None for a text that anybody may say."""
        plain = plain_text(text)
        return self._digest("text", plain) if len(plain) >= DENIED_TEXT_CHARS else None

    def of_document(self, sha256: str) -> str:
        """Of a file by the hash of its bytes."""
        return self._digest("document", sha256)

    def of_id(self, id: str) -> str:
        """Of a message or passage by its opaque id."""
        return self._digest("id", id)

    def _digest(self, kind: str, value: str) -> str:
        message = f"{kind}\0{value}".encode("utf-8", "surrogatepass")
        return hmac.new(self.salt, message, hashlib.sha256).hexdigest()

    # --- asking -----------------------------------------------------------------------------------

    def has_text(self, text: str) -> bool:
        digest = self.of_text(text) if self.anything else None
        return digest is not None and self._has(digest)

    def has_document(self, sha256: str) -> bool:
        return self.anything and self._has(self.of_document(sha256))

    def has_id(self, id: str) -> bool:
        return self.anything and self._has(self.of_id(id))

    def _has(self, digest: str) -> bool:
        return bool(self._db.rows("SELECT 1 FROM denied WHERE digest = ?", (digest,)))


def plain_text(text: str) -> str:
    """As texts are compared."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
