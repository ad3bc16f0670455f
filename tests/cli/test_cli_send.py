"""`pagemind send` and `observe`: answers on standard output, everything else beside it."""

import threading
from collections.abc import Callable

import pytest
from cli_kit import Cli

from pagemind.runtime.errors import ModelUnreachable
from pagemind.runtime.model_choice import ModelChoice
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel, call

Script = Callable[[object], object]


def on(monkeypatch: pytest.MonkeyPatch, model: ScriptedModel) -> None:
    """Whatever model is asked for, it is this one."""

    def make(choice: ModelChoice, *_: object) -> ScriptedModel:
        return model

    monkeypatch.setattr("pagemind.runtime.runtime.make_model", make)


def test_a_new_agent_is_made_and_said_so(cli: Cli) -> None:
    """The remark is on standard error; standard output holds the answer alone."""
    new = ("-d", str(cli.definition), "-m", "scripted/echo")
    ran = cli("send", "ada", "Hello", *new)
    assert ran.code == 0
    assert ran.out.startswith("You said: ")
    assert ran.err.strip() == "made ada from plain"
    again = cli("send", "ada", "Hello again", "-d", str(cli.definition))
    assert "keeps its definition" in again.err
    assert cli("send", "ada", "And again").err == ""


def test_text_comes_from_standard_input(cli: Cli) -> None:
    """`-` reads all of it; what is not UTF-8 is replaced, a NUL is shown, nothing is lost."""
    cli.ada()
    ran = cli("send", "ada", "-", stdin="línea uno\nzwei".encode() + b"\xff\x00")
    assert ran.code == 0
    assert "línea uno\nzwei\ufffd\u2400" in ran.out


def test_ten_megabytes_are_taken(cli: Cli) -> None:
    """A paste far larger than the window is stored whole and shown as an excerpt."""
    cli.ada()
    text = "The sea is wide and the berth is 42. " * 280_000
    ran = cli("send", "ada", "-", "--json", stdin=text.encode())
    assert ran.code == 0
    assert ran.json["window"]["used"] <= ran.json["window"]["usable"]
    with Runtime(cli.home) as runtime, runtime.reader("ada") as reader:
        assert reader.state.journal.get([1])[1].text == text.strip() or (
            reader.state.journal.get([1])[1].text == text
        )


def test_lone_surrogates_of_the_shell_are_replaced(cli: Cli) -> None:
    """Bytes of an argument that are no UTF-8 reach the agent as U+FFFD."""
    cli.ada()
    ran = cli("send", "ada", "caf\udce9 <|endoftext|>", "--json")
    assert ran.code == 0
    assert "caf\ufffd <|endoftext|>" in ran.json["text"]


def test_nothing_is_not_a_message(cli: Cli) -> None:
    """Empty text is a mistake, told in one line."""
    cli.ada()
    ran = cli("send", "ada", "-", stdin=b"  \n")
    assert ran.code == 1
    assert ran.err.splitlines()[0] == "error: the message is empty"


def test_an_id_is_answered_once(cli: Cli) -> None:
    """The same id gives the stored answer, other text under it is a mistake."""
    cli.ada()
    first = cli("send", "ada", "Hello", "--id", "x1", "--json").json
    again = cli("send", "ada", "Hello", "--id", "x1", "--json").json
    assert (again["turn"], again["text"]) == (first["turn"], first["text"])
    assert cli("send", "ada", "Other", "--id", "x1").code == 1


def test_a_failed_model_ends_with_4(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is one line with its hint; as JSON it stands beside the turn."""
    cli.ada()
    failure = ModelUnreachable("nobody answers at 127.0.0.1:1", hint="start the server")
    on(monkeypatch, ScriptedModel([failure, failure]))
    ran = cli("send", "ada", "Hello")
    assert (ran.code, ran.out) == (4, "")
    assert ran.err.splitlines() == [
        "error: nobody answers at 127.0.0.1:1",
        "hint: start the server",
    ]
    ran = cli("send", "ada", "Hello", "--json")
    assert ran.code == 4
    assert ran.json["stop_reason"] == "model_error"
    assert ran.json["error"]["type"] == "ModelUnreachable"


def test_a_limit_ends_with_5(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn that never answers stops with a reason."""
    cli.ada()
    on(monkeypatch, ScriptedModel(lambda request: call("recall_search", query="x")))
    ran = cli("send", "ada", "Hello", "--json")
    assert ran.code == 5
    assert ran.json["stop_reason"] == "repeated_call"
    assert ran.json["tool_calls"][0]["name"] == "recall_search"


def test_no_model_shows_three_ways_on(cli: Cli) -> None:
    """Nothing is made, and the ways on are commands."""
    ran = cli("send", "ada", "Hello", "-d", str(cli.definition))
    assert ran.code == 1
    assert "no model is chosen" in ran.err
    for way in ("pagemind models pull", "OPENAI_API_KEY", "--model NAME"):
        assert way in ran.err
    assert cli("agents", "list", "--json").json["total"] == 0


def test_an_observation_needs_no_model(cli: Cli) -> None:
    """It is recorded, and found at once."""
    cli.ada()
    ran = cli("observe", "ada", "The harbour light went out.", "--source", "sensor")
    assert (ran.code, ran.out.strip()) == (0, "recorded as m1")
    found = cli("memory", "search", "ada", "harbour light", "--json").json["results"]
    assert [(hit["id"], hit["origin"], hit["source"]) for hit in found] == [
        ("m1", "tool", "sensor")
    ]


def test_what_an_agent_in_use_is_told_waits_in_its_inbox(cli: Cli) -> None:
    """observe and insert leave it there; the agent takes it up in its next turn."""
    cli.ada()
    with Runtime(cli.home) as runtime:
        agent = runtime.agent("ada")
        # Two locks of one process exclude each other as those of two processes do.
        ran = cli("observe", "ada", "It rains.", "--json")
        assert (ran.code, ran.json["left"], ran.json["id"]) == (0, True, None)
        ran = cli("memory", "insert", "ada", "Berth 42.", "--tag", "boat", "--json")
        assert (ran.code, ran.json["left"], ran.json["ids"]) == (0, 1, [])
        assert "in use" in cli("observe", "ada", "It rains.").err
        agent.send("Hello")
        assert [p.text for p in agent.state.passages.newest(5)] == ["Berth 42."]
        assert agent.state.passages.newest(1)[0].tags == ("boat",)
    assert cli("memory", "search", "ada", "rains", "--json").json["total"] >= 1


def test_a_second_process_gets_75_or_waits(cli: Cli) -> None:
    """send refuses an agent in use, and with --wait takes it when it is free."""
    cli.ada()
    with Runtime(cli.home) as runtime:
        agent = runtime.agent("ada")
        ran = cli("send", "ada", "Hello", "--json")
        assert (ran.code, ran.json["error"]["type"]) == (75, "AgentInUse")
        assert ran.json["error"]["retryable"]
        threading.Timer(0.5, agent.close).start()
        assert cli("send", "ada", "Hello", "--wait", "30").code == 0
