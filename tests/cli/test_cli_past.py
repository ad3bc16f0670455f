"""`agents show --at`, `agents diff` and `agents history`: the past of an agent, to look at."""

import pytest
from cli_kit import Cli
from kernel_kit import agent_at, sentence, small

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.legalise import rules_for, to_wire
from pagemind.runtime.past import Past
from pagemind.runtime.request_json import request_json
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel, call


@pytest.fixture
def past(cli: Cli) -> tuple[Cli, ScriptedModel]:
    """An agent with a past of two days: edits, a passage, a flush, observations."""
    model = ScriptedModel(
        [
            *(call("core_append", block="human", content="Name: Sam"), "Hello Sam!"),
            *(
                call("archival_insert", content="The boat is called Nomad.", tags=["boat"]),
                "Noted.",
            ),
        ],
        after="I see.",
        summary=lambda _: "Sam told facts.",
    )
    clock = FrozenClock()
    with agent_at(cli.home, model, small(2048), clock) as agent:
        agent.send("I am Sam.")  # m1 to m4
        clock.advance(minutes=30)
        agent.send("My boat is called Nomad.")  # m5 to m8
        clock.advance(days=1)
        agent.observe("It rains.", source="sensor")  # m9
        agent.send(sentence(1))  # m10, m11
        for number in range(2, 20):
            clock.advance(minutes=5)
            agent.send(sentence(number))
        clock.advance(minutes=5)
        agent.observe("It stopped.", source="sensor")
    return cli, model


def test_the_request_of_a_step_is_what_the_model_was_given(
    past: tuple[Cli, ScriptedModel],
) -> None:
    """--json and --request: texts, functions, and the wire."""
    cli, model = past
    answer = cli("agents", "show", "ada", "--at", "m3", "--json").json
    asked = model.requests[0]  # m3 is the result of a call that the first request brought
    assert (answer["seq"], answer["step"], answer["turn"], answer["last_seq"]) == (3, 1, 1, 1)
    assert answer["exact"] is True
    request = answer["request"]
    wire = to_wire(asked, rules_for("scripted"))
    assert request == {"model": "scripted", **request_json(asked), "wire": wire}
    assert [m["text"] for m in answer["messages"]] == [asked.messages[0].text]
    assert answer["blocks"][0]["value"] == ""
    printed = cli("agents", "show", "ada", "--at", "m3", "--request").json
    assert {**request, "schema": 1} == printed


def test_every_message_has_the_request_it_came_from_or_first_stood_in(
    past: tuple[Cli, ScriptedModel],
) -> None:
    """An answer that which it answered; what came from outside the first that showed it."""
    cli, _ = past
    steps = {
        at: cli("agents", "show", "ada", "--at", at, "--json").json["step"]
        for at in ("m1", "2", "m3", "m4", "m5", "m9", "m10", "m11", "s4", "2026-01-05")
    }
    assert steps == {
        **{"m1": 1, "2": 1, "m3": 1, "m4": 2, "m5": 3, "m9": 5, "m10": 5, "m11": 5},
        **{"s4": 4, "2026-01-05": 4},
    }


def test_a_time_means_the_newest_request_of_then(past: tuple[Cli, ScriptedModel]) -> None:
    """In the agent's time zone, to the end of the minute or day that is written."""
    cli, _ = past
    for at, step in (
        *(("2026-01-05T09:00", 2), ("2026-01-05T09:29", 2), ("2026-01-05T09:30", 4)),
        *(("2026-01-05 12:00", 4), ("2026-01-06T09:30", 5), ("2026-01-06T09:35", 6)),
    ):
        answer = cli("agents", "show", "ada", "--at", at, "--json").json
        assert answer["step"] == step, at


def test_the_picture_shows_each_section_with_its_tokens(past: tuple[Cli, ScriptedModel]) -> None:
    """What stood in it, in the order of the prompt."""
    cli, _ = past
    ran = cli("agents", "show", "ada", "--at", "s20")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0].startswith("ada at s20 · step s20 of turn 18 · Tue 2026-01-06 ")
    assert "this is what was sent, byte for byte" in lines[1]
    names = [line.split("  ")[0] for line in lines if line[:1].isalpha()][1:]
    assert [n for n in names if n in ("system", "tools", "core", "summary", "page table", "queue")]
    for piece in (
        "Sam told facts.",
        "p1 [2026-01-05",
        "human (version 2, 9 of 400)",
        "core_append",
    ):
        assert piece in ran.out
    assert lines[-1].startswith("the model answered: m")


WRONG = {
    "m999": "ada has no message m999; its messages are m1 (2026-01-05 09:00) to {last} (",
    "0": "ada has no message m0; its messages are m1 (",
    "s99": "ada has no step s99; there are s1 to {step}",
    "{last}": "no model was called with {last}; the requests are s1 to {step}, and next to it s",
    "2025-12-31": "nothing was said to ada by 2025-12-31; its messages are m1 (",
    "2199-01-01": "2199-01-01 is still to come; its messages are m1 (",
    "a7": "a7 is a passage, and not a moment",
    "p1": "p1 is a page, and not a moment",
    "whenever": "'whenever' is neither a message (m1 to {last}) nor a time",
    "": "needs --at",
    "-3": "'-3' is neither a message (m1 to {last}) nor a time",
}


def test_a_moment_that_is_not_there_is_one_line(past: tuple[Cli, ScriptedModel]) -> None:
    """It says what there is instead."""
    cli, _ = past
    with Runtime(cli.home) as runtime, runtime.reader("ada") as reader:
        state = reader.state
        ends = {"last": f"m{state.journal.last_seq}", "step": f"s{state.history.last_step}"}
    for at, says in WRONG.items():
        ran = cli("agents", "show", "ada", "--request", f"--at={at.format(**ends)}")
        assert ran.code == 1
        assert says.format(**ends) in ran.err
        assert len(ran.err.splitlines()) <= 2
        assert not ran.out


def test_an_agent_that_has_no_past_says_so(cli: Cli) -> None:
    """And one that is not there is told as ever."""
    cli.ada()
    for words in (("show", "ada", "--at", "m1"), ("show", "ada", "--at", "yesterday")):
        ran = cli("agents", *words)
        assert ran.code == 1
        assert "nothing was said to ada yet" in ran.err
    ran = cli("agents", "show", "eve", "--at", "m1")
    assert ran.code == 1
    assert "eve" in ran.err


def test_a_past_request_is_shown_without_the_functions_of_the_agent(
    past: tuple[Cli, ScriptedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may not be there any more: what was recorded is enough."""
    cli, _ = past
    monkeypatch.setattr("pagemind.tools.find", lambda _: pytest.fail("functions were loaded"))
    answer = cli("agents", "show", "ada", "--at", "m3", "--json").json
    assert answer["exact"] is True
    names = [tool["name"] for tool in answer["request"]["tools"]]
    assert names == ["core_append", "recall_search", "archival_insert", "page_in"]


def test_a_diff_is_printed_part_by_part(past: tuple[Cli, ScriptedModel]) -> None:
    """Blocks, passages, pages and the summary, each with its sign."""
    cli, _ = past
    lines = cli("agents", "diff", "ada", "m1").out.splitlines()
    assert lines[0].startswith("ada from m1 to now (m")
    for line in (
        *("block human", "+Name: Sam", "passages: 1 added", "summary", "+Sam told facts."),
        "+ a1 [boat] The boat is called Nomad.",
    ):
        assert line in lines
    assert any(line.startswith("+ p1 (m1 to m") for line in lines)
    ran = cli("agents", "diff", "ada", "m7", "m8")
    assert ran.out.splitlines()[1:] == ["nothing changed in memory"]


def test_a_diff_of_much_shows_some_of_it(cli: Cli) -> None:
    """And says how many there are besides."""
    cli.ada()
    with Runtime(cli.home) as runtime:
        agent = runtime.agent("ada")
        agent.send("Hello.")
        for number in range(25):
            agent.insert(f"Note {number}.")
        agent.send("And now?")
    out = cli("agents", "diff", "ada", "m1").out
    assert "passages: 25 added" in out
    assert "+ a20 Note 19." in out
    assert "a21" not in out
    assert "… 5 more (--json has all)" in out


def test_a_diff_as_json_is_that_of_the_library(past: tuple[Cli, ScriptedModel]) -> None:
    """Program and person are told the same."""
    cli, _ = past
    with Runtime(cli.home) as runtime, runtime.reader("ada") as reader:
        found = Past(reader).changes("2026-01-05", "m20")
    answer = cli("agents", "diff", "ada", "2026-01-05", "m20", "--json").json
    assert answer == {"schema": 1, "agent": "ada", **found.as_json()}
    assert cli("agents", "diff", "ada", "m1", "--json").json["passages"]["added"][0]["id"] == "a1"


def test_a_diff_that_is_turned_round_or_of_nothing_is_one_line(
    past: tuple[Cli, ScriptedModel],
) -> None:
    """It says what to write."""
    cli, _ = past
    for words, says in (
        (("m9", "m1"), "m1 is before m9"),
        (("m1", "m999"), "ada has no message m999"),
        (("p1",), "p1 is a page, and not a moment"),
    ):
        ran = cli("agents", "diff", "ada", *words)
        assert ran.code == 1
        assert says in ran.err
        assert len(ran.err.splitlines()) <= 2


def test_a_history_is_read_page_by_page(past: tuple[Cli, ScriptedModel]) -> None:
    """The newest turns, and how to go on to those before; with flushes."""
    cli, _ = past
    ran = cli("agents", "history", "ada", "--last", "3")
    lines = ran.out.splitlines()
    assert lines[0] == "Tue 2026-01-06"
    assert "sam" not in lines[1]
    assert lines[1].split()[:3] == ["19", *lines[1].split()[1:3]]
    assert lines[2].strip() == "ada: I see."
    first = lines[1].split()[1]
    assert f"18 earlier: pagemind agents history ada --before {first}" in ran.err
    whole = cli("agents", "history", "ada", "--all").out
    assert "— flush: m1 to m" in whole
    ran = cli("agents", "history", "ada", "--before", "2026-01-06")
    assert [line.split()[0] for line in ran.out.splitlines() if line.startswith("  ")][::2] == [
        "1",
        "2",
    ]
    assert "Hello Sam!" in ran.out
    assert not ran.err
    ran = cli("agents", "history", "ada", "--before", "m1")
    assert "nothing was said to ada before that" in ran.err


def test_a_history_tells_what_was_taken_back(past: tuple[Cli, ScriptedModel]) -> None:
    """Those turns only with --all, the undo always."""
    cli, _ = past
    assert cli("agents", "undo", "ada", "2", "--yes").code == 0
    answer = cli("agents", "history", "ada", "--json").json
    assert answer["total"] == 19
    assert [item["turn"] for item in answer["items"]] == list(range(1, 20))
    (undo,) = [event for event in answer["events"] if event["kind"] == "undo"]
    assert undo["line"] == 1
    shown = cli("agents", "history", "ada", "--last", "2").out
    assert "— undo: m" in shown
    assert "(pagemind agents bring-back ada 1)" in shown
    answer = cli("agents", "history", "ada", "--all", "--json").json
    assert [item["turn"] for item in answer["items"] if item["taken_back"]] == [20, 21]
    assert answer["items"][1]["reply"] == "Noted."
    request = cli("agents", "show", "ada", "--at", f"m{undo['last_seq']}")
    assert "byte for byte" in request.out or "no model was called" in request.err
