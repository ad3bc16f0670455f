"""`memory pin` and `unpin`, and how `inspect` shows pins."""

import pytest
from cli_kit import Cli


def test_a_person_pins_and_inspect_shows_it(cli: Cli) -> None:
    """Before the next flush it is pinned and not in the window."""
    cli.ada("My boat is called Nomad.")
    ran = cli("memory", "pin", "ada", "m1")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("m1 is pinned: ")
    assert "m1 is pinned already" in cli("memory", "pin", "ada", "M1").out
    assert "not shown yet" in cli("inspect", "ada").out
    cli.tell_much()
    pins = cli("inspect", "ada", "--json").json["pins"]
    assert [(pin["id"], pin["shown"]) for pin in pins] == [("m1", True)]
    assert "called Nomad" in cli("inspect", "ada", "--request").out
    assert cli("memory", "unpin", "ada", "m1", "--json").json["tokens"] == pins[0]["tokens"]
    assert cli("inspect", "ada", "--json").json["pins"] == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("pin", "ada", "m99"), "the newest is m"),
        (("pin", "ada", "d1"), "pin a page of it"),
        (("pin", "ada", "17"), "is not an id"),
        (("unpin", "ada", "m1"), "nothing is pinned"),
        (("pin", "bob", "m1"), "bob"),
    ],
)
def test_what_cannot_be_pinned_is_told_in_one_line(
    cli: Cli, words: tuple[str, ...], told: str
) -> None:
    """An error of the person's, without a traceback."""
    cli.ada("My boat is called Nomad.")
    ran = cli("memory", *words)
    assert ran.code == 1
    assert told in ran.err
    assert "Traceback" not in ran.err
