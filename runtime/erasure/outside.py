"""Outside: where the words of an agent stand beside its own folder, in the same home or in files
that pagemind wrote for it.

look() finds what an erasure takes out there, as ids and paths; clear() takes it out, and may be
called again after a crash. What stands only in the memory of other agents is theirs.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from pagemind.runtime.erasure.files import (
    ids_of,
    is_ours,
    lines_of,
    of_others,
    remove,
    replace,
    text_files,
)
from pagemind.runtime.erasure.plan import Plan, hashed
from pagemind.runtime.erasure.telltales import TellTales
from pagemind.runtime.erasure.texts import leaves
from pagemind.runtime.state.home import Home, Registered

Says = Callable[[str], bool]
_log = logging.getLogger("pagemind.erasure")


@dataclass(frozen=True, slots=True)
class Outside:
    """Rows of home.db by their keys; `archives`: numbers of passages by the archive's id; `made`:
    files for a person, each with its kind; `own`: files of the home itself; `lines`: hashes of the
    lines that text files of the home lose, by path."""

    mail: tuple[int, ...] = ()
    schedules: tuple[int, ...] = ()
    actions: tuple[tuple[str, str, str], ...] = ()
    inputs: tuple[tuple[str, str], ...] = ()
    questions: tuple[tuple[str, str], ...] = ()
    tasks: tuple[str, ...] = ()
    task_files: tuple[tuple[str, str], ...] = ()
    blocks: tuple[tuple[str, int], ...] = ()
    archives: tuple[tuple[str, tuple[int, ...]], ...] = ()
    made: tuple[tuple[str, str], ...] = ()
    own: tuple[str, ...] = ()
    lines: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """For a plan; from_json() leads back."""
        stored = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in stored.items() if value}

    @staticmethod
    def from_json(stored: dict[str, Any]) -> "Outside":
        return Outside(**{name: _tuples(value) for name, value in stored.items()})

    def counts(self) -> dict[str, int]:
        """How many of each, for a preview and a receipt; the words of a person."""
        archived = sum(len(numbers) for _, numbers in self.archives)
        found = {
            "events that wait": len(self.mail),
            "timers": len(self.schedules),
            "entries of tasks": sum(
                map(len, (self.actions, self.inputs, self.questions, self.tasks, self.task_files))
            ),
            "versions of shared blocks": len(self.blocks),
            "passages in shared archives": archived,
            "files": len(self.made),
            "backups": len(self.own),
            "lines of logs": sum(len(hashes) for _, hashes in self.lines),
        }
        return {what: number for what, number in found.items() if number}


class Beside:
    """Looks, and clears, for one agent. `matches`: what a person asked for, beside copies of what
    is erased, which `tales` tell."""

    def __init__(
        self,
        home: Home,
        agent: Registered,
        plan: Plan,
        tales: TellTales,
        matches: Says = lambda text: False,
    ) -> None:
        self._home = home
        self._db = home.database
        self._agent = agent
        self._plan = plan
        self._tales = tales
        self._matches = matches

    # --- looking ----------------------------------------------------------------------------------

    def look(self, *, since: datetime | None, turn_ids: frozenset[str]) -> Outside:
        """`since`: the oldest of what is erased; `turn_ids`: the clients' ids of its turns."""
        everything, id = self._plan.everything, self._agent.id
        mail = [
            row["number"]
            for row in self._db.rows("SELECT number, agent, event FROM mail")
            if self._copies(row["event"]) or (row["agent"] == id and self.meant(row["event"]))
        ]
        schedules = [
            row["number"]
            for row in self._db.rows("SELECT * FROM schedules WHERE agent = ?", (id,))
            if everything or self.meant(row["message"])
        ]
        tasks = self._tasks()
        return Outside(
            mail=tuple(mail),
            schedules=tuple(schedules),
            blocks=tuple(self._blocks()),
            made=tuple((*self._made(since), *self._outputs(tasks), *self._taken(turn_ids))),
            own=tuple(str(path) for path in self._backups()),
            lines=tuple(self._log_lines()),
            **tasks,
        )

    def _copies(self, text: str) -> bool:
        return any(self._tales.in_text(each) for each in leaves(text))

    def meant(self, text: str) -> bool:
        """Of a text that is this agent's own."""
        return self._plan.everything or self._matches(text) or self._copies(text)

    def _tasks(self) -> dict[str, tuple[Any, ...]]:
        rows = self._db.rows
        ours = {
            (row["task"], row["key"])
            for row in rows(
                "SELECT task, key FROM task_inputs WHERE agent IN (?, ?)",
                (self._agent.name, self._agent.id),
            )
        }

        def meant(task: str, key: str, *texts: str) -> bool:
            """What other agents did for a task is meant only where it copies what is erased."""
            own = (task, key) in ours
            return any(self.meant(text) if own else self._copies(text) for text in texts)

        told = {task for task, _ in ours}
        return {
            "actions": tuple(
                (row["task"], row["input"], row["place"])
                for row in rows("SELECT * FROM task_actions")
                if meant(row["task"], row["input"].split(" \x1f")[0], row["result"], row["error"])
            ),
            "inputs": tuple(
                (row["task"], row["key"])
                for row in rows("SELECT * FROM task_inputs WHERE error <> ''")
                if meant(row["task"], row["key"], row["error"])
            ),
            "questions": tuple(
                (row["task"], row["input"])
                for row in rows("SELECT * FROM task_questions")
                if meant(row["task"], row["input"], row["text"], row["choices"], row["answer"])
            ),
            "tasks": tuple(
                row["id"]
                for row in rows("SELECT * FROM tasks")
                if self._copies(row["vars"])
                or self._copies(row["text"])
                or (row["id"] in told and self._matches(row["vars"]))
            ),
            "task_files": tuple(
                (row["task"], row["path"])
                for row in rows("SELECT * FROM task_files")
                if self._copies(row["text"])
            ),
        }

    def _blocks(self) -> Iterator[tuple[str, int]]:
        ours = set(self._shared_names())
        for row in self._db.rows("SELECT * FROM shared_block_versions"):
            lines = row["value"].splitlines()
            if any(self._goes(line, own=row["name"] in ours) for line in lines):
                yield row["name"], row["version"]

    def _shared_names(self) -> list[str]:
        rows = self._db.rows(
            "SELECT name FROM shared_block_versions WHERE author = ?", (self._agent.name,)
        )
        return [row["name"] for row in rows]

    def _goes(self, line: str, *, own: bool) -> bool:
        if hashed(line) in self._plan.lines or self._copies(line):
            return True
        return own and not self._plan.everything and self._matches(line)

    def _made(self, since: datetime | None) -> Iterator[tuple[str, str]]:
        """What was written before any of it was said cannot hold it."""
        for file in self._home.made_files.of(self._agent.id):
            late = since is None or file.kind == "trace" or file.at >= since
            if (self._plan.everything or late) and is_ours(file.path, file.kind):
                yield str(file.path), file.kind

    def _outputs(self, tasks: dict[str, tuple[Any, ...]]) -> Iterator[tuple[str, str]]:
        touched = {each[0] for name in ("actions", "inputs") for each in tasks[name]}
        paths = {
            row["path"]
            for row in self._db.rows("SELECT task, path FROM task_outputs")
            if row["task"] in touched
        }
        for path in sorted(paths):
            if any(self._matches_in_file(line) for line in lines_of(Path(path))):
                yield path, "output"

    def _matches_in_file(self, line: str) -> bool:
        said = not self._plan.everything and self._matches(line)
        return said or self._copies(line)

    def _taken(self, turn_ids: frozenset[str]) -> Iterator[tuple[str, str]]:
        """Files of the inbox folder that became one of the erased turns (see awake/inbox.py)."""
        for row in self._db.rows("SELECT folder FROM inboxes WHERE agent = ?", (self._agent.id,)):
            for path in sorted(Path(row["folder"]).glob("done/*")):
                plain = path.is_file() and not path.is_symlink()
                if plain and any(id in turn_ids for id in ids_of(path)):
                    yield str(path), "inbox"

    def _backups(self) -> Iterator[Path]:
        """Copies from before an upgrade hold all that there was."""
        yield from sorted(self._home.folder(self._agent.id).glob("state.v*.backup"))
        yield from sorted(self._home.path.glob("home.v*.backup"))

    def _log_lines(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        for path in text_files(self._home.path):
            gone = [line for line in lines_of(path) if self._line_goes(path, line)]
            if gone:
                yield str(path), tuple(dict.fromkeys(map(hashed, gone)))

    def _line_goes(self, path: Path, line: str) -> bool:
        if path.name == "chat_history" and not self._plan.everything and self._matches(line):
            return True
        return self._copies(line)

    # --- clearing ---------------------------------------------------------------------------------

    def clear(self, found: Outside, *, keep_files: bool) -> tuple[list[str], list[str]]:
        """Take it out of home.db and out of the files, archives excepted; which files of a person
        are gone, and which stay: they are to be kept, or cannot be removed."""
        with self._db.transaction():
            self._clear_rows(found)
        for name in found.own:
            remove(Path(name))
        for name, hashes in found.lines:
            self._rewrite(Path(name), frozenset(hashes))
        gone, kept = [], []
        for name, kind in found.made:
            path = Path(name)
            if keep_files:
                kept += [name] if path.exists() else []
                continue
            try:
                self._clear_file(path, kind)
            except OSError as error:  # a folder that only its owner writes to, a medium
                _log.warning("%s cannot be removed: %s", name, error.strerror or error)
                kept.append(name)
            else:
                gone.append(name)
        return gone, kept

    def _clear_rows(self, found: Outside) -> None:
        run, id = self._db.write_many, self._agent.id
        run("DELETE FROM mail WHERE number = ?", [(each,) for each in found.mail])
        run(
            "UPDATE schedules SET message = '', due_at = NULL WHERE agent = ? AND number = ?",
            [(id, each) for each in found.schedules],
        )
        run(
            "UPDATE task_actions SET result = '', error = '' WHERE task = ? AND input = ?"
            " AND place = ?",
            found.actions,
        )
        run("UPDATE task_inputs SET error = '' WHERE task = ? AND key = ?", found.inputs)
        run("DELETE FROM task_questions WHERE task = ? AND input = ?", found.questions)
        tasks = [(each,) for each in found.tasks]
        run("UPDATE tasks SET text = '', vars = '{}' WHERE id = ?", tasks)
        run("UPDATE task_files SET text = '' WHERE task = ? AND path = ?", found.task_files)
        for name, version in found.blocks:
            self._clear_block(name, version)
        if found.blocks:
            self._home.audit.new_key("user")  # as scrub() does it for an agent

    def _clear_block(self, name: str, version: int) -> None:
        """A version of a shared block loses lines; the newest one is what the block says."""
        row = self._db.one(
            "SELECT value FROM shared_block_versions WHERE name = ? AND version = ?",
            (name, version),
        )
        if row is None:
            return
        own = name in set(self._shared_names())
        lines = [line for line in row["value"].splitlines() if not self._goes(line, own=own)]
        value = "\n".join(lines)
        self._db.write(
            "UPDATE shared_block_versions SET value = ?, reason = '' WHERE name = ?"
            " AND version = ?",
            (value, name, version),
        )
        self._db.write(
            "UPDATE shared_blocks SET value = ? WHERE name = ? AND version = ?",
            (value, name, version),
        )

    def _rewrite(self, path: Path, hashes: frozenset[str]) -> None:
        """Without the lines that go."""
        if not path.exists():
            return
        kept = [
            line
            for line in path.read_bytes().splitlines(keepends=True)
            if hashed(text := line.decode("utf-8", "replace")) not in hashes
            and not self._copies(text)
        ]
        replace(path, kept)

    def _clear_file(self, path: Path, kind: str) -> None:
        made = self._home.made_files
        if not is_ours(path, kind):  # a person has put something else there since
            made.forget(self._agent.id, path)
            return
        if kind == "folder":
            for part in ("blocks", "passages", "conversations"):
                for each in sorted((path / part).glob("*.md")):
                    remove(each)
        elif kind == "trace" and made.shared(path, self._agent.id) and path.exists():
            replace(path, list(of_others(path, self._agent.name)))
        else:
            remove(path)
        made.forget(self._agent.id, path)
        if kind == "output":
            self._db.write("DELETE FROM task_outputs WHERE path = ?", (str(path),))


def _tuples(value: Any) -> Any:
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value
