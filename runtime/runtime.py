"""The runtime of one process: its home, its agents, the write-back thread, shared models.

    with Runtime() as runtime:
        agent = runtime.agent("ada", definition="assistant")
        print(agent.send("My boat is called Nomad.").text)

An agent is opened once in a process and held by its lock; readers work beside it from anywhere.
"""

import json
import logging
import shutil
import tempfile
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pagemind.runtime.acceptance import accept, definition_of, reach_of, same_definition
from pagemind.runtime.agent import Agent
from pagemind.runtime.archives import Archives
from pagemind.runtime.boot import boot
from pagemind.runtime.clock import Clock, SystemClock
from pagemind.runtime.config import load as load_config
from pagemind.runtime.definition import AgentDefinition, load_definition
from pagemind.runtime.errors import AgentInUse, EmbeddingMismatch, NoModel, PagemindError
from pagemind.runtime.item_store import ItemStore
from pagemind.runtime.made_of import check_fits, first_blocks, zone_of
from pagemind.runtime.mcp.servers import Servers, open_servers
from pagemind.runtime.memory import Memory
from pagemind.runtime.model import Embedder, Model
from pagemind.runtime.model_choice import (
    ModelChoice,
    choose,
    make_model,
    protocol_of,
    require_local,
)
from pagemind.runtime.models.embedders import make_embedder
from pagemind.runtime.models.metered import MeteredEmbedder, MeteredModel
from pagemind.runtime.models.sound_embedder import SoundEmbedder
from pagemind.runtime.naming import checked_name, folded
from pagemind.runtime.parts import ALL, Parts
from pagemind.runtime.reader import AgentInfo, AgentReader, unreadable
from pagemind.runtime.recorder import Recorder, Recording
from pagemind.runtime.reembed import sweep_tiers
from pagemind.runtime.settings import (
    ARCHIVE_WAIT_SECONDS,
    WRITE_BACK_EXIT_SECONDS,
    WRITE_BACK_ROWS,
    home_path,
)
from pagemind.runtime.state.audit import NOTHING, Head
from pagemind.runtime.state.database import peek
from pagemind.runtime.state.home import AgentLock, Home, Registered
from pagemind.runtime.state.schedules import MadeBy, Schedules
from pagemind.runtime.state.shared_blocks import SharedBlocks
from pagemind.runtime.state.spending import Spending
from pagemind.runtime.state.state import State
from pagemind.runtime.tiers.write_back import WriteBack
from pagemind.runtime.timers import AgentTimers, define
from pagemind.runtime.together.post import Post
from pagemind.runtime.together.seat import Seat
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.tool import Tool, make_tool
from pagemind.runtime.trace import Observer, both, ignore
from pagemind.runtime.upgrade import Upgrade, upgrade
from pagemind.runtime.writer import AgentWriter
from pagemind.runtime.written_path import expanded

if TYPE_CHECKING:
    from pagemind.runtime.audit import AuditLog
    from pagemind.runtime.erasure.erasing import Erasing
    from pagemind.runtime.erasure.receipt import Receipt
    from pagemind.runtime.fork import Forked
    from pagemind.runtime.portable.carried import Carried
    from pagemind.runtime.portable.foreign.importer import Imported

DEFAULT_DEFINITION = "assistant"
_log = logging.getLogger("pagemind.runtime")


class Runtime:
    """`home` is a folder; None is `PAGEMIND_HOME` or the platform's; ":memory:" a throw-away one.

    `embedder` stands in for every definition's embedding (tests); `background` False runs idle
    work at the end of the turn instead of in a thread, so that runs repeat exactly; `parts` leaves
    a mechanism of paging out (benchmarks). `trace` is a file that all that happens is appended to
    (docs/trace.md), a Recorder where that needs saying more; `watch` gives an observer for each
    agent that is opened, by its name.
    """

    def __init__(
        self,
        home: str | Path | None = None,
        *,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        background: bool = True,
        parts: Parts = ALL,
        trace: str | Path | Recorder | None = None,
        watch: Callable[[str], Observer] | None = None,
    ) -> None:
        self._throw_away = tempfile.mkdtemp(prefix="pagemind-") if home == ":memory:" else None
        self.clock = clock or SystemClock()
        self.home = Home(home_path(self._throw_away or home), self.clock)
        if isinstance(trace, str | Path):
            trace = Recorder(Path(trace), self.clock)
        self._recorder = trace
        self._watched_by = watch
        self._recordings: dict[str, Recording] = {}
        self.counter = TokenCounter()
        self.spending = Spending(self.home.database, self.clock)
        self.shared_blocks = SharedBlocks(self.home.database, self.clock)
        self.schedules = Schedules(self.home.database, self.clock)
        self._embedder = SoundEmbedder(embedder) if embedder is not None else None
        self._embedders: dict[str, Embedder | None] = {}
        self._background = background
        self._parts = parts
        self._write_back = WriteBack()
        self.archives = Archives(
            self.home,
            clock=self.clock,
            embedder=self._embedder_named,
            write_back=self._write_back,
            count=self.counter.count,
        )
        self.post = Post(self)
        self._models: dict[tuple[tuple[str, ...], int | None], Model] = {}
        self._agents: dict[str, tuple[Agent, AgentLock]] = {}
        self._lock = threading.RLock()
        self._opening: dict[str, threading.Lock] = {}

    # --- agents -------------------------------------------------------------------------------

    def agent(
        self,
        name: str,
        definition: str | Path | AgentDefinition | None = None,
        *,
        model: str | Model | None = None,
        tools: Iterable[Tool | Callable[..., str]] = (),
        create: bool = True,
        wait: float = 0.0,
    ) -> Agent:
        """Create an agent, or resume it. `model` given by name is kept as the agent's choice.

        `tools` are functions of your own, beside those of the definition. Raises AgentInUse
        after `wait` seconds, UnknownAgent with `create=False`, NoModel, DefinitionError.
        """
        name = checked_name(name)
        extra = [t if isinstance(t, Tool) else make_tool(t) for t in tools]
        # One at a time for each agent, so that threads that ask together get the same one, and
        # who waits for a busy agent holds up nobody who wants another.
        with self._lock:
            opening = self._opening.setdefault(folded(name), threading.Lock())
        with opening:
            made = not self.home.exists(name)
            if made:
                if not create:
                    self.home.find(name)  # raises with the nearest names
                self.create(name, definition, model=model)
            registered = self.home.find(name)
            with self._lock:
                if registered.id in self._agents:
                    return self._agents[registered.id][0]
            lock = AgentLock(self.home.folder(registered.id), registered.name)
            lock.acquire(wait)
            try:
                self._finish_erasing(registered)
                self.home.find(name)  # it may have been deleted while we waited
                self._keep_to(registered)
                agent = self._open(registered, model, extra)
            except BaseException:
                if made:  # nobody asked for an agent that cannot be opened
                    self.home.remove(registered)
                lock.release()
                raise
            with self._lock:
                self._agents[registered.id] = (agent, lock)
        self._touch(registered.id)
        return agent

    def create(
        self,
        name: str,
        definition: str | Path | AgentDefinition | None = None,
        *,
        model: str | Model | None = None,
        fill: Callable[[str, Path], None] | None = None,
    ) -> Registered:
        """Make an agent without opening it. All or nothing: it is listed when it is complete;
        `fill` puts more into it before, and is given its id and its folder.

        Raises AgentExists, InvalidName, DefinitionError, WindowTooSmall.
        """
        name = checked_name(name)
        configured = load_config(self.home.path)
        checked = (
            definition
            if isinstance(definition, AgentDefinition)
            else load_definition(definition or configured.definition or DEFAULT_DEFINITION)
        )
        if any(use.own for use in checked.uses):
            self._tools(checked)  # raises with the line of what cannot be imported
        if configured.embedding and not checked.states("embedding"):
            checked = checked.stating(embedding=configured.embedding)
        if checked.context_window is not None:
            check_fits(checked, self._first_protocol(checked, model), self.counter)
        self.home.sweep(again=False)
        agent_id = self.clock.new_id()
        with self.home.making(agent_id) as folder:
            state = State(folder, self.clock)
            try:
                with state.database.transaction():
                    state.database.set_meta("agent_id", agent_id)
                    state.database.set_meta("definition", checked.to_json())
                    state.database.set_meta("embedding", checked.embedding)
                    state.journal.open_first_line()
                    first_blocks(state, checked)
            finally:
                state.close()
            chosen = model if isinstance(model, str) else ""
            if fill is not None:
                with self.home.unfinished(agent_id):
                    fill(agent_id, folder)
            with self.home.database.transaction():
                registered = self.home.add(agent_id, name, checked.name, chosen)
                define(self.schedules, agent_id, checked, self.clock)
            return registered

    def _first_protocol(self, definition: AgentDefinition, model: str | Model | None) -> str:
        """How the agent will be spoken to, as far as that can be known before it is made."""
        if model is not None and not isinstance(model, str):
            return definition.protocol
        try:
            choice = choose(definition, asked=model, stored="", home=self.home.path)
        except NoModel:
            return definition.protocol
        return protocol_of(choice, definition)

    def _open(
        self, registered: Registered, model: str | Model | None, extra: Sequence[Tool]
    ) -> Agent:
        state = State(self.home.folder(registered.id), self.clock)
        servers: Servers | None = None
        try:
            state.database.take()
            sweep_tiers(state)
            definition = definition_of(state.database)
            made_by = state.database.meta("embedding", definition.embedding)
            if made_by != definition.embedding:
                raise EmbeddingMismatch(
                    f"the tiers of {registered.name!r} were made by {made_by} and its definition"
                    f" says {definition.embedding}",
                    hint=f"`pagemind memory reembed {registered.name}` makes them anew; nothing"
                    " is lost",
                )
            if model is None or isinstance(model, str):
                choice = self.choose_model(registered.name, model)
                chosen, protocol = self._model(choice, definition)
                if model is not None:  # only now: a name that cannot be used is not kept
                    self.home.set_model(registered.id, model)
            else:
                chosen, protocol = model, definition.protocol
            summarizer = self._beside(definition.summarizer_name, "summarizer", definition)
            sleeper = self._beside(definition.sleep.model, "sleep.model", definition)
            embedder = self._embedder_of(definition)
            if isinstance(embedder, MeteredEmbedder):
                embedder = embedder.of(registered.name)
            tools = [*self._tools(definition), *extra]
            if servers := self._servers_of(registered.name, definition, state):
                tools += servers.tools()
            recording = self._recording(registered, state, definition)
            if recording is not None:
                recording.opened(model=chosen, protocol=protocol, tools=tools, parts=self._parts)
                chosen = recording.model(chosen)
                summarizer = recording.model(summarizer) if summarizer else None
                sleeper = recording.model(sleeper) if sleeper else None
                tools = [recording.tool(each) for each in tools]
            agent = boot(
                name=registered.name,
                agent_id=registered.id,
                state=state,
                definition=definition,
                model=chosen,
                summarizer=summarizer,
                sleeper=sleeper,
                protocol=protocol,
                embedder=embedder,
                tools=tools,
                clock=self.clock,
                counter=self.counter,
                write_back=self._write_back,
                archives=self.archives,
                shared_blocks=self.shared_blocks,
                timers=self._timers(registered.id, definition, "agent"),
                background=self._background,
                parts=self._parts,
                closed=self._let_go,
                seat=partial(Seat, self.post, registered, state),
                metered=lambda model: MeteredModel(model, registered.name, self.spending.tell),
                spent_beside=partial(self.spending.cost_since, registered.name),
                servers=servers,
            )
            observer: Observer = ignore
            if recording is not None:
                observer = recording.watch
            if self._watched_by is not None:
                observer = both(observer, self._watched_by(registered.name))
            agent.watch(observer)
            return agent
        except BaseException:
            if servers is not None:
                servers.close()
            self._write_back.unregister(registered.id)
            state.close()
            raise

    def _beside(self, named: str | None, source: str, definition: AgentDefinition) -> Model | None:
        """The model that a definition names for what is no turn."""
        if not named:
            return None
        choice = ModelChoice(named, source)
        if definition.local_only:
            require_local(choice, definition.name)
        return self._model(choice, None)[0]

    def _recording(
        self, registered: Registered, state: State, definition: AgentDefinition
    ) -> Recording | None:
        if self._recorder is None:
            return None
        asked = [definition.model, *definition.model.fallbacks] if definition.model else []
        recording = self._recorder.recording(
            registered.name, state, secrets={"models": [each.params for each in asked]}
        )
        self._recordings[registered.id] = recording
        self.home.made_files.note(registered.id, self._recorder.path, "trace")
        return recording

    def _servers_of(self, name: str, definition: AgentDefinition, state: State) -> Servers | None:
        return open_servers(name, definition, state.database) if definition.servers else None

    def _tools(self, definition: AgentDefinition) -> list[Tool]:
        from pagemind.tools import of_definition

        return of_definition(definition)

    def _embedder_of(self, definition: AgentDefinition) -> Embedder | None:
        if self._embedder is not None:
            return self._embedder
        name = definition.embedding
        if definition.local_only and name not in ("none", "hashing"):
            require_local(ModelChoice(name, "embedding"), definition.name)
        return self._embedder_named(name)

    def _embedder_named(self, name: str) -> Embedder | None:
        if self._embedder is not None:
            return self._embedder
        with self._lock:
            if name not in self._embedders:
                made = make_embedder(name)
                counted = MeteredEmbedder(made, name, self.spending.tell) if made else None
                self._embedders[name] = counted
            return self._embedders[name]

    def choose_model(self, name: str, asked: str | None = None) -> ModelChoice:
        """The model an agent would run on, and why. `name` may be an agent that is not made yet.

        Raises NoModel.
        """
        stored, definition = "", None
        if self.home.exists(name):
            registered = self.home.find(name)
            stored = registered.model
            with self._reader(registered) as reader:
                definition = reader.definition
        return choose(definition, asked=asked, stored=stored, home=self.home.path)

    def background_model(self, name: str) -> Model:
        """The model that works for an agent beside its turns: the one its definition names for
        summaries, or its own; counted. Raises NoModel, UnknownAgent."""
        registered = self.home.find(name)
        with self._reader(registered) as reader:
            definition = reader.definition
        beside = self._beside(definition.summarizer_name, "summarizer", definition)
        model = beside or self._model(self.choose_model(name), definition)[0]
        return MeteredModel(model, registered.name, self.spending.tell)

    def _model(self, choice: ModelChoice, definition: AgentDefinition | None) -> tuple[Model, str]:
        """The model of a choice, shared in this process, and the protocol it is spoken to with."""
        if definition is not None and definition.local_only:
            require_local(choice, definition.name)
        window = definition.context_window if definition else None
        key = (choice.key, window)
        with self._lock:
            if key not in self._models:
                self._models[key] = make_model(choice, self.home.path, window)
            model = self._models[key]
        protocol = protocol_of(choice, definition)
        if protocol == "guided":
            from pagemind.runtime.models.guided_model import GuidedModel

            embedder = None if definition is None else self._embedder_of(definition)
            model = GuidedModel(model, embedder=embedder)
        return model, protocol

    def _touch(self, agent_id: str, head: Head = NOTHING) -> None:
        """Note that an agent was used, and how long its audit log is. Worth no failure: it is
        there and can be read even where nothing can be written."""
        try:
            with self.home.database.transaction():
                self.home.touch(agent_id)
                self.home.audit_heads.note(agent_id, head)
        except PagemindError as error:
            _log.warning("%s", error)

    def _let_go(self, agent: Agent) -> None:
        """Agent.close(): write what is pending, close the files, release the lock."""
        with self._lock:
            opened = self._agents.pop(agent.id, None)
        if opened is None:
            return
        # A short tail is left for the next time: it is searched where it is, and a one-shot
        # command need not load LanceDB for a handful of rows.
        try:
            if agent.state.outbox.count() >= WRITE_BACK_ROWS:
                self._write_back.drain(agent.id, WRITE_BACK_EXIT_SECONDS, vectors=False)
            if recording := self._recordings.pop(agent.id, None):
                recording.close()
            self._touch(agent.id, agent.state.audit.head())
        finally:  # a full disk must not hold it: it could not be opened again
            self._write_back.unregister(agent.id)
            agent.state.close()
            opened[1].release()

    def drain(self, agent: Agent, timeout: float = 60.0) -> bool:
        """Wait until LanceDB has all that was said to an agent; False if that failed or took
        too long. Search needs no such wait: what is unwritten is searched as well."""
        return self._write_back.drain(agent.id, timeout)

    # --- beside the agents ----------------------------------------------------------------------

    def reader(self, name: str) -> AgentReader:
        """Read an agent that may be in use: search, blocks, pages, inspect. Close it after use."""
        return self._reader(self.home.find(checked_name(name)))

    def _reader(self, registered: Registered) -> AgentReader:
        return AgentReader(
            registered,
            self.home.folder(registered.id),
            clock=self.clock,
            counter=self.counter,
            embedder=self._embedder_of,
            archives=self.archives,
            shared_blocks=self.shared_blocks,
        )

    def agents(self, tags: Collection[str] = ()) -> list[AgentInfo]:
        """Every agent of the home, or those with one of the tags, the one used last first; one
        that cannot be read says why."""
        found = []
        for registered in self.home.all():
            try:
                with self._reader(registered) as reader:
                    found.append(reader.info())
            except PagemindError as error:
                found.append(unreadable(registered, error.message))
        return [each for each in found if not tags or set(each.tags) & set(tags)]

    def is_open(self, agent_id: str) -> bool:
        """Whether this process holds the agent of this id."""
        with self._lock:
            return agent_id in self._agents

    def last_agent(self) -> str | None:
        """The name of the agent used last."""
        return next((each.name for each in self.home.all()), None)

    def info(self, name: str) -> AgentInfo:
        with self.reader(name) as reader:
            return reader.info()

    def path(self, name: str) -> Path:
        """The agent's folder."""
        return self.home.folder(self.home.find(checked_name(name)).id)

    def fork(self, agent: str | Agent, name: str, at: int | datetime | None = None) -> "Forked":
        """Copy an agent, also one that is in use, under another name: as it is now, or as it was at
        the end of the turn in which a message or a time is. Raises AgentExists, InvalidName,
        UnknownAgent, NotFound."""
        from pagemind.runtime.fork import fork

        source = self.home.find(agent.name if isinstance(agent, Agent) else checked_name(agent))
        with self._lock:
            opened = self._agents.get(source.id)
        with ExitStack() as stack:
            rest = False
            if opened is not None:
                stack.enter_context(opened[0].at_rest())
                rest = stack.enter_context(self._write_back.paused(source.id))
            return fork(
                self.home,
                source,
                name,
                at,
                clock=self.clock,
                count=self.counter.count,
                tables_rest=rest,
            )

    def delete(self, name: str, *, wait: float = 0.0) -> AgentInfo:
        """Remove an agent and its folder; what it was. Raises AgentInUse, UnknownAgent."""
        registered = self.home.find(checked_name(name))
        with self._lock:
            if registered.id in self._agents:
                raise AgentInUse(f"agent {name!r} is open in this process", hint="close it first")
        info = self.info(name)
        lock = AgentLock(self.home.folder(registered.id), registered.name)
        lock.acquire(wait)
        try:
            self._finish_erasing(registered)
            self.home.remove(registered)
        finally:
            lock.release()
        return info

    def update(
        self, name: str, definition: str | Path | AgentDefinition, *, apply: bool, wait: float = 0.0
    ) -> list[str]:
        """What a new definition would change, as a unified diff; done only with `apply`.

        An agent's memory is its own: blocks that exist keep their value, new ones are added.
        """
        import difflib

        registered = self.home.find(checked_name(name))
        new = definition if isinstance(definition, AgentDefinition) else load_definition(definition)
        with self.reader(name) as reader:
            old = reader.definition
        diff = list(
            difflib.unified_diff(
                json.dumps(old.raw, indent=2, ensure_ascii=False).splitlines(),
                json.dumps(new.raw, indent=2, ensure_ascii=False).splitlines(),
                "stored",
                new.source,
                lineterm="",
            )
        )
        if any(use.own for use in new.uses):
            self._tools(new)
        if not apply or not diff:
            return diff
        with self._at_rest(registered, wait) as state:
            with state.database.transaction():
                state.database.set_meta("definition", new.to_json())
                accept(state.database, new.folder)  # it is the person's own now
                known = {block.label for block in state.blocks.all()}
                first_blocks(state, new, without=known)
            self.home.set_definition(registered.id, new.name)
            define(self.schedules, registered.id, new, self.clock)
        return diff

    def accept(
        self,
        name: str,
        *,
        apply: bool = True,
        only: AgentDefinition | None = None,
        wait: float = 0.0,
    ) -> list[str]:
        """What an imported agent's definition may reach, a line each; opened with `apply`, with
        its relative folders here; with `only` if it is that definition, with its folders. Raises
        UnknownAgent, AgentInUse."""
        registered = self.home.find(checked_name(name))
        here = Path.cwd() if only is None else only.folder
        with self.reader(name) as reader:
            text = reader.state.database.meta("definition")
        stored = json.loads(text)
        if apply and (only is None or same_definition(text, only.to_json())):
            with self._at_rest(registered, wait) as state, state.database.transaction():
                accept(state.database, here)
        return reach_of(stored, Path(stored.get("folder") or here))

    @contextmanager
    def _at_rest(self, registered: Registered, wait: float) -> Iterator[State]:
        """The state of an agent that nobody else has open. Raises AgentInUse."""
        lock = AgentLock(self.home.folder(registered.id), registered.name)
        lock.acquire(wait)
        try:
            self._finish_erasing(registered)
            state = State(self.home.folder(registered.id), self.clock)
            try:
                state.database.take()
                yield state
            finally:
                state.close()
        finally:
            lock.release()

    def writer(self, name: str, *, wait: float = 0.0) -> AgentWriter:
        """Change the memory of an agent at rest, without a model. Close it after use.

        Raises AgentInUse after `wait` seconds.
        """
        registered = self.home.find(checked_name(name))
        folder = self.home.folder(registered.id)
        lock = AgentLock(folder, registered.name)
        lock.acquire(wait)
        try:
            self._finish_erasing(registered)
        except BaseException:
            lock.release()
            raise
        return self._writer(registered, folder, lock)

    def writer_in(self, registered: Registered, folder: Path) -> AgentWriter:
        """The same of an agent in the making, which nobody else knows yet."""
        return self._writer(registered, folder, AgentLock(folder, registered.name))

    def erasing(
        self, name: str, *, wait: float = 0.0, at_step: Callable[[str], None] = lambda step: None
    ) -> "Erasing":
        """Erase from an agent at rest for good: a preview, then a receipt. Close it after use.

        Raises AgentInUse after `wait` seconds, UnknownAgent."""
        from pagemind.runtime.erasure.erasing import Erasing

        return Erasing(self, name, wait=wait, at_step=at_step)

    def erase(
        self, name: str, *, keep_files: bool = False, wait: float = 0.0, **wanted: Any
    ) -> "Receipt":
        """The same at once: `ids`, `query`, `subject`, `source`, `before` or `everything` says
        what (erasure.wanted). Raises NotFound for an id of nothing, UserError."""
        from pagemind.runtime.erasure.wanted import wanted as wanted_of

        asked = wanted_of(**wanted)
        with self.erasing(name, wait=wait) as erasing:
            return erasing.erase(erasing.preview(asked), keep_files=keep_files)

    def _finish_erasing(self, registered: Registered) -> None:
        """What a killed process left of an erasure is finished before anything else."""
        if self.home.erasures.unfinished(registered.id):
            from pagemind.runtime.erasure.erasing import finish

            finish(self, registered)

    def _keep_to(self, registered: Registered) -> None:
        """Erase what is older than the agent's definition keeps (`keep:`)."""
        stored = peek(
            self.home.folder(registered.id) / "state.db",
            "SELECT value FROM meta WHERE key = 'definition'",
        )
        if any('"keep"' in row["value"] for row in stored):
            from pagemind.runtime.erasure.erasing import keep_to

            keep_to(self, registered)

    def _writer(self, registered: Registered, folder: Path, lock: AgentLock) -> AgentWriter:
        try:
            return AgentWriter(
                registered,
                folder,
                clock=self.clock,
                counter=self.counter,
                embedder=self._embedder_of,
                write_back=self._write_back,
                lock=lock,
                archives=self.archives,
                shared_blocks=self.shared_blocks,
                noted=partial(self.home.audit_heads.note, registered.id),
            )
        except BaseException:
            lock.release()
            raise

    def timers(self, name: str) -> AgentTimers:
        """What wakes an agent by itself, as a person changes it. `pagemind up` lets it fire."""
        registered = self.home.find(checked_name(name))
        with self._reader(registered) as reader:
            return self._timers(registered.id, reader.definition, "person")

    def _timers(self, agent_id: str, definition: AgentDefinition, made_by: MadeBy) -> AgentTimers:
        return AgentTimers(self.schedules, agent_id, zone_of(definition), self.clock, made_by)

    def reset_timers(self, name: str) -> None:
        """Set up the timers and the inbox of an agent's definition, as for a new agent."""
        registered = self.home.find(checked_name(name))
        with self._reader(registered) as reader:
            define(self.schedules, registered.id, reader.definition, self.clock)

    def leave(self, name: str, kind: str, body: dict[str, object]) -> None:
        """Leave an observation or a passage for an agent that is in use by another process."""
        registered = self.home.find(checked_name(name))
        state = State(self.home.folder(registered.id), self.clock)
        try:
            state.leave(kind, json.dumps(body, ensure_ascii=False))
        finally:
            state.close()

    def memory(
        self,
        scope: str,
        *,
        create: bool = True,
        embedding: str | None = None,
        wait: float = ARCHIVE_WAIT_SECONDS,
    ) -> Memory:
        """Memory without an agent: add, search, get, update, delete, history. `scope` names a
        shared archive, which is made on first use, with `embedding`; it is closed with the
        runtime. `wait` is how many seconds a change waits for another process's.

        Raises UnknownArchive with `create=False`, InvalidName.
        """
        return self.archives.memory(scope, create=create, embedding=embedding, wait=wait)

    def store(self, scope: str, *, wait: float = ARCHIVE_WAIT_SECONDS) -> ItemStore:
        """JSON values under a namespace and a key, in the shared archive of this name, which is
        made on first use. `agent.store` is that of an agent."""
        return self.memory(scope, wait=wait).store

    def export_agent(
        self,
        name: str,
        path: str | Path,
        *,
        since: int | str | datetime | Path | None = None,
        embeddings: bool = True,
        overwrite: bool = False,
        stop: Callable[[], None] = lambda: None,
    ) -> "Carried":
        """Write an agent to a .pmz file, in use or not; with `since` a message, a time or an
        earlier file, only what is new. `stop` is called between pieces and may raise.

        Raises UnknownAgent, UserError, StorageError.
        """
        from pagemind.runtime.portable.exporter import export_agent

        registered = self.home.find(checked_name(name))
        self.home.made_files.note(registered.id, expanded(path), "export")
        return export_agent(
            registered,
            self.home.folder(registered.id),
            Path(path),
            clock=self.clock,
            since=since,
            embeddings=embeddings,
            overwrite=overwrite,
            stop=stop,
        )

    def import_agent(
        self,
        path: str | Path,
        *,
        name: str | None = None,
        embeddings: bool = True,
        untrusted: bool = False,
        wait: float = 0.0,
        stop: Callable[[], None] = lambda: None,
    ) -> "Carried":
        """Make an agent from a .pmz file, or carry one on by an increment; `untrusted` trusts
        nothing in it more than an import.

        Raises BadExport, AgentExists, UnknownAgent, AgentInUse, StorageError.
        """
        from pagemind.runtime.portable.importer import import_agent

        return import_agent(
            self.home,
            Path(path),
            clock=self.clock,
            embedder=self._embedder_of,
            name=name,
            embeddings=embeddings,
            untrusted=untrusted,
            wait=wait,
            stop=stop,
        )

    def import_chats(
        self,
        path: str | Path,
        *,
        source: str = "auto",
        name: str | None = None,
        into: str | None = None,
        **more: Any,
    ) -> "Imported":
        """Take chats or memories of another tool into a new agent called `name`, or `into` one
        that is there; the same file again adds nothing. `more` as in foreign.importer.

        Raises BadExport, UserError, AgentExists, UnknownAgent, AgentInUse, StorageError.
        """
        from pagemind.runtime.portable.foreign.importer import import_chats

        return import_chats(self, Path(path), source=source, name=name, into=into, **more)

    @staticmethod
    def upgrade(
        home: str | Path | None = None, *, dry: bool = False, wait: float = 0.0
    ) -> list[Upgrade]:
        """Bring a home with its agents and archives to this version, each file after a backup;
        what was done, or with `dry` what is due. It needs no Runtime: opening one does it."""
        return upgrade(home_path(home), SystemClock(), dry=dry, wait=wait)

    @property
    def audit(self) -> "AuditLog":
        """The audit log: show() its rows, verify() that it is whole."""
        from pagemind.runtime.audit import AuditLog

        return AuditLog(self.home, self.archives.registry, self.clock)

    # --- the end --------------------------------------------------------------------------------

    def close(self) -> None:
        """Close every agent and what they share. Idempotent."""
        self.post.close()
        for agent, _ in list(self._agents.values()):
            agent.close()
        self.archives.close()
        self._write_back.close()
        for model in self._models.values():
            model.close()
        for embedder in self._embedders.values():
            if embedder is not None:
                embedder.close()
        with suppress(PagemindError):  # a full disk must not keep it from closing
            self.spending.flush()
        self.home.close()
        if self._recorder is not None:
            self._recorder.close()
        if self._throw_away is not None:
            shutil.rmtree(self._throw_away, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
