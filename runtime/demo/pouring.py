"""Pouring: starts the process that talks, kills it in the middle of a flush, starts another one.

The kill is a real one (SIGKILL): nothing of the process gets to run afterwards. The new process is
told to begin a little earlier than needed, as a client does that does not know how far it came.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pagemind.runtime.clock import SystemClock
from pagemind.runtime.demo.stage import AGENT, definition, talked
from pagemind.runtime.demo.talk import EXCHANGES, talk
from pagemind.runtime.demo.tally import Check, Kill, Tally
from pagemind.runtime.errors import StorageError
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.settings import MESSAGE_OVERHEAD_TOKENS
from pagemind.runtime.tokens import TokenCounter

KILL_FROM = EXCHANGES // 2
RESENT = 3  # exchanges
Shown = Callable[[str, Tally], None]  # what happened, and the counts after it


class Pouring:
    """`shown` is called at every line of the child; `pace_ms` slows it down for people."""

    def __init__(self, home: Path, shown: Shown, pace_ms: float = 0.0) -> None:
        self.tally = Tally()
        self._home = home
        self._shown = shown
        self._pace_ms = pace_ms
        self._clock = SystemClock()
        self._replay = _replayed()

    def run(self) -> Tally:
        """All of it. Raises StorageError if a child fails in any way that was not meant."""
        began = self._clock.monotonic()
        stopped = self._talk(1, KILL_FROM)
        assert stopped is not None, "no flush came in the second half"
        self._talk(max(1, stopped - RESENT), 0)
        self.tally.seconds = self._clock.monotonic() - began
        return self.tally

    def _talk(self, first: int, stop_from: int) -> int | None:
        """One process; the exchange at which it was killed, or None at its natural end."""
        with _child(self._home, first, stop_from, self._pace_ms) as child:
            assert child.stdout is not None
            for line in child.stdout:
                data = json.loads(line)
                what = data.pop("what")
                if what == "stopped":
                    child.kill()
                    code = child.wait()
                    self._killed(data["exchange"], code)
                    self._shown("killed", self.tally)
                    return int(data["exchange"])
                self._count(what, data)
                self._shown(what, self.tally)
            if child.wait() != 0:
                assert child.stderr is not None
                last = child.stderr.read().strip().splitlines()[-1:] or ["it said nothing"]
                raise StorageError(f"the demo's process ended with {child.returncode}: {last[0]}")
        return None

    def _count(self, what: str, data: dict[str, Any]) -> None:
        tally = self.tally
        if what == "opened" and tally.kill is not None:
            tally.kill = _reopened(tally.kill, data)
        elif what == "model_called":
            tally.model_calls += 1
            tally.tokens_sent += data["prompt_tokens"]
            tally.max_prompt_tokens = max(tally.max_prompt_tokens, data["prompt_tokens"])
            tally.usable = data["usable"]
        elif what == "warned":
            tally.warnings += 1
        elif what == "tool_called" and data["name"] == "archival_insert":
            tally.last_kept = data["arguments"]["content"]
        elif what == "tool_returned" and data["name"] == "archival_insert":
            tally.archived += data["ok"]
        elif what == "flush_started":
            tally.last_pages = ()
        elif what == "page_written":
            tally.last_pages += (data["id"],)
            tally.pages += 1
        elif what == "flush_ended":
            tally.flushes += 1
            tally.last_freed = data["freed"]
        elif what == "answered":
            self._answered(data)

    def _answered(self, data: dict[str, Any]) -> None:
        tally, exchange = self.tally, data["exchange"]
        kill = tally.kill
        if exchange in tally.acknowledged:
            assert kill is not None
            same = data["again"] and data["reply"] == tally.acknowledged[exchange]
            tally.kill = _resent(kill, 2 if same else 0)
        else:
            tally.tokens_replay += self._replay[exchange]
        tally.acknowledged[exchange] = data["reply"]
        tally.sections = data["sections"]
        tally.level = data["level"]

    def _killed(self, exchange: int, code: int) -> None:
        tally = self.tally
        tally.kill = Kill(exchange, tally.flushes + 1, tally.messages, code, 0.0, 0, 0, 0)


def _reopened(kill: Kill, data: dict[str, Any]) -> Kill:
    return replace(kill, reopened_ms=data["ms"], found_at_start=data["messages"])


def _resent(kill: Kill, answered: int) -> Kill:
    return replace(
        kill, resent=kill.resent + 2, answered_from_store=kill.answered_from_store + answered
    )


@contextmanager
def _child(
    home: Path, first: int, stop_from: int, pace_ms: float
) -> "Iterator[subprocess.Popen[str]]":
    """The process, gone at the end whatever happens."""
    command = [sys.executable, "-m", "pagemind.runtime.demo.pour", str(home)]
    with subprocess.Popen(
        [*command, str(first), str(stop_from), str(pace_ms)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _replayed() -> dict[int, int]:
    """For each exchange: the tokens of a request with all that was said before it.

    The system prompt counts, functions do not: who sends everything needs none.
    """
    count = TokenCounter().count
    sent = count(definition().instructions()) + MESSAGE_OVERHEAD_TOKENS
    tokens = {}
    for each in talk():
        sent += count(each.said) + MESSAGE_OVERHEAD_TOKENS
        tokens[each.number] = sent
        sent += count(each.reply) + MESSAGE_OVERHEAD_TOKENS
    return tokens


def check(home: Path, tally: Tally) -> Check:
    """Look for every acknowledged message in the agent's journal, window and pages."""
    with Runtime(home) as runtime, runtime.reader(AGENT) as reader:
        stored = talked(reader.state.journal)
        places: dict[str, list[int]] = {}
        for message in stored:
            places.setdefault(message.text, []).append(message.seq)
        said = {each.number: each.said for each in talk()}
        texts = [t for n, reply in tally.acknowledged.items() for t in (said[n], reply)]
        pages = reader.state.pages.all()
        window = {entry.seq for entry in reader.context.queue}
        paged = [sum(p.first_seq <= m.seq <= p.last_seq for p in pages) for m in stored]
        resident = [m.seq in window for m in stored]
        return Check(
            acknowledged=len(texts),
            found=sum(text in places for text in texts),
            twice=sum(len(places.get(text, ())) > 1 for text in texts),
            in_window=sum(resident),
            in_pages=sum(bool(n) for n in paged),
            homeless=sum(n + here != 1 for n, here in zip(paged, resident, strict=True)),
            pages=len(pages),
            passages=reader.state.passages.count(),
        )
