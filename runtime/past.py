"""Past: what an agent was, for programs and the command line. It reads beside whoever runs it.

    with runtime.reader("ada") as reader:
        then = Past(reader).request("m45")            # the request of that step, to the byte
        changed = Past(reader).changes("yesterday")   # MemoryDiff: from then to now
        said = Past(reader).turns(last=20)            # PastTurns, with flushes and rewinds

A moment is written like m45, s12 (a step), 2026-05-08, yesterday or now (moment.py).
"""

from pagemind.runtime.clock import zone_name
from pagemind.runtime.made_of import core_of, tools_cost
from pagemind.runtime.memory_diff import MemoryDiff, memory_diff
from pagemind.runtime.moment import Moments
from pagemind.runtime.mould import cache_key
from pagemind.runtime.past_request import Otherwise, PastRequest, PastRequests
from pagemind.runtime.past_turns import PastTurns, past_turns
from pagemind.runtime.reader import AgentReader
from pagemind.runtime.tokens import TokenCounter


class Past:
    """The past of one agent. Raises NotFound for a moment that is not there, and says which are."""

    def __init__(self, reader: AgentReader, counter: TokenCounter | None = None) -> None:
        self._reader = reader
        self._state = reader.state
        self._counter = counter or TokenCounter()
        self.moments = Moments(reader.name, reader.state, reader.zone)

    def request(self, at: str) -> PastRequest:
        """The request of a step, as it was."""
        reader, state = self._reader, self._state
        step = self.moments.step_of(self.moments.find(at))
        otherwise = Otherwise(
            zone=zone_name(reader.zone, state.clock.now()),
            live=core_of(state, reader.definition, reader.protocol).live,
            tools_cost=tools_cost(reader.protocol),
            cache_key=cache_key(reader.registered.id),
        )
        found = PastRequests(state, self._counter, otherwise).of(step)
        assert found is not None
        return found

    def changes(self, a: str, b: str = "now") -> MemoryDiff:
        """What changed in memory from one moment to a later one."""
        return memory_diff(self._state, self.moments.find(a), self.moments.find(b))

    def turns(
        self, *, last: int | None = None, before: str | None = None, every_line: bool = False
    ) -> PastTurns:
        """What was said, with flushes and rewinds: the newest turns, or those before a moment;
        `every_line`: those that were taken back as well."""
        return past_turns(
            self._state,
            last=last,
            before=None if before is None else self.moments.first_of(before),
            every_line=every_line,
            heartbeat=self._reader.protocol == "heartbeat",
        )
