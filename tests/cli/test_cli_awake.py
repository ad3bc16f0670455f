"""Timers, the queue and `up` on the command line: what is printed, and what is refused."""

from pathlib import Path

import pytest
from cli_kit import Cli

from pagemind.runtime.event import UserMessage
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.state.mailbox import Mailbox


@pytest.fixture
def ada(cli: Cli) -> Cli:
    cli("agents", "new", "ada", "-d", str(cli.definition))
    return cli


def test_a_timer_is_set_listed_and_cancelled(ada: Cli) -> None:
    """And says that nobody is awake to let it fire."""
    ran = ada("schedules", "add", "ada", "every weekday at 9:00", "Read the news.")
    assert ran.out.startswith("s1: cron 0 9 * * 1-5, next ")
    assert "which it does not now" in ran.err
    assert "Read the news." in ada("schedules", "list").out
    assert ada("schedules", "cancel", "ada", "s1").out.startswith("s1 is cancelled")
    assert "no timers" in ada("schedules", "list", "ada").out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["schedules", "add", "ada", "soon", "x"], "is no time for a timer"),
        (["schedules", "add", "ada", "at 2020-01-01 09:00", "x"], "is past: now it is"),
        (["schedules", "add", "ada", "every hour", " "], "the message is empty"),
        (["schedules", "add", "eve", "every hour", "x"], "no agent is called 'eve'"),
        (["schedules", "cancel", "ada", "s9"], "no timer is called 's9'; there are: none"),
        (["queue", "retry", "9"], "no event 9 waits"),
        (["queue", "drop", "9"], "no event 9 waits"),
        (["send", "eve", "hello", "--queue"], "no agent is called 'eve'"),
        (["send", "ada", " ", "--queue"], "the message is empty"),
        (["up", "eve"], "no agent is called 'eve'"),
        (["up", "--inbox", "eve=in"], "no agent is called 'eve'"),
    ],
)
def test_what_cannot_be_is_one_line(ada: Cli, words: list[str], why: str) -> None:
    """With exit code 1."""
    ran = ada(*words)
    assert ran.code == 1
    assert f"error: {why}" in ran.err or why in ran.err
    assert ran.err.startswith("error: ")


def test_wrong_options_are_usage(ada: Cli) -> None:
    """Exit code 2."""
    assert ada("up", "--inbox", "folder").code == 2
    assert ada("send", "ada", "hello", "--queue", "-d", "assistant").code == 2


def test_a_queued_message_waits_and_can_be_dropped(ada: Cli) -> None:
    """The same id again is the same message; doctor says that nobody is awake."""
    for _ in range(2):
        assert ada("send", "ada", "hello", "--queue", "--id", "h").out.startswith("queued for ada")
    assert ada("queue", "list", "ada", "--json").json["total"] == 1
    checks = {item["check"]: item for item in ada("doctor", "--json").json["items"]}
    assert checks["awake"]["detail"] == "1 event"
    assert checks["awake"]["hint"] == "`pagemind up` keeps them awake"
    assert ada("queue", "drop", "1").out == "1 event dropped\n"
    assert ada("queue", "list").out == "nothing waits\n"


def test_what_was_put_aside_is_shown_and_tried_again(ada: Cli) -> None:
    """With the reason."""
    with Runtime(ada.home) as runtime:
        mailbox = Mailbox(runtime.home.database, runtime.clock)
        mail = mailbox.put(runtime.home.find("ada").id, UserMessage("hello"))
        mailbox.note(mail.number, "it is too long", aside=True)
    assert "aside" in ada("queue", "list").out
    checks = {item["check"] for item in ada("doctor", "--json").json["items"]}
    assert "put aside" in checks
    assert ada("queue", "retry", "1").out == "1 event will be tried again\n"
    [item] = ada("queue", "list", "--json").json["items"]
    assert (item["status"], item["why"], item["tries"]) == ("waits", "", 0)


def test_a_fork_gets_the_timers_of_its_definition_when_asked(ada: Cli, tmp_path: Path) -> None:
    """And not before."""
    timed = ada.definition.read_text(encoding="utf-8") + "schedules: [{every: 1h, message: x}]\n"
    ada.definition.write_text(timed, encoding="utf-8")
    ada("agents", "update", "ada", "-d", str(ada.definition), "--yes")
    ada("agents", "fork", "ada", "eva")
    assert ada("schedules", "list", "eva", "--json").json["total"] == 0
    assert "s1  1     every 1 hour" in ada("schedules", "reset", "eva").out
