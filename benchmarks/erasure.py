"""Erases one of two people from a home with a long life: nothing of hers may be left, all of his.

    python benchmarks/erasure.py [--messages 10000] [--kills 20] [--seed 5] [--keep FOLDER]

Every text that Dana or Robin says has a marker of its own; an agent keeps, repeats, pages out,
summarises, rewinds and pins them, and they stand in mail, timers, tasks, shared archives, logs,
exports, memory folders, pages of the inspector and traces as well. Then Dana is erased: once
undisturbed, and once killed on the way again and again. What is left is counted by reading every
byte of every file, every row of every database and table, and what is packed.
"""

import io
import json
import random
import re
import shutil
import sqlite3
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from machine import ROOT, header, parser, table, write

sys.path.insert(0, str(ROOT / "tests"))
import warm
from erasure_kit import MARKER, Life

from pagemind.runtime.event import UserMessage
from pagemind.runtime.inspector.page import write_page
from pagemind.runtime.portable.folder.dump import dump_memory
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.state.ledger import Ledger, Spent
from pagemind.runtime.state.mailbox import Mailbox
from pagemind.runtime.testing import HashingEmbedder

CHILD = ROOT / "tests" / "crash_eraser.py"
PEOPLE = ("Dana", "Robin")


class World:
    """A home below `folder`, and files beside it that were written for a person."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.life = Life(self.home, seed)

    def live(self, messages: int) -> None:
        """Until the journal has so many."""
        count, events = 0, 0
        while count < messages:
            self.life.live(50)
            events += 50
            with self.life.runtime() as runtime:
                count = runtime.info("ada").messages
            print(f"  {count:,} messages", file=sys.stderr)
        self._beside()

    def _beside(self) -> None:
        """Words of both in every place outside the agent's folder."""
        with self.life.runtime() as runtime:
            id = runtime.home.find("ada").id
            runtime.archives.new("shared", "none")
            ledger = Ledger(runtime.home.database, runtime.clock)
            task = ledger.open("facts", "facts.yaml", "name: facts", {}, False)
            mailbox = Mailbox(runtime.home.database, runtime.clock)
            typed = ["# typed"]
            for number, person in enumerate(PEOPLE * 5, 1):
                text = self._about
                mailbox.put(id, UserMessage(text(person), person))
                runtime.timers("ada").add("every day at 9:00", text(person))
                with runtime.archives.writer("shared") as writer:
                    writer.archival_of("ada").insert(text(person))
                runtime.leave(
                    "ada", "observe", {"text": text(person), "source": "door", "speaker": person}
                )
                output = self.folder / f"{person}.txt"
                with output.open("a") as file:
                    file.write(f"{text(person)}\n")
                ledger.begin_input(task.id, str(number), f"line {number}", number, "d")
                ledger.set_agent(task.id, str(number), "ada")
                ledger.begin_action(task.id, str(number), "1", "say", 1)
                said = {"reply": text(person)}
                ledger.end_action(task.id, str(number), "1", "done", said, "", Spent())
                ledger.set_output(task.id, str(output.resolve()), 0, output.stat().st_size)
                typed.append(f"+{text(person)}")
            (self.home / "chat_history").write_text("\n".join(typed) + "\n")
            runtime.export_agent("ada", self.folder / "ada.pmz")
            dump_memory(runtime, "ada", self.folder / "memory")
            page = self.folder / "ada.html"
            runtime.home.made_files.note(id, page, "page")
            with runtime.reader("ada") as reader, page.open("w") as file:
                write_page(file.write, reader)
        with Runtime(
            self.home,
            clock=self.life.clock,
            embedder=HashingEmbedder(32),
            background=False,
            trace=self.folder / "t.jsonl",
        ) as runtime:
            runtime.agent("ada", model=self.life.model()).close()

    def _about(self, person: str) -> str:
        return f"{person} said: {self.life.text(person)}"

    def copy(self, folder: Path) -> "World":
        """The same elsewhere; paths that the home has noted lead there."""
        shutil.copytree(self.folder, folder)
        made = World(folder, 0)
        database = sqlite3.connect(made.home / "home.db")
        with database:
            for name, column in (("made_files", "path"), ("task_outputs", "path")):
                database.execute(
                    f"UPDATE {name} SET {column} = replace({column}, ?, ?)",
                    (str(self.folder.resolve()), str(folder.resolve())),
                )
        database.close()
        return made

    def bytes(self) -> int:
        """Of the agent's own folder."""
        files = (self.home / "agents").rglob("*")
        return sum(path.stat().st_size for path in files if path.is_file())

    def marks(self) -> dict[str, set[str]]:
        """By person, the markers that stand anywhere: in bytes, rows and packed files."""
        found: set[str] = set()
        for path in self.folder.rglob("*"):
            if path.is_file():
                found.update(MARKER.findall(path.read_bytes().decode("latin-1")))
                for text in _inside(path):
                    found.update(MARKER.findall(text))
        for lance in (self.home / "agents").glob("*/lance*/*.lance"):
            found.update(MARKER.findall(_rows_of(lance)))
        return {
            person: {m.upper() for m in found if m.upper().startswith(person.upper())}
            for person in PEOPLE
        }

    def erase(self, kill_after: float | None = None) -> bool:
        """In a process of its own, which goes on with what was cut off; whether it came to the
        end."""
        words = [str(CHILD), str(self.home), "none", "0"]
        child = warm.start(words, stdout=warm.PIPE, stderr=warm.PIPE)
        if kill_after is not None:
            deadline = time.monotonic() + kill_after
            while child.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            if child.poll() is None:
                child.kill()
        errors = child.communicate()[1]
        if child.returncode not in (0, -9):
            raise RuntimeError(errors)
        return child.returncode == 0

    def receipt(self) -> dict[str, Any]:
        (path,) = (self.home / "receipts").glob("*.json")
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found


def _inside(path: Path) -> Iterator[str]:
    head = path.open("rb").read(16)
    if head.startswith(b"SQLite format 3"):
        connection = sqlite3.connect(path)
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
            for row in connection.execute(f'SELECT * FROM "{name}"').fetchall():
                yield "\n".join(value for value in row if isinstance(value, str))
        connection.close()
    elif head.startswith(b"PK"):
        from pagemind.runtime.tiers.parquet_texts import texts_in

        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith(".parquet"):
                    yield "\n".join(texts_in(io.BytesIO(archive.read(name))))
    elif path.suffix == ".html":
        import base64
        import gzip

        for packed in re.findall(rb">([A-Za-z0-9+/=]{200,})<", path.read_bytes()):
            try:
                yield gzip.decompress(base64.b64decode(packed)).decode("utf-8", "replace")
            except (OSError, ValueError, EOFError):
                continue


def _rows_of(lance: Path) -> str:
    import lancedb

    found = lancedb.connect(lance.parent).open_table(lance.stem).to_arrow()
    return json.dumps([{**row, "vector": None} for row in found.to_pylist()], default=str)


def compaction(world: World) -> tuple[float, int]:
    """CPU seconds of compacting the agent's tables, and the bytes after it."""
    with world.life.runtime() as runtime, runtime.writer("ada") as writer:
        writer.carry_over(lambda done, total: None)
        begun = time.process_time()
        writer.store.compact()
        return time.process_time() - begun, world.bytes()


def undisturbed(world: World) -> tuple[float, dict[str, float]]:
    """CPU seconds of an erasure, and of each of its steps."""
    from pagemind.runtime.erasure.wanted import wanted

    at: list[tuple[str, float]] = [("preview", time.process_time())]
    with (
        world.life.runtime() as runtime,
        runtime.erasing(
            "ada", at_step=lambda step: at.append((step, time.process_time()))
        ) as erasing,
    ):
        erasing.erase(erasing.preview(wanted(subject="Dana")))
    at.append(("end", time.process_time()))
    steps = {name: after - begun for (name, begun), (_, after) in pairwise(at)}
    return at[-1][1] - at[0][1], steps


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--messages", type=int, default=10_000)
    arguments.add_argument("--kills", type=int, default=20)
    arguments.add_argument("--seed", type=int, default=5)
    arguments.add_argument("--keep", type=Path, help="make the home there, or take the one there")
    asked = arguments.parse_args(argv)
    chance = random.Random(asked.seed)
    with tempfile.TemporaryDirectory(prefix="pagemind-erasure-") as scratch:
        folder = Path(scratch)
        first = World(asked.keep or folder / "first", asked.seed)
        if not first.home.exists():
            first.live(asked.messages)
        before = first.marks()
        compact_s, compact_bytes = compaction(first.copy(folder / "compact"))
        plain = first.copy(folder / "plain")
        erase_s, steps = undisturbed(plain)
        after, receipt = plain.marks(), plain.receipt()
        kills, ends = _killed(first, folder, asked.kills, chance, erase_s)
        same = all(
            end.marks() == after and end.receipt()["erased"] == receipt["erased"] for end in ends
        )
        left_bytes = plain.bytes()
        with first.life.runtime() as runtime:
            messages = runtime.info("ada").messages
    found = {
        **header(seed=asked.seed, data=[str(before)]),
        "messages": messages,
        "markers": {person: len(marks) for person, marks in before.items()},
        "erased": receipt["erased"],
        "left_of_hers": len(after["Dana"]),
        "lost_of_his": len(before["Robin"] - after["Robin"]),
        "verified": receipt["verified"],
        "looked": receipt["looked"],
        "kills": kills,
        "same_after_kills": same,
        "cpu_vs_compaction": round(erase_s / compact_s, 2),
        "cpu_share_of_steps": {name: round(s / erase_s, 3) for name, s in steps.items()},
        "bytes_vs_compacted": round(left_bytes / compact_bytes, 3),
    }
    table(
        ["messages", "markers", "left of hers", "lost of his", "verified", "kills", "same"],
        [
            [
                messages,
                sum(map(len, before.values())),
                found["left_of_hers"],
                found["lost_of_his"],
                found["verified"],
                kills,
                same,
            ]
        ],
    )
    table(
        ["CPU ÷ compaction", "bytes ÷ compacted", *steps],
        [
            [
                found["cpu_vs_compaction"],
                found["bytes_vs_compacted"],
                *(f"{share:.0%}" for share in found["cpu_share_of_steps"].values()),
            ]
        ],
    )
    write(asked.json, found)
    well = not found["left_of_hers"] and not found["lost_of_his"] and same and receipt["verified"]
    return 0 if well else 1


def _killed(
    first: World, folder: Path, kills: int, chance: random.Random, seconds: float
) -> tuple[int, list[World]]:
    """Copies that were killed so often in all, each carried to its end."""
    done, ends = 0, list[World]()
    while done < kills:
        world = first.copy(folder / f"killed {len(ends)}")
        while True:
            last = done >= kills
            if world.erase(None if last else chance.uniform(0.5, 2.0 + 1.5 * seconds)):
                break
            done += 1
        ends.append(world)
    return done, ends


if __name__ == "__main__":
    sys.exit(main())
