"""An awake home: timers, files and mail become turns, in one process at a time."""

import threading
from pathlib import Path

import pytest
from awake_kit import House, house

from pagemind.runtime.awake.awake import Awake
from pagemind.runtime.errors import HomeInUse, UnknownAgent
from pagemind.runtime.event import UserMessage
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.state.mailbox import Mailbox


def awake(home: House, **options: object) -> Awake:
    return Awake(home.runtime, opens=home.open, tell=home.tell, **options)  # type: ignore[arg-type] # passed on


def test_timers_files_and_mail_become_turns(tmp_path: Path) -> None:
    """Each once, and each is told."""
    with house(tmp_path / "home") as home:
        home.make("ada", more=f"inbox: {tmp_path / 'in'}\n")
        home.runtime.timers("ada").add("every 10 minutes", "Look out.")
        Mailbox(home.runtime.home.database, home.clock).put(
            home.runtime.home.find("ada").id, UserMessage("hello")
        )
        with awake(home) as one:
            one.look_into_inboxes()
            (tmp_path / "in" / "note.txt").write_text("a note", encoding="utf-8")
            for _ in range(3):
                home.clock.advance(minutes=4)
                one.look_into_inboxes()
                one.look()
            home.until(lambda: len(home.kinds("turn_ended")) == 3)
        said = home.said("ada")
        assert said[0] == "hello"
        assert {said[2].splitlines()[0], said[4].splitlines()[0]} == {
            "Look out.",
            "[a file came in: note.txt]",
        }
        assert home.told[0].data == {"agents": ["ada"], "timers": 1, "waiting": 1, "aside": 0}
        assert [told["timer"] for told in home.kinds("timer_fired")] == ["s1"]
        assert [told["file"] for told in home.kinds("file_taken")] == [
            str(tmp_path / "in" / "note.txt")
        ]
        assert home.kinds("asleep") == [{"why": "", "left": 0}]


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    """One keeps a home awake."""
    with (
        house(tmp_path) as home,
        awake(home),
        pytest.raises(HomeInUse, match="another process keeps"),
        awake(home),
    ):
        pass
    with house(tmp_path) as home, awake(home):
        pass


def test_only_the_agents_that_are_named_are_kept(tmp_path: Path) -> None:
    """What comes for others waits; who is not there is refused at once."""
    with house(tmp_path) as home:
        home.make("ada", "eva")
        with pytest.raises(UnknownAgent):
            awake(home, only=["eve"])
        for name in ("ada", "eva"):
            home.runtime.timers(name).add("in 1 minute", f"For {name}.")
        with awake(home, only=["ada"]) as one:
            home.clock.advance(minutes=2)
            one.look()
            home.until(lambda: home.kinds("turn_ended"))
        assert [told["agent"] for told in home.kinds("turn_ended")] == ["ada"]
        assert [t.message for t in home.runtime.timers("eva").all()] == ["For eva."]


def test_a_folder_that_is_gone_is_told_once_and_keeps_nobody(tmp_path: Path) -> None:
    """It is tried again, and so it comes back."""
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    with house(tmp_path / "home") as home:
        home.make("ada")
        with awake(home, inboxes={"ada": tmp_path / "file" / "in"}) as one:
            for _ in range(3):
                home.clock.advance(seconds=2)
                one.look_into_inboxes()
            assert len(home.kinds("warning")) == 1
            assert "not a directory" in home.kinds("warning")[0]["why"]
            (tmp_path / "file").unlink()
            (tmp_path / "file" / "in").mkdir(parents=True)
            (tmp_path / "file" / "in" / "a.txt").write_text("a", encoding="utf-8")
            for _ in range(3):
                home.clock.advance(seconds=2)
                one.look_into_inboxes()
            home.until(lambda: home.kinds("turn_ended"))


def test_a_timer_that_an_agent_sets_in_its_turn_wakes_it(tmp_path: Path) -> None:
    """Without a person in between."""
    from pagemind.runtime.testing import call

    def script(request: ModelRequest) -> object:
        text = request.messages[-1].text
        if "Remind me" in text:
            return [call("schedule", when="in 5 minutes", message="Call Sam.")]
        return "Calling Sam." if "Call Sam." in text and "due" in text else "Noted."

    with house(tmp_path, script) as home:
        from kernel_kit import small

        home.runtime.create("ada", small(2048, "timers"))
        with awake(home) as one:
            first = one.keeper.submit("ada", UserMessage("Remind me to call Sam.")).result(60)
            assert first.text == "Noted."
            home.clock.advance(minutes=5)
            one.look()
            home.until(lambda: len(home.kinds("turn_ended")) == 2)
        assert home.said("ada")[-1] == "Calling Sam."


def test_it_runs_until_it_is_told_to_stop(tmp_path: Path) -> None:
    """And sleeps no longer than until the next timer."""
    with house(tmp_path) as home:
        home.make("ada")
        home.runtime.timers("ada").add("in 1 second", "Soon.")
        stop = threading.Event()
        with awake(home) as one:
            home.clock.advance(seconds=0.8)
            assert one.look() == pytest.approx(0.2)
            runs = threading.Thread(target=one.run, args=(stop,))
            runs.start()
            home.clock.advance(seconds=1)
            home.until(lambda: home.kinds("turn_ended"))
            stop.set()
            runs.join(60)
            assert not runs.is_alive()
