"""What tests of awake homes share: agents with a scripted model, and what was told."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernel_kit import runtime_at, small
from task_kit import without_time

from pagemind.runtime.agent import Agent
from pagemind.runtime.awake.events import AwakeEvent
from pagemind.runtime.awake.keeper import Keeper
from pagemind.runtime.clock import Clock, FrozenClock
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel

SECONDS = 60.0  # that a test waits for what another thread does, at most


def asked(request: ModelRequest) -> str:
    """The last line that the model was told, without the time that may stand there."""
    return without_time(request.messages[-1].text)


def echo(request: ModelRequest) -> str:
    return f"re {asked(request)}"


@dataclass
class House:
    """A home with agents on one scripted model."""

    runtime: Runtime
    model: ScriptedModel
    told: list[AwakeEvent] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    @property
    def clock(self) -> FrozenClock:
        assert isinstance(self.runtime.clock, FrozenClock)
        return self.runtime.clock

    def make(self, *names: str, more: str = "") -> None:
        for name in names:
            self.runtime.create(name, small(more=more))

    def open(self, name: str) -> Agent:
        return self.runtime.agent(name, model=self.model, create=False)

    def keeper(self, **options: Any) -> Keeper:
        return Keeper(self.runtime, opens=self.open, tell=self.tell, **options)

    def tell(self, event: AwakeEvent) -> None:
        with self.changed:
            self.told.append(event)
            self.changed.notify_all()

    def kinds(self, kind: str) -> list[dict[str, Any]]:
        return [dict(event.data) for event in self.told if event.kind == kind]

    def until(self, holds: Callable[[], Any]) -> None:
        """Wait for what other threads do."""
        with self.changed:
            for _ in range(int(SECONDS / 0.05)):
                if holds():
                    return
                self.changed.wait(0.05)
        raise AssertionError(f"it never came; told: {[each.as_json() for each in self.told]}")

    def said(self, name: str) -> list[str]:
        """The texts of an agent's turns, in order."""
        with self.runtime.reader(name) as reader:
            rows = reader.state.journal.newest(1000)
        return [message.text for message in reversed(rows)]


@contextmanager
def house(
    home: Path, script: Callable[[ModelRequest], Any] = echo, clock: Clock | None = None
) -> Iterator[House]:
    """A home opened by several processes needs the machine's clock: a frozen one makes the same ids
    in each."""
    with runtime_at(home, clock) as runtime:
        yield House(runtime, ScriptedModel(script))
