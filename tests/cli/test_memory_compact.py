"""`pagemind memory compact`, and what `doctor` says of indices."""

import pytest
from cli_kit import Cli

from pagemind.runtime import settings


def test_compacting_says_what_it_did(cli: Cli) -> None:
    """Fewer files, no row without an index, and everything still found."""
    cli.ada("Hello, I am Sam.", "My boat is called Nomad.")
    cli.tell_much()
    before = cli("memory", "search", "ada", "Nomad", "--json").json
    ran = cli("memory", "compact", "ada", "--json")
    assert ran.code == 0
    found = ran.json
    assert found["agent"] == "ada"
    assert found["rows"] > 0
    assert 0 < found["files_after"] <= found["files_before"]
    assert {index["field"] for index in found["indices"]} >= {"line", "lines", "grams"}
    assert all(index["unindexed"] == 0 for index in found["indices"])
    again = cli("memory", "search", "ada", "Nomad", "--json").json
    assert [hit["id"] for hit in again["results"]] == [hit["id"] for hit in before["results"]]
    assert "all of them indexed" in cli("memory", "compact", "ada").out


def test_an_agent_without_tables_has_nothing_to_compact(cli: Cli) -> None:
    """And none are made."""
    cli.ada("Hello, I am Sam.")
    ran = cli("memory", "compact", "ada", "--json")
    assert ran.code == 0
    assert ran.json["indices"] == []
    assert (ran.json["rows"], ran.json["files_after"]) == (0, 0)


def test_doctor_names_the_command_where_upkeep_is_overdue(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A note, not a fault."""
    cli.ada("Hello, I am Sam.")
    cli.tell_much()
    monkeypatch.setattr(settings, "OPTIMIZE_ROWS", 1)
    ran = cli("doctor", "--json")
    assert ran.code == 0
    (found,) = [i for i in ran.json["items"] if i["check"] == "indices"]
    assert found["status"] == "note"
    assert "memory compact ada" in found["hint"]
