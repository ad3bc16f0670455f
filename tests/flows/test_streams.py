"""The faces of a turn: send, stream, asend and astream tell the same story."""

import asyncio
import threading
from pathlib import Path

import pytest
from kernel_kit import agent_at, everything

from pagemind.runtime.errors import UserError
from pagemind.runtime.model import ModelReply, ModelRequest
from pagemind.runtime.testing import ScriptedModel, call

SCRIPT = [call("core_append", block="human", content="Sam"), "Noted, Sam."]


def test_a_stream_ends_with_the_result(tmp_path: Path) -> None:
    """Events come in their order, the pieces make the text, and the last one holds the result."""
    with agent_at(tmp_path, ScriptedModel(SCRIPT)) as agent:
        events = list(agent.stream("I am Sam.", speaker="Sam"))
    kinds = [e.kind for e in events]
    assert kinds[0] == "turn_started"
    assert kinds[-1] == "turn_ended"
    assert kinds.index("tool_called") < kinds.index("tool_returned") < kinds.index("text_delta")
    text = "".join(e.data["text"] for e in events if e.kind == "text_delta")
    result = events[-1].data["result"]
    assert text == result["text"] == "Noted, Sam."
    assert result["stop_reason"] == "answered"


def test_a_stream_that_is_closed_stops_the_turn(tmp_path: Path) -> None:
    """Closing the iterator cancels and waits: what was read is stored and the agent is free."""
    with agent_at(tmp_path, ScriptedModel(["one two three four five six", "Yes."])) as agent:
        stream = agent.stream("Count.")
        for event in stream:
            if event.kind == "text_delta":
                break
        stream.close()
        (row,) = agent.state.turns.newest(1)
        assert row.stop_reason in ("interrupted", "answered")
        assert agent.send("Still there?").text == "Yes."


def test_a_stream_raises_what_send_raises(tmp_path: Path) -> None:
    """An error of the person reaches whoever reads the stream."""
    with agent_at(tmp_path, ScriptedModel()) as agent:
        with pytest.raises(UserError):
            list(agent.stream("   "))
        assert everything(agent) == []


def test_asend_answers_and_does_not_block_the_loop(tmp_path: Path) -> None:
    """Several asends run one after another for one agent, while the loop stays free."""

    async def talk() -> list[str]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        results = await asyncio.gather(*(agent.asend(f"Number {n}") for n in range(5)))
        ticking.cancel()
        assert ticks > 5
        return [r.text for r in results]

    with agent_at(tmp_path, ScriptedModel(after="Yes.")) as agent:
        assert asyncio.run(talk()) == ["Yes."] * 5
        assert [m.turn for m in everything(agent)] == [n for n in range(1, 6) for _ in range(2)]


def test_astream_gives_the_same_events(tmp_path: Path) -> None:
    """The async face yields what the synchronous one does."""

    async def kinds() -> list[str]:
        return [event.kind async for event in agent.astream("I am Sam.")]

    with agent_at(tmp_path, ScriptedModel(SCRIPT)) as agent:
        asynchronous = asyncio.run(kinds())
    with agent_at(tmp_path / "other", ScriptedModel(SCRIPT)) as agent:
        assert [e.kind for e in agent.stream("I am Sam.")] == asynchronous


class Slow(ScriptedModel):
    """Waits in the first reply until it is cancelled."""

    def __init__(self) -> None:
        super().__init__(after="Yes.")
        self.waiting = threading.Event()
        self.stopped = threading.Event()
        self._first = True

    def complete(self, request: ModelRequest, **more: object) -> ModelReply:
        if self._first:
            self._first = False
            self.waiting.set()
            try:
                more["cancel"].wait(30)
            finally:
                self.stopped.set()
        return super().complete(request, **more)


@pytest.mark.parametrize("face", ["asend", "astream"])
def test_cancelling_the_task_stops_the_turn(tmp_path: Path, face: str) -> None:
    """A task that is cancelled while the model is silent stops its turn; the next one works."""
    model = Slow()

    async def talk() -> str:
        async def consume() -> None:
            if face == "asend":
                await agent.asend("Hello?")
            else:
                async for _ in agent.astream("Hello?"):
                    pass

        task = asyncio.create_task(consume())
        await asyncio.to_thread(model.waiting.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(model.stopped.wait, 10)
        return (await agent.asend("Again?")).text

    with agent_at(tmp_path, model) as agent:
        assert asyncio.run(asyncio.wait_for(talk(), 25)) == "Yes."
        assert [row.stop_reason for row in agent.state.turns.newest(2)] == [
            "answered",
            "interrupted",
        ]


def test_leaving_an_async_stream_early_stops_the_turn(tmp_path: Path) -> None:
    """aclose() ends the turn before it returns."""

    async def talk() -> None:
        stream = agent.astream("Count.")
        async for event in stream:
            if event.kind == "text_delta":
                break
        await stream.aclose()
        assert agent.state.turns.unfinished() == []

    with agent_at(tmp_path, ScriptedModel(["one two three four", "Yes."])) as agent:
        asyncio.run(talk())
        assert agent.send("Still there?").text == "Yes."
