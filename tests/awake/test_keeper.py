"""The keeper runs one turn an agent at a time, many agents at once, and loses nothing."""

import json
import threading
from pathlib import Path

import pytest
from awake_kit import SECONDS, asked, house
from kernel_kit import small
from processes import python

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import SystemClock
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.errors import Cancelled, ModelOverloaded, UnknownAgent, UserError
from pagemind.runtime.event import AgentMessage, SystemAlert, TimerFired, UserMessage
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.person import Consent
from pagemind.runtime.state.home import AgentLock
from pagemind.runtime.testing import call


def test_events_of_an_agent_are_handled_in_order_and_agents_run_at_once(tmp_path: Path) -> None:
    """Two agents meet inside their turns; what comes for one of them waits its turn."""
    together = threading.Barrier(2, timeout=SECONDS)

    def script(request: ModelRequest) -> str:
        if asked(request).endswith("meet"):
            together.wait()
        return f"re {asked(request)}"

    with house(tmp_path, script) as home:
        home.make("ada", "eva")
        with home.keeper(at_once=2) as keeper:
            first = keeper.submit("ada", UserMessage("meet"))
            rest = [keeper.submit("ada", UserMessage(f"word {n}")) for n in range(3)]
            other = keeper.submit("eva", UserMessage("meet"))
            assert [f.result(SECONDS).turn for f in (first, *rest)] == [1, 2, 3, 4]
            assert other.result(SECONDS).text == "re meet"
        assert home.said("ada")[2::2] == ["word 0", "word 1", "word 2"]
        assert keeper.mailbox.all() == []


def test_an_agent_that_found_no_thread_gets_one_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not taken for one in a turn, for ever."""
    refused, start = list[str](), threading.Thread.start

    def refusing(thread: threading.Thread) -> None:
        if thread.name.startswith("turn ") and not refused:
            refused.append(thread.name)
            raise RuntimeError("can't start new thread")
        start(thread)

    with house(tmp_path) as home:
        home.make("ada")
        monkeypatch.setattr(threading.Thread, "start", refusing)
        with home.keeper() as keeper:
            assert keeper.submit("ada", UserMessage("hi")).result(SECONDS).text == "re hi"
    assert refused


@pytest.mark.parametrize(
    "event",
    [UserMessage("x", id="1"), TimerFired("t", "x"), SystemAlert("x"), AgentMessage("eva", "x")],
)
def test_every_kind_of_event_with_the_same_id_is_handled_once(
    tmp_path: Path, event: object
) -> None:
    """The second one gets what the first one got."""
    with house(tmp_path) as home:
        home.make("ada")
        with home.keeper() as keeper:
            results = [keeper.submit("ada", event, id="1").result(SECONDS) for _ in range(2)]  # type: ignore[arg-type] # parametrised
        assert [r.turn for r in results] == [1, 1]
        assert len(home.model.requests) == 1


def test_an_id_under_which_another_event_waits_is_refused(tmp_path: Path) -> None:
    """An event is never mistaken for another."""
    with house(tmp_path) as home:
        home.make("ada")
        keeper = home.keeper()
        keeper.leave("ada", UserMessage("one"), id="1")
        with pytest.raises(UserError, match="another event waits under the id '1'"):
            keeper.leave("ada", UserMessage("two"), id="1")
        with pytest.raises(UnknownAgent):
            keeper.submit("eve", UserMessage("one"))


def test_mail_that_a_killed_process_left_is_handled_once(tmp_path: Path) -> None:
    """Killed between acceptance and turn, and once more in the turn."""
    script = """
        import sys, threading
        from pathlib import Path
        from awake_kit import house
        from pagemind.runtime.clock import SystemClock
        from pagemind.runtime.event import UserMessage

        def hangs(request):
            print("in the turn", flush=True)
            threading.Event().wait()

        with house(Path(sys.argv[1]), hangs, SystemClock()) as home:
            if sys.argv[2] == "leave":
                home.make("ada")
                home.keeper().leave("ada", UserMessage("hello"), id="h")
                print("left", flush=True)
                threading.Event().wait()
            home.keeper().start()
            threading.Event().wait()
    """
    for what in ("leave", "turn"):
        child = python(PATHS + script, tmp_path, what)
        assert child.stdout is not None
        line = child.stdout.readline()
        child.kill()
        assert line.strip() in ("left", "in the turn"), child.communicate()[1]
        child.wait()
    with house(tmp_path, clock=SystemClock()) as home:
        with home.keeper() as keeper:
            home.until(lambda: not keeper.mailbox.all())
        assert home.said("ada") == ["hello", "re hello"]


PATHS = f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).resolve().parents[1])!r})
"""


def test_a_failing_model_rests_and_goes_on_in_order(tmp_path: Path) -> None:
    """It is told once, whoever waits is told at once, and nothing is lost."""
    broken = [True]

    def script(request: ModelRequest) -> object:
        return ModelOverloaded("the server is on fire") if broken[0] else f"re {asked(request)}"

    with house(tmp_path, script) as home:
        home.make("ada")
        with home.keeper() as keeper:
            keeper.leave("ada", TimerFired("tea", "Make tea."))
            home.until(lambda: home.kinds("waits"))
            asked_for = keeper.submit("ada", UserMessage("Are you well?")).result(SECONDS)
            assert asked_for.stop_reason == "model_error"
            home.clock.advance(seconds=30)
            keeper.wake()
            home.until(lambda: keeper.mailbox.all()[0].tries == 2)
            broken[0] = False
            home.clock.advance(seconds=30)
            home.until(lambda: not keeper.mailbox.all())
        assert [told["why"] for told in home.kinds("waits")] == ["the server is on fire"]
        assert home.kinds("turn_ended")[-1]["stop_reason"] == "answered"


def test_an_agent_in_use_is_waited_for_and_told_once(tmp_path: Path) -> None:
    """Also by who waits for an answer."""
    with house(tmp_path) as home:
        home.make("ada")
        lock = AgentLock(home.runtime.path("ada"), "ada")
        lock.acquire(0)
        with home.keeper() as keeper:
            future = keeper.submit("ada", UserMessage("hello"))
            home.until(lambda: home.kinds("waits"))
            for _ in range(3):
                home.clock.advance(seconds=2)
                keeper.wake()
            assert not future.done()
            lock.release()
            home.clock.advance(seconds=2)
            assert future.result(SECONDS).text == "re hello"
        assert ["in use" in told["why"] for told in home.kinds("waits")] == [True]


def test_what_stops_is_whole_and_goes_on_later(tmp_path: Path) -> None:
    """A turn that does not end in time is cut off soundly; what waited still waits."""
    stuck = threading.Event()

    def script(request: ModelRequest) -> str:
        if not stuck.is_set():
            stuck.set()
            cancel.wait(SECONDS)  # as a model does that looks at its token
        return f"re {asked(request)}"

    cancel = CancelToken()
    with house(tmp_path, script) as home:
        home.make("ada")
        keeper = home.keeper()
        keeper.start()
        runs = keeper.submit("ada", UserMessage("one"), id="1", cancel=cancel)
        waits = keeper.submit("ada", UserMessage("two"), id="2")
        assert stuck.wait(SECONDS)
        assert keeper.stop(grace=0.0)
        for future in (runs, waits):
            with pytest.raises(Cancelled, match="waits in the mailbox"):
                future.result(SECONDS)
        with pytest.raises(Cancelled):
            keeper.submit("ada", UserMessage("three"))
        with home.keeper() as again:
            home.until(lambda: not again.mailbox.all())
        assert home.said("ada") == ["one", "re one", "two", "re two"]


def test_an_event_that_is_refused_does_not_block_what_came_after(tmp_path: Path) -> None:
    """It is put aside with the reason."""
    with house(tmp_path) as home:
        home.make("ada")
        home.open("ada").send("one", id="1")
        with home.keeper() as keeper:
            keeper.leave("ada", UserMessage("another text"), id="1")
            keeper.leave("ada", UserMessage("two"), id="2")
            home.until(lambda: not keeper.mailbox.all(aside=False))
            aside = keeper.mailbox.all(aside=True)
        assert "was used before for another text" in aside[0].why
        assert home.said("ada")[-1] == "re two"


def test_agents_are_let_go_when_idle_but_not_those_of_others(tmp_path: Path) -> None:
    """Others can use them then; what the program around opened stays its own."""
    with house(tmp_path) as home:
        home.make("ada", "eva")
        mine = home.open("eva")
        with home.keeper(idle_seconds=5.0) as keeper:
            for name in ("ada", "eva"):
                keeper.submit(name, UserMessage("hello")).result(SECONDS)
            ids = {name: home.runtime.home.find(name).id for name in ("ada", "eva")}
            assert home.runtime.is_open(ids["ada"])
            home.clock.advance(seconds=6)
            home.until(lambda: not home.runtime.is_open(ids["ada"]))
            assert keeper.submit("ada", UserMessage("again")).result(SECONDS).turn == 2
        assert not home.runtime.is_open(ids["ada"])
        assert mine.send("still mine").turn == 2


def test_mail_goes_with_its_agent_and_whoever_waits_is_told(tmp_path: Path) -> None:
    """Nobody waits for ever for an agent that is gone."""
    with house(tmp_path) as home:
        home.make("ada")
        lock = AgentLock(home.runtime.path("ada"), "ada")
        lock.acquire(0)
        with home.keeper() as keeper:
            future = keeper.submit("ada", UserMessage("hello"))
            home.until(lambda: home.kinds("waits"))
            home.runtime.home.remove(home.runtime.home.find("ada"))
            lock.release()
            with pytest.raises(UnknownAgent):
                future.result(SECONDS)
            assert keeper.mailbox.all() == []


def test_a_future_that_was_taken_back_is_not_begun(tmp_path: Path) -> None:
    """Its event is over."""
    with house(tmp_path) as home:
        home.make("ada")
        keeper = home.keeper()
        future = keeper.submit("ada", UserMessage("hello"))
        assert future.cancel()
        keeper.start()
        home.until(lambda: not keeper.mailbox.all())
        keeper.stop()
        assert home.said("ada") == []


def test_an_agent_that_was_opened_for_another_one_is_not_closed_in_a_turn(tmp_path: Path) -> None:
    """Those who write to each other and the keeper share what they opened."""
    began, end = threading.Event(), threading.Event()

    def script(request: ModelRequest) -> str:
        began.set()
        end.wait(SECONDS)
        return f"re {asked(request)}"

    with house(tmp_path, script) as home:
        home.make("ada")
        kept, ada = home.runtime.post.kept, home.runtime.home.find("ada").id
        with home.keeper() as keeper:
            with kept.using(ada, home.open):
                future = keeper.submit("ada", UserMessage("hello"))
                assert began.wait(SECONDS)
            kept.let_go(ada)
            end.set()
            assert future.result(SECONDS).text == "re hello"


def test_an_agent_whose_budget_is_spent_rests_until_its_next_day(tmp_path: Path) -> None:
    """What waits is not used up by turns that may not begin; who waits for an answer is told."""
    with house(tmp_path) as home:
        home.make("ada", more="budget: {day_usd: 0}\n")
        with home.keeper() as keeper:
            keeper.leave("ada", TimerFired("tea", "Make tea."))
            home.until(lambda: home.kinds("waits"))
            assert home.kinds("waits")[0]["why"] == "the day's budget is spent"
            result = keeper.submit("ada", UserMessage("hello")).result(SECONDS)
            assert result.stop_reason == "cost"
            assert len(keeper.mailbox.all()) == 1
        assert home.model.requests == []


def test_a_call_that_waits_for_consent_does_not_lapse_for_a_timer(tmp_path: Path) -> None:
    """What came meanwhile waits, without the agent being held; then it goes on."""

    def script(request: ModelRequest) -> object:
        if request.messages[-1].role == "tool":
            return "Noted."
        if "Note it" in request.messages[-1].text:
            return [call("core_append", block="human", content="Sam")]
        return f"re {asked(request)}"

    with house(tmp_path, script) as home:
        guarded = small(2048, "core_append").raw
        guarded = {**guarded, "tools": [{"core_append": {"rule": "ask"}}]}
        home.runtime.create("ada", parse_definition(json.dumps(guarded)))
        with home.keeper(idle_seconds=0.0) as keeper:
            keeper.leave("ada", TimerFired("one", "Note it."))
            keeper.leave("ada", TimerFired("two", "Look out."))
            home.until(lambda: home.kinds("waits"))
            assert "waits for consent" in home.kinds("waits")[0]["why"]
            [mail] = keeper.mailbox.all()
            assert (mail.event.text, mail.tries) == ("Look out.", 0)
            ada = home.runtime.home.find("ada").id
            home.until(lambda: not home.runtime.is_open(ada))
            home.clock.advance(seconds=6)
            with home.open("ada") as agent:
                assert agent.approve(Consent(True)).text == "Noted."
            home.clock.advance(seconds=6)
            home.until(lambda: not keeper.mailbox.all())
        assert home.said("ada")[-1] == "re timer two: Look out."
