"""The process that talks: python -m pagemind.runtime.demo.pour HOME FIRST STOP_FROM PACE

It sends the exchanges of the talk from FIRST on and writes one JSON line for each thing that
happens. In the first flush after exchange STOP_FROM (0: never) it stops dead, between making the
pages and committing them, until somebody kills it. PACE is the least time of a turn in ms.
"""

import json
import sys
import threading
from typing import Any

from pagemind.runtime.demo import script
from pagemind.runtime.demo.stage import AGENT, TalkClock, definition, talked
from pagemind.runtime.demo.talk import SPEAKER, Exchange, talk
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.trace import TraceEvent

_SHOWN = (
    *("model_called", "warned", "tool_called", "tool_returned"),
    *("flush_started", "page_written", "flush_ended"),
)


def say(what: str, **data: Any) -> None:
    """One line for the parent."""
    print(json.dumps({"what": what, **data}, ensure_ascii=True), flush=True)


def pour(home: str, first: int, stop_from: int, pace_ms: float) -> None:
    """Send the exchanges from `first` on, each with an id, so that a repeat is known."""
    clock = TalkClock(talk()[first - 1].at)
    # Idle work runs at the end of the turn: every run flushes at the same messages.
    with Runtime(home, clock=clock, background=False) as runtime:
        model = script.model()
        began = clock.monotonic()
        agent = runtime.agent(AGENT, definition(), model=model)
        say(
            "opened",
            ms=(clock.monotonic() - began) * 1000,
            messages=len(talked(agent.state.journal)),
            pages=agent.state.pages.count(),
        )
        pause = threading.Event()
        for exchange in talk()[first - 1 :]:
            clock.set(exchange.at)
            began = clock.monotonic()
            before = agent.state.journal.last_seq

            def observe(event: TraceEvent, exchange: Exchange = exchange) -> None:
                if event.kind in _SHOWN:
                    say(event.kind, **event.data)
                elif event.kind == "summarised" and 0 < stop_from <= exchange.number:
                    say("stopped", exchange=exchange.number)
                    threading.Event().wait()

            turn = agent.send(
                exchange.said,
                speaker=SPEAKER,
                id=f"exchange-{exchange.number}",
                observer=observe,
            )
            pressure = agent.queue_manager.measure()
            say(
                "answered",
                exchange=exchange.number,
                reply=turn.text,
                again=agent.state.journal.last_seq == before,
                sections=dict(pressure.sections),
                usable=pressure.usable,
                level=str(pressure.level),
            )
            pause.wait(max(0.0, pace_ms / 1000 - (clock.monotonic() - began)))
        say("embedding")
        runtime.drain(agent)
        say("done")


if __name__ == "__main__":
    pour(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
