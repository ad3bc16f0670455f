"""Runs of examples/read_the_library.yaml in processes of their own, killed or not."""

import json
import random
import runpy
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import warm

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
CHILD = Path(__file__).with_name("examples") / "library_child.py"


@dataclass(frozen=True)
class Outcome:
    """What a run, or a row of killed ones, came to."""

    exit_code: int
    kills: int
    tokens: int
    largest: int  # tokens of the largest request, as the model counts
    facts: str
    right: int


def library(folder: Path, documents: int) -> Path:
    """The example with so many documents."""
    shutil.copytree(EXAMPLES / "read_the_library", folder / "read_the_library")
    shutil.copy(EXAMPLES / "read_the_library.yaml", folder)
    make = str(folder / "read_the_library" / "make.py")
    subprocess.run([sys.executable, make, "--documents", str(documents)], check=True)
    return folder


def read(folder: Path, name: str) -> str:
    return (folder / "read_the_library" / name).read_text(encoding="utf-8")


def undisturbed(folder: Path) -> Outcome:
    return disturbed(folder, kills=0, seed=0)


def disturbed(folder: Path, kills: int, seed: int) -> Outcome:
    """Killed so many times, each somewhere in the next few inputs, and then run to its end."""
    chance = random.Random(seed)
    inputs = len(list((folder / "read_the_library" / "documents").iterdir()))
    done = 0
    for _ in range(kills):
        done += _killed(folder, after_steps=chance.randint(1, max(2, 3 * inputs // kills)))
    code, out, errors = warm.run([str(CHILD), str(folder)], timeout=1800)
    assert out, errors
    told = json.loads(out.splitlines()[-1])
    right = runpy.run_path(str(folder / "read_the_library" / "make.py"))["right"]
    return Outcome(
        exit_code=code,
        kills=done,
        tokens=told["tokens"],
        largest=told["largest"],
        facts=read(folder, "facts.jsonl"),
        right=sum(count for _, count in right(folder / "read_the_library")),
    )


def _killed(folder: Path, after_steps: int) -> bool:
    """Whether it was killed: it may have come to its end first."""
    child = warm.start([str(CHILD), str(folder)], stdout=warm.PIPE, stderr=warm.DEVNULL)
    assert child.stdout is not None
    for _ in range(after_steps):
        if not child.stdout.readline().startswith("step"):
            break
    child.kill()
    child.stdout.close()
    return child.wait() == -9
