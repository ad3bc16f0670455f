"""`pagemind up` killed at random while timers, files and messages come: each is handled once."""

import json
import os
import random
import signal
import threading
import time
from collections import Counter
from pathlib import Path

import warm

from pagemind.runtime.event import UserMessage
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.state.home import AgentLock
from pagemind.runtime.state.mailbox import Mailbox

AGENT = """
name: {name}
model: scripted/echo
system: You are a test agent.
embedding: none
context_window: 4096
output_reserve: 128
tools: [core]
inbox: {folder}
schedules:
- {{name: tick, every: 10s, message: Tick.}}
"""
MAIN = "import sys; from pagemind.runtime.cli.app import main; sys.exit(main())"
KILLS = 3
PER_ROUND = 3


def up(home: Path, *words: str) -> warm.Process:
    return warm.start(
        ["-c", MAIN, "up", "--home", str(home), *words],
        stdout=warm.PIPE,
        stderr=warm.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def test_every_event_is_handled_once_through_kills(tmp_path: Path) -> None:
    """Messages and files by their texts, firings of timers by their times."""
    home, chance = tmp_path / "home", random.Random(7)
    with Runtime(home) as runtime:
        for name in ("ada", "eva"):
            file = tmp_path / f"{name}.yaml"
            file.write_text(AGENT.format(name=name, folder=tmp_path / name), encoding="utf-8")
            runtime.create(name, file)
            (tmp_path / name).mkdir()
        mailbox = Mailbox(runtime.home.database, runtime.clock)
        ids = {name: runtime.home.find(name).id for name in ("ada", "eva")}
        wanted: Counter[tuple[str, str]] = Counter()
        for round_ in range(KILLS):
            child = up(home)
            assert child.stdout is not None
            assert "awake" in child.stdout.readline()
            for number in range(PER_ROUND):
                for name in ids:
                    text = f"{name} {round_} {number}"
                    mailbox.put(ids[name], UserMessage(f"message {text}"), f"id {text}")
                    wanted[name, f"message {text}"] += 1
                    (tmp_path / name / f"{round_} {number}.txt").write_text(
                        f"file {text}", encoding="utf-8"
                    )
                    wanted[name, f"[a file came in: {round_} {number}.txt]\nfile {text}"] += 1
            killed = threading.Timer(chance.choice([0.3, 1.0, 2.2, 2.5]), child.kill)
            killed.start()
            child.communicate()
            assert child.returncode == -signal.SIGKILL
        child = up(home)
        assert child.stdout is not None
        assert "awake" in child.stdout.readline()
        ended = threading.Timer(300, child.kill)  # a fault must not hang whoever looks for it
        ended.start()

        def is_due() -> bool:
            ticked = all(runtime.schedules.of(id)[0].fired for id in ids.values())
            return not ticked or bool(mailbox.counts()[0] or _files(tmp_path))

        while is_due() and child.poll() is None:
            time.sleep(0.05)
        child.terminate()
        errors = child.communicate()[1]
        ended.cancel()
        assert child.returncode == 0, errors
        said: Counter[tuple[str, str]] = Counter()
        ticks: list[str] = []
        for name in ids:
            with runtime.reader(name) as reader:
                for message in reader.state.journal.newest(10_000):
                    if message.role == "user" and message.text.startswith("Tick."):
                        ticks.append(f"{name} {message.text}")
                    elif message.role == "user":
                        said[name, message.text] += 1
                assert reader.state.turns.unfinished() == []
                rows = reader.state.turns.newest(10_000)
                assert {row.stop_reason for row in rows} == {"answered"}
                fired = [row.client_id for row in rows if "timer" in (row.client_id or "")]
                one = runtime.schedules.of(ids[name])[0]
                assert len(fired) == len(set(fired)) == one.fired
        assert said == wanted
        assert ticks


def _files(folder: Path) -> list[Path]:
    return [*(folder / "ada").glob("*.txt"), *(folder / "eva").glob("*.txt")]


def test_signals_end_it_in_order_and_a_second_one_is_refused(tmp_path: Path) -> None:
    """SIGTERM gives 0, Ctrl-C 130, a home that is awake 75."""
    for number, code in ((signal.SIGTERM, 0), (signal.SIGINT, 130)):
        child = up(tmp_path, "--json")
        assert child.stdout is not None
        assert '"awake"' in child.stdout.readline()
        if number == signal.SIGTERM:
            second = up(tmp_path)
            _, told = second.communicate()
            assert second.returncode == 75
            assert "another process keeps" in told
        child.send_signal(number)
        out, errors = child.communicate()
        assert (child.returncode, errors) == (code, "")
        assert '"asleep"' in out


def test_a_message_to_an_agent_that_is_kept_awake_is_passed_on(tmp_path: Path) -> None:
    """`send` prints the answer as ever, with the keys of ever; the turn is the other process's."""
    file = tmp_path / "ada.yaml"
    file.write_text(AGENT.format(name="ada", folder=tmp_path / "in"), encoding="utf-8")
    with Runtime(tmp_path / "home") as runtime:
        runtime.create("ada", file)
        lock = AgentLock(runtime.path("ada"), "ada")
        child = up(tmp_path / "home")
        assert child.stdout is not None
        assert "awake" in child.stdout.readline()
        # Whoever holds it, the message waits; then it is the other's.
        lock.acquire(0)
        words = ["-c", MAIN, "send", "ada", "hello", "--json"]
        sender = warm.start([*words, "--home", str(tmp_path / "home")], stdout=warm.PIPE)
        mailbox = Mailbox(runtime.home.database, runtime.clock)
        while not mailbox.counts()[0]:
            assert sender.poll() is None
        lock.release()
        answer = json.loads(sender.communicate()[0])
        assert (sender.returncode, answer["stop_reason"]) == (0, "answered")
        assert answer["text"].endswith("hello")
        child.terminate()
        child.communicate()
