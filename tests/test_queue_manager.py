"""The queue manager in a tight window: long messages, many calls, and a provider that disagrees."""

from pathlib import Path

import pytest
from kernel_kit import agent_at, everything, last_asked, sentence, small

from pagemind.runtime.errors import ContextOverflow, OutputReserveConflict, PromptTooLarge
from pagemind.runtime.message import ToolCall
from pagemind.runtime.model import ModelReply, Usage
from pagemind.runtime.settings import OVERFLOW_RETRIES
from pagemind.runtime.testing import ScriptedModel, call
from pagemind.runtime.trace import TraceEvent


def test_a_long_message_is_stored_whole_and_shown_as_an_excerpt(tmp_path: Path) -> None:
    """The model sees its start, its end and how to read the rest."""
    model = ScriptedModel(["It is long."])
    text = "START " + "word " * 5000 + "END"
    with agent_at(tmp_path, model) as agent:
        agent.send(text)
        assert everything(agent)[0].text == text
        shown = last_asked(model).messages[0].text
        assert shown.startswith("[Mon 2026-01-05 09:00] START")
        assert shown.endswith("END")
        assert 'page_in("m1")' in shown
        pressure = agent.queue_manager.measure()
        assert pressure.sections["queue"] < pressure.room * 0.3


def test_the_results_of_one_group_share_half_of_room(tmp_path: Path) -> None:
    """Three long answers at once are each cut, the largest most."""
    with agent_at(tmp_path, ScriptedModel(["I see."] * 30), small(4096)) as agent:
        for number in range(12):
            agent.send(sentence(number, 120))
    calls = [call("page_in", call_id=f"c{n}", id=f"m{n}") for n in (1, 3, 5, 7, 9)]
    model = ScriptedModel([calls, "Read."])
    with agent_at(tmp_path, model) as agent:
        agent.send("Read them all.")
        results = [m for m in last_asked(model).messages if m.role == "tool"]
        assert len(results) == 5
        room = agent.queue_manager.measure().room
        assert sum(map(agent.context.counter.message, results)) <= room * 0.5


def test_a_group_of_many_long_calls_still_fits(tmp_path: Path) -> None:
    """In a tiny window what does not fit even as an excerpt shrinks to its handle."""
    calls = [
        ToolCall(f"c{n}", "core_append", f'{{"block": "human", "content": "{n}{" long" * 900}"}}')
        for n in range(4)
    ]
    reply = ModelReply(tool_calls=tuple(calls), finish="tool_calls", usage=Usage(1))
    model = ScriptedModel([reply, "Too long."])
    with agent_at(tmp_path, model, small(1024, "core_append", "page_in")) as agent:
        turn = agent.send("Note all of it.")
        assert turn.stop_reason == "answered"
        assert next(m for m in everything(agent) if m.tool_calls).tool_calls == tuple(calls)


def test_a_group_that_cannot_fit_ends_its_turn_only(tmp_path: Path) -> None:
    """Sixty calls at once are refused with the numbers; the agent opens and the next turn works."""
    calls = [
        call("core_append", call_id=f"call_{n:030}", block="human", content=str(n))
        for n in range(60)
    ]
    model = ScriptedModel([calls, "Here."])
    with agent_at(tmp_path, model, small(1024, "core_append", "page_in")) as agent:
        with pytest.raises(PromptTooLarge, match=r"only 9\d\d may be used \(system") as refused:
            agent.send("Go.")
        assert refused.value.sections["queue"] > 500
    with agent_at(tmp_path, ScriptedModel(after="Here.")) as agent:
        assert agent.send("Are you there?").text == "Here."


def test_a_provider_that_says_too_long_gets_less(tmp_path: Path) -> None:
    """Each retry is smaller than the one before."""
    script = [*["I see."] * 12, ContextOverflow("x"), ContextOverflow("x"), "Now."]
    model = ScriptedModel(script, summary=lambda request: "They talked.")
    events: list[TraceEvent] = []
    with agent_at(tmp_path, model, small(4096)) as agent:
        for number in range(12):
            agent.send(sentence(number, 80))
        turn = agent.send("And now?", observer=events.append)
        assert turn.text == "Now."
    sizes = [e.data["prompt_tokens"] for e in events if e.kind == "model_called"]
    assert len(sizes) == 3
    assert sizes[0] > sizes[1] > sizes[2]


def test_a_provider_that_is_never_content_is_told_by_its_own_words(tmp_path: Path) -> None:
    """After three retries, or where nothing is left to cut, the turn ends with its error."""
    for error in (ContextOverflow("prompt is too long"), OutputReserveConflict("too long")):
        with agent_at(tmp_path / type(error).__name__, ScriptedModel(after=error)) as agent:
            turn = agent.send("Hello")
            assert turn.stop_reason == "model_error"
            assert turn.error is error
            assert len(agent.loop.caller.model.requests) <= OVERFLOW_RETRIES + 1
            assert everything(agent)[0].text == "Hello"


def test_a_reserve_that_is_too_large_is_halved(tmp_path: Path) -> None:
    """Where only prompt plus max_tokens is too much, max_tokens falls and the prompt stays."""
    model = ScriptedModel([OutputReserveConflict("too long"), "Yes."])
    with agent_at(tmp_path, model, small(4096, reserve=1024)) as agent:
        assert agent.send("Hello").text == "Yes."
    first, second = model.requests
    assert (first.max_tokens, second.max_tokens) == (1024, 512)
    assert first.messages == second.messages


def test_a_leading_notice_leaves_no_gap(tmp_path: Path) -> None:
    """A flush that only lets a notice go moves nothing: a page begins where the last one ended."""
    with agent_at(tmp_path, ScriptedModel(after="I see.")) as agent:
        for number in range(12):
            agent.send(sentence(number))
        agent.flush()
        for _ in range(3):
            agent.queue_manager._warn(agent.queue_manager.measure())
            agent.flush()
        for number in range(30):
            agent.send(sentence(number))
        expected = 1
        for page in agent.state.pages.all():
            assert page.first_seq == expected
            expected = page.last_seq + 1


def test_a_failed_summary_leaves_everything_standing(tmp_path: Path) -> None:
    """If the flush is stopped inside the summary, no page is written and the queue is as it was."""
    from pagemind.runtime.cancel import CancelToken
    from pagemind.runtime.errors import Cancelled

    with agent_at(tmp_path, ScriptedModel(after="I see.")) as agent:
        for number in range(10):
            agent.send(sentence(number))
        before = [entry.seq for entry in agent.context.queue], agent.state.history.epoch()
        cancel = CancelToken()
        cancel.cancel()
        with pytest.raises(Cancelled):
            agent.flush(cancel)
        assert ([entry.seq for entry in agent.context.queue], agent.state.history.epoch()) == before
        assert agent.state.pages.all() == []


def test_what_a_flush_keeps_is_filled_with_talk(tmp_path: Path) -> None:
    """A summary that is shorter than it might be leaves its room to the queue."""
    model = ScriptedModel(after="I see.", summary=lambda request: "They talked of items.")
    kept = []
    with agent_at(tmp_path, model, small(4096)) as agent:
        while len(kept) < 4:
            written = agent.state.pages.count()
            agent.send(sentence(len(everything(agent)), 20))
            if agent.state.pages.count() > written:
                pressure = agent.queue_manager.measure()
                kept.append(pressure.paged / pressure.keep_at)
    # What the first summary will take is not known before.
    assert kept[0] < 1.05
    assert all(0.85 < each < 1.05 for each in kept[1:]), kept


def test_a_summary_that_grows_takes_no_more_than_its_budget(tmp_path: Path) -> None:
    """What was foreseen for it can be too little: more than half of room stays then, but not so
    much that the next turn is warned."""
    said = ["They talked.", "They talked. " + "Of one item more. " * 400]
    model = ScriptedModel(after="I see.", summary=lambda request: said.pop(0) if said else "So.")
    with agent_at(tmp_path, model, small(4096)) as agent:
        for _ in range(2):
            written = agent.state.pages.count()
            while agent.state.pages.count() == written:
                agent.send(sentence(len(everything(agent)), 20))
        pressure = agent.queue_manager.measure()
        assert pressure.sections["summary"] > pressure.room * 0.14
        assert pressure.keep_at < pressure.paged < pressure.warn_at * 0.95


def test_a_flush_that_is_given_a_limit_stays_below_it(tmp_path: Path) -> None:
    """However long the summary becomes."""
    said = ["They talked.", "They talked. " + "Of one item more. " * 400]
    model = ScriptedModel(after="I see.", summary=lambda request: said.pop(0))
    with agent_at(tmp_path, model, small(4096)) as agent:
        while not agent.state.pages.count():
            agent.send(sentence(len(everything(agent)), 20))
        for _ in range(4):
            agent.send(sentence(len(everything(agent)), 20))
        limit = agent.queue_manager.measure().keep_at
        assert agent.queue_manager.flush(None, keep=limit).pages
        assert agent.queue_manager.measure().paged <= limit


def test_a_flush_keeps_what_stays_to_the_letter(tmp_path: Path) -> None:
    """Nothing that is not evicted changes its text."""
    with agent_at(tmp_path, ScriptedModel(after="I see.")) as agent:
        for number in range(14):
            agent.send(sentence(number))
        before = {entry.seq: entry.shown for entry in agent.context.queue}
        agent.flush()
        after = {entry.seq: entry.shown for entry in agent.context.queue}
        assert 0 < len(after) < len(before)
        assert all(before[seq] == shown for seq, shown in after.items())


def test_a_warning_in_a_long_turn_begins_no_conversation(tmp_path: Path) -> None:
    """A tool that takes hours does not tear its turn in two."""
    from kernel_kit import _CLOCKS, runtime_at

    from pagemind.runtime.tool import make_tool

    def work() -> str:
        """Work for hours."""
        _CLOCKS[tmp_path].advance(hours=9)
        return "word " * 300

    patient = small(more="limits: {seconds: 100000}\n")
    with runtime_at(tmp_path) as runtime:
        model = ScriptedModel(lambda request: answers.pop(0) if answers else "I see.")
        answers: list[object] = []
        agent = runtime.agent("ada", patient, model=model, tools=[make_tool(work)])
        pressure = agent.queue_manager.measure()
        while pressure.paged < pressure.warn_at * 0.8:
            agent.send(sentence(1))
            pressure = agent.queue_manager.measure()
        answers.extend([call("work"), "Done."])
        agent.send("Work.")
        assert any(m.kind == "notice" for m in everything(agent))
        assert {m.conversation for m in everything(agent)} == {1}
