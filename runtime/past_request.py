"""PastRequests: the request of any past step, made again to the byte from what is stored.

A step says which messages were in its queue, how each was shown, what stood before the event, and
the versions of its blocks; its epoch says summary, page table and pins; its mould the rest
(mould.py). The agent is not needed, nor its functions, model or definition, and no line that it is
on now: what was rewound since is made again like all else. `exact` says whether the digest that
the step has kept is met; where it is not, something was erased, or is of a version that recorded
less.
"""

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from pagemind.runtime.clock import parse_rfc3339, zone_named
from pagemind.runtime.core_memory import Block, CoreMemory
from pagemind.runtime.fifo_queue import Entry, FifoQueue
from pagemind.runtime.main_context import MainContext, Prefetched
from pagemind.runtime.message import Message
from pagemind.runtime.model import ModelRequest, ToolSchema, Usage
from pagemind.runtime.mould import Frame, Mould
from pagemind.runtime.page_reader import PageReader
from pagemind.runtime.pins import Pinned
from pagemind.runtime.request_digest import RequestDigest
from pagemind.runtime.state.database import Row
from pagemind.runtime.state.history import Epoch
from pagemind.runtime.state.state import State
from pagemind.runtime.template import as_of_then
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.untrusted import Fences
from pagemind.runtime.view import View, show


@dataclass(frozen=True, slots=True)
class PastRequest:
    """A request as it was. `seq` is the newest message of then, `shown` the resident messages as
    the model saw them, `sections` their tokens by our own counter."""

    step: int
    turn: int
    epoch: int
    seq: int
    at: datetime
    model: str
    finish: str
    usage: Usage
    request: ModelRequest
    blocks: tuple[Block, ...]
    summary: str
    page_table: str
    pinned: str
    prefetch: str
    shown: tuple[Message, ...]
    sections: Mapping[str, int]
    sha256: str
    exact: bool


@dataclass(frozen=True, slots=True)
class Otherwise:
    """What steps of the first version did not record, as it is now."""

    zone: str
    live: bool
    tools_cost: int | None
    cache_key: str


class PastRequests:
    """Past requests of one agent. `otherwise` stands in for what was not recorded."""

    def __init__(self, state: State, counter: TokenCounter, otherwise: Otherwise) -> None:
        self._state = state
        self._counter = counter
        self._otherwise = otherwise

    def of(self, step: int) -> PastRequest | None:
        """The request of a step; None if there is no such step."""
        with self._state.database.reading():
            row = self._state.database.one("SELECT * FROM steps WHERE step = ?", (step,))
            return self._made_again(row) if row is not None else None

    def _made_again(self, row: Row) -> PastRequest:
        epoch = self._state.history.epoch(row["epoch"])
        assert epoch is not None
        settings = json.loads(row["settings"])
        mould = self._mould(settings.get("mould", ""), epoch)
        with as_of_then(mould.prompts):
            context = self._context(row, epoch, settings, mould)
            request = context.render(settings["max_tokens"])
            sections = context.sections()
        entries = [*([context.held] if context.held else []), *context.queue]
        return PastRequest(
            step=row["step"],
            turn=row["turn"],
            epoch=row["epoch"],
            seq=row["last_seq"],
            at=parse_rfc3339(row["at"]),
            model=row["model"],
            finish=row["finish"],
            usage=Usage(row["prompt_tokens"], row["completion_tokens"], row["cached_tokens"]),
            request=request,
            blocks=tuple(context.core.shown()),
            summary=context.summary,
            page_table=context.table,
            pinned=context.pinned.text,
            prefetch=context.prefetch.text if context.prefetch else "",
            shown=tuple(entry.shown for entry in entries),
            sections=sections,
            sha256=row["request_sha256"],
            exact=RequestDigest().of(request) == row["request_sha256"],
        )

    def _mould(self, sha256: str, epoch: Epoch) -> Mould:
        text = self._state.history.text
        if recorded := text(sha256):
            return Mould.from_json(recorded, text)
        other = self._otherwise
        return Mould(
            system=text(epoch.system_sha256),
            tools=tuple(_written_tools(text(epoch.tools_sha256))),
            tools_cost=other.tools_cost,
            live=other.live,
            blocks=tuple(
                Frame(b.label, b.limit, b.description, b.read_only)
                for b in self._state.blocks.all()
            ),
            zone=other.zone,
            prompts={},
            cache_key=other.cache_key,
        )

    def _context(
        self, row: Row, epoch: Epoch, settings: Mapping[str, object], mould: Mould
    ) -> MainContext:
        """Main context as it was: the queue is filled, and rendering it gives the request."""
        state = self._state
        versions = settings.get("blocks")
        if not isinstance(versions, dict):  # an edit came with a result, which the step had seen
            made = state.blocks.versions_before(row["last_seq"])
            versions = made if mould.live else epoch.blocks
        values = state.blocks.values(versions)
        blocks = [
            frame.around(*values[frame.label]) for frame in mould.blocks if frame.label in values
        ]
        context = MainContext(
            mould.system,
            CoreMemory(blocks, live=mould.live, profiles=mould.profiles),
            mould.tools,
            self._counter,
            tools_cost=mould.tools_cost,
            cache_key=mould.cache_key,
            fences=Fences(mould.fences),
            core_apart=lambda: mould.apart,
        )
        summary = state.pages.summary(epoch.summary)
        context.summary = summary.text if summary else ""
        context.table = state.history.text(epoch.table_sha256)
        context.pinned = Pinned(state.history.text(epoch.pinned_sha256))
        runs, held, event = self._recorded(row, epoch, settings)
        zone = zone_named(mould.zone)
        step, fences = row["step"], context.fences
        context.queue = FifoQueue(self._entries(runs, step, zone, fences))
        if held is not None:
            context.held = next(self._entries([(held, held)], step, zone, fences), None)
        if text := state.history.text(row["prefetch_sha256"]):
            context.prefetch = Prefetched(event, text)
        return context

    def _recorded(
        self, row: Row, epoch: Epoch, settings: Mapping[str, object]
    ) -> tuple[Sequence[tuple[int, int]], int | None, int]:
        """Which messages were in the queue, as ranges; which was held; before which one the
        prefetch stood."""
        runs, event = settings.get("queue"), settings.get("event")
        if not isinstance(event, int):
            event = self._state.database.number(
                "SELECT first_seq FROM turns WHERE turn = ?", (row["turn"],)
            )
        if not isinstance(runs, list):
            return [(epoch.queue_start, row["last_seq"])], epoch.held, event
        held = settings.get("held")
        return [(a, b) for a, b in runs], held if isinstance(held, int) else None, event

    def _entries(
        self, runs: Sequence[tuple[int, int]], step: int, zone: tzinfo, fences: Fences
    ) -> Iterator[Entry]:
        """The messages of these ranges as they were shown at a step; those that were not are left
        out."""
        count = self._counter.count
        reader = PageReader(
            self._state, count=count, zone=zone, part_tokens=lambda: 0, fences=fences
        )
        for first, last in runs:
            views = self._state.history.views(first, last, at_step=step)
            for message, _, pause in self._state.journal.range(first, last):
                view = views.get(message.seq, View())
                if view.form == "gone":
                    continue
                whole = self._counter.message(message)
                shown = show(
                    message,
                    view,
                    pause=pause,
                    whole=whole,
                    zone=zone,
                    count=count,
                    read=reader.text_of,
                    fences=fences,
                )
                yield Entry(message, shown, self._counter.message(shown), whole, view, pause)


def _written_tools(text: str) -> Iterator[ToolSchema]:
    """The functions of an epoch. Nothing of it is run: it is a literal with names of fields."""
    if not text:
        return
    tree = ast.parse(text, mode="eval").body
    for each in tree.elts if isinstance(tree, ast.Tuple) else ():
        if isinstance(each, ast.Call):
            fields = {word.arg: ast.literal_eval(word.value) for word in each.keywords}
            yield ToolSchema(fields["name"], fields["description"], fields["parameters"])
