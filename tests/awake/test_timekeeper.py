"""Timers fire once, whatever the clock does."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from awake_kit import House, house

from pagemind.runtime.awake.timekeeper import Fired, Timekeeper
from pagemind.runtime.event import TimerFired
from pagemind.runtime.state.mailbox import Mailbox

NOON = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)


class Watch:
    """A home with a timer, and what fires."""

    def __init__(self, home: House, when: str) -> None:
        self.home = home
        home.make("ada")
        home.runtime.timers("ada").add(when, "Look out.")
        self.mailbox = Mailbox(home.runtime.home.database, home.clock)
        self.keeper = self.made()

    def made(self) -> Timekeeper:
        return Timekeeper(self.home.runtime.schedules, self.mailbox, self.home.clock)

    def after(self, **delta: float) -> list[Fired]:
        self.home.clock.advance(**delta)
        return self.keeper.fire_due()

    def handle(self) -> list[str]:
        """Take what waits; its texts."""
        mail = self.mailbox.all()
        for each in mail:
            self.mailbox.take(each.number)
        return [each.event.text for each in mail]


def test_a_timer_fires_once_when_it_is_due(tmp_path: Path) -> None:
    """Not before, and not again; the event says when that was."""
    with house(tmp_path) as home:
        watch = Watch(home, "every 10 minutes")
        assert watch.after(minutes=9) == []
        assert [f.missed for f in watch.after(minutes=1)] == [0]
        assert watch.after(seconds=1) == []
        [mail] = watch.mailbox.all()
        assert mail.event == TimerFired("s1", mail.event.text, mail.id)
        assert mail.id == "timer s1 1 2026-01-05T09:10:00.000000Z"
        assert mail.event.text == "Look out.\n[due Mon 2026-01-05 09:10 WET]"


def test_what_was_missed_comes_to_one_event_that_counts_it(tmp_path: Path) -> None:
    """Nobody was awake for two hours."""
    with house(tmp_path) as home:
        watch = Watch(home, "every 10 minutes")
        assert [f.missed for f in watch.after(hours=2)] == [11]
        assert watch.handle() == [
            "Look out.\n[due Mon 2026-01-05 11:00 WET; missed before that: 11, the first due"
            " Mon 2026-01-05 09:10 WET]"
        ]
        assert watch.after(minutes=9) == []
        assert [f.missed for f in watch.after(minutes=1)] == [0]


def test_it_does_not_pile_up_while_its_agent_is_busy(tmp_path: Path) -> None:
    """The next firing waits until the last was handled, and says what was missed."""
    with house(tmp_path) as home:
        watch = Watch(home, "every 10 minutes")
        watch.after(minutes=10)
        assert watch.after(minutes=10) == watch.after(minutes=10) == []
        watch.handle()
        assert [f.missed for f in watch.after(seconds=1)] == [1]


def test_a_timer_for_one_time_is_over_when_it_has_fired(tmp_path: Path) -> None:
    """Also where it was missed."""
    with house(tmp_path) as home:
        watch = Watch(home, "in 1 hour")
        assert [(f.missed, f.timer) for f in watch.after(days=3)] == [(0, "s1")]
        watch.handle()
        assert watch.after(days=300) == []
        assert home.runtime.timers("ada").all() == []


def test_a_firing_and_its_next_time_are_one_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in between, it is as if it had not begun; it fires then, once."""
    with house(tmp_path) as home:
        watch = Watch(home, "every 10 minutes")

        def killed(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(home.runtime.schedules, "note_fired", killed)
            with pytest.raises(KeyboardInterrupt):
                watch.after(minutes=10)
        assert watch.mailbox.all() == []
        assert len(watch.made().fire_due()) == 1
        assert watch.made().fire_due() == []


@pytest.mark.parametrize(
    ("when", "again"),
    [("every 10 minutes", timedelta(minutes=10)), ("*/10 * * * *", timedelta(minutes=10))],
)
def test_a_clock_that_is_put_back_silences_no_timer(
    tmp_path: Path, when: str, again: timedelta
) -> None:
    """It ran four years ahead, and is right again."""
    with house(tmp_path) as home:
        watch = Watch(home, when)
        watch.after(days=1461)
        watch.handle()
        assert watch.after(days=-1461) == []
        assert watch.after(seconds=again.total_seconds() - 1) == []
        assert len(watch.after(seconds=1)) == 1


def test_a_clock_that_is_put_back_a_little_repeats_nothing(tmp_path: Path) -> None:
    """09:30 was fired, and is not fired again when it comes again."""
    with house(tmp_path) as home:
        watch = Watch(home, "30 9 * * *")
        assert len(watch.after(minutes=31)) == 1
        watch.handle()
        watch.after(minutes=-10)
        assert watch.after(minutes=20) == []
        assert len(watch.after(days=1)) == 1


def test_a_clock_that_runs_ahead_is_a_sleep(tmp_path: Path) -> None:
    """One event, whatever it jumped over."""
    with house(tmp_path) as home:
        watch = Watch(home, "0 * * * *")
        assert [f.missed for f in watch.after(days=365)] == [1000]
        assert "missed before that: 1,000 or more," in watch.handle()[0]


def test_a_timer_that_is_cancelled_meanwhile_does_not_fire(tmp_path: Path) -> None:
    """By another process, between the look and the firing."""
    with house(tmp_path) as home:
        watch = Watch(home, "every 10 minutes")
        home.clock.advance(minutes=10)
        [one] = home.runtime.schedules.due(home.clock.now())
        home.runtime.timers("ada").cancel("s1")
        assert watch.keeper._fire(one, home.clock.now()) is None
        assert watch.mailbox.all() == []


def test_only_the_timers_of_the_agents_that_are_kept_fire(tmp_path: Path) -> None:
    """Those of others wait for whoever keeps them."""
    with house(tmp_path) as home:
        watch = Watch(home, "every 10 minutes")
        others = Timekeeper(home.runtime.schedules, watch.mailbox, home.clock, {"somebody"})
        home.clock.advance(minutes=10)
        assert others.fire_due() == []
        assert len(watch.keeper.fire_due()) == 1
