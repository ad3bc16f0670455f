"""What tests of traces share: a talk that pages, edits memory and acts on the world, recorded."""

import json
from pathlib import Path
from typing import Any

from kernel_kit import small

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.model import Model, ModelReply, ModelRequest, Usage
from pagemind.runtime.recorder import Recorder
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel, call

WEATHER: list[str] = []  # where the function of the world was asked about


def weather(place: str) -> str:
    """How the weather is.

    Args:
        place: Where.
    """
    WEATHER.append(place)
    return f"{place}: rain, {len(WEATHER)}°"


def definition(**more: Any) -> AgentDefinition:
    names = "core_append recall_search archival_insert archival_search page_in page_find page_pin"
    return small(3000, *names.split(), more="prefetch: {tokens: 120}\n", **more)


def busy(request: ModelRequest) -> Any:
    """Calls each function now and then, and reports its usage."""
    last = request.messages[-1]
    turns = sum(1 for m in request.messages if m.role == "user" and m.kind == "talk")
    if last.role == "tool":
        return ModelReply(
            f"Done ({turns}): {last.text[:60]}",
            usage=Usage(700 + turns, 20),
            model="busy",
            cost=0.001,
        )
    number = int(last.text.split()[-1]) if last.text.split()[-1].isdigit() else 0
    return {
        1: call("core_append", block="human", content=f"Sam {number}."),
        2: call("weather", place="Porto"),
        3: [call("recall_search", query="boat"), call("archival_insert", content=f"Fact {number}")],
        4: call("page_find", query="lighthouse"),
        5: call("page_in", id="p1"),
        6: call("page_pin", id="m3"),
        7: call("no_such_function"),
        8: "",
    }.get(number % 16, f"Yes, {number}: " + "the lighthouse and the boat. " * 30)


def model(script: Any = busy) -> Model:
    return ScriptedModel(
        script, name="busy", summary=lambda r: "They spoke of a boat.", gists=_gists
    )


def _gists(request: ModelRequest) -> str:
    names = {w for w in request.messages[0].text.split() if w[:1] == "p" and w[1:].isdigit()}
    return "\n".join(f"{name}: They spoke of the boat and the lighthouse." for name in names)


def talk(
    trace: Path,
    home: Path,
    *,
    turns: range = range(1, 31),
    script: Any = busy,
    content: bool = True,
    clock: FrozenClock | None = None,
) -> list[str]:
    """A recorded talk; what the agent said."""
    clock = clock or FrozenClock()
    recorder = Recorder(trace, clock, content=content)
    said = []
    with Runtime(
        home, clock=clock, embedder=HashingEmbedder(32), background=False, trace=recorder
    ) as runtime:
        agent = runtime.agent("ada", definition(), model=model(script), tools=[weather])
        for number in turns:
            clock.advance(minutes=number % 13, seconds=31)
            said.append(agent.send(f"What of the boat and the lighthouse at {number}").text)
    return said


def kinds(trace: Path) -> list[str]:
    return [json.loads(line)["kind"] for line in trace.read_text("utf-8").splitlines()]


def edit(trace: Path, kind: str, at: int, change: Any) -> None:
    """Change the data of the `at`-th line of a kind."""
    lines = trace.read_text("utf-8").splitlines()
    found = [n for n, line in enumerate(lines) if json.loads(line)["kind"] == kind][at]
    body = json.loads(lines[found])
    change(body["data"])
    lines[found] = json.dumps(body, ensure_ascii=False)
    trace.write_text("\n".join(lines) + "\n", "utf-8")
