"""load_memory: takes the edits of a folder into the agent, all of them or none, as a person's.

The folder is brought up to date with what came of it, so that it can be edited on.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagemind.runtime.errors import UserError
from pagemind.runtime.portable.folder.dump import put
from pagemind.runtime.portable.folder.files import README, block_file, passage_file, readme
from pagemind.runtime.portable.folder.plan import Change, Plan, plan
from pagemind.runtime.writer import AgentWriter
from pagemind.runtime.written_path import expanded

if TYPE_CHECKING:
    from pagemind.runtime.runtime import Runtime

REASON = "load"


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was done, or with a dry run what would be."""

    agent: str
    folder: Path
    plan: Plan
    applied: bool

    def as_json(self) -> dict[str, Any]:
        """The answer of `memory load` (docs/json.md)."""
        return {
            "agent": self.agent,
            "folder": str(self.folder),
            "applied": self.applied,
            "changes": [
                {
                    "action": each.action,
                    "what": each.what,
                    "id": each.id,
                    "file": each.path,
                    "conflict": each.conflict,
                    "before": each.before,
                    "after": each.text,
                }
                for each in self.plan.changes
            ],
            "notes": list(self.plan.notes),
        }


def load_memory(
    runtime: "Runtime",
    name: str,
    folder: str | Path,
    *,
    dry_run: bool = False,
    sync: bool = False,
    force: bool = False,
    wait: float = 0.0,
) -> Loaded:
    """Take edits in. `sync`: passages whose file is gone are retired; `force`: the folder wins
    where the agent has changed the same. Raises UserError with file and line, AgentInUse."""
    folder = expanded(folder)
    if dry_run:
        with runtime.reader(name) as reader:
            profiles = reader.definition.profiles
            found = plan(reader.state, folder, reader.name, sync=sync, profiles=profiles)
            return Loaded(reader.name, folder, found, False)
    with runtime.writer(name, wait=wait) as writer:
        profiles = writer.definition.profiles
        found = plan(writer.state, folder, writer.name, sync=sync, profiles=profiles)
        if found.conflicts and not force:
            named = ", ".join(each.path or each.id for each in found.conflicts[:5])
            raise UserError(
                f"the agent has changed these since the dump, and so has the folder: {named}",
                hint="--force takes what the folder says; `pagemind memory history` keeps the rest",
            )
        with writer.state.database.transaction():
            files = [_apply(writer, each, found) for each in found.changes]
        for change, (path, data) in zip(found.changes, files, strict=True):
            _follow(folder, change, path, data)
        if found.changes and not found.behind:
            put(folder / README, readme(writer.name, writer.state))
        return Loaded(writer.name, folder, found, True)


def _apply(writer: AgentWriter, change: Change, found: Plan) -> tuple[str, bytes]:
    """Inside the transaction. The file as it is to be then."""
    state = writer.state
    seq = state.journal.last_seq
    if change.what == "block":
        writer.editor().replace(change.id, change.text, REASON)
        return block_file(next(b for b in state.blocks.all() if b.label == change.id))
    if change.action == "insert":
        passage, new = writer.insert(change.text, tags=change.tags, importance=change.importance)
        if not new:
            found.notes.append(f"{change.path}: {passage.short_id} says the same already")
    else:
        number = int(change.id[1:])
        if change.action == "retire":
            writer.retire(number, reason=REASON)
            return "", b""
        state.passages.set_status(number, "active", author="user", reason=REASON, seq=seq)
        edited = state.passages.edit(
            number,
            change.text,
            tags=change.tags,
            importance=change.importance,
            no_importance=change.importance is None,
            author="user",
            reason=REASON,
            seq=seq,
        )
        assert edited is not None
        passage = edited
    first = state.passages.history(passage.number)[0].value
    return passage_file(passage, first)


def _follow(folder: Path, change: Change, path: str, data: bytes) -> None:
    """Bring the file of a change up to date; a new one gets the name of its id."""
    if not path:
        return
    put(folder / path, data)
    if change.path and change.path != path:
        (folder / change.path).unlink(missing_ok=True)
