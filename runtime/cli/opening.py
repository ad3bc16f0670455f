"""Opens the agent of a chat in a thread, so that a person can type before any library is loaded.

`known` is called once it is clear who answers, on which model and why; `agent()` waits for
the agent, or raises what went wrong.
"""

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from pagemind.runtime.cli.session import UNWATCHED, Watching
from pagemind.runtime.settings import SWITCH_SECONDS

if TYPE_CHECKING:
    from pagemind.runtime.agent import Agent
    from pagemind.runtime.model_choice import ModelChoice
    from pagemind.runtime.runtime import Runtime


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line asked for; an empty name is the agent used last."""

    name: str
    definition: str | None
    model: str | None
    home: str | None
    wait: float
    watching: Watching = UNWATCHED


@dataclass(frozen=True, slots=True)
class Greeting:
    """What is known of an agent when its chat begins. `window` is the last turn's."""

    name: str
    definition: str
    made: bool
    model: str
    why: str
    protocol: str
    window_tokens: int
    messages: int
    last_active_at: datetime | None
    now: datetime
    window: dict[str, Any]
    nearest: str

    @property
    def local(self) -> bool:
        """Whether the model runs in this process."""
        return self.model.startswith("local/")


class Opening:
    """All three are called in the opening thread: `known` with a Greeting, `failed` if the agent
    cannot be opened, `pause` to wait for a moment in which nobody types (False: the chat ends)."""

    def __init__(
        self,
        wanted: Wanted,
        *,
        known: Callable[[Greeting], None],
        failed: Callable[[BaseException], None],
        pause: Callable[[], bool],
    ) -> None:
        self._wanted = wanted
        self._pause = pause
        self._known = known
        self._failed = failed
        self._runtime: Runtime | None = None
        self._agent: Agent | None = None
        self._error: BaseException | None = None
        self._ready = threading.Event()
        self._warms = True
        self._thread = threading.Thread(target=self._run, name="pagemind-opening", daemon=True)

    def start(self, *, warm: bool = True) -> None:
        """Begin. `warm` also loads what the first turn will need, while there is time."""
        self._warms = warm
        self._thread.start()

    def agent(self) -> "Agent":
        """The agent, when it is open. Raises what prevented it."""
        while not self._ready.wait(0.1):  # a wait without a limit would not let Ctrl-C through
            pass
        if self._error is not None:
            raise self._error
        assert self._agent is not None
        return self._agent

    @property
    def error(self) -> BaseException | None:
        """What prevented it, so far as is known."""
        return self._error

    @property
    def runtime(self) -> "Runtime":
        """The runtime; only after agent() returned."""
        assert self._runtime is not None
        return self._runtime

    def opened(self) -> "tuple[Runtime, Agent] | None":
        """What is open by now; None before that."""
        if self._runtime is None or self._agent is None:
            return None
        return self._runtime, self._agent

    def switch(self, name: str) -> "Agent":
        """Another agent of this home; the former one is closed once it is open. Raises UnknownAgent
        and what prevents its opening: the former one stays then."""
        before = self.agent()
        self.runtime.home.find(name)
        self._agent = self.runtime.agent(name)
        before.close()
        return self._agent

    def at_rest(self, work: "Callable[[Runtime, str], T]") -> T:
        """Do something that needs the agent closed, and open it again if it is still there."""
        before = self.agent()
        before.close()
        try:
            return work(self.runtime, before.name)
        finally:
            if self.runtime.home.exists(before.name):
                self._agent = self.runtime.agent(before.name)

    def reopen(self, model: str) -> "Agent":
        """The same agent on another model; if that fails, on the former one, and raises."""
        before = self.agent()
        former = before.model.name
        before.close()
        try:
            self._agent = self.runtime.agent(before.name, model=model)
        except BaseException:
            self._agent = self.runtime.agent(before.name, model=former)
            raise
        return self._agent

    def close(self, seconds: float) -> bool:
        """Close the agent, and everything else if what still warms up ends within `seconds`."""
        if self._thread.ident is None:  # it was never started
            return True
        if not self._ready.wait(seconds):
            return False
        if self._agent is not None:
            self._agent.close()
        self._thread.join(seconds if self._agent is None else 0.0)
        if self._thread.is_alive():
            return False
        if self._runtime is not None:
            self._runtime.close()
        return True

    # --- the thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        with _typing_first():
            try:
                self._open()
            except BaseException as error:
                self._error = error
                self._ready.set()
                self._failed(error)
            else:
                self._ready.set()
                if self._warms:
                    self._warm()

    def _open(self) -> None:
        from pagemind.runtime.cli import logs
        from pagemind.runtime.definition import load_definition
        from pagemind.runtime.runtime import DEFAULT_DEFINITION

        wanted = self._wanted
        self._runtime = runtime = wanted.watching.open(wanted.home)
        logs.keep_in(runtime.home.path)
        definition = load_definition(wanted.definition) if wanted.definition else None
        name = wanted.name
        if not name:
            last = None if definition else runtime.last_agent()
            name = last or (definition.name if definition else DEFAULT_DEFINITION)
        if self._warms:
            # Its tokenizer holds the interpreter's lock for a fifth of a second as it is made.
            self._pause()
            runtime.counter.count(name)
        before = _before(runtime, name)
        agent = runtime.agent(
            name, definition or wanted.definition, model=wanted.model, wait=wanted.wait
        )
        self._agent = agent
        choice = runtime.choose_model(agent.name, wanted.model)
        self._known(_greeting(runtime, agent, choice, before))

    def _warm(self) -> None:
        """Load what the first turn will need. Whatever fails here is met again there."""
        agent = self._agent
        assert agent is not None
        import logging

        from pagemind.runtime.models import litellm_library
        from pagemind.runtime.services import SearchFilters

        try:
            if not agent.model.name.startswith(("local/", "scripted/")):
                litellm_library.load()
            agent.engine.search("recall", "hello", SearchFilters(), 1)
            # Loading an embedded model holds the interpreter's lock for a second.
            if agent.model.name.startswith("local/") and self._pause():
                agent.prefill()
        except Exception:
            logging.getLogger("pagemind.cli").debug("warming up failed", exc_info=True)


@contextmanager
def _typing_first() -> Iterator[None]:
    """While libraries load, whoever types must not wait.

    Imports are long runs of small steps: a short interval lets each key through at once. They also
    make so many objects that each full collection of garbage would stop all threads for a fifth of
    a second; what is loaded stays, and is never looked through again.
    """
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        sys.setswitchinterval(interval)


@dataclass(frozen=True, slots=True)
class _Before:
    """An agent as it was before this chat."""

    messages: int
    last_active_at: datetime
    window: dict[str, Any]


def _before(runtime: "Runtime", name: str) -> _Before | None:
    if not runtime.home.exists(name):
        return None
    with runtime.reader(name) as reader:
        last = next(iter(reader.state.turns.newest(1)), None)
        return _Before(
            reader.state.journal.count(),
            reader.registered.last_active_at,
            last.result.get("window", {}) if last else {},
        )


def _greeting(
    runtime: "Runtime", agent: "Agent", choice: "ModelChoice", before: _Before | None
) -> Greeting:
    from difflib import get_close_matches

    others = [each.name for each in runtime.home.all() if each.name != agent.name]
    close = get_close_matches(agent.name, others, n=1, cutoff=0.75) if before is None else []
    return Greeting(
        name=agent.name,
        definition=runtime.home.find(agent.name).definition,
        made=before is None,
        model=agent.model.name,
        why=choice.why,
        protocol=agent.state.database.meta("protocol"),
        window_tokens=agent.loop.caller.window().tokens,
        messages=before.messages if before else 0,
        last_active_at=before.last_active_at if before else None,
        now=runtime.clock.now(),
        window=before.window if before else {},
        nearest=close[0] if close else "",
    )
