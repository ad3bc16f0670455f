"""The tally of a running task, from its events: what is done, what it took, when it ends. Pure."""

from dataclasses import dataclass, field

from pagemind.runtime.tasks.events import TaskEvent

_SAID = 1.0  # seconds: before that a rate says nothing


@dataclass
class Tally:
    """`started` is monotonic seconds, as are the times it is asked with; when the task had begun
    it may be set anew: what was before (a restart's taking back, say) says nothing of its rate."""

    started: float
    task: str = ""
    total: int | None = None
    done: int = 0
    failed: int = 0
    tokens: int = 0
    cost: float = 0.0
    doing: dict[str, str] = field(default_factory=dict)  # by input, the one begun first first
    last_failure: str = ""
    _done_before: int = 0
    _of_actions: dict[str, tuple[int, float]] = field(default_factory=dict)

    def take(self, event: TaskEvent) -> None:
        """Count an event."""
        data = event.data
        if event.kind == "task_started":
            self.task, self.total = data["task"], data["total"]
            self.done, self.failed = data["done"], data["failed"]
            self.tokens, self.cost = data["tokens"], data["cost"]
            self._done_before = self.done + self.failed
        elif event.kind == "input_started":
            self.doing[data["input"]] = str(data["input"])
        elif event.kind == "action_started":
            where = data["input"] or "at the end"
            again = f", attempt {data['attempt']}" if data["attempt"] > 1 else ""
            self.doing[where] = f"{where}: {data['action']} ({data['place']}{again})"
        elif event.kind == "action_done" and data.get("action") != "sub":  # its actions told it
            self.tokens += data["tokens"]
            self.cost += data["cost"]
        elif event.kind == "input_done":
            self.done += data["input"] != "at_end"
            self._over(data["input"])
        elif event.kind == "input_failed":
            self.failed += data["input"] != "at_end"
            self._over(data["input"])
            self.last_failure = f"{data['input']}: {data['reason']}"
        elif event.kind == "input_waits":
            self._over(data["input"])
            self.last_failure = f"waits: {data['question']}"

    def _over(self, input: str) -> None:
        self.doing.pop("at the end" if input == "at_end" else input, None)

    def rate(self, now: float) -> float | None:
        """Inputs a second in this run; None before that can be said."""
        here = self.done + self.failed - self._done_before
        elapsed = now - self.started
        return here / elapsed if here and elapsed > _SAID else None

    def left(self, now: float) -> float | None:
        """Seconds until the inputs are done, if they go on so."""
        rate = self.rate(now)
        if rate is None or self.total is None:
            return None
        return max(0, self.total - self.done - self.failed) / rate
