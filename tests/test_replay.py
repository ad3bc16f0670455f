"""Replay does what the agent did, and says where it does not."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from kernel_kit import small
from trace_kit import WEATHER, busy, definition, edit, kinds, model, talk, weather

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import AgentExists, ContextOverflow, RateLimited, UserError
from pagemind.runtime.event import AgentMessage, SystemAlert, TimerFired, UserMessage
from pagemind.runtime.model import ModelReply, ModelRequest
from pagemind.runtime.models.replay_model import ReplayModel
from pagemind.runtime.replay import replay
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel, call, temporary_runtime


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "talk.jsonl"


def test_a_long_talk_is_replayed_request_by_request(trace: Path, tmp_path: Path) -> None:
    """Flushes, summaries, prefetch, pins, readings and edits come out the same to the byte."""
    seen: list[ModelRequest] = []

    def too_long_once(request: ModelRequest) -> object:
        seen.append(request)
        return ContextOverflow("too long") if len(seen) == 30 else busy(request)

    talk(trace, tmp_path / "home", turns=range(1, 36), script=too_long_once)
    assert {"flush_ended", "summarised", "prefetched"} <= set(kinds(trace))
    replayed = replay(trace)
    assert replayed.difference is None
    assert replayed.turns == 35
    assert replayed.requests == kinds(trace).count("request")


def test_the_world_is_not_touched_again(trace: Path, tmp_path: Path) -> None:
    """A function that acts on the world answers from the record."""
    talk(trace, tmp_path / "home", turns=range(1, 4))
    asked = list(WEATHER)
    assert replay(trace).difference is None
    assert asked == WEATHER


def test_a_replay_is_left_where_it_is_asked_to(trace: Path, tmp_path: Path) -> None:
    """With a home the agent stays there, as it was at the end."""
    said = talk(trace, tmp_path / "home", turns=range(1, 20))
    replay(trace, home=tmp_path / "again")
    homes = [tmp_path / "home", tmp_path / "again"]
    seen = []
    for home in homes:
        with Runtime(home, embedder=HashingEmbedder(32)) as runtime, runtime.reader("ada") as ada:
            journal = ada.state.journal
            stored = journal.range(1, journal.last_seq)
            seen.append([(m.seq, m.text, m.recorded_at, m.turn) for m, _, _ in stored])
    assert seen[0] == seen[1]
    assert said[-1] in seen[0][-1][1]
    with pytest.raises(AgentExists, match="already"):
        replay(trace, home=tmp_path / "again")


def test_a_changed_answer_is_named_with_step_section_and_diff(trace: Path, tmp_path: Path) -> None:
    """The first request that is not the same is named, and what is not the same in it."""
    talk(trace, tmp_path / "home", turns=range(1, 6))
    edit(trace, "answer", 1, lambda data: data.update(text="Porto: sun"))
    found = replay(trace).difference
    assert found is not None
    assert found.section == "queue"
    assert re.search("^-. Porto: rain", "\n".join(found.diff), re.MULTILINE)
    assert any(line.startswith("+") and "sun" in line for line in found.diff)
    assert found.step == 4


def test_a_changed_definition_is_told_from_the_queue(trace: Path, tmp_path: Path) -> None:
    """A difference in the head is named by its section."""
    talk(trace, tmp_path / "home", turns=range(1, 3))

    def change(data: dict[str, object]) -> None:
        data["rows"] = json.loads(json.dumps(data["rows"]).replace("test agent", "best agent"))

    states = [
        n
        for n, line in enumerate(
            each for each in trace.read_text().splitlines() if json.loads(each)["kind"] == "state"
        )
        if '"meta"' in line
    ]
    edit(trace, "state", states[0], change)
    found = replay(trace).difference
    assert found is not None
    assert (found.step, found.section) == (1, "system")


def test_a_reply_that_asks_for_more_is_a_difference(trace: Path, tmp_path: Path) -> None:
    """A replay that asks a model once more, or once less, is not the same."""
    talk(trace, tmp_path / "home", turns=range(9, 12))
    whole = trace.read_text()

    def more(data: dict[str, object]) -> None:
        data["calls"] = [{"id": "", "name": "recall_search", "arguments": '{"query": "x"}'}]

    edit(trace, "reply", 0, more)
    found = replay(trace).difference
    assert found is not None
    assert "once" in found.what or "more" in found.what
    trace.write_text(whole)
    assert replay(trace).difference is None


def test_processes_that_follow_each_other_go_on_in_one_file(trace: Path, tmp_path: Path) -> None:
    """The state is written once where nothing happened in between, and anew where it did."""
    clock = FrozenClock()
    for start in (1, 6, 11):
        talk(trace, tmp_path / "home", turns=range(start, start + 5), clock=clock)
    states = kinds(trace).count("state")
    first = kinds(trace).index("asked")
    assert "state" not in kinds(trace)[first:]
    assert replay(trace).difference is None
    with Runtime(
        tmp_path / "home", clock=clock, embedder=HashingEmbedder(32), background=False
    ) as runtime:
        runtime.agent("ada", model=model(), tools=[weather]).observe("It rains.", source="sky")
    talk(trace, tmp_path / "home", turns=range(16, 20), clock=clock)
    assert kinds(trace).count("state") > states
    replayed = replay(trace)
    assert replayed.difference is None
    assert replayed.turns == 19


def test_gists_of_the_idle_are_replayed(trace: Path, tmp_path: Path) -> None:
    """What the idle wrote between two turns is written again at the same place."""
    clock = FrozenClock()
    with Runtime(
        tmp_path / "home",
        clock=clock,
        embedder=HashingEmbedder(32),
        background=False,
        trace=trace,
    ) as runtime:
        agent = runtime.agent("ada", definition(), model=model(), tools=[weather])
        for number in range(1, 46):
            clock.advance(minutes=1)
            agent.send(f"What of the boat and the lighthouse at {number}")
            if number % 5 == 0:
                agent.write_gists()
    assert "gists_written" in kinds(trace)
    assert any('"purpose": "gist"' in line for line in trace.read_text().splitlines())
    assert replay(trace).difference is None


def test_what_the_idle_does_is_replayed_where_it_was_done(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads decide when a due flush runs, and whether a turn comes first; the file knows."""
    monkeypatch.setattr("pagemind.runtime.idle_gists.GIST_IDLE_SECONDS", 0.02)
    with Runtime(tmp_path / "home", embedder=HashingEmbedder(32), trace=trace) as runtime:
        agent = runtime.agent("ada", definition(), model=model(), tools=[weather])
        for number in range(1, 40):
            agent.send(f"What of the boat and the lighthouse at {number}")
            if number % 2 and agent._idle is not None:
                agent._idle.join()  # else a busy machine may never let it come first
    assert any('"reason": "idle"' in line for line in trace.read_text().splitlines())
    assert replay(trace).difference is None


def test_what_a_person_does_between_turns_is_taken_from_the_state(
    trace: Path, tmp_path: Path
) -> None:
    """A flush, a pin, an insert, a block taken back: the next turn starts from what they left."""
    clock = FrozenClock()
    with Runtime(
        tmp_path / "home", clock=clock, embedder=HashingEmbedder(32), background=False, trace=trace
    ) as runtime:
        agent = runtime.agent("ada", definition(), model=model(), tools=[weather])
        for number in range(9, 16):
            agent.send(f"What of the boat and the lighthouse at {number}")
        agent.flush()
        agent.send("What at 1")
        agent.insert("The berth is 42.")
        agent.send("What at 9")
        agent.restore_block("human", 1)
        agent.pin("m2")
        agent.flush()
        agent.new_conversation()
        agent.send("What at 10")
    replayed = replay(trace)
    assert replayed.difference is None
    assert replayed.turns == 10


def test_failures_are_replayed(trace: Path, tmp_path: Path) -> None:
    """A model that fails, a prompt that is too long, a stop by the person: all as they were."""
    cancel = CancelToken()

    def stop(request: ModelRequest) -> str:
        cancel.cancel()
        return "Never mind."

    answers = iter(
        [
            "One.",
            RateLimited("slow down"),
            "Four.",
            [call("core_append", block="human", content="x"), call("weather", place="Rome")],
            stop,
            ModelReply("", finish="refusal"),
            "Eight.",
        ]
    )

    def script(request: ModelRequest) -> object:
        answer = next(answers)
        return answer(request) if callable(answer) else answer

    clock = FrozenClock()
    with Runtime(
        tmp_path / "home", clock=clock, embedder=HashingEmbedder(32), background=False, trace=trace
    ) as runtime:
        agent = runtime.agent(
            "ada",
            definition(),
            model=ScriptedModel(script, name="busy"),  # type: ignore[arg-type]  # mixed answers
            tools=[weather],
        )
        reasons = [agent.send("one").stop_reason, agent.send("two").stop_reason]
        reasons.append(agent.retry().stop_reason)
        reasons.append(agent.send("three", cancel=cancel).stop_reason)
        reasons.append(agent.send("four").stop_reason)
        reasons.append(agent.send("five").stop_reason)
    assert reasons == ["answered", "model_error", "answered", "interrupted", "refused", "answered"]
    replayed = replay(trace)
    assert replayed.difference is None
    assert replayed.turns == 6


def test_keys_are_no_difference(trace: Path, tmp_path: Path) -> None:
    """What was taken out of the file is taken out of both sides of the comparison."""
    with Runtime(
        tmp_path / "home", embedder=HashingEmbedder(32), background=False, trace=trace
    ) as runtime:
        agent = runtime.agent("ada", definition(), model=model(), tools=[weather])
        agent.send("My key is sk-abcdefgh12345678 9")
        agent.send("And now 10")
    assert "sk-abcdefgh" not in trace.read_text()
    assert replay(trace).difference is None


def test_a_trace_is_a_fixture_for_a_model(trace: Path, tmp_path: Path) -> None:
    """ReplayModel answers what was recorded, in a runtime of one's own."""
    said = talk(trace, tmp_path / "home", turns=range(9, 11), script=lambda r: "Hello.")
    recorded = ReplayModel.from_trace(trace)
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", definition(), model=recorded, tools=[weather])
        assert [agent.send("a").text, agent.send("b").text] == said
        assert recorded.differences[0].section == "queue"
        assert agent.send("c").stop_reason == "model_error"


def test_what_cannot_be_replayed_says_so(trace: Path, tmp_path: Path) -> None:
    """Not a trace, cut off, newer, without texts, without its beginning, of several agents."""
    talk(trace, tmp_path / "home", turns=range(1, 3))
    whole = trace.read_text()
    lines = whole.splitlines(keepends=True)

    def refused(text: str) -> str:
        trace.write_text(text)
        with pytest.raises(UserError) as raised:
            replay(trace)
        return f"{raised.value.message} {raised.value.hint}"

    assert "is not a trace" in refused("hello\n")
    assert "is empty" in refused("")
    assert f":{len(lines)}: the last line is cut off" in refused(whole[:-40])
    assert ":3: not a line of a trace" in refused("".join([*lines[:2], "{}\n", *lines[2:]]))
    assert "newer pagemind (trace schema 9" in refused(whole.replace('{"v": 1', '{"v": 9', 1))
    asked = next(n for n, line in enumerate(lines) if '"kind": "asked"' in line)
    assert "state that its agent started from" in refused("".join([lines[0], *lines[asked:]]))
    assert "no turn" in refused(lines[0])
    assert "--agent" in refused(whole + whole.replace('"agent": "ada"', '"agent": "bob"'))
    with pytest.raises(UserError, match="no agent 'eve'"):
        replay(trace, agent="eve")
    with pytest.raises(UserError, match="cannot be read"):
        replay(tmp_path / "nowhere.jsonl")
    trace.unlink()
    talk(trace, tmp_path / "other", turns=range(1, 3), content=False)
    with pytest.raises(UserError, match="without texts"):
        replay(trace)


def test_a_turn_that_the_process_did_not_survive_is_replayed_as_far_as_it_went(
    trace: Path, tmp_path: Path
) -> None:
    """A trace that ends inside a turn is no difference."""
    talk(trace, tmp_path / "home", turns=range(1, 4), script=busy)
    lines = trace.read_text().splitlines(keepends=True)
    last = max(n for n, line in enumerate(lines) if '"kind": "request"' in line)
    trace.write_text("".join(lines[: last + 1]))
    assert replay(trace).difference is None


@pytest.mark.parametrize("protocol", ["heartbeat", "guided"])
def test_other_protocols_are_replayed(protocol: str, trace: Path, tmp_path: Path) -> None:
    """How a model is spoken to stands in the trace."""
    made = small(3000, "core_append", "recall_search", more=f"protocol: {protocol}\n")
    script = [
        [call("core_append", block="human", content="Sam.", request_heartbeat=True)],
        [call("send_message", message="Noted."), call("recall_search", query="Sam")],
        "Just this.",
    ]
    with Runtime(
        tmp_path / "home", embedder=HashingEmbedder(32), background=False, trace=trace
    ) as runtime:
        agent = runtime.agent("ada", made, model=ScriptedModel(script, name="m"))
        for text in ("I am Sam", "Who am I?", "Thanks"):
            agent.send(text)
    opened = next(line for line in trace.read_text().splitlines() if '"opened"' in line)
    assert f'"protocol": "{protocol}"' in opened
    assert replay(trace).difference is None


def test_a_summary_by_another_model_is_replayed(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who summarises is named in the definition, and answers from the record, too."""
    made = small(2048, more="summarizer: acme/small\n")
    writer = ScriptedModel(lambda request: "They spoke.", name="acme/small", window=9000)
    with monkeypatch.context() as patched:
        patched.setattr("pagemind.runtime.runtime.make_model", lambda *_: writer)
        with Runtime(
            tmp_path / "home", embedder=HashingEmbedder(32), background=False, trace=trace
        ) as runtime:
            model = ScriptedModel(lambda request: "The boat. " * 90, name="m")
            agent = runtime.agent("ada", made, model=model)
            for number in range(14):
                agent.send(f"Go on {number}")
    assert any('"acme/small"' in line and '"summary"' in line for line in trace.open())
    assert replay(trace).difference is None


def test_an_import_of_old_talk_keeps_its_times(trace: Path, tmp_path: Path) -> None:
    """When something was said may be given with it."""
    with Runtime(
        tmp_path / "home", embedder=HashingEmbedder(32), background=False, trace=trace
    ) as runtime:
        agent = runtime.agent("ada", definition(), model=model(), tools=[weather])
        then = datetime(2024, 5, 8, 14, 30, tzinfo=UTC)
        agent.handle(UserMessage("The boat at 9", "sam", "id-1", then))
        agent.handle(SystemAlert("The light went out at 9", "sensor"))
        agent.handle(TimerFired("daily", "Water the plants at 9"))
        agent.handle(AgentMessage("eve", "Hello from me at 9", {"k": "v"}))
        agent.handle(UserMessage("The boat at 9", "sam", "id-1", then))  # asked again: stored
    assert replay(trace).difference is None


def test_what_an_insert_is_near_to_is_taken_from_the_record(trace: Path, tmp_path: Path) -> None:
    """An embedder told it, and a replay has none."""
    script = [
        call("archival_insert", content="The boat is called Nomad"),
        "Yes.",
        call("archival_insert", content="The boat is called Nomad."),
        "Yes.",
    ]
    with Runtime(
        tmp_path / "home", embedder=HashingEmbedder(32), background=False, trace=trace
    ) as runtime:
        agent = runtime.agent("ada", definition(), model=ScriptedModel(script), tools=[weather])
        agent.send("Note it")
        runtime.drain(agent)
        agent.send("Note it again")
    assert "nearly the same as a1" in trace.read_text()
    assert replay(trace).difference is None
