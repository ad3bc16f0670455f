"""A file cannot promote what it holds: trust is at most what the runtime gives to an origin."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from portable_kit import lived, with_rows

from pagemind.runtime.message import TRUST
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.settings import OWN_RESULT_TRUST
from pagemind.runtime.testing import temporary_runtime


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with temporary_runtime() as opened:
        yield opened


def trusts(runtime: Runtime, table: str) -> dict[int, tuple[str, int]]:
    """Origin and trust by number."""
    key = {"messages": "seq", "passages": "number"}[table]
    with runtime.reader("eva") as reader:
        rows = reader.state.database.rows(f"SELECT {key}, origin, trust FROM {table}")
        return {row[0]: (row[1], row[2]) for row in rows}


def test_levels_of_a_file_are_not_believed(runtime: Runtime, tmp_path: Path) -> None:
    """All at a hundred in the file: each is what its origin allows, and that is said."""
    lived(runtime, turns=16).close()
    runtime.export_agent("ada", tmp_path / "ada.pmz")

    def raised(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row | {"trust": 100} for row in rows]

    made = runtime.import_agent(with_rows(tmp_path / "ada.pmz", "messages", raised), name="eva")
    assert any("trust of" in note and "origin" in note for note in made.notes)
    found = trusts(runtime, "messages")
    assert {origin for origin, _ in found.values()} >= {"user", "model", "tool"}
    for origin, trust in found.values():
        assert trust <= max(TRUST[origin], OWN_RESULT_TRUST if origin == "tool" else 0)


def test_an_observation_is_no_result_of_a_function(runtime: Runtime, tmp_path: Path) -> None:
    """It cannot call itself one of the agent's own functions."""
    lived(runtime, turns=4).close()
    runtime.export_agent("ada", tmp_path / "ada.pmz")

    def dressed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            row | {"trust": 100, "origin_detail": "recall_search"}
            if row["kind"] == "observation"
            else row
            for row in rows
        ]

    runtime.import_agent(with_rows(tmp_path / "ada.pmz", "messages", dressed), name="eva")
    with runtime.reader("eva") as reader:
        rows = reader.state.database.rows("SELECT trust FROM messages WHERE kind = 'observation'")
        assert [row[0] for row in rows] == [TRUST["tool"]]


def test_untrusted_means_all_of_it(runtime: Runtime, tmp_path: Path) -> None:
    """Messages, passages, blocks and pages are then no more than an import."""
    lived(runtime, turns=16).close()
    runtime.export_agent("ada", tmp_path / "ada.pmz")
    made = runtime.import_agent(tmp_path / "ada.pmz", name="eva", untrusted=True)
    assert any("as asked" in note for note in made.notes)
    for table in ("messages", "passages"):
        found = trusts(runtime, table)
        assert found
        assert max(trust for _, trust in found.values()) <= TRUST["import"]
    with runtime.reader("eva") as reader:
        for table in ("block_versions", "pages", "summaries"):
            sql = f"SELECT max(trust) FROM {table}"
            assert 0 < reader.state.database.number(sql) <= TRUST["import"]
