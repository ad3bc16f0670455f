"""`pagemind mcp serve`: an agent's memory for other agents, over both ways of the protocol."""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mcp_kit
import pytest
import warm
from cli_kit import PLAIN, Cli
from mcp import Client, StdioServerParameters

from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel

MAIN = "from pagemind.runtime.cli.app import main; import sys; sys.exit(main())"


def words(home: Path, *more: str) -> list[str]:
    return ["-c", MAIN, "-vv", "mcp", "serve", "ada", "--home", str(home), *more]


def driven(home: Path, drive: Callable[[Client], Awaitable[None]], *more: str) -> None:
    """By the protocol's own client, over standard input and output."""

    async def main() -> None:
        command = StdioServerParameters(command=sys.executable, args=words(home, *more))
        async with Client(command) as client:
            await drive(client)

    asyncio.run(main())


async def ask(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    text: Any = result.content[0]
    assert json.loads(text.text) == result.structured_content
    return result.structured_content


def test_its_answers_are_those_of_the_command_line(cli: Cli) -> None:
    """Each function reads what its command prints with --json; send is a turn, and the same id is
    not said twice."""
    cli.ada("Hello, I am Sam.", "My boat is called Nomad.")
    inserted = cli("memory", "insert", "ada", "Berth 42.", "--tag", "boat", "--json")
    cli.tell_much()
    commands: dict[str, tuple[dict[str, Any], list[str]]] = {
        "memory_search": (
            {"query": "boat", "tier": "archival", "tags": ["boat"]},
            ["search", "ada", "boat", "--tier", "archival", "--tag", "boat"],
        ),
        "memory_blocks": ({}, ["blocks", "ada"]),
        "memory_pages": ({"page": "p1"}, ["pages", "ada", "p1"]),
    }

    async def drive(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == [*commands, "page_find", "page_in", "memory_insert", "send"]
        assert tools["memory_insert"].annotations.read_only_hint is False
        assert "client" not in str(tools["memory_insert"].input_schema)
        for tool, (arguments, command) in commands.items():
            printed = cli("memory", *command, "--json").json
            assert await ask(client, tool, **arguments) == printed, tool
        listed = await ask(client, "memory_pages")
        assert listed["total"] == cli("memory", "pages", "ada", "--json").json["total"]
        found = await ask(client, "page_find", query="Nomad")
        assert found["items"][0]["id"] == "p1"
        read = await ask(client, "page_in", id="p1", max_tokens=40)
        assert (read["part"], read["parts"] > 1) == (1, True)
        assert "Sam" in read["text"]
        assert (await ask(client, "page_in", id="a1"))["text"].endswith("Berth 42.")
        for tool, arguments, said in (
            ("page_in", {"id": "p99"}, "there is no page p99"),
            ("page_in", {"id": "p1", "part": 0}, "part is a number from 1 on"),
            ("page_find", {}, "give query, start or end"),
            ("memory_search", {"tier": "attic"}, "memory_search: tier:"),
            ("memory_search", {"query": "x", "start": "someday"}, "someday"),
            ("memory_search", {"tier": "archival", "role": "user"}, "have no role"),
            ("memory_insert", {"text": " "}, "there is nothing to keep"),
            ("memory_insert", {"text": "x", "importance": 11}, "from 1 to 10"),
            ("send", {"text": " "}, "there is nothing to say"),
            ("forget", {"text": "x"}, "; tools: memory_search, memory_blocks"),
        ):
            result = await client.call_tool(tool, arguments)
            assert result.is_error, tool
            assert said in str(result.content), tool
        one = await ask(client, "send", text="Is it high tide?", id="q1")
        again = await ask(client, "send", text="Is it high tide?", id="q1")
        assert (one["stop_reason"], one["turn"]) == ("answered", again["turn"])
        kept = await ask(client, "memory_insert", text="High tide at noon.")
        assert kept["ids"] == ["a2"]
        assert (await ask(client, "memory_insert", text="High tide at noon."))["ids"] == []
        assert kept.keys() == inserted.json.keys()

    turns = cli("agents", "history", "ada", "--json").json["total"]
    driven(cli.home, drive, "--send")
    assert cli("agents", "history", "ada", "--json").json["total"] == turns + 1


def raw(home: Path, asked: list[dict[str, Any]]) -> list[Any]:
    """The answers to messages that are written by hand. Whatever is logged, each line on standard
    output is a message; at the end of input it ends."""
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test\n", "version": "1"},
    }
    messages = [
        {"id": 0, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        *({"id": n, "method": "tools/call", "params": params} for n, params in enumerate(asked, 1)),
    ]
    answers = []
    with warm.start(
        words(home, "--send"), stdin=warm.PIPE, stdout=warm.PIPE, stderr=warm.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for each in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **each}) + "\n")
            process.stdin.flush()
            if "id" in each:
                answers.append(json.loads(process.stdout.readline()))
        out, _ = process.communicate()
        assert (out, process.returncode) == ("", 0)
    assert [each["id"] for each in answers] == list(range(len(answers)))
    assert answers[0]["result"]["serverInfo"]["name"] == "pagemind"
    return [each["result"] for each in answers[1:]]


def test_it_is_served_beside_a_turn(tmp_path: Path) -> None:
    """While another process holds the agent it is read, and what is inserted waits in the inbox;
    it is marked as another agent's."""
    (tmp_path / "plain.yaml").write_text(PLAIN)
    with Runtime(tmp_path, background=False) as runtime:
        model = ScriptedModel(["Noted.", "Yes."])
        agent = runtime.agent("ada", tmp_path / "plain.yaml", model=model)
        agent.send("My boat is called Nomad.")
        high_tide = {"text": "High tide at noon.", "tags": ["tide"]}
        found, left, refused = raw(
            tmp_path,
            [
                {"name": "memory_search", "arguments": {"query": "boat"}},
                {"name": "memory_insert", "arguments": high_tide},
                {"name": "send", "arguments": {"text": "hello"}},
            ],
        )
        assert "Nomad" in str(found["structuredContent"]["results"])
        assert left["structuredContent"]["left"] == 1
        assert "AgentInUse" in str(refused["content"])
        agent.send("Anything new?")
        (passage,) = agent.state.passages.newest(1)
        assert (passage.text, passage.tags) == ("High tide at noon.", ("tide",))
        origin = passage.provenance
        assert (origin.origin, origin.detail, origin.trust) == ("agent", "mcp:test", 60)


def test_ctrl_c_ends_it_while_it_waits_for_a_client(cli: Cli) -> None:
    """Also where standard input stays open, as on a terminal."""
    cli.ada()
    with warm.start(
        words(cli.home), stdin=warm.PIPE, stdout=warm.PIPE, stderr=warm.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write('{"jsonrpc": "2.0", "id": 0, "method": "ping"}\n')
        process.stdin.flush()
        assert '"id":0' in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(60) == -signal.SIGINT
        finally:
            process.kill()


# --- over HTTP ------------------------------------------------------------------------------------


@contextmanager
def served(home: Path, *more: str, **env: str) -> Iterator[str]:
    """The address at which it is served."""
    with warm.start(
        words(home, "--http", "127.0.0.1:0", *more), stderr=warm.PIPE, env={**os.environ, **env}
    ) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if found := re.search(r"served at (\S+)", line):
                    yield found[1]
                    break
        finally:
            process.terminate()
            process.communicate()


def test_it_is_served_over_http_to_who_has_the_token(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent of ours uses it as a server at a url, with its token, and not without."""
    cli.ada("My boat is called Nomad.")
    token = "t" * 43
    monkeypatch.setenv("ADA_TOKEN", token)
    monkeypatch.setenv("WRONG_TOKEN", "w" * 43)
    with served(cli.home, "--token-env", "ADA_TOKEN") as url:
        options: dict[str, Any] = {"command": [], "url": url}
        with mcp_kit.session(folder=tmp_path, token_env="ADA_TOKEN", **options) as n:
            assert "Nomad" in n.call("n__memory_search", query="boat")
            assert '"ids": ["a1"]' in n.call("n__memory_insert", text="High tide at noon.")
        with mcp_kit.session(folder=tmp_path, token_env="WRONG_TOKEN", **options) as n:
            assert not n.tools
            assert "(HTTP 401; the token in WRONG_TOKEN is wrong)" in n.servers.notes()[0]
    with mcp_kit.session(folder=tmp_path, **options) as n:  # it is gone
        assert not n.tools
        assert f"n ({url}) cannot be reached" in n.servers.notes()[0]


def test_nothing_is_served_to_others_without_a_token(cli: Cli) -> None:
    """Off loopback a token is asked for before anything listens."""
    cli.ada("Hello.")
    ran = cli("mcp", "serve", "ada", "--http", "0.0.0.0:0")
    assert ran.code == 1
    assert "--token-env" in ran.err
    assert cli("mcp", "serve", "ada", "--token-env", "X").code == 1
    assert cli("mcp", "serve", "nobody").code == 1
