"""House: what a runtime is to those who open its agents for each other."""

from typing import Protocol

from pagemind.runtime.agent import Agent
from pagemind.runtime.clock import Clock
from pagemind.runtime.reader import AgentReader
from pagemind.runtime.state.home import Home


class House(Protocol):
    """A Runtime, without the whole of it."""

    home: Home
    clock: Clock

    def agent(self, name: str, *, create: bool = True, wait: float = 0.0) -> Agent: ...

    def reader(self, name: str) -> AgentReader: ...

    def is_open(self, agent_id: str) -> bool: ...
