"""What every benchmark says beside its figures, and how it writes them.

Times of two machines cannot be compared, so the figures that are recorded are CPU time and ratios.
"""

import argparse
import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def parser(about: str | None) -> argparse.ArgumentParser:
    """A command line with `--json FILE`; `about` is the module's docstring."""
    made = argparse.ArgumentParser(description=(about or "").split("\n", 1)[0])
    made.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    return made


def header(*, seed: int, data: Iterable[str]) -> dict[str, Any]:
    """`commit`, `machine`, `data_sha256` and `seed` of contract.md."""
    digest = hashlib.sha256()
    for text in data:
        digest.update(text.encode("utf-8") + b"\0")
    return {
        "commit": _commit(),
        "machine": {
            "cpu": _cpu(),
            "cores": os.cpu_count(),
            "system": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version(),
            "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        },
        "data_sha256": digest.hexdigest(),
        "seed": seed,
    }


def write(path: Path | None, figures: Mapping[str, Any]) -> None:
    """One JSON object, if a file was asked for."""
    if path is not None:
        path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns of text, numbers to the right."""
    lines = [list(map(str, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(headers, *lines, strict=True)]
    for line in (list(headers), *lines):
        cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        print("  ".join(cells), flush=True)


def _commit() -> str:
    """The commit of the checkout, with `+` if files differ from it; "" outside of one."""
    found = _git("rev-parse", "HEAD")
    return found + ("+" if found and _git("status", "--porcelain", "-uno") else "")


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
