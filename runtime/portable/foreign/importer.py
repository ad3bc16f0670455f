"""import_chats: a file of another tool into a new agent, or into one that is there.

All of it or nothing: a new agent is listed when it is complete, and what goes into an old one is
one transaction. Reading takes as much memory as the longest conversation.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pagemind.runtime.clock import Clock
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.errors import BadExport, UserError
from pagemind.runtime.naming import checked_name
from pagemind.runtime.portable.foreign import chatgpt, claude, letta, mem0, openai
from pagemind.runtime.portable.foreign.items import Item
from pagemind.runtime.portable.foreign.source import Source
from pagemind.runtime.portable.foreign.taking import Taken, Taking, skipped
from pagemind.runtime.portable.foreign.times import Times
from pagemind.runtime.portable.kinds import KINDS, recognise
from pagemind.runtime.state.denied import Denied
from pagemind.runtime.state.home import Home, Registered
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.writer import AgentWriter
from pagemind.runtime.written_path import expanded

Reader = Callable[[Source, Times], Iterator[Item]]


class House(Protocol):
    """What an import needs of a Runtime."""

    home: Home
    clock: Clock
    counter: TokenCounter

    def create(
        self,
        name: str,
        definition: str | Path | AgentDefinition | None = None,
        *,
        model: str | None = None,
        fill: Callable[[str, Path], None] | None = None,
    ) -> Registered: ...

    def writer(self, name: str, *, wait: float = 0.0) -> AgentWriter: ...

    def writer_in(self, registered: Registered, folder: Path) -> AgentWriter: ...


@dataclass(frozen=True, slots=True)
class Tool:
    """A kind of file: how it is recognised (a key of KINDS), what people call where it comes from,
    and what reads it."""

    kind: str
    name: str
    read: Reader


TOOLS = {
    "openai": Tool("chat", "an OpenAI-style chat", openai.read),
    "jsonl": Tool("chat lines", "an OpenAI-style chat", openai.read_lines),
    "letta": Tool("letta", "Letta", letta.read),
    "mem0": Tool("mem0", "mem0", mem0.read),
    "chatgpt": Tool("chatgpt", "ChatGPT", chatgpt.read),
    "claude": Tool("claude", "Claude", claude.read),
}
# A file that says too little of itself may be any of these.
_VAGUE = ("json", "text", "chat", "chat lines")


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did. The counts before `taken` are what the agent holds now."""

    agent: str
    path: Path
    source: str
    messages: int
    passages: int
    pages: int
    sha256: str
    taken: Taken
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The answer of `agents import` of another tool's file (docs/json.md)."""
        return {
            "agent": self.agent,
            "file": str(self.path),
            "from": self.source,
            "messages": self.messages,
            "passages": self.passages,
            "pages": self.pages,
            "sha256": self.sha256,
            "bytes": self.path.stat().st_size,
            "imported": {
                "messages": self.taken.messages,
                "conversations": self.taken.conversations,
                "passages": self.taken.passages,
                "blocks": self.taken.blocks,
            },
            "duplicates": self.taken.duplicates,
            "skipped": [
                {"what": what, "why": why, "count": count}
                for what, why, count in skipped(self.taken)
            ],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Progress:
    """Where an import is."""

    bytes: int
    of_bytes: int
    messages: int


OnProgress = Callable[[Progress], None]


def import_chats(
    runtime: House,
    path: Path,
    *,
    source: str = "auto",
    name: str | None = None,
    into: str | None = None,
    definition: str | Path | AgentDefinition | None = None,
    model: str | None = None,
    wait: float = 0.0,
    on_progress: OnProgress = lambda _: None,
    on_rows: Callable[[int, int], None] = lambda done, total: None,
) -> Imported:
    """Take a file in: into a new agent called `name`, or `into` one that is there.

    The rows are in the tiers when it returns, where those can be written. Raises BadExport,
    UserError, AgentExists, UnknownAgent, AgentInUse, StorageError.
    """
    path = expanded(path)
    source = known_source(path, source)
    if (name is None) == (into is None):
        raise UserError(
            f"{path} is {KINDS[TOOLS[source].kind]}: which agent shall have it?",
            hint="--as NAME makes a new one, --into AGENT adds to one that is there",
        )
    run = _Run(path, source, runtime.counter, on_progress, runtime.home.denied)
    if into is not None:
        with runtime.writer(into, wait=wait) as writer:
            run.into(writer, new=False)
            writer.carry_over(on_rows)
            return run.imported(writer)
    assert name is not None
    name = checked_name(name)

    def fill(agent_id: str, folder: Path) -> None:
        now = runtime.clock.now()
        registered = Registered(agent_id, name, "", "", now, now)
        with runtime.writer_in(registered, folder) as writer:
            run.into(writer, new=True)

    runtime.create(name, definition, model=model, fill=fill)
    with runtime.writer(name) as writer:
        writer.carry_over(on_rows)
        return run.imported(writer)


def known_source(path: Path, asked: str) -> str:
    """A key of TOOLS. Raises BadExport for what is no file of that tool."""
    if path.is_dir():
        inside = path / "conversations.json"
        raise BadExport(
            f"{path} is a folder",
            hint=f"give {inside}" if inside.is_file() else "give the file that was exported",
        )
    kind = recognise(path)
    if kind == "empty":
        raise BadExport(f"{path} is empty", hint="the export may have been cut off: make it again")
    found = next((key for key, tool in TOOLS.items() if tool.kind == kind), "")
    if asked == "auto":
        if not found:
            raise BadExport(
                f"{path} cannot be imported: it is {KINDS[kind]}",
                hint=f"known are .pmz files and what these write: {', '.join(TOOLS)}",
            )
        return found
    if asked not in TOOLS:
        raise UserError(f"{asked!r} is no tool known here", hint=f"one of {', '.join(TOOLS)}")
    if kind != TOOLS[asked].kind and not _may_be(asked, kind):
        raise BadExport(
            f"{path} is not {KINDS[TOOLS[asked].kind]}; it is {KINDS[kind]}",
            hint=f"--from {found} reads it" if found else "nothing was imported",
        )
    return asked


def _may_be(asked: str, kind: str) -> bool:
    """Whether a file of this kind may be what was asked for all the same."""
    return kind in _VAGUE and (asked in ("openai", "jsonl") or kind == "json")


class _Run:
    """One import."""

    def __init__(
        self,
        path: Path,
        source: str,
        counter: TokenCounter,
        on_progress: OnProgress,
        denied: Denied,
    ) -> None:
        self._denied = denied
        self._path = path
        self._counter = counter
        self._source = source
        self._on_progress = on_progress
        self._messages = 0
        self._bytes = (0, path.stat().st_size)
        self.taken = Taken()
        self._notes: list[str] = []

    def into(self, writer: AgentWriter, *, new: bool) -> None:
        """Inside one transaction."""
        tool = TOOLS[self._source]
        source, times = Source(self._path, self._read), Times(writer.zone)
        if not new:
            _ = writer.time_machine  # a call that a dead process left open gets its result
        taking = Taking(
            writer,
            source=self._source,
            tool=tool.name,
            file=self._path.name,
            count=self._counter,
            new=new,
            denied=self._denied,
            stop=self._stored,
        )
        with writer.state.database.transaction(), closing(_items(tool, source, times)) as items:
            self.taken = taking.take(items)
            if not (self._found() or self.taken.duplicates):
                raise BadExport(
                    f"{self._path} has nothing that can be imported",
                    hint=_reasons(self.taken) or f"is it {KINDS[tool.kind]}?",
                )
        if self.taken.messages:
            writer.reload()
        self._note(writer, source, times)

    def _found(self) -> int:
        return self.taken.messages + self.taken.passages + self.taken.blocks

    def _note(self, writer: AgentWriter, source: Source, times: Times) -> None:
        if times.naive:
            zone = getattr(writer.zone, "key", "this machine's")
            what = f"{times.naive:,} times say no zone"
            self._notes.append(f"{what}: they were taken as {zone}")
        if times.broken:
            self._notes.append(f"{times.broken:,} times cannot be read: the one before was taken")
        if self.taken.paged_out:
            self._notes.append("the talk so far was paged out: it stands in the page table")
        if others := source.others():
            more = f" and {len(others) - 5} more" if len(others) > 5 else ""
            self._notes.append(f"not read in the zip: {', '.join(others[:5])}{more}")

    def _read(self, done: int, total: int) -> None:
        self._bytes = (done, total)
        self._on_progress(Progress(done, total, self._messages))

    def _stored(self, messages: int) -> None:
        self._messages = messages
        self._on_progress(Progress(*self._bytes, messages))

    def imported(self, writer: AgentWriter) -> Imported:
        state = writer.state
        return Imported(
            agent=writer.name,
            path=self._path,
            source=self._source,
            messages=state.journal.count(),
            passages=state.passages.count(),
            pages=state.pages.count(),
            sha256=Source(self._path).sha256,
            taken=self.taken,
            notes=tuple(self._notes),
        )


def _items(tool: Tool, source: Source, times: Times) -> Generator[Item]:
    yield from tool.read(source, times)


def _reasons(taken: Taken) -> str:
    return "; ".join(f"{count:,} {what}: {why}" for what, why, count in skipped(taken)[:3])
