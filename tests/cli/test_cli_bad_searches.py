"""Searches nobody should make, on the command line."""

import pytest
from cli_kit import Cli
from odd_queries import QUERIES, SAID


@pytest.mark.parametrize("kind", [kind for kind in QUERIES if "NUL" not in kind])
def test_the_command_line_takes_any_query(kind: str, cli: Cli) -> None:
    """The same list; exit code 0 and one JSON object."""
    cli.ada(SAID[0])
    answer = cli("memory", "search", "ada", "--json", "--", QUERIES[kind][0])
    assert answer.code == 0, answer.err
    assert answer.json["searched"] == {"recall": 2, "archival": 0}


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--start", "2026-05-09", "--end", "2026-05-08"], 2, "lies after end"),
        (["--start", "2026-02-30"], 2, "is not a date"),
        (["--part", "0"], 2, "--part"),
        (["--part", "1000000000"], 1, "there is no part 1000000000"),
        (["--importance", "high"], 2, "a range such as 7-9"),
        (["--importance", "0"], 2, "from 1 to 10"),
        (["--origin", "martian"], 2, "is not an origin; origins: user,"),
        (["--id", "x7"], 2, "ids look like m42"),
        (["--ranking", "prak"], 2, "Did you mean park?"),
        (["--max-tokens", "0"], 2, "--max-tokens"),
        (["--tier", "pages", "--role", "user"], 2, "have no role"),
    ],
)
def test_wrong_options_say_what_is_allowed(
    options: list[str], code: int, said: str, cli: Cli
) -> None:
    """One line, no traceback."""
    cli.ada("My boat is called Nomad.")
    ran = cli("memory", "search", "ada", "boat", *options)
    assert (ran.code, ran.out) == (code, "")
    assert said in " ".join(ran.err.split())
    assert "Traceback" not in ran.err
