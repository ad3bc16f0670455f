"""memory forget by conditions, and what goes cold: seen first, hidden everywhere, brought back."""

from dataclasses import replace
from datetime import UTC, datetime

from cli_kit import Cli, Ran

from pagemind.runtime.runtime import Runtime


def ids(ran: Ran) -> list[str]:
    return [each["id"] for each in ran.json["passages"]]


def test_conditions_find_what_is_to_be_forgotten(cli: Cli) -> None:
    """Scope, kind, tag and age hold together, with or without a query; what is evergreen is left
    alone and named."""
    cli.ada("Hello")
    put = ("memory", "insert", "ada")
    cli(*put, "Nomad lies in Porto", "--scope", "/boat", "--tag", "old")
    cli(*put, "The light of Porto is red", "--scope", "/boat/light")
    cli(*put, "Porto has a bridge", "--scope", "/boats")
    cli(*put, "Porto is home", "--scope", "/boat", "--evergreen")
    gone = ("memory", "forget", "ada", "--dry-run", "--json")
    ran = cli(*gone, "--scope", "/boat")
    assert ids(ran) == ["a1", "a2"]
    assert (ran.json["total"], ran.json["evergreen"], ran.json["forgotten"]) == (2, ["a4"], False)
    assert ids(cli(*gone, "--scope", "/boat", "--evergreen")) == ["a1", "a2", "a4"]
    assert ids(cli(*gone, "-q", "Porto", "--scope", "/boat", "--tag", "old")) == ["a1"]
    assert ids(cli(*gone, "--kind", "note", "--limit", "1")) == ["a1"]
    assert "no passage of ada matches that" in cli(*gone, "--older-than", "90d").out
    assert "is no kind of record" in cli(*gone, "--kind", "thought").out
    assert "is no time to keep" in cli(*gone, "--older-than", "soon").out
    ran = cli("memory", "forget", "ada", "--scope", "/boat", "--yes")
    assert "2 passages" in ran.err
    assert "evergreen, and left alone without --evergreen: a4" in ran.err
    left = cli("memory", "passages", "ada", "--json").json["items"]
    assert [each["id"] for each in left] == ["a4", "a3"]


def test_what_is_cold_is_found_when_asked_for_and_restored(cli: Cli) -> None:
    """`memory search --cold` finds it, nothing else does; `memory restore` without a version brings
    it back, and what had expired has no end any more."""
    cli.ada("Hello")
    cli("memory", "insert", "ada", "The guest code is 4711", "--ttl", "1 second")
    with Runtime(cli.home) as runtime, runtime.writer("ada") as writer:
        found = writer.state.passages.get([1])[1]
        past = datetime(2020, 1, 1, tzinfo=UTC)
        writer.state.passages.edit(
            1,
            None,
            facets=replace(found.facets, cold=True, expires_at=past),
            author="worker",
            reason="expired",
            seq=0,
        )
    search = ("memory", "search", "ada", "guest code", "--json")
    assert cli(*search).json["total"] == 0
    (hit,) = cli(*search, "--cold").json["results"]
    assert hit["id"] == "a1"
    assert cli("memory", "restore", "ada", "a1").code == 0
    assert [each["id"] for each in cli(*search).json["results"]] == ["a1"]
    assert cli(*search, "--standing", "cold").json["total"] == 0
