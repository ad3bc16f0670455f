"""What the past costs does not grow with what lies before and after it: no table that grows with
history is read through."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from kernel_kit import agent_at, runtime_at, sentence, small

from pagemind.runtime.past import Past
from pagemind.runtime.state.database import Database, Row
from pagemind.runtime.state.halving import first_from
from pagemind.runtime.testing import ScriptedModel, call

GROWS = "messages|steps|turns|views|texts|passages|passage_versions|block_versions"
_SCAN = re.compile(rf"SCAN ({GROWS})\b")


@pytest.fixture
def past(tmp_path: Path) -> Path:
    model = ScriptedModel(
        [call("core_append", block="human", content="Name: Sam"), "Hello!"],
        after="I see.",
        summary=lambda _: "They talked.",
    )
    with agent_at(tmp_path, model, small(2048, "core_append", "page_in")) as agent:
        agent.send("I am Sam.")
        for number in range(30):
            agent.send(sentence(number))
        model._answers = iter([call("page_in", id="p1"), "Read."])
        agent.send("What was on the first page?")
        agent.undo()
        agent.send("Where were we?")
    return tmp_path


ASKED: dict[str, Callable[[Past], Any]] = {
    "a request by message": lambda past: past.request("m50"),
    "a request by step": lambda past: past.request("s30"),
    "a request by time": lambda past: past.request("2026-01-05"),
    "the request of a user's message": lambda past: past.request("m1"),
    "a diff of near moments": lambda past: past.changes("m40", "m44"),
}


@pytest.mark.parametrize("asked", ASKED)
def test_no_table_that_grows_is_read_through(
    past: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    """Every query's plan is looked at."""
    plans: list[str] = []
    real = Database.rows

    def rows(self: Database, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        if sql.startswith("SELECT"):
            plan = real(self, f"EXPLAIN QUERY PLAN {sql}", values)
            plans.extend(f"{row['detail']}: {sql}" for row in plan)
        return real(self, sql, values)

    with runtime_at(past) as runtime, runtime.reader("ada") as reader:
        monkeypatch.setattr(Database, "rows", rows)
        ASKED[asked](Past(reader))
    assert plans
    assert not [plan for plan in plans if _SCAN.search(plan)]


def test_halving_finds_what_reading_through_finds(past: Path) -> None:
    """For every value, those that are not there and gaps among them."""
    with runtime_at(past) as runtime, runtime.writer("ada") as writer:
        database = writer.state.database
        database.write("DELETE FROM steps WHERE step IN (1, 7, 8, 9)")
        rows = database.rows("SELECT step, last_seq FROM steps ORDER BY step")
        for value in range(rows[-1]["last_seq"] + 3):
            expected = next(
                (row["step"] for row in rows if row["last_seq"] >= value), rows[-1]["step"] + 1
            )
            assert first_from(database, "steps", "step", "last_seq", value) == expected
