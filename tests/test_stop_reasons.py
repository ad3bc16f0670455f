"""docs/stop-reasons.md says how every turn can end."""

import re
from pathlib import Path
from typing import get_args

from pagemind.runtime import errors, settings
from pagemind.runtime.cli import send
from pagemind.runtime.turn import StopReason

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "stop-reasons.md").read_text("utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table after a heading."""
    table = PAGE.split(heading, 1)[1].split("\n|---", 1)[1].split("\n\n", 1)[0].rstrip()
    return [[c.strip() for c in line.split(" | ")] for line in table.split("\n")[1:]]


def test_the_table_has_every_stop_reason_and_its_exit_code() -> None:
    """No reason is missing, none is invented, and the codes are those of the command line."""
    table = {row[0].strip("|` "): row[-1].strip("| ") for row in rows("# How a turn ends")}
    assert sorted(table) == sorted(get_args(StopReason))
    for reason, code in table.items():
        assert code == str(send._CODES.get(reason, send._LIMIT_REACHED)), reason


def test_its_errors_exist() -> None:
    """Every error of the provider table is one of the loop's."""
    for row in rows("## Provider faults"):
        kind = row[-1].strip("|` ")
        assert issubclass(getattr(errors, kind), errors.ModelError)


def test_its_numbers_are_those_of_the_settings() -> None:
    """What the page says in words is what the runtime does."""
    assert f"more than {settings.MAX_CALLS} calls in one reply" in PAGE
    assert settings.RETRY_AFTER_MAX_SECONDS == 120
    assert settings.EMPTY_RETRIES == 1
    assert settings.NUDGE_AT == 3
    assert re.search(rf"steps: {settings.MAX_STEPS} steps", PAGE)
