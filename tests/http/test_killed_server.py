"""A server that is killed: what it took in is answered by the next one."""

import signal
import subprocess
from pathlib import Path

import httpx
import pytest
from http_kit import talk
from processes import python

from pagemind.runtime.clock import SystemClock
from pagemind.runtime.runtime import Runtime

SERVER = """
import os, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from awake_kit import asked, echo
from http_kit import served
from pagemind.runtime.awake.keeper import Keeper
from pagemind.runtime.clock import SystemClock

def script(request):
    if sys.argv[3] == "in the turn":
        os.kill(os.getpid(), 9)
    return echo(request)

if sys.argv[3] == "after the turn":  # nobody has read the answer yet
    Keeper._end = lambda *_, **__: os.kill(os.getpid(), 9)
with served(Path(sys.argv[2]), script, clock=SystemClock()) as here:
    print(here.url, flush=True)
    sys.stdin.read()
"""


def test_a_request_that_was_cut_off_by_kills_is_answered_once(tmp_path: Path) -> None:
    """The client sends it again with its key, history and all: one message, one answer."""
    home = tmp_path / "home"
    for kill in ("in the turn", "after the turn", ""):
        child = python(SERVER, Path(__file__).parents[1], home, kill)
        assert child.stdout is not None
        url = child.stdout.readline().strip()
        body = {"model": "ada", "messages": talk("a", "b", "c")}
        key = {"Idempotency-Key": "k1"}
        try:
            with httpx.Client(timeout=60, trust_env=False) as client:
                path = f"{url}/v1/chat/completions"
                if kill:  # the second one may be dead before it is asked: it goes on by itself
                    with pytest.raises(httpx.TransportError):
                        client.post(path, json=body, headers=key)
                else:
                    for _ in range(2):
                        said = client.post(path, json=body, headers=key).json()
                        assert said["choices"][0]["message"]["content"] == "re c"
        finally:
            _end(child)
    with Runtime(home, clock=SystemClock()) as runtime, runtime.reader("ada") as reader:
        texts = [message.text for message in reader.messages(10)]
    assert texts == ["a", "b", "c", "re c"]


def _end(child: "subprocess.Popen[str]") -> None:
    _, errors = child.communicate()
    assert child.returncode in (0, -signal.SIGKILL), errors
