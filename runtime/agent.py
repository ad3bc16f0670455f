"""The agent: handle(event) runs a turn to its end; send, stream and observe are its faces.

Everything is committed before it is acted on; a kill at any instant leaves an agent that can go
on: recover() closes what a dead process left open.
"""

import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from pagemind.runtime import faces, structured
from pagemind.runtime.agent_inbox import AgentInbox
from pagemind.runtime.archival_memory import ArchivalMemory
from pagemind.runtime.attachment import attach
from pagemind.runtime.background import Background
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.core_editor import CoreEditor, take_up
from pagemind.runtime.core_memory import Block
from pagemind.runtime.errand import Teamwork
from pagemind.runtime.errors import (
    UserError,
)
from pagemind.runtime.event import Event, UserMessage, event_json
from pagemind.runtime.flush import Flushed
from pagemind.runtime.gist_writer import GistWriter
from pagemind.runtime.idle_gists import IdleGists
from pagemind.runtime.intake import observation
from pagemind.runtime.item_store import ItemStore
from pagemind.runtime.keeping import Keeping, Kept
from pagemind.runtime.lines_seen import LineSeen, lines_seen
from pagemind.runtime.loop import Loop
from pagemind.runtime.main_context import MainContext
from pagemind.runtime.message import TRUST, Message
from pagemind.runtime.model import Model
from pagemind.runtime.moved import Moved
from pagemind.runtime.passage import Passage
from pagemind.runtime.person import ApprovalRequest, Consent, Person
from pagemind.runtime.queue_manager import QueueManager
from pagemind.runtime.services import Answer, PinAnswer, Reach
from pagemind.runtime.shared_copies import SharedCopies
from pagemind.runtime.sleep.job import Report
from pagemind.runtime.sleep.worker import SleepStatus, SleepWorker
from pagemind.runtime.state.state import State
from pagemind.runtime.tiers.search import Search
from pagemind.runtime.time_machine import TimeMachine
from pagemind.runtime.trace import Observer, TraceEvent, ignore
from pagemind.runtime.trusting import Trusted, Trusting
from pagemind.runtime.turn import (
    TurnLimits,
    TurnResult,
)
from pagemind.runtime.turn_runner import Prefetch, TurnRunner

_log = logging.getLogger("pagemind.agent")


class Agent:
    """One agent, ready to run in this process. Made by boot.py; safe to call from any thread.

    `prefetch` gives the memories for an event, by its seq and text; `notes` says what is
    amiss with what it is made from; `closed` releases what the runtime holds for it; `background`
    runs idle work in a thread.
    """

    def __init__(
        self,
        *,
        name: str,
        id: str,
        state: State,
        loop: Loop,
        context: MainContext,
        queue_manager: QueueManager,
        prefetch: Prefetch,
        limits: TurnLimits,
        zone: tzinfo,
        background: bool,
        archival: ArchivalMemory,
        items: ItemStore,
        shared_blocks: SharedCopies,
        team: Teamwork,
        trusting: Trusting,
        engine: Search,
        gists: GistWriter,
        sleep: Callable[[threading.RLock], SleepWorker],
        notes: Callable[[], Sequence[str]] = tuple,
        closed: Callable[["Agent"], None],
    ) -> None:
        self.name = name
        self.id = id
        self.state = state
        self.loop = loop
        loop.shared = shared_blocks
        self.context = context
        self.queue_manager = queue_manager
        self.zone = zone
        self._background = background
        self.archival = archival
        self._items = items
        self.shared_blocks = shared_blocks
        self.team = team
        self.trusting = trusting
        self.engine = engine
        self._closed = closed
        self._lock = threading.RLock()
        self._idle: threading.Thread | None = None
        self._between = Background(IdleGists(gists, self._lock, name=name), sleep(self._lock))
        self.closed = False
        self._inbox = AgentInbox(state, queue_manager, archival)
        self.turns = TurnRunner(
            name=name,
            state=state,
            loop=loop,
            context=context,
            queue_manager=queue_manager,
            prefetch=prefetch,
            limits=limits,
            team=team,
            idle=self._between,
            notes=notes,
            settle=self._settle,
        )
        self.settles = True  # False: whoever drives it says when (a replay)

    def watch(self, observer: Observer) -> None:
        """Have every turn watched, and what runs in the idle, beside its own observer."""
        self.turns.watch = observer
        self.queue_manager.watch = self.queue_manager.observer = observer

    @property
    def limits(self) -> TurnLimits:
        """Of a turn; may be changed between two."""
        return self.turns.limits

    @limits.setter
    def limits(self, limits: TurnLimits) -> None:
        self.turns.limits = limits

    @property
    def model(self) -> Model:
        return self.loop.caller.model

    # --- the faces ------------------------------------------------------------------------------

    def send(
        self,
        text: str,
        *,
        speaker: str = "user",
        id: str | None = None,
        images: Sequence[str | Path] = (),
        schema: Any = None,
        document: str = "",
        observer: Observer = ignore,
        cancel: CancelToken | None = None,
    ) -> TurnResult:
        """A person says something, with images. The same `id` again returns the stored result.
        With a `schema` (JSON schema or pydantic model) the answer's `data` is a value of it.
        `document` names where the text is from if nobody answers for it: it is untrusted then.

        Raises UserError for empty text or another text under a known id, PromptTooLarge where
        the request cannot fit, StorageError. A failing model ends the turn with `model_error`.
        """
        attached = tuple(attach(self.state.blobs, Path(path)) for path in images)

        def say(text: str, id: str | None) -> TurnResult:
            event = UserMessage(text, speaker, id, attachments=attached, document=document)
            return self.handle(event, observer=observer, cancel=cancel)

        return say(text, id) if schema is None else structured.ask(say, text, schema, id=id)

    def stream(
        self,
        text: str,
        *,
        speaker: str = "user",
        id: str | None = None,
        images: Sequence[str | Path] = (),
    ) -> Iterator[TraceEvent]:
        """The turn's TraceEvents as they happen; the last is turn_ended with the result.

        Closing the iterator stops the turn.
        """
        return faces.stream(partial(self.send, text, speaker=speaker, id=id, images=images))

    async def asend(
        self,
        text: str,
        *,
        speaker: str = "user",
        id: str | None = None,
        images: Sequence[str | Path] = (),
        observer: Observer = ignore,
    ) -> TurnResult:
        """`send` in a thread. Cancelling the task stops the turn."""
        return await faces.in_thread(
            partial(self.send, text, speaker=speaker, id=id, images=images, observer=observer)
        )

    def astream(
        self,
        text: str,
        *,
        speaker: str = "user",
        id: str | None = None,
        images: Sequence[str | Path] = (),
    ) -> AsyncIterator[TraceEvent]:
        """`stream` for async code."""
        return faces.astream(partial(self.send, text, speaker=speaker, id=id, images=images))

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        id: str = "",
        consent: Consent | None = None,
        cancel: CancelToken | None = None,
        trust: int = TRUST["user"],
    ) -> str:
        """Run one of the agent's functions by hand, without its model; `id` is the call's, as the
        function sees it, `trust` that of what the arguments come from. Where it needs consent and
        none is given, `person` is asked. Raises NeedsApproval, ToolError, Cancelled, and what the
        function raises."""
        with self._lock:
            self._mend()
            self._follow()
            return self.loop.call(name, dict(arguments), id, consent, cancel, trust)

    def observe(self, text: str, *, source: str, speaker: str = "") -> Message:
        """Record something that happened: searchable and in the queue, without a model call."""
        with self._lock:
            self._mend()
            message = self.queue_manager.append(observation(text, source, speaker))
            self.queue_manager.make_room()
        return message

    def retry(
        self, *, observer: Observer = ignore, cancel: CancelToken | None = None
    ) -> TurnResult:
        """Take up the last turn that ended without an answer. Raises UserError if there is none."""
        with self._lock:
            self._mend()
            self.turns.watch(TraceEvent("asked", {"do": "retry", **self._follow()}))
            last = next(iter(self.state.turns.newest(1)), None)
            if last is None or last.stop_reason == "answered":
                raise UserError("there is nothing to retry", hint="the last turn was answered")
            return self.turns.resume(last, observer, cancel or CancelToken())

    @property
    def person(self) -> Person | None:
        """Who can be asked while the agent works; None where nobody is there."""
        return self.loop.person

    @person.setter
    def person(self, person: Person | None) -> None:
        self.loop.person = person

    def pending(self) -> ApprovalRequest | None:
        """The call that waits for a person's consent, if one does."""
        return self.loop.approvals.pending()

    def approve(
        self,
        consent: Consent | None = None,
        *,
        call: str = "",
        observer: Observer = ignore,
        cancel: CancelToken | None = None,
    ) -> TurnResult:
        """Answer the call that waits (by default: yes), and go on with its turn. `call` is its id,
        for whoever wants to be sure that it is still that one. Raises UserError if none waits."""
        with self._lock:
            self._mend()
            consent = consent or Consent(True)
            request = self.pending()
            if call and (request is None or request.call_id != call):
                raise UserError(
                    f"{call!r} is not a call of {self.name} that waits for approval",
                    hint=f"`pagemind agents show {self.name}` shows what does",
                )
            row = self.state.turns.get(request.turn) if request is not None else None
            if row is None:
                raise UserError(
                    f"no call of {self.name} waits for approval",
                    hint="it may have lapsed: a message that came first is an answer, too",
                )
            self.turns.watch(TraceEvent("asked", {"do": "approve", **asdict(consent)}))
            return self.turns.resume(row, observer, cancel or CancelToken(), consent)

    def send_message_to(
        self, agent: str, text: str, *, wait: bool = True, cancel: CancelToken | None = None
    ) -> Answer | None:
        """Tell another agent of the home something in this one's name; its answer, or None without
        `wait`. Raises ToolFailed for what cannot be sent."""
        everybody = Reach(("*",))
        with self._lock:
            self._mend()
            if wait:
                return self.team.ask(
                    agent, text, everybody, call="", cancel=cancel, trust=TRUST["user"]
                )
            self.team.leave(agent, text, everybody, call="", trust=TRUST["user"])
            return None

    def send_message_to_all(
        self, tags: Sequence[str], text: str, *, cancel: CancelToken | None = None
    ) -> list[Answer]:
        """Tell all agents with one of the tags the same, and wait for their answers."""
        with self._lock:
            self._mend()
            everybody = Reach(("*",))
            return self.team.ask_all(
                tags, text, everybody, call="", cancel=cancel, trust=TRUST["user"]
            )

    def hold(self, seconds: float) -> bool:
        """Keep every other thread from the agent until release(); whether it was free in time."""
        return self._lock.acquire(timeout=seconds)

    def release(self) -> None:
        self._lock.release()

    def new_conversation(self) -> int:
        """Start a new conversation; its number. The queue stays."""
        with self._lock:
            return self.state.journal.new_conversation()

    # --- a turn ---------------------------------------------------------------------------------

    def handle(
        self,
        event: Event,
        *,
        observer: Observer = ignore,
        cancel: CancelToken | None = None,
    ) -> TurnResult:
        """Handle one event to its end."""
        self._between.stop()  # what runs in the idle gives way
        with self._lock:
            self._mend()
            asked = {"do": "handle", **event_json(event), **self._follow()}
            self.turns.watch(TraceEvent("asked", asked))
            self._inbox.take()
            return self.turns.handle(event, observer, cancel or CancelToken())

    def recover(self) -> None:
        """After opening: close what a killed process left open, and take what others left."""
        waiting = self.pending()
        if waiting is None:
            self.loop.approvals.lapse()  # in a copy
            self.loop.mend()
        self.turns.close_left_open(waiting)
        if waiting is None:  # what others left would be an answer to it
            self._inbox.take()

    def _mend(self) -> None:
        """Close what an earlier call could not: the disk was full, or Ctrl-C fell between."""
        if self.turns.unclosed:
            self.recover()

    def follow_within(self) -> None:
        """Take up in the middle of a turn what those have made of the shared blocks who were asked
        something in it."""
        if taken := self._follow():
            self.turns.watch(TraceEvent("shared", {"blocks": taken["shared"]}))

    def _follow(self) -> dict[str, dict[str, str]]:
        """Take up what others have made of the shared blocks: for a trace."""
        tell = self.queue_manager.append
        taken = take_up(self.state, self.context.core, self.shared_blocks, tell=tell)
        return {"shared": taken} if taken else {}

    def insert(
        self,
        text: str,
        *,
        tags: Sequence[str] = (),
        importance: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        document: str = "",
        **kept: Unpack[Kept],
    ) -> tuple[Passage, bool]:
        """A person stores a passage, or a piece of the named document; it, and whether it is new.
        Raises ToolFailed, UserError."""
        keeping = Keeping.of(**kept)
        with self._lock:
            return self.archival.for_person(document).insert(
                text, tags=tags, importance=importance, metadata=metadata, keeping=keeping
            )

    @property
    def store(self) -> ItemStore:
        """JSON values under a namespace and a key, as a person keeps them."""
        return self._items.for_person(self._lock)

    def blocks(self) -> list[Block]:
        """Core memory as it is now; a shared block as others have left it."""
        return self.shared_blocks.now(self.state.blocks.all())

    def pin(self, id: str) -> PinAnswer:
        """A person keeps a copy of a message (m42) or page (p17) in view from the next flush on.
        Raises ToolFailed: unknown id, no room for it."""
        with self._lock:
            return self.queue_manager.pinning.pin(id)

    def unpin(self, id: str) -> PinAnswer:
        """A person lets it go. Raises ToolFailed for what is not pinned."""
        with self._lock:
            return self.queue_manager.pinning.unpin(id)

    def trust(self, *ids: str, distrust: bool = False) -> list[Trusted]:
        """A person trusts messages (m42), records (a7), pages (p17) or blocks (block:human), or
        does not any more; all that changed. Raises NotFound, UserError."""
        with self._lock:
            return self.trusted(self.trusting.find(ids, distrust=distrust))

    def trusted(self, wanted: Sequence[Trusted]) -> list[Trusted]:
        """As `trusting` has found it."""
        with self._lock:
            changed = self.trusting.say(wanted)
            self.queue_manager.renew_trust()
            return changed

    def restore_block(self, label: str, version: int) -> str:
        """A person takes an edit of core memory back; the value. Raises BlockNotFound, NotFound."""
        with self._lock:
            return self.editor().restore(label, version)

    def write_block(self, label: str, value: str) -> str:
        """A person writes a block anew; the value. Raises BlockNotFound, BlockLimitExceeded."""
        with self._lock:
            return self.editor().replace(label, value)

    def editor(self) -> CoreEditor:
        """Core memory, edited by a person."""
        tell = self.queue_manager.append
        return CoreEditor(
            self.state,
            self.context.core,
            author="user",
            origin="user",
            tell=tell,
            shared=self.shared_blocks,
        )

    def warn(self) -> int:
        """Tell the model now that its window fills: by how many percent."""
        with self._lock:
            return round(100 * self.queue_manager.warn())

    # --- the time machine -----------------------------------------------------------------------

    def undo(self, turns: int = 1, *, apply: bool = True) -> Moved:
        """Take the last turns back with their edits of memory; without `apply` only say what that
        would do. Raises UserError."""
        with self.at_rest() as machine:
            return self._travel(machine.undo, turns, apply)

    def rewind(self, to: int | datetime, *, apply: bool = True) -> Moved:
        """Go back to the end of the turn in which a message, or a time, is. Raises UserError."""
        with self.at_rest() as machine:
            return self._travel(machine.rewind, to, apply)

    def bring_back(self, line: int | None = None, *, apply: bool = True) -> Moved:
        """Go on from where a line was left: by default the one before the last undo or rewind.
        Raises UserError."""
        with self.at_rest() as machine:
            return self._travel(machine.bring_back, line, apply)

    def _travel(self, go: Callable[..., Moved], where: Any, apply: bool) -> Moved:
        """What waits for a person does not wait elsewhere."""
        if apply and self.pending() is not None:
            go(where, apply=False)  # raises where there is no such way
            self.loop.approvals.lapse()
        return go(where, apply=apply)

    def lines(self) -> list[LineSeen]:
        """What was taken back, and when; the current line among it."""
        return lines_seen(self.state)

    @contextmanager
    def at_rest(self) -> Iterator[TimeMachine]:
        """Between two turns: nothing is said or written meanwhile."""
        self._between.stop()
        with self._lock:
            self._mend()
            yield TimeMachine(
                self.name,
                self.state,
                count=self.context.counter.count,
                live=self.context.core.live,
                effect=self.loop.effect,
                zone=self.zone,
                moved=self.queue_manager.reload,
            )

    def prefill(self) -> None:
        """Warm the model with the head of the next prompt; does nothing while a turn runs."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            request = self.context.render(self.loop.caller.window().reserve)
        finally:
            self._lock.release()
        self.model.prefill(request)

    def _settle(self) -> None:
        """A flush that is nearly due runs now, so that the next turn does not wait for it."""
        if not self.settles:
            return
        if not self._background:
            self.queue_manager.settle()
        elif not self.queue_manager.settle_due():
            self._between.start()
        else:
            self._idle = threading.Thread(
                target=self._settle_quietly, name=f"idle flush of {self.name}", daemon=True
            )
            self._idle.start()

    def _settle_quietly(self) -> None:
        with self._lock:
            try:
                self.queue_manager.observer = self.turns.watch
                self.queue_manager.settle()
                self._between.start()
            except Exception:
                # The next turn flushes again and reports; here is nobody to tell.
                _log.warning("idle flush failed", exc_info=True)

    def flush(self, cancel: CancelToken | None = None) -> Flushed:
        """Page out now, whatever the pressure: all but the newest group."""
        with self._lock:
            self._mend()
            return self.queue_manager.flush(None, keep=0, reason="asked", cancel=cancel)

    def write_gists(self, cancel: CancelToken | None = None) -> bool:
        """Ask a model now for better gists of some pages, as the idle does; whether it gave any."""
        return self._between.gists.write(cancel or CancelToken())

    def sleep(self, cancel: CancelToken | None = None, *, eager: bool = True) -> Report:
        """Tend memory now, whatever the definition says about when: every job that is due; what was
        done. Not `eager`, jobs wait until a call is worth it. Turns wait only for what is written.
        """
        with self._lock:
            self._mend()
        return self._between.sleep.run(cancel, eager=eager)

    def sleep_status(self) -> SleepStatus:
        """What the sleep-time worker is up to."""
        return self._between.sleep.status()

    def close(self) -> None:
        """Let the agent go: unwritten rows are carried over, the lock is released. Idempotent."""
        self._between.stop()
        if self._idle is not None:
            self._idle.join()
            self._between.stop()  # a flush in the idle asks for them when it is done
        self._between.sleep.join()
        with self._lock:
            self.closed = True
            self._closed(self)

    def __enter__(self) -> "Agent":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
