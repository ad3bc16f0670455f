"""`pagemind memory`: read, search, insert, restore and rebuild."""

import pytest
from cli_kit import Cli

from pagemind.runtime.runtime import Runtime


def test_search_merges_both_tiers(cli: Cli) -> None:
    """The best first, whichever tier it is from; the text groups them."""
    cli.ada("My boat is called Nomad.")
    assert cli("memory", "insert", "ada", "Nomad lies at berth 42.", "--tag", "boat").code == 0
    answer = cli("memory", "search", "ada", "Nomad berth", "--json").json
    assert {hit["id"] for hit in answer["results"][:2]} == {"a1", "m1"}
    assert {hit["tier"] for hit in answer["results"]} == {"recall", "archival"}
    scores = [hit["score"] for hit in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    assert answer["searched"] == {"recall": 2, "archival": 1}
    text = cli("memory", "search", "ada", "Nomad berth").out
    assert "conversation 1, " in text
    assert "passages" in text
    assert "[boat]" in text


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--tier", "archival"], {"a1"}),
        (["--role", "user"], {"m1"}),
        (["--speaker", "sam"], {"m1"}),
        (["--tag", "boat"], {"a1"}),
        (["--start", "2020", "--end", "2021"], set()),
        (["--start", "today"], {"m1", "m2", "a1"}),
    ],
)
def test_filters_narrow_a_search(options: list[str], found: set[str], cli: Cli) -> None:
    """Role and speaker are of messages, tags of passages, dates of both."""
    cli.ada()
    assert cli("send", "ada", "My boat is called Nomad.", "--as", "Sam").code == 0
    assert cli("memory", "insert", "ada", "Nomad lies at berth 42.", "--tag", "boat").code == 0
    answer = cli("memory", "search", "ada", "Nomad", *options, "--json").json
    assert {hit["id"] for hit in answer["results"]} == found


def test_a_search_without_a_query_gives_the_newest(cli: Cli) -> None:
    """Everything, the last said first."""
    cli.ada("One", "Two")
    results = cli("memory", "search", "ada", "--json").json["results"]
    assert [hit["id"] for hit in results] == ["m4", "m3", "m2", "m1"]


def test_a_long_result_comes_in_parts(cli: Cli) -> None:
    """Together they hold every hit once; a part that is not there is a mistake."""
    cli.ada(*(f"Nomad was here, number {n}" for n in range(6)))
    one = cli("memory", "search", "ada", "Nomad", "--max-tokens", "40", "--json").json
    assert one["parts"] > 1
    ids = []
    for part in range(1, one["parts"] + 1):
        words = ("memory", "search", "ada", "Nomad", "--max-tokens", "40", "--json")
        ids += [hit["id"] for hit in cli(*words, "--part", str(part)).json["results"]]
    assert len(ids) == len(set(ids)) == one["total"]
    assert cli("memory", "search", "ada", "Nomad", "--part", "99").code == 1


def test_a_date_that_is_none_is_wrong_usage(cli: Cli) -> None:
    """The error names what is allowed."""
    cli.ada()
    ran = cli("memory", "search", "ada", "x", "--start", "soonish")
    assert ran.code == 2
    assert "2026-05" in ran.err


def test_readers_work_while_another_runs_the_agent(cli: Cli) -> None:
    """What was said a moment ago is found from outside."""
    cli.ada()
    with Runtime(cli.home) as runtime:
        runtime.agent("ada").send("My boat is called Nomad.")
        assert cli("memory", "search", "ada", "Nomad", "--json").json["total"] == 2
        assert cli("inspect", "ada", "--json").json["recall"]["total"] == 2
        assert cli("agents", "list", "--json").json["items"][0]["in_use"]
        assert "in use now" in cli("doctor").out
        assert cli("memory", "restore", "ada", "human", "1").code == 75
        assert cli("memory", "rebuild", "ada").code == 75


def test_a_block_is_restored(cli: Cli) -> None:
    """Its history shows every version; restoring adds one."""
    cli.ada()
    with Runtime(cli.home) as runtime, runtime.writer("ada") as writer:
        block = writer.context.core.get("human").with_value("Sam")
        writer.state.blocks.save(
            block, author="model", reason="append", seq=0, origin="model", trust=None
        )
    items = cli("memory", "restore", "ada", "human", "1", "--json").json["items"]
    assert [(i["version"], i["value"], i["author"]) for i in items] == [
        (1, "", "definition"),
        (2, "Sam", "model"),
        (3, "", "user"),
    ]
    assert cli("memory", "restore", "ada", "human", "9").code == 1
    ran = cli("memory", "history", "ada", "hmuan")
    assert ran.code == 1
    assert "blocks: human" in ran.err


def test_a_passage_is_restored(cli: Cli) -> None:
    """Also one that was retired."""
    cli.ada()
    cli("memory", "insert", "ada", "Berth 42.")
    with Runtime(cli.home) as runtime, runtime.writer("ada") as writer:
        writer.state.passages.set_status(1, "retired", author="model", reason="x", seq=0)
    assert cli("memory", "passages", "ada", "--json").json["total"] == 0
    assert cli("memory", "restore", "ada", "a1", "1").code == 0
    assert cli("memory", "passages", "ada", "--json").json["total"] == 1


def test_a_page_is_listed_and_printed(cli: Cli) -> None:
    """An unknown one says which there are."""
    cli.ada()
    assert "no pages yet" in cli("memory", "pages", "ada", "p1").err
    cli.tell_much()
    assert "p1" in cli("memory", "pages", "ada").out
    text = cli("memory", "pages", "ada", "1").out
    assert "m1 [" in text
    assert "the pages are p1 to p" in cli("memory", "pages", "ada", "p999").err


def test_a_rebuild_writes_every_row_again(cli: Cli) -> None:
    """The tiers are filled from the state database; a search finds all."""
    cli.ada("My boat is called Nomad.")
    cli("memory", "insert", "ada", "Berth 42.")
    answer = cli("memory", "rebuild", "ada", "--json").json
    assert (answer["rows"], answer["unwritten"], answer["last_error"]) == (3, 0, None)
    assert cli("memory", "search", "ada", "Nomad", "--json").json["total"] == 2


def test_the_window_is_drawn(cli: Cli) -> None:
    """Sections with their tokens, and what lies on disk."""
    cli.ada("Hello")
    text = cli("inspect", "ada").out
    for word in ("system", "tools", "core", "queue", "pressure", "2 messages", "0 pages"):
        assert word in text
