"""Any past request is made again from what is stored, to the byte, as long as the home lives."""

import json
import tarfile
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_kit import SMALL, agent_at, runtime_at, sentence, small
from past_request import request_of

from pagemind.runtime import template
from pagemind.runtime.agent import Agent
from pagemind.runtime.clock import FrozenClock, zone_name, zone_named
from pagemind.runtime.definition import AgentDefinition, parse_definition
from pagemind.runtime.errors import ContextOverflow, UserError
from pagemind.runtime.legalise import rules_for, to_wire
from pagemind.runtime.message import Reasoning
from pagemind.runtime.model import ModelReply, ModelRequest
from pagemind.runtime.models.guided_model import GuidedModel
from pagemind.runtime.mould import FRAMES
from pagemind.runtime.past import Past
from pagemind.runtime.past_request import Otherwise, PastRequest, PastRequests
from pagemind.runtime.request_json import canonical
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel, call

PROVIDERS = ("openai/gpt-4o-mini", "anthropic/claude-sonnet-4", "mistral/mistral-small", "ollama/q")
TOOLS = (
    *("core_append", "core_rewrite", "recall_search", "archival_insert"),
    *("page_in", "page_find", "page_pin", "page_unpin"),
)


def asked(model: ScriptedModel) -> list[ModelRequest]:
    """The requests of turns, the oldest first."""
    return [request for request in model.requests if request.purpose == "turn"]


def hold(agent: Agent, requests: list[ModelRequest]) -> None:
    """The steps are these requests, to the byte, on every provider's wire."""
    assert agent.state.history.last_step == len(requests)
    for step, request in enumerate(requests, 1):
        again = request_of(agent, step)
        assert canonical(again) == canonical(request), f"step {step}"
        for name in PROVIDERS:
            rules = rules_for(name)
            for marked in (False, True):
                wire = to_wire(again, rules, marked=marked)
                assert json.dumps(wire) == json.dumps(to_wire(request, rules, marked=marked))


def past(agent: Agent, step: int) -> PastRequest:
    other = Otherwise("Asia/Tokyo", False, 7, "of another")
    found = PastRequests(agent.state, agent.context.counter, other).of(step)
    assert found is not None
    return found


# --- whatever happens ---------------------------------------------------------------------------

NUMBERS = st.integers(1, 60)
HAPPENING = st.one_of(
    st.tuples(st.just("say"), NUMBERS),
    st.tuples(st.just("long"), st.integers(200, 1500)),
    st.tuples(st.just("observe"), NUMBERS),
    st.tuples(st.just("read"), st.sampled_from(["p1", "p2", "d0", "m1", "m2", "m9", "a1"])),
    st.tuples(st.just("calls"), NUMBERS),
    st.tuples(st.just("insert"), NUMBERS),
    st.tuples(st.sampled_from(["pin", "unpin"]), st.sampled_from(["m1", "m3", "p1"])),
    st.tuples(st.just("append"), st.text("ab \n", min_size=1, max_size=20)),
    st.tuples(st.just("rewrite"), st.text("cd </block>", max_size=40)),
    st.tuples(st.just("restore"), st.integers(1, 3)),
    st.tuples(st.just("wait"), st.integers(1, 600)),
    st.tuples(st.just("overflow"), st.integers(1, 2)),
    st.tuples(st.just("undo"), st.integers(1, 3)),
    st.tuples(st.just("rewind"), st.integers(0, 20)),
    st.tuples(
        st.sampled_from(["reopen", "flush", "empty", "think", "look", "fail", "bring back"]),
        st.just(0),
    ),
)
TIMES = st.sampled_from(["on_flush", "on_edit"])


def made(when: str, protocol: str, prefetch: int) -> AgentDefinition:
    more = (
        f"prompt: {{refresh_blocks: {when}}}\nprefetch: {{tokens: {prefetch}}}\n"
        f"protocol: {protocol}\n"
    )
    return small(2600, *TOOLS, limit=400, more=more)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    when=TIMES,
    protocol=st.sampled_from(["default", "heartbeat"]),
    prefetch=st.sampled_from([0, 200]),
    happenings=st.lists(HAPPENING, min_size=4, max_size=16),
)
def test_every_request_is_made_again_to_the_byte(
    when: str, protocol: str, prefetch: int, happenings: list[tuple[str, Any]]
) -> None:
    """Edits, readings, excerpts, handles, pins, observations, pauses, retries, too long prompts,
    flushes, rewinds and restarts: what the model was given is what the state gives again."""
    with tempfile.TemporaryDirectory() as folder:
        home, queue, seen = Path(folder), list(happenings), list[ModelRequest]()
        definition = made(when, protocol, prefetch)
        while queue:
            model = ScriptedModel(after="Yes.", summary=lambda _: "It was summarised.")
            with agent_at(home, model, definition) as agent:
                while queue:
                    kind, value = queue.pop(0)
                    if kind == "reopen":
                        break
                    _happen(agent, model, kind, value)
                seen += asked(model)
                hold(agent, seen)
        with runtime_at(home) as runtime, runtime.reader("ada") as reader:
            steps = PastRequests(reader.state, runtime.counter, Otherwise("UTC", True, None, ""))
            for step, request in enumerate(seen, 1):
                again = steps.of(step)
                assert again is not None
                assert again.exact
                assert canonical(again.request) == canonical(request)


def _happen(agent: Agent, model: ScriptedModel, kind: str, value: Any) -> None:
    clock = agent.state.clock
    if kind in ("say", "long"):
        agent.send(sentence(value, 30 if kind == "say" else value), speaker="sam")
    elif kind == "observe":
        agent.observe(sentence(value), source="sensor")
    elif kind == "wait":
        assert isinstance(clock, FrozenClock)
        clock.advance(minutes=value)
    elif kind == "restore":
        if value <= agent.context.core.get("human").version:
            agent.restore_block("human", value)
    elif kind == "flush":
        agent.flush()
    elif kind in ("undo", "rewind", "bring back"):
        with suppress(UserError):  # there may be nothing to take back
            if kind == "bring back":
                agent.bring_back()
            else:
                (agent.undo if kind == "undo" else agent.rewind)(value)
    elif kind == "look":
        agent.context.render(128)
    else:
        model._answers = iter(_answers(kind, value))
        agent.send(f"Please {kind}.")


def _answers(kind: str, value: Any) -> list[Any]:
    too_long = ContextOverflow("the prompt is too long")
    return {
        "read": lambda: [call("page_in", id=value), call("page_in", id=value, part=2), "Read."],
        "calls": lambda: [
            [call("recall_search", query="item"), call("recall_search", query=f"K{value:04d}")],
            "Found.",
        ],
        "insert": lambda: [call("archival_insert", content=sentence(value, 90)), "Kept."],
        "pin": lambda: [call("page_pin", id=value), "Pinned."],
        "unpin": lambda: [call("page_unpin", id=value), "Let go."],
        "append": lambda: [call("core_append", block="human", content=value), "Done."],
        "rewrite": lambda: [call("core_rewrite", block="human", content=value), "Done."],
        "overflow": lambda: [*[too_long] * value, "Shorter."],
        "empty": lambda: ["", "Now."],
        "think": lambda: [
            ModelReply("Aha.", reasoning=(Reasoning("openai/x", {"k": [1, "ü"]}, "hm"),))
        ],
        "fail": lambda: [RuntimeError("broken")],
    }[kind]()


# --- each mechanism by itself -------------------------------------------------------------------


def talk(agent: Agent, turns: int, start: int = 0) -> None:
    for number in range(start, start + turns):
        agent.send(sentence(number))


def shown(request: ModelRequest) -> str:
    return "\n".join(message.text for message in request.messages)


def test_a_reading_is_shown_again_as_it_was_read(tmp_path: Path) -> None:
    """Although it is stored as a reference, and has left the window since."""
    model = ScriptedModel(after="Yes.", summary=lambda _: "They talked.")
    with agent_at(tmp_path, model, made("on_edit", "default", 0)) as agent:
        talk(agent, 30)
        model._answers = iter([call("page_in", id="p1"), call("page_in", id="d0"), "Read."])
        agent.send("What was on the first page?")
        reading = agent.state.history.last_step
        agent.flush()
        talk(agent, 2)
        hold(agent, asked(model))
        assert "[p1 part 1 of" in shown(request_of(agent, reading - 1))
        assert "[d0 part 1 of" in shown(request_of(agent, reading))
        assert "[p1 part 1 of" not in shown(request_of(agent, reading + 1))


def test_the_listing_of_a_directory_has_the_gists_of_then(tmp_path: Path) -> None:
    """A better gist that came later does not rewrite what was read."""
    model = ScriptedModel(after="Yes.", summary=lambda _: "They talked.")
    with agent_at(tmp_path, model, made("on_edit", "default", 0)) as agent:
        talk(agent, 30)
        model._answers = iter([call("page_in", id="d0"), "Read."])
        agent.send("What pages are there?")
        agent.state.pages.set_gist(1, "Something else altogether.", author="model")
        hold(agent, asked(model))


def test_handles_excerpts_and_a_held_event_are_made_again(tmp_path: Path) -> None:
    """A long question that a flush within its own turn pages out is still shown before it."""
    model = ScriptedModel(after="Yes.", summary=lambda _: "They talked.")
    with agent_at(tmp_path, model, made("on_edit", "default", 0)) as agent:
        talk(agent, 6)
        many = [call("recall_search", query=f"item word{n}") for n in range(9)]
        model._answers = iter([*many, "Found."])
        agent.send("Search often. " + sentence(7, 900))
        model._answers = iter([call("recall_search", query="item"), "Found."])
        agent.send("Search once more.")
        talk(agent, 12, 20)
        hold(agent, asked(model))
        texts = "\n".join(shown(request) for request in asked(model))
        assert "reads the whole in parts" in texts
        assert "reads them again" in texts
        rows = agent.state.database.rows("SELECT settings FROM steps")
        assert any(json.loads(row["settings"])["held"] for row in rows)


def test_each_try_at_a_prompt_that_was_too_long_is_a_step(tmp_path: Path) -> None:
    """The request that was refused and the smaller one that was not are both there."""
    refused = ContextOverflow("the prompt is too long")
    model = ScriptedModel(after="Yes.", summary=lambda _: "They talked.")
    with agent_at(tmp_path, model, made("on_edit", "default", 0)) as agent:
        talk(agent, 12)
        before = agent.state.history.last_step
        model._answers = iter([refused, "Shorter."])
        agent.send("Go on.")
        assert agent.state.history.last_step == before + 2
        hold(agent, asked(model))
        first, second = (len(canonical(request_of(agent, before + n))) for n in (1, 2))
        assert first > second


def test_the_prefetch_and_the_pins_of_then_are_made_again(tmp_path: Path) -> None:
    """A memory that was edited and a pin that was let go stand in the past request as they were."""
    model = ScriptedModel(after="Yes.", summary=lambda _: "They talked.")
    with agent_at(tmp_path, model, made("on_flush", "default", 200)) as agent:
        agent.insert("The boat Nomad lies at berth 42 in Lagos.")
        agent.send("My name is Sam.")
        agent.pin("m2")
        agent.flush()
        agent.send("Where does the boat Nomad lie?")
        agent.unpin("m2")
        agent.flush()
        agent.state.passages.edit(1, "Sold.", author="user", reason="edit", seq=9)
        talk(agent, 2)
        hold(agent, asked(model))
        then = past(agent, 2)
        assert "berth 42" in then.prefetch
        assert "<pin" in then.pinned
        assert not past(agent, 4).pinned


def test_a_guided_model_is_given_what_is_made_again(tmp_path: Path) -> None:
    """Its one request of a step; the questions that it puts of it are its own."""
    seen: list[ModelRequest] = []

    class Guided(ScriptedModel):
        def complete(self, request: ModelRequest, **more: Any) -> ModelReply:
            if request.purpose == "turn":
                seen.append(request)
            return GuidedModel(ScriptedModel(after="Aye.")).complete(request, **more)

    text = SMALL.format(window=4096, reserve=128, limit=400, tools="core_append, recall_search")
    definition = parse_definition(text + "protocol: guided\n")
    with agent_at(tmp_path, Guided(), definition) as agent:
        for said in ("My name is Sam.", "My boat is called Nomad.", "What is my boat called?"):
            agent.send(said)
        assert len(seen) >= 3
        hold(agent, seen)
        then = past(agent, 1)
        assert then.exact
        assert then.sections["tools"] == agent.context.sections()["tools"]


def test_what_was_taken_back_is_made_again_as_it_was(tmp_path: Path) -> None:
    """The lines that were left, readings of their pages among them, and the one gone on with."""
    model = ScriptedModel(after="Yes.", summary=lambda _: "They talked.")
    with agent_at(tmp_path, model, made("on_flush", "default", 0)) as agent:
        talk(agent, 20)
        last = agent.state.pages.last_number
        assert last > 1
        model._answers = iter(
            [
                call("page_in", id=f"p{last}"),
                call("core_append", block="human", content="Name: Sam"),
                "Read.",
            ]
        )
        agent.send("What was on the last page?")
        agent.rewind(5)
        talk(agent, 12, 40)
        agent.bring_back()
        talk(agent, 2, 60)
        agent.undo(3)
        agent.send("Where were we?")
        hold(agent, asked(model))
        texts = [shown(request_of(agent, n)) for n in range(1, agent.state.history.last_step + 1)]
        assert any(f"[p{last} part 1 of" in text for text in texts)
        assert not any("rewind to m5" in text for text in texts)


# --- what changes around it -----------------------------------------------------------------------


def test_another_definition_does_not_change_the_past(tmp_path: Path) -> None:
    """Other instructions, functions, limits, descriptions and time zone; within one epoch."""
    first = ScriptedModel(after="Yes.")
    with agent_at(tmp_path, first, small(4096, "core_append", "page_in")) as agent:
        agent.send("Good morning.")
    text = SMALL.format(window=4096, reserve=128, limit=999, tools="recall_search")
    text = text.replace("a test agent", "another agent").replace("Lisbon", "Athens")
    text = text.replace("The person.", "Whom I talk to.")
    with runtime_at(tmp_path) as runtime:
        runtime.update("ada", parse_definition(text), apply=True)
    second = ScriptedModel(after="Yes.")
    with agent_at(tmp_path, second) as agent:
        agent.state.clock.advance(hours=2)  # type: ignore[attr-defined]  # a FrozenClock
        agent.send("Good evening.")
        hold(agent, [*asked(first), *asked(second)])
        assert past(agent, 1).exact
        assert past(agent, 2).exact
        assert past(agent, 1).request.tools != past(agent, 2).request.tools


def test_another_version_of_the_prompts_does_not_change_the_past(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The frames around texts are recorded too."""
    model = ScriptedModel(after="Yes.", summary=lambda _: "They talked.")
    with agent_at(tmp_path, model, made("on_edit", "default", 0)) as agent:
        agent.send(sentence(1, 900))
        talk(agent, 30)
        real = template._shipped

        def newer(name: str) -> template.Template:
            found = real(name)
            return replace(found, text=f"Newer. {found.text}") if name in FRAMES else found

        monkeypatch.setattr(template, "_shipped", newer)
        assert template.load("handle").text.startswith("Newer.")
        hold(agent, asked(model))


def test_the_machine_may_travel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a time zone of its own an agent shows the machine's; the past keeps that of then."""
    text = SMALL.format(window=4096, reserve=128, limit=400, tools="page_in")
    definition = parse_definition(text.replace("timezone: Europe/Lisbon\n", ""))
    seen: list[ModelRequest] = []
    try:
        for zone in ("Asia/Tokyo", "America/Lima", "XXX-4"):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            model = ScriptedModel(after="Yes.")
            with agent_at(tmp_path, model, definition) as agent:
                agent.state.clock.advance(hours=1)  # type: ignore[attr-defined]  # a FrozenClock
                agent.send("What time is it?")
                seen += asked(model)
                hold(agent, seen)
        assert "19:00" in shown(seen[0])
        assert "13:00" not in shown(seen[0])
    finally:
        monkeypatch.undo()
        time.tzset()


def test_steps_that_recorded_less_are_made_with_what_is_now(tmp_path: Path) -> None:
    """Those of the first version: without queue, mould and event."""
    model = ScriptedModel(after="Yes.", summary=lambda _: "They talked.")
    with agent_at(tmp_path, model, made("on_edit", "default", 0)) as agent:
        talk(agent, 20)
        agent.state.database.write(
            "UPDATE steps SET settings = json_remove(settings, '$.mould', '$.queue', '$.event',"
            " '$.held')"
        )
        zone, key = zone_name(agent.zone, datetime.now(UTC)), agent.context.cache_key
        other = Otherwise(zone, True, None, key)
        steps = PastRequests(agent.state, agent.context.counter, other)
        for step, request in enumerate(asked(model), 1):
            again = steps.of(step)
            assert again is not None
            assert again.exact
            assert canonical(again.request) == canonical(request)


def test_what_was_erased_is_not_passed_off_as_exact(tmp_path: Path) -> None:
    """A request that lacks something says so."""
    model = ScriptedModel(after="Yes.")
    with agent_at(tmp_path, model, small(4096)) as agent:
        talk(agent, 3)
        agent.state.database.write("DELETE FROM messages WHERE seq = 1")
        assert not past(agent, 1).exact
        assert (
            PastRequests(agent.state, agent.context.counter, Otherwise("UTC", True, None, "")).of(
                99
            )
            is None
        )


def test_the_sections_of_then_are_counted_as_they_were(tmp_path: Path) -> None:
    """Their sum is what the step was reckoned to cost."""
    model = ScriptedModel(after="Yes.", summary=lambda _: "They talked.")
    with agent_at(tmp_path, model, made("on_flush", "heartbeat", 200)) as agent:
        agent.insert("The value of item K0003 is large.")
        talk(agent, 25)
        for row in agent.state.database.rows("SELECT step, estimated_tokens FROM steps"):
            assert sum(past(agent, row["step"]).sections.values()) == row["estimated_tokens"]


def test_a_mould_is_stored_once(tmp_path: Path) -> None:
    """A hundred steps add no text to the state but their own."""
    model = ScriptedModel(after="Yes.")
    with agent_at(tmp_path, model, small(8192)) as agent:
        agent.send("One.")
        texts = agent.state.database.number("SELECT count(*) FROM texts")
        talk(agent, 20)
        assert agent.state.database.number("SELECT count(*) FROM texts") == texts


@pytest.mark.parametrize("name", ["Europe/Lisbon", "UTC", "+0330", "-0800"])
def test_a_zone_comes_back_from_its_name(name: str) -> None:
    """An offset is a name too."""
    at = datetime(2026, 7, 1, tzinfo=UTC)
    zone = zone_named(name)
    assert zone_named(zone_name(zone, at)).utcoffset(at) == zone.utcoffset(at)
    with pytest.raises((ValueError, LookupError)):
        zone_named("")


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_every_request_of_an_older_home_is_made_again(tmp_path: Path, version: int) -> None:
    """Homes that an earlier version wrote, brought up to date: edits, flushes, readings."""
    frozen = Path(__file__).parent / "frozen" / f"home-v{version}.tar.gz"
    with tarfile.open(frozen) as archive:
        archive.extractall(tmp_path, filter="data")
    Runtime.upgrade(tmp_path / "home")
    steps = 0
    with runtime_at(tmp_path / "home") as runtime:
        for agent in runtime.agents():
            with runtime.reader(agent.name) as reader:
                steps_of = Past(reader)
                for step in range(1, reader.state.history.last_step + 1):
                    assert steps_of.request(f"s{step}").exact, f"{agent.name}: s{step}"
                    steps += 1
    assert steps > 50
