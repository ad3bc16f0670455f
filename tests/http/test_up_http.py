"""`pagemind up --http`: from the command line to the last answer."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import warm
from cli_kit import PLAIN, Cli, clean_environ

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.runtime import Runtime

RUN = "import sys; from pagemind.runtime.cli.app import main; sys.exit(main())"
UP = ["-c", RUN, "up", "--json"]


def make(home: Path) -> None:
    with Runtime(home) as runtime:
        runtime.create("ada", parse_definition(PLAIN), model="scripted/echo")


@contextmanager
def up(home: Path, *more: str, **environ: str) -> Iterator[tuple[warm.Process, Any]]:
    """The process, and what it said when it listened."""
    child = warm.start(
        [*UP, *more],
        env={**clean_environ(home), **environ},
        stdout=warm.PIPE,
        stderr=warm.PIPE,
    )
    try:
        assert child.stdout is not None
        said = {}
        while said.get("event") != "listening":
            line = child.stdout.readline()
            if not line:
                raise AssertionError(child.communicate()[1])
            said = json.loads(line)
        yield child, said
    finally:
        child.kill()
        child.communicate()


def test_agents_are_served_until_sigterm(tmp_path: Path) -> None:
    """To whoever has the token; it ends in order, and says nothing of the library's."""
    make(tmp_path)
    secret = "a-token-of-some-length"
    more = ("--http", "127.0.0.1:0", "--token-env", "TOKEN")
    with up(tmp_path, *more, TOKEN=secret) as (child, said):
        assert said["token"] is True
        with httpx.Client(base_url=said["url"], timeout=60, trust_env=False) as client:
            assert client.get("/agents").status_code == 401
            client.headers["Authorization"] = f"Bearer {secret}"
            answered = client.post("/agents/ada/messages", json={"text": "Hello"}).json()
            assert answered["text"].endswith("Hello")
        port = int(said["url"].rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=60) as other:
            other.sendall(b"no HTTP at all\r\n\r\n")
            assert other.recv(100).startswith(b"HTTP/1.1 400")
        child.send_signal(signal.SIGTERM)
        out, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    assert json.loads(out.splitlines()[-1])["event"] == "asleep"
    assert err == ""


def test_without_http_its_libraries_are_not_loaded(tmp_path: Path) -> None:
    """Nor are they needed."""
    make(tmp_path)
    code = """
import sys
from pagemind.runtime.awake.awake import Awake
from pagemind.runtime.cli.app import main
Awake.run = lambda self, stop: None
code = main(["up"])
assert code == 0, code
loaded = {"starlette", "uvicorn"} & set(sys.modules)
assert not loaded, loaded
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env=clean_environ(tmp_path), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["--http", "8080"], "'8080' is no HOST:PORT", "--http 127.0.0.1:8080"),
        (["--http", "0.0.0.0:0"], "can be reached from other machines", "--token-env NAME"),
        (["--http", "127.0.0.1:0", "--token-env", "NIX"], "NIX is not set", "export NIX="),
        (["--token-env", "NIX"], "--token-env is of --http", "--http"),
    ],
)
def test_what_cannot_be_served_is_said_before_anything_begins(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str, hint: str
) -> None:
    """One line, and what to type."""
    monkeypatch.setenv("PAGEMIND_HOME", str(cli.home))
    ran = cli("up", *words)
    assert ran.code == 1
    assert message in ran.err
    assert hint in ran.err
    assert ran.out == ""


def test_without_the_extra_the_command_that_installs_it_is_said(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing else happens."""
    monkeypatch.setenv("PAGEMIND_HOME", str(cli.home))
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    ran = cli("up", "--http", "127.0.0.1:0")
    assert ran.code == 1
    assert "pip install 'pagemind[http]'" in ran.err
