"""Every provider fault ends a turn with one plain sentence, and the message waits for retry.

Through real litellm, to a server on loopback or to none at all; waits and deadlines are short.
"""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from kernel_kit import everything, runtime_at, sentence, small
from loopback import Loopback, Reply, error_body
from provider_kit import QUICK, SECRET, agent_on, illegal, said

from pagemind.runtime.errors import UserError
from pagemind.runtime.models.litellm_model import LitellmModel
from pagemind.runtime.models.retry import Backoff
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import FrozenClock, ScriptedModel
from pagemind.runtime.turn import TurnResult

ASKED = "Is the Nomad in?"
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
PAGE = "<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>"


def is_plain(turn: TurnResult) -> None:
    """One sentence for a person: no traceback, no JSON, no library's name, no key."""
    assert turn.error is not None
    for text in (turn.error.message, turn.error.hint, *turn.reasons):
        assert "\n" not in text
        assert len(text) < 400
        for noise in ("Traceback", "litellm", "Exception", '{"', "<html", SECRET, "Error code"):
            assert noise not in text, text


# Reply, kind of error, how often it is asked in all; 0 where that depends on the machine, as does
# whether a client hears of a cut connection before or after the head of the answer.
FAULTS: dict[str, tuple[Reply, str, int]] = {
    "401": (Reply(status=401, error=error_body("bad key")), "AuthenticationFailed", 1),
    "403": (Reply(status=403), "AuthenticationFailed", 1),
    "404": (Reply(status=404, error=error_body("no such model")), "ModelNotFound", 1),
    "429": (Reply(status=429), "RateLimited", 5),
    "429, asked to wait": (
        Reply(status=429, headers={"retry-after": "0.02"}), "RateLimited", 5,
    ),
    "429, asked to wait for an hour": (
        Reply(status=429, headers={"retry-after": "3600"}), "RateLimited", 1,
    ),
    "429, without credit": (
        Reply(status=429, error=error_body("quota", "insufficient_quota")),
        "AuthenticationFailed", 1,
    ),
    "500": (Reply(status=500), "ModelOverloaded", 5),
    "503": (Reply(status=503, error="upstream connect failed"), "ModelOverloaded", 5),
    "529": (Reply(status=529, error=OVERLOADED), "ModelOverloaded", 5),
    "400": (Reply(status=400, error=error_body("no")), "BadRequest", 1),
    "HTML with an error": (Reply(status=502, error=PAGE), "ModelOverloaded", 5),
    "HTML for JSON": (Reply(fault="html"), "BadReply", 2),
    "an error within the stream": (
        Reply("Yes, she is.", fault="error_event", after=0), "StreamBroken", 5,
    ),
    "reset before the first word": (
        Reply("Yes, she is.", fault="reset", after=0), "StreamBroken or ModelUnreachable", 0,
    ),
    "ended before the first word": (
        Reply("Yes, she is.", fault="eof", after=0), "StreamBroken or ModelUnreachable", 0,
    ),
    "reset in mid-stream": (Reply("Yes, she is.", fault="reset", after=3), "StreamBroken", 1),
    "ended in mid-stream": (Reply("Yes, she is.", fault="eof", after=3), "StreamBroken", 1),
    "silence": (Reply(fault="silence"), "ModelTimeout", 0),
    "silence in mid-stream": (Reply("Yes, she is.", fault="silence", after=3), "ModelTimeout", 1),
    "a drip without end": (Reply("Yes. " * 500, delay=0.05), "ModelTimeout", 1),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_plainly_and_the_message_waits(tmp_path: Path, fault: str) -> None:
    """The turn ends with model_error and the right error; retry answers the one stored message."""
    bad, kind, times = FAULTS[fault]
    mended = threading.Event()

    def reply(_: dict[str, Any]) -> Reply | str:
        return "Yes." if mended.is_set() else bad

    limits: dict[str, Any] = {}
    if "silence" in fault:
        limits = {"silence": 0.3, "deadline": 1.5 if fault == "silence" else 60.0}
    if "drip" in fault:
        limits = {"deadline": 1.0}
    with Loopback(reply) as server, agent_on(tmp_path, server, **limits) as agent:
        turn = agent.send(ASKED)
        assert turn.stop_reason == "model_error"
        is_plain(turn)
        assert type(turn.error).__name__ in kind.split(" or ")
        assert len(server.requests) == times or not times
        # What was shown stays; nothing else is stored.
        kept = said(agent, "assistant")
        assert kept == ([turn.text] if turn.text else [])
        assert all(text.endswith(" [interrupted]") for text in kept)
        assert illegal(agent) == []
        mended.set()
        again = agent.retry()
        assert (again.stop_reason, again.error) == ("answered", None)
        assert again.text.endswith("Yes.")
        assert said(agent) == [ASKED]
        assert server.illegal == illegal(agent) == []
        with pytest.raises(UserError, match="nothing to retry"):
            agent.retry()


@contextmanager
def refused() -> Iterator[str]:
    """An address where nobody listens."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def unknown_name() -> Iterator[str]:
    """A name that no server knows (reserved for that)."""
    yield "http://nobody.invalid/v1"


@contextmanager
def speaks_no_tls() -> Iterator[str]:
    """An https address whose server answers in plain text."""
    with Loopback() as server:
        yield server.url.replace("http://", "https://")


@contextmanager
def hangs_up() -> Iterator[str]:
    """A server that accepts and closes at once."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                listener.accept()[0].close()

    threading.Thread(target=serve, daemon=True).start()
    with closing(listener):
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


@pytest.mark.parametrize("place", [refused, unknown_name, speaks_no_tls, hangs_up])
def test_a_server_out_of_reach_is_named(tmp_path: Path, place: Callable[[], Any]) -> None:
    """The sentence has the address, the hint says what to check, and retry finds the message."""
    with ExitStack() as stack:
        address = stack.enter_context(place())
        server = stack.enter_context(Loopback("Yes."))
        agent = stack.enter_context(agent_on(tmp_path, server, api_base=address))
        turn = agent.send(ASKED)
        assert (turn.stop_reason, turn.text) == ("model_error", "")
        is_plain(turn)
        assert type(turn.error).__name__ == "ModelUnreachable"
        assert turn.error is not None
        assert address in turn.error.message
        assert turn.error.hint
        agent.loop.caller.model = LitellmModel("openai/test", api_base=server.url, api_key=SECRET)
        assert agent.retry().text == "Yes."
        assert [m.text for m in everything(agent)] == [ASKED, "Yes."]


def test_the_time_asked_for_is_waited(tmp_path: Path) -> None:
    """retry-after is honoured, and the person is told of each wait."""
    waits: list[float] = []
    script = [Reply(status=429, headers={"retry-after": "0.2"}), Reply(status=503), "Yes."]
    with Loopback(script) as server, agent_on(tmp_path, server) as agent:
        began = time.monotonic()
        turn = agent.send(
            ASKED,
            observer=lambda event: (
                waits.append(event.data["seconds"]) if event.kind == "model_retrying" else None
            ),
        )
        assert time.monotonic() - began >= 0.2
        assert turn.text == "Yes."
        assert len(waits) == 2
        assert waits[0] >= 0.2 > waits[1]


def test_a_turn_ended_by_a_fault_can_also_be_left(tmp_path: Path) -> None:
    """Who does not retry but goes on is understood: both messages reach the model, once."""
    with Loopback([Reply(status=401), "Yes, and yes."]) as server:
        with agent_on(tmp_path, server) as agent:
            agent.send(ASKED)
        with agent_on(tmp_path, server) as agent:  # and after a restart
            assert agent.send("And the Gull?").text == "Yes, and yes."
            asked = json.dumps(server.requests[-1]["messages"])
            assert asked.count(ASKED) == asked.count("And the Gull?") == 1
        assert server.illegal == []


# --- calibration ------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1.0, 1.6, 2.3])
def test_a_server_that_counts_otherwise_is_never_overfilled(tmp_path: Path, factor: float) -> None:
    """From the second call on no prompt is longer than the window in the server's own tokens."""
    window = 4096
    with (
        Loopback("I see.", usage_factor=factor) as server,
        agent_on(tmp_path, server, small(window, reserve=256)) as agent,
    ):
        for number in range(30):
            turn = agent.send(sentence(number, words=90))
            assert turn.stop_reason == "answered"
        true = [tokens * factor for tokens in server.prompt_tokens]
        assert agent.state.pages.count() > 0
        assert max(true[1:]) + 256 <= window
        # And the window is used: half of it at least before something has to leave.
        assert max(true) > window / 2


@pytest.mark.parametrize("factor", [None, 0.0])
def test_a_server_that_reports_nothing_changes_nothing(
    tmp_path: Path, factor: float | None
) -> None:
    """Missing or zero usage is no count: the prompts fit by the server's own count."""
    window = 2048
    with (
        Loopback("I see.", window=window, usage_factor=factor) as server,
        agent_on(tmp_path, server, small(window, reserve=256)) as agent,
    ):
        before = agent.loop.caller.calibration
        for number in range(25):
            assert agent.send(sentence(number, words=60)).stop_reason == "answered"
        assert agent.loop.caller.calibration == before
        assert server.refused == 0
        assert agent.state.pages.count() > 0
        assert server.max_prompt_tokens + 256 <= window


# --- local_only ---------------------------------------------------------------------------------

REMOTE = {
    "model": "model: openai/gpt-4o-mini",
    "model by address": "model: {name: openai/x, api_base: 'https://models.example.org/v1'}",
    "fallback": "model: {name: ollama_chat/x, fallbacks: [anthropic/claude-haiku-4-5]}",
    "summarizer": "model: ollama_chat/x\nsummarizer: openai/gpt-4o-mini",
    "summarizer of the model": "model: {name: ollama_chat/x, summarizer: openai/gpt-4o-mini}",
    "embedding": "model: ollama_chat/x\nembedding: openai/text-embedding-3-small",
}


@pytest.mark.parametrize("part", REMOTE)
def test_local_only_refuses_what_is_remote(
    tmp_path: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No part of an agent may send a text away: not its model, fallbacks, summaries or vectors."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)
    monkeypatch.delenv("OLLAMA_API_BASE", raising=False)
    from pagemind.runtime.definition import parse_definition

    definition = parse_definition(f"name: home\nlocal_only: true\n{REMOTE[part]}\n")
    with (
        Runtime(tmp_path, clock=FrozenClock(), background=False) as runtime,
        pytest.raises(UserError, match="local_only") as refusal,
    ):
        runtime.agent("ada", definition)
    assert "remote endpoint" in refusal.value.message
    assert refusal.value.hint


def test_local_only_holds_for_a_model_that_is_asked_for(tmp_path: Path) -> None:
    """--model does not get round the definition, and is not kept as the agent's choice."""
    from pagemind.runtime.definition import parse_definition

    definition = parse_definition("name: home\nlocal_only: true\nembedding: none\n")
    with Runtime(tmp_path, clock=FrozenClock(), background=False) as runtime:
        runtime.agent("ada", definition, model=ScriptedModel()).close()
        with pytest.raises(UserError, match="local_only"):
            runtime.agent("ada", model="openai/gpt-4o-mini")
        assert runtime.home.find("ada").model == ""


def test_local_only_takes_a_server_of_ones_own(tmp_path: Path) -> None:
    """A server on this machine is local."""
    from pagemind.runtime.definition import parse_definition

    with Loopback("Yes.") as server, runtime_at(tmp_path) as runtime:
        definition = parse_definition(
            f"name: home\nlocal_only: true\nmodel: {{name: openai/x, api_base: '{server.url}'}}\n"
        )
        assert runtime.agent("ada", definition).send(ASKED).text == "Yes."


def test_jitter_spreads_the_waits() -> None:
    """Waits grow, are never alike, and end at a cap."""
    from pagemind.runtime.errors import ModelOverloaded

    backoff, error = Backoff(base=1.0, longest=4.0, retries=9), ModelOverloaded("no")
    waits = [[backoff.wait(error, at) or 0.0 for at in range(6)] for _ in range(20)]
    assert all(len(set(column)) > 1 for column in zip(*waits, strict=True))
    assert all(2.0 <= row[-1] <= 4.0 for row in waits)
    assert QUICK.wait(error, 99) is None
