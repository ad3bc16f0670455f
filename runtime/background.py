"""What runs between two turns of an agent: better gists of pages, and the sleep-time worker.

Both give way to the next turn at once; what they used and did is told by it.
"""

from pagemind.runtime.idle_gists import IdleGists
from pagemind.runtime.model import Usage
from pagemind.runtime.sleep.worker import SleepWorker
from pagemind.runtime.trace import TraceEvent


class Background:
    """Of one agent."""

    def __init__(self, gists: IdleGists, sleep: SleepWorker) -> None:
        self.gists = gists
        self.sleep = sleep

    def start(self) -> None:
        """After a turn."""
        self.gists.start()
        self.sleep.start()

    def stop(self) -> None:
        """Before the next one, and when the agent closes. Neither waits for a model."""
        self.gists.stop()
        self.sleep.stop()

    def collect(self) -> tuple[Usage, list[TraceEvent]]:
        """What was used and done since the last time."""
        used, events = self.gists.collect()
        also, more = self.sleep.collect()
        return used + also, [*events, *more]
