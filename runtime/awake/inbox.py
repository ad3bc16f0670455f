"""An inbox folder: each file that is whole becomes an event of an agent, once.

Whole is a file that has not changed for a second; who writes slowly writes under a name that begins
with a dot or ends in .part or .tmp, and renames it. Text and documents come as their text, images
as images; who wrote them nobody knows, so they are documents, and no person's words. A file that
was taken is moved to done/, one that cannot be read to failed/, with the reason beside it in
NAME.why.txt. The event's id is made of name, time and content: a kill between the event and the
move repeats nothing.
"""

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pagemind.runtime.attachment import attach
from pagemind.runtime.clock import Clock
from pagemind.runtime.documents.document import Broken, Document
from pagemind.runtime.documents.read import load as load_bytes
from pagemind.runtime.documents.read import parse
from pagemind.runtime.errors import DocumentError, UserError
from pagemind.runtime.event import UserMessage
from pagemind.runtime.image_header import read_header
from pagemind.runtime.message import clean_text
from pagemind.runtime.settings import INBOX_CHARS, INBOX_STILL_SECONDS
from pagemind.runtime.state.blobs import Blobs
from pagemind.runtime.state.mailbox import Mailbox
from pagemind.runtime.template import load

SPEAKER = "inbox"
_UNFINISHED = (".part", ".tmp", ".crdownload", ".filepart", "~")
_Stamp = tuple[int, int, int]  # size, time of change, inode


@dataclass(frozen=True, slots=True)
class Taken:
    """A file that became an event; `reason`: why it did not."""

    file: str
    reason: str = ""


class Inbox:
    """The folder of the agent of this id; made if it is not there."""

    def __init__(
        self, agent: str, folder: Path, mailbox: Mailbox, blobs: Blobs, clock: Clock
    ) -> None:
        self.agent = agent
        self.folder = folder
        self._mailbox = mailbox
        self._blobs = blobs
        self._clock = clock
        self._seen: dict[str, tuple[_Stamp, float]] = {}
        self._stuck: dict[str, _Stamp] = {}  # could not be moved: told once

    def look(self) -> list[Taken]:
        """Take every file that is whole, the oldest first. Raises OSError for the folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        now = self._clock.monotonic()
        there: dict[str, _Stamp] = {}
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name.startswith(".") or entry.name.lower().endswith(_UNFINISHED):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    continue
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # somebody else has taken it
                    continue
                there[entry.name] = (status.st_size, status.st_mtime_ns, status.st_ino)
        self._seen = {name: seen for name, seen in self._seen.items() if name in there}
        taken = []
        for name, stamp in sorted(there.items(), key=lambda each: (each[1][1], each[0])):
            before, since = self._seen.get(name, (None, now))
            if before != stamp:
                self._seen[name] = (stamp, now)
            elif (
                now - since >= INBOX_STILL_SECONDS
                and self._stuck.get(name) != stamp
                and os.path.lexists(self.folder / name)  # somebody else may have taken it
            ):
                taken.append(self._take(name, stamp))
        return taken

    def _take(self, name: str, stamp: _Stamp) -> Taken:
        path = self.folder / name
        try:
            event, content = self._event(path)
            whole = hashlib.sha256(f"{name}\0{stamp[1]}\0".encode("utf-8", "replace") + content)
            self._mailbox.put(self.agent, event, f"file {whole.hexdigest()[:32]}")
        except (DocumentError, UserError) as error:
            hint = f" ({error.hint})" if error.hint else ""
            return self._failed(name, stamp, error.message + hint)
        return self._moved(path, "done", stamp) or Taken(name)

    def _event(self, path: Path) -> tuple[UserMessage, bytes]:
        """Raises DocumentError, UserError."""
        if path.is_symlink():
            raise DocumentError("is a link; put the file itself here")
        data = load_bytes(path)
        name = " ".join(clean_text(path.name).split())
        if read_header(data[:65536]) is not None:
            text = load("inbox_file").fill(name=name, text="").strip()
            attached = (attach(self._blobs, path),)
            return UserMessage(text, SPEAKER, attachments=attached, document=name), data
        text = _text(parse(path, data))
        if len(text) > INBOX_CHARS:
            raise DocumentError(
                f"has {len(text):,} characters of text; {INBOX_CHARS:,} are the most of one"
                " message: `pagemind memory insert AGENT --file FILE` takes it"
            )
        filled = load("inbox_file").fill(name=name, text=text).strip()
        return UserMessage(filled, SPEAKER, document=name), data

    def _failed(self, name: str, stamp: _Stamp, reason: str) -> Taken:
        reason = reason if name in reason else f"{name} {reason}"
        stuck = self._moved(self.folder / name, "failed", stamp)
        if stuck is None:
            why = self.folder / "failed" / f"{name}.why.txt"
            with suppress(OSError):  # whoever watches is told all the same
                why.write_text(f"{reason}\n", encoding="utf-8")
        return Taken(name, reason)

    def _moved(self, path: Path, where: str, stamp: _Stamp) -> Taken | None:
        """Move it out of the way; what is wrong if that cannot be."""
        target = self.folder / where / path.name
        try:
            target.parent.mkdir(exist_ok=True)
            number = 1
            while target.exists():
                number += 1
                target = target.with_name(f"{path.stem} ({number}){path.suffix}")
            path.rename(target)
        except OSError as error:
            self._stuck[path.name] = stamp
            return Taken(path.name, f"it cannot be moved to {where}/: {error.strerror or error}")
        self._seen.pop(path.name, None)
        return None


def _text(document: Document) -> str:
    title = f"# {document.title}\n\n" if document.title else ""
    pieces = [
        f"({each.where}: {each.why})" if isinstance(each, Broken) else each.text
        for each in document.sections
    ]
    return title + "\n\n".join(piece for piece in pieces if piece.strip())
