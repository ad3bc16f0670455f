"""An agent sets, lists and cancels its own timers."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from kernel_kit import last_result, runtime_at, small

from pagemind.runtime.agent import Agent
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.testing import ScriptedModel, call

NOW = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)  # a Monday; so it is in Lisbon


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    with runtime_at(tmp_path, FrozenClock(NOW)) as runtime:
        yield runtime.agent("ada", definition=timed(), model=ScriptedModel())


def timed(more: str = "") -> AgentDefinition:
    return small(2048, "timers", more=more)


def result(agent: Agent, name: str, **arguments: str) -> str:
    assert isinstance(agent.model, ScriptedModel)
    agent.model._answers = iter([call(name, **arguments), "Done."])
    agent.send("Go on.")
    return last_result(agent.model).text


def test_a_timer_is_set_and_its_next_time_is_told_in_the_agents_zone(agent: Agent) -> None:
    """Every kind of time that a model writes."""
    told = result(agent, "schedule", when="every 10 minutes", message="Look out.")
    assert told == "timer s1: every 10 minutes, next Mon 2026-01-05 09:40 WET"
    told = result(agent, "schedule", when="at 2026-07-01 09:00", message="Summer.")
    assert told == "timer s2: Wed 2026-07-01 09:00 WEST"
    assert result(agent, "schedules_list") == (
        "s1: every 10 minutes, next Mon 2026-01-05 09:40 WET: Look out.\n"
        "s2: Wed 2026-07-01 09:00 WEST: Summer."
    )


def test_the_same_timer_again_is_the_one_that_is_there(agent: Agent) -> None:
    """A model that asks twice, after a crash or without one, is woken once."""
    first = result(agent, "schedule", when="every hour", message="Look out.")
    assert result(agent, "schedule", when="every 60 minutes", message="Look out.") == first


def test_a_timer_is_cancelled_by_its_id_which_is_not_used_again(agent: Agent) -> None:
    """What is not there is told with what is."""
    result(agent, "schedule", when="every hour", message="Look out.")
    told = result(agent, "cancel_schedule", id="s1")
    assert told == "timer s1 is cancelled: every 1 hour: Look out."
    assert result(agent, "schedules_list") == "no timers"
    assert "no timer is called 's1'; there are: none" in result(agent, "cancel_schedule", id="s1")
    assert result(agent, "schedule", when="every hour", message="Again.").startswith("timer s2")


@pytest.mark.parametrize(
    ("when", "message", "why"),
    [
        ("soon", "x", "write it like `every 10 minutes`"),
        ("at 2026-01-05 09:00", "x", "is past: now it is 2026-01-05 09:30 WET"),
        ("every hour", " ", "the message is empty"),
    ],
)
def test_what_cannot_be_is_told_to_the_model(
    agent: Agent, when: str, message: str, why: str
) -> None:
    """And no timer is set."""
    assert why in result(agent, "schedule", when=when, message=message)
    assert result(agent, "schedules_list") == "no timers"


def test_a_definitions_timers_are_there_from_the_start_and_are_replaced_by_name(
    tmp_path: Path,
) -> None:
    """Those set by hand stay; one that is as before goes on as it was."""
    with runtime_at(tmp_path, FrozenClock(NOW)) as runtime:
        runtime.create(
            "ada",
            timed(
                "schedules:\n"
                "- {name: tidy, every: 1h, message: Tidy up.}\n"
                '- {name: mail, cron: "0 9 * * *", message: Read mail.}\n'
                "- {at: 2025-01-01T09:00, message: Over.}\n"
            ),
        )
        runtime.timers("ada").add("every 2 hours", "By hand.")
        assert [t.name or t.made_by for t in runtime.timers("ada").all()] == [
            *("tidy", "person", "mail")
        ]
        assert isinstance(runtime.clock, FrozenClock)
        runtime.clock.advance(minutes=30)
        changed = timed(
            "schedules:\n"
            "- {name: tidy, every: 2h, message: Tidy up.}\n"
            '- {name: mail, cron: "0 9 * * *", message: Read mail.}\n'
        )
        runtime.update("ada", changed, apply=True)
        assert [(t.id, t.when) for t in runtime.timers("ada").all()] == [
            ("s3", "every 2 hours"),
            ("s4", "every 2 hours"),
            ("s2", "cron 0 9 * * *"),
        ]


def test_timers_go_with_their_agent_and_are_not_copied(tmp_path: Path) -> None:
    """A fork has none until somebody asks for those of its definition."""
    with runtime_at(tmp_path, FrozenClock(NOW)) as runtime:
        runtime.create("ada", timed("schedules: [{every: 1h, message: Tidy up.}]\n"))
        runtime.fork("ada", "eva")
        assert runtime.timers("eva").all() == []
        runtime.reset_timers("eva")
        assert [t.name for t in runtime.timers("eva").all()] == ["1"]
        runtime.delete("ada")
        assert len(runtime.schedules.of()) == 1
