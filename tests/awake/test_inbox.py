"""A file in an inbox folder becomes one event, when it is whole."""

import os
from pathlib import Path

from awake_kit import House, house

from pagemind.runtime.awake.inbox import Inbox, Taken
from pagemind.runtime.event import UserMessage
from pagemind.runtime.state.blobs import Blobs
from pagemind.runtime.state.mailbox import Mailbox

DOT = bytes.fromhex(  # a PNG of one pixel
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


class Folder:
    """An agent's inbox in a folder of a test."""

    def __init__(self, home: House, path: Path) -> None:
        self.home = home
        self.path = path / "in"
        home.make("ada")
        self.agent = home.runtime.home.find("ada").id
        self.mailbox = Mailbox(home.runtime.home.database, home.clock)
        self.inbox = self.made()
        self.inbox.look()

    def made(self) -> Inbox:
        blobs = Blobs(self.home.runtime.home.folder(self.agent))
        return Inbox(self.agent, self.path, self.mailbox, blobs, self.home.clock)

    def write(self, name: str, data: str | bytes) -> Path:
        path = self.path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def look(self, seconds: float = 2.0) -> list[Taken]:
        """Look, and look again later."""
        first = self.inbox.look()
        self.home.clock.advance(seconds=seconds)
        return first + self.inbox.look()

    def texts(self) -> list[str]:
        return [mail.event.text for mail in self.mailbox.all()]

    def names(self, where: str = "") -> list[str]:
        folder = self.path / where
        return sorted(p.name for p in folder.iterdir() if p.is_file()) if folder.is_dir() else []


def test_a_file_is_taken_when_it_has_been_still(tmp_path: Path) -> None:
    """It moves to done/; one that still grows, or has an unfinished name, waits."""
    with house(tmp_path) as home:
        box = Folder(home, tmp_path)
        box.write("note.txt", "The harbour is closed.")
        box.write(".half", "x")
        box.write("half.part", "x")
        assert box.inbox.look() == []
        box.write("note.txt", "The harbour is closed today.")
        home.clock.advance(seconds=2)
        assert box.inbox.look() == []  # it has changed since
        assert box.look() == [Taken("note.txt")]
        assert box.texts() == ["[a file came in: note.txt]\nThe harbour is closed today."]
        assert (box.names(), box.names("done")) == ([".half", "half.part"], ["note.txt"])


def test_the_same_name_and_text_again_is_another_event(tmp_path: Path) -> None:
    """A report that says the same every day comes every day."""
    with house(tmp_path) as home:
        box = Folder(home, tmp_path)
        for day in (1, 2):
            os.utime(box.write("status.txt", "all well"), (day, day))
            assert box.look() == [Taken("status.txt")]
        assert len(box.texts()) == 2
        assert box.names("done") == ["status (2).txt", "status.txt"]


def test_a_kill_between_event_and_move_repeats_nothing(tmp_path: Path) -> None:
    """The next process makes the same event of it."""
    with house(tmp_path) as home:
        box = Folder(home, tmp_path)
        path = box.write("note.txt", "hello")
        stamp = path.stat()
        assert box.look() == [Taken("note.txt")]
        (box.path / "done" / "note.txt").rename(path)
        assert path.stat().st_mtime_ns == stamp.st_mtime_ns
        box.inbox = box.made()
        assert box.look() == [Taken("note.txt")]
        assert len(box.texts()) == 1


def test_files_come_in_the_order_of_their_times(tmp_path: Path) -> None:
    """Whatever they are called."""
    with house(tmp_path) as home:
        box = Folder(home, tmp_path)
        for at, name in enumerate(["z.txt", "a.txt", "m.txt"], 1):
            os.utime(box.write(name, name), (at, at))
        box.look()
        assert [text.splitlines()[1] for text in box.texts()] == ["z.txt", "a.txt", "m.txt"]


def test_what_cannot_be_read_goes_to_failed_with_the_reason(tmp_path: Path) -> None:
    """And does not keep the others."""
    with house(tmp_path) as home:
        box = Folder(home, tmp_path)
        box.write("program.bin", b"\x00\x01\x02\xff" * 100)
        box.write("empty.txt", "")
        box.write("broken.pdf", b"%PDF-1.7 nothing")
        box.write("good.txt", "hello")
        (box.path / "link.txt").symlink_to(tmp_path / "elsewhere")
        reasons = {taken.file: taken.reason for taken in box.look()}
        assert reasons["good.txt"] == ""
        assert reasons["empty.txt"] == "empty.txt is empty"
        assert "is a link" in reasons["link.txt"]
        assert all(reasons[name] for name in ("program.bin", "broken.pdf"))
        assert len(box.names("failed")) == 7  # and the link, which leads nowhere
        why = (box.path / "failed" / "empty.txt.why.txt").read_text(encoding="utf-8")
        assert why == "empty.txt is empty\n"
        assert len(box.texts()) == 1


def test_a_picture_comes_as_a_picture(tmp_path: Path) -> None:
    """Stored with the agent before the event is."""
    with house(tmp_path) as home:
        box = Folder(home, tmp_path)
        box.write("dot.png", DOT)
        assert box.look() == [Taken("dot.png")]
        [mail] = box.mailbox.all()
        assert isinstance(mail.event, UserMessage)
        [blob] = mail.event.attachments
        assert blob.media_type == "image/png"
        with home.keeper() as keeper:
            home.until(lambda: not keeper.mailbox.all())
        assert home.said("ada")[-1].startswith("re ")


def test_a_file_of_a_folder_that_two_agents_share_is_taken_once(tmp_path: Path) -> None:
    """By whoever comes first."""
    with house(tmp_path) as home:
        box = Folder(home, tmp_path)
        other = box.made()
        box.write("note.txt", "hello")
        other.look()
        assert box.look() == [Taken("note.txt")]
        assert other.look() == []
        assert box.names("failed") == []
