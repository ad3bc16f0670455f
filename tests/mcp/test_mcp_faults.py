"""A server that misbehaves costs a call, and says which and why."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import mcp_kit
import pytest

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.errors import Cancelled, ToolFailed
from pagemind.runtime.mcp import connection as connections
from pagemind.runtime.mcp import process_transport
from pagemind.runtime.mcp.servers import Servers
from pagemind.runtime.tool import File


def test_results_are_read_whatever_their_kind(tmp_path: Path) -> None:
    """Texts, images, resources, links and structured content reach the model or the blobs."""
    with mcp_kit.session(folder=tmp_path) as n:
        assert n.call("n__echo", text="hello") == "hello [ada/7/c1]"
        picture = n.result("n__picture")
        assert picture.text == "1 file"
        assert [(f.media_type, f.caption) for f in picture.files] == [("image/png", "image, 2×1")]
        parts = n.result("n__parts")
        assert parts.text == "[file:///a.txt]\ninside\n[c at file:///c]\n[a/b that is damaged]"
        assert parts.files == (File(b"\0\1", "x/y", "file:///b.bin, 2 bytes"),)
        assert n.call("n__structured") == '{"answer": 42}'
        with pytest.raises(ToolFailed, match="n__fail failed: no such thing"):
            n.call("n__fail")
        pid = n.servers.connection("n").pid
        with pytest.raises(ToolFailed, match=r"did not answer liar: .*'many' is not of type"):
            n.call("n__liar")
        assert n.servers.connection("n").pid == pid


def test_resources_are_read_where_that_is_said(tmp_path: Path) -> None:
    """By one function more, with terms of its own."""
    options = {"resources": True, "tools": {"read_resource": {"effect": "none"}}}
    with mcp_kit.session(folder=tmp_path, **options) as n:
        assert n.tools["n__read_resource"].effect == "none"
        read = n.result("n__read_resource", uri="file:///c")
        assert (read.text, len(read.files)) == ("[file:///c]\ninside", 1)
        with pytest.raises(ToolFailed, match="did not give file:///none: no such resource"):
            n.call("n__read_resource", uri="file:///none")


def test_noise_is_passed_over(tmp_path: Path) -> None:
    """What is no message on its output, and megabytes on its standard error, do no harm."""
    with mcp_kit.session(folder=tmp_path) as n:
        assert n.call("n__garbage") == "still here"
        assert n.call("n__flood") == "flooded"
        assert n.call("n__giant", megabytes="3") == "x" * (3 << 20)


def test_a_server_that_dies_in_mid_call(tmp_path: Path) -> None:
    """The call says how it ended and that its effect is not known; the next starts it again."""
    with mcp_kit.session(folder=tmp_path) as n:
        with pytest.raises(ToolFailed) as crashed:
            n.call("n__crash")
        assert "ended with exit code 3; last it said: the disk is on fire" in crashed.value.message
        assert "Whether it was done is not known" in crashed.value.message
        n.servers.connection("n")._not_before = 0.0
        assert n.call("n__echo", text="again").startswith("again")


def test_a_server_that_is_killed_in_mid_call(tmp_path: Path) -> None:
    """SIGKILL is told by its name, at once and not after the time of the call."""
    with mcp_kit.session(folder=tmp_path) as n:
        pid = int(n.call("n__pid"))
        killer = threading.Timer(0.3, os.kill, (pid, signal.SIGKILL))
        killer.start()
        with pytest.raises(ToolFailed, match="did not answer hang: it was ended by SIGKILL"):
            n.call("n__hang")
        killer.join()
        n.servers.connection("n")._not_before = 0.0
        assert int(n.call("n__pid")) != pid


def test_a_call_that_a_person_stops(tmp_path: Path) -> None:
    """Ctrl-C ends the wait, not the server."""
    cancel = CancelToken()
    with mcp_kit.session(folder=tmp_path) as n:
        pid = int(n.call("n__pid"))
        threading.Timer(0.2, cancel.cancel).start()
        with pytest.raises(Cancelled):
            n.tools["n__hang"].function(mcp_kit.context(cancel=cancel))
        assert mcp_kit.runs(pid)


def test_a_server_ends_when_this_process_is_killed(tmp_path: Path) -> None:
    """Its input ends, and so does it."""
    script = (
        "import mcp_kit, pathlib, time\n"
        f"with mcp_kit.session(folder=pathlib.Path({str(tmp_path)!r})) as n:\n"
        "    print(n.call('n__pid'), flush=True)\n"
        "    time.sleep(600)\n"
    )
    tests = str(Path(mcp_kit.__file__).parent)
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": tests},
    ) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        assert mcp_kit.runs(pid)
        process.kill()
    assert mcp_kit.ends(pid)


def test_nothing_leaks(tmp_path: Path) -> None:
    """Servers that die and are started again leave no file open and no thread."""
    with mcp_kit.session(folder=tmp_path) as n:
        connection = n.servers.connection("n")
        opened: list[tuple[int, int]] = []
        for _ in range(6):
            connection._not_before = 0.0
            with pytest.raises(ToolFailed):
                n.call("n__crash")
            opened.append((len(list(Path("/dev/fd").iterdir())), threading.active_count()))
        assert opened[-1] <= opened[1]


def test_a_server_that_is_killed_between_two_calls(tmp_path: Path) -> None:
    """The next call starts it again, and does not fail."""
    with mcp_kit.session(folder=tmp_path) as n:
        first = int(n.call("n__pid"))
        os.kill(first, signal.SIGKILL)
        connection = n.servers.connection("n")
        while connection.is_open:
            pass
        assert int(n.call("n__pid")) != first


def test_one_that_fails_again_and_again_is_left_alone_for_a_while(tmp_path: Path) -> None:
    """A pause that grows lies between two starts."""
    with mcp_kit.session(folder=tmp_path) as n:
        connection = n.servers.connection("n")
        for _ in range(3):
            connection._not_before = 0.0
            with pytest.raises(ToolFailed):
                n.call("n__crash")
        with pytest.raises(ToolFailed, match="failed 3 times in a row and is started again in"):
            n.call("n__echo", text="x")


def test_a_server_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call is given up after its seconds; a server that hangs twice is started anew."""
    monkeypatch.setattr(process_transport, "MCP_END_SECONDS", 0.2)
    options = {"tools": {"hang": {"seconds": 0.3}}}
    with mcp_kit.session(folder=tmp_path, **options) as n:
        first = n.servers.connection("n").pid
        for _ in range(connections.MCP_TIMEOUTS):
            with pytest.raises(ToolFailed, match=r"hang within 0\.3 seconds and was given up"):
                n.call("n__hang")
        assert first is not None
        assert not mcp_kit.runs(first)
        assert n.call("n__echo", text="back").startswith("back")


def test_a_message_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message larger than can be kept ends the server, and takes no more memory than that."""
    monkeypatch.setattr(process_transport, "MCP_BYTES", 1 << 20)
    with (
        mcp_kit.session(folder=tmp_path) as n,
        pytest.raises(ToolFailed, match="sent a message of more than 1 MB and was ended"),
    ):
        n.call("n__giant", megabytes=5)


def test_a_server_sees_the_variables_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other variable of the runtime reaches it; one that is not set is told."""
    monkeypatch.setenv("THE_KEY", "k1")
    monkeypatch.setenv("OTHER_KEY", "k2")
    with mcp_kit.session(folder=tmp_path, env=["THE_KEY"]) as n:
        assert n.call("n__see", name="THE_KEY") == "k1"
        assert n.call("n__see", name="OTHER_KEY") == "unset"
    monkeypatch.delenv("THE_KEY")
    with mcp_kit.session(folder=tmp_path, env=["THE_KEY"]) as n:
        assert not n.tools
        assert "needs the variable THE_KEY, which is not set" in n.servers.notes()[0]


def test_nothing_is_left_running(tmp_path: Path) -> None:
    """Closing ends the server and what it started."""
    with mcp_kit.session(folder=tmp_path) as n:
        pids = [int(n.call("n__pid")), int(n.call("n__child"))]
        assert all(mcp_kit.runs(pid) for pid in pids)
    assert all(mcp_kit.ends(pid) for pid in pids)


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    """The agent opens without it, and is told why."""
    with mcp_kit.session(folder=tmp_path, command=["no-such-mcp-server"]) as n:
        assert not n.tools
        note = n.servers.notes()[0]
        assert "n (no-such-mcp-server) cannot be reached: no-such-mcp-server is not there" in note


def test_a_command_that_is_no_server(tmp_path: Path) -> None:
    """What it said is quoted."""
    script = "import sys; print('usage: …', file=sys.stderr); sys.exit(2)"
    with mcp_kit.session(folder=tmp_path, command=["python3", "-c", script]) as n:
        assert "exit code 2; last it said: usage: …" in n.servers.notes()[0]


def test_what_variables_hold_is_told_to_nobody(tmp_path: Path) -> None:
    """Neither how a server is reached nor what it says as it ends repeats a key of its command."""
    fails = "import sys; sys.exit('I refuse the key ' + sys.argv[1])"
    command = [sys.executable, "-c", fails, "${KEY}"]
    text = f"name: x\ntools: [{{mcp: {{n: {{command: {json.dumps(command)}}}}}}}]\n"
    definition = parse_definition(text, environ={"KEY": "not-to-be-told"})
    (use,) = definition.servers
    assert use.terms.command[-1] == "not-to-be-told"
    database: Any = mcp_kit.DictState()
    servers = Servers("ada", definition.servers, tmp_path, database)
    try:
        assert not servers.tools()
        (note,) = servers.notes()
    finally:
        servers.close()
    assert "I refuse the key ${KEY}" in note
    assert "not-to-be-told" not in f"{note} {use.shown}"
    (wiki,) = parse_definition(
        "name: x\ntools: [{mcp: {w: {url: 'https://h/mcp?key=${KEY}'}}}]\n",
        environ={"KEY": "not-to-be-told"},
    ).servers
    assert wiki.shown == "https://h/mcp?key=${KEY}"
    said = "401 for url https://h/mcp?key=not-to-be-told"
    assert wiki.untold(said) == "401 for url https://h/mcp?key=${KEY}"
