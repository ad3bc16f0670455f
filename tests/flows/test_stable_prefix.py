"""The prompt is a stable prefix: with refresh_blocks on_flush its head stays as it is, to the byte,
whatever is edited, until the next flush; and every past request can be made again."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_kit import agent_at, everything, last_asked, last_result, runtime_at, sentence, small
from past_request import digests, made_again

from pagemind.runtime.agent import Agent
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.testing import ScriptedModel, call

EDITS = ("core_append", "core_edit", "core_rewrite")


def on(when: str, window: int = 4096, limit: int = 400) -> AgentDefinition:
    """An agent that edits its blocks."""
    return small(
        window,
        *EDITS,
        "recall_search",
        limit=limit,
        more=f"prompt: {{refresh_blocks: {when}}}\nprefetch: {{tokens: 0}}\n",
    )


def head_of(request: ModelRequest) -> tuple[Any, ...]:
    """All that stands before the queue."""
    first = request.messages[0]
    is_head = first.kind == "notice" and first.text.startswith("<earlier")
    return request.system, request.tools, first.text if is_head else ""


def epochs(agent: Agent) -> list[tuple[int, str]]:
    """The epoch of each step, and why it began."""
    rows = agent.state.database.rows(
        "SELECT s.epoch, e.reason FROM steps s JOIN epochs e USING (epoch) ORDER BY step"
    )
    return [(row["epoch"], row["reason"]) for row in rows]


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_answers_with_the_new_text_and_leaves_the_head(tmp_path: Path, name: str) -> None:
    """on_flush: the head is that of before; the result holds the whole block."""
    arguments = {
        "core_append": {"content": "Boat: Nomad"},
        "core_edit": {"old_text": "Sam", "new_text": "Samuel"},
        "core_rewrite": {"content": "Samuel sails Nomad."},
    }[name]
    value = {
        "core_append": "Name: Sam\nBoat: Nomad",
        "core_edit": "Name: Samuel",
        "core_rewrite": "Samuel sails Nomad.",
    }[name]
    model = ScriptedModel(
        [
            call("core_append", block="human", content="Name: Sam"),
            *("Noted.", call(name, block="human", **arguments), "Done.", "Yes?"),
        ],
        summary=lambda _: "Sam told his name.",
    )
    with agent_at(tmp_path, model, on("on_flush")) as agent:
        agent.send("I am Sam.")
        agent.flush()
        agent.send("There is news.")
        assert last_result(model).text == f"human is now:\n{value}"
        agent.send("And now?")
        turns = [request for request in model.requests if request.purpose == "turn"]
        before, after = turns[2], turns[-1]
        assert head_of(before) == head_of(after)
        assert value not in after.system[1]
        assert "Name: Sam\n" in after.system[1]
        assert agent.context.core.get("human").value == value
        agent.flush()
        assert value in agent.context.render(128).system[1]


def test_on_edit_shows_an_edit_in_the_next_step(tmp_path: Path) -> None:
    """The default, as in the paper."""
    model = ScriptedModel([call("core_append", block="human", content="Name: Sam"), "Noted."])
    with agent_at(tmp_path, model, small(4096)) as agent:
        agent.send("I am Sam.")
    assert "Name: Sam" in last_asked(model).system[1]


def test_a_restart_goes_on_with_what_was_shown(tmp_path: Path) -> None:
    """In the middle of an epoch the new process renders the versions of the old one."""
    model = ScriptedModel(
        [call("core_append", block="human", content="Name: Sam"), "Noted."], after="Yes."
    )
    with agent_at(tmp_path, model, on("on_flush")) as agent:
        agent.send("I am Sam.")
        before = head_of(last_asked(model))
    again = ScriptedModel(after="Yes.")
    with agent_at(tmp_path, again) as agent:
        agent.send("Still there?")
        assert head_of(last_asked(again)) == before
        assert agent.context.core.get("human").value == "Name: Sam"
        agent.flush()
        agent.send("And now?")
        assert "Name: Sam" in last_asked(again).system[1]
    with runtime_at(tmp_path) as runtime, runtime.reader("ada") as reader:
        assert "Name: Sam" in reader.request().system[1]


def test_a_change_by_hand_is_told_in_a_notice(tmp_path: Path) -> None:
    """A person's edit is not in the head either: a notice says it, until the flush."""
    model = ScriptedModel(
        [
            *(call("core_append", block="human", content="Name: Sam"), "Noted."),
            *(call("core_append", block="human", content="Age: 300"), "Noted."),
        ],
        after="Yes.",
    )
    with agent_at(tmp_path, model, on("on_flush")) as agent:
        agent.send("I am Sam.")
        agent.send("I am 300.")
        before = head_of(last_asked(model))
        agent.restore_block("human", 2)
        agent.send("Who am I?")
        asked = last_asked(model)
        assert head_of(asked) == before
        (notice,) = [m.text for m in asked.messages if "was changed by hand" in m.text]
        assert notice.endswith("Name: Sam]")
        agent.flush()
        agent.send("And now?")
        asked = last_asked(model)
        assert "Name: Sam\n" in asked.system[1]
        assert not any("by hand" in m.text for m in asked.messages)


def test_a_notice_by_hand_is_no_warning(tmp_path: Path) -> None:
    """The warning still comes, once."""
    model = ScriptedModel(
        [call("core_append", block="human", content="Name: Sam"), "Noted."], after="Yes."
    )
    with agent_at(tmp_path, model, on("on_flush", window=2048)) as agent:
        agent.send("I am Sam.")
        agent.restore_block("human", 1)
        warnings = 0
        for number in range(40):
            agent.send(sentence(number))
        warnings = sum("% full" in m.text for m in everything(agent))
        flushes = sum(1 for _, reason in set(epochs(agent)) if reason != "start")
        assert 1 <= warnings <= flushes + 1


def test_edits_that_fill_the_head_still_fit_after_the_flush(tmp_path: Path) -> None:
    """The flush reckons with the blocks as they will be shown."""
    content = "x" * 1900
    model = ScriptedModel(
        [call("core_rewrite", block="human", content=content), "Noted."], after="Yes."
    )
    with agent_at(tmp_path, model, on("on_flush", window=3000, limit=2000)) as agent:
        agent.send("Fill it.")
        for number in range(30):
            agent.send(sentence(number))
            pressure = agent.queue_manager.measure()
            assert pressure.used <= pressure.usable
        assert content in last_asked(model).system[1]


HAPPENING = st.one_of(
    st.tuples(st.just("say"), st.integers(0, 60)),
    st.tuples(st.just("append"), st.text("ab \n", min_size=1, max_size=20)),
    st.tuples(st.just("rewrite"), st.text("cd </block>", max_size=40)),
    st.tuples(st.just("restore"), st.integers(1, 3)),
    st.tuples(st.sampled_from(["reopen", "flush", "look"]), st.just(0)),
)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    when=st.sampled_from(["on_flush", "on_edit"]),
    happenings=st.lists(HAPPENING, min_size=4, max_size=14),
)
def test_between_flushes_the_head_is_the_same_and_any_request_can_be_made_again(
    when: str, happenings: list[tuple[str, Any]]
) -> None:
    """Edits by the model and by hand, restarts, looks of readers: with on_flush all steps of an
    epoch have one head, and with both each request is rebuilt to the byte."""
    with tempfile.TemporaryDirectory() as folder:
        heads: dict[int, tuple[Any, ...]] = {}
        home = Path(folder)
        queue = list(happenings)
        while queue:
            model = ScriptedModel(after="Yes.")
            with agent_at(home, model, on(when, window=2048)) as agent:
                asked = agent.state.history.last_step
                while queue:
                    kind, value = queue.pop(0)
                    if kind == "reopen":
                        break
                    _happen(agent, model, kind, value)
                turns = [r for r in model.requests if r.purpose == "turn"]
                for step, request in enumerate(turns, asked + 1):
                    epoch = agent.state.database.number(
                        "SELECT epoch FROM steps WHERE step = ?", (step,)
                    )
                    if when == "on_flush":
                        assert heads.setdefault(epoch, head_of(request)) == head_of(request)
                for step, digest in digests(agent).items():
                    assert made_again(agent, step) == digest, f"step {step}"


def _happen(agent: Agent, model: ScriptedModel, kind: str, value: Any) -> None:
    if kind == "say":
        agent.send(sentence(value))
    elif kind in ("append", "rewrite"):
        edit = call(f"core_{kind}", block="human", content=value)
        model._answers = iter([edit, "Done."])
        agent.send("Note this.")
    elif kind == "restore":
        if value <= agent.context.core.get("human").version:
            agent.restore_block("human", value)
    elif kind == "flush":
        agent.flush()
    else:
        agent.context.render(128)
