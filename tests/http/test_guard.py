"""Who is served, where, and how much may be asked at once."""

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from http_kit import Served, answer, served, talk

from pagemind.runtime.errors import UserError
from pagemind.runtime.http import guard, patience, running
from pagemind.runtime.http.address import Address, parse_address
from pagemind.runtime.http.server import HttpServer
from pagemind.runtime.http.token import FILE, find_token
from pagemind.runtime.model import ModelRequest

SECRET = "a-token-of-some-length"
LOOPBACK, ELSEWHERE = Address("127.0.0.1", 8080), Address("0.0.0.0", 8080)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("home")) as found:
        yield found


@pytest.mark.parametrize(
    ("written", "host", "port", "loopback"),
    [
        ("127.0.0.1:8080", "127.0.0.1", 8080, True),
        ("127.9.9.9:1", "127.9.9.9", 1, True),
        ("localhost:0", "127.0.0.1", 0, True),
        ("[::1]:80", "::1", 80, True),
        ("0.0.0.0:65535", "0.0.0.0", 65535, False),
        ("[::]:80", "::", 80, False),
    ],
)
def test_an_address_is_judged_by_what_is_bound(
    written: str, host: str, port: int, loopback: bool
) -> None:
    """Names are looked up first."""
    address = parse_address(written)
    assert (address.host, address.port, address.loopback) == (host, port, loopback)


@pytest.mark.parametrize("written", ["8080", ":8080", "::1:8080", "127.0.0.1:", "h:99999", "h:x"])
def test_what_is_no_address_is_refused_with_an_example(written: str) -> None:
    """It says how one is written."""
    with pytest.raises(UserError) as caught:
        parse_address(written)
    assert "--http" in caught.value.hint


def test_a_token_comes_from_a_variable_or_a_file_that_is_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable goes before the file; without either only this machine is served."""
    assert find_token(tmp_path, None, LOOPBACK) is None
    with pytest.raises(UserError, match="can be reached from other machines") as caught:
        find_token(tmp_path, None, ELSEWHERE)
    assert "--token-env" in caught.value.hint
    file = tmp_path / FILE
    file.write_text(SECRET + "\n", encoding="ascii")
    file.chmod(0o600)
    token = find_token(tmp_path, None, ELSEWHERE)
    assert token is not None
    assert token.fits(SECRET)
    assert not token.fits(SECRET + "x")
    assert SECRET not in repr(token)
    monkeypatch.setenv("OTHER", "another-token-of-length")
    other = find_token(tmp_path, "OTHER", LOOPBACK)
    assert other is not None
    assert not other.fits(SECRET)


@pytest.mark.parametrize("text", ["", "short", "sixteen letters and spaces", "ümläutümläutümläut"])
def test_a_token_that_can_be_guessed_or_sent_by_nobody_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """The variable is named."""
    monkeypatch.setenv("TOKEN", text)
    with pytest.raises(UserError, match="TOKEN"):
        find_token(tmp_path, "TOKEN", ELSEWHERE)


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """With what to type."""
    file = tmp_path / FILE
    file.write_text(SECRET, encoding="ascii")
    file.chmod(0o640)
    with pytest.raises(UserError, match="can be read by others") as caught:
        find_token(tmp_path, None, LOOPBACK)
    assert caught.value.hint == f"chmod 600 {file}"


def test_nobody_listens_for_others_without_a_token(here: Served) -> None:
    """Whatever calls it."""
    with pytest.raises(UserError, match="without a token"):
        HttpServer(here.house.runtime, here.keeper, ELSEWHERE, None)


def test_a_port_that_is_taken_is_said(here: Served) -> None:
    """With what to do."""
    with pytest.raises(UserError, match="nobody can listen at") as caught:
        HttpServer(here.house.runtime, here.keeper, here.server.address, None)
    assert "another port" in caught.value.hint


def test_only_who_shows_the_token_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In both words for errors; whether the server lives is told to everybody."""
    monkeypatch.setenv("TOKEN", SECRET)
    token = find_token(tmp_path, "TOKEN", LOOPBACK)
    with served(tmp_path / "home", token=token) as here:
        right = {"Authorization": f"Bearer {SECRET}", "Host": "agents.example"}
        assert here.client.get("/agents", headers=right).status_code == 200
        assert here.client.get("/health").json() == {"ok": True}
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": SECRET}):
            refused = here.client.get("/v1/models", headers=headers)
            assert refused.status_code == 401
            assert refused.headers["WWW-Authenticate"] == "Bearer"
            assert refused.json()["error"]["code"] == "invalid_api_key"
        assert here.client.get("/agents").json()["error"]["type"] == "HttpError"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "localhost:1", "Origin": "http://localhost:3000"}, 200),
        ({"Host": "[::1]:8080"}, 200),
    ],
)
def test_pages_in_a_browser_are_not_served(
    here: Served, headers: dict[str, str], status: int
) -> None:
    """Neither one whose name was rebound to this machine, nor one that posts to it blindly."""
    found = here.client.get("/agents", headers=headers)
    assert found.status_code == status
    assert not [name for name in found.headers if name.startswith("access-control")]


def test_a_body_of_another_type_is_refused(here: Served) -> None:
    """A page may post text anywhere without asking."""
    refused = here.client.post("/v1/chat/completions", content=b'{"model": "ada"}')
    assert refused.status_code == 415


def test_a_body_is_bounded_however_it_is_sent(
    here: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether its length is told or not."""
    monkeypatch.setattr(guard, "SERVE_BODY_BYTES", 1000)
    kind = {"Content-Type": "application/json"}
    whole = here.client.post("/agents/ada/messages", content=b"x" * 2000, headers=kind)
    pieces = here.client.post("/agents/ada/messages", content=iter([b"x" * 400] * 5), headers=kind)
    assert [whole.status_code, pieces.status_code] == [413, 413]
    assert here.client.get("/agents").status_code == 200


def test_slow_clients_are_let_go(here: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who says nothing, half a head, or half a body holds no connection."""
    monkeypatch.setattr(patience, "SERVE_HEAD_SECONDS", 0.2)
    monkeypatch.setattr(guard, "SERVE_SILENCE_SECONDS", 0.2)
    address = (here.server.address.host, here.server.address.port)
    head = b"POST /agents/ada/messages HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    body = b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    for sent, said in ((b"", b""), (head, b""), (head + body, b"HTTP/1.1 408")):
        with socket.create_connection(address, timeout=60) as slow:
            slow.sendall(sent)
            assert slow.recv(65536).startswith(said)


def test_too_many_turns_at_once_are_told_to_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is answered all the same; what only reads is served meanwhile."""
    monkeypatch.setattr(running, "SERVE_TURNS", 1)
    begun, go = threading.Event(), threading.Event()

    def wait(request: ModelRequest) -> str:
        begun.set()
        assert go.wait(60)
        return "done"

    with served(tmp_path, wait) as here:
        said: list[httpx.Response] = []
        first = threading.Thread(target=lambda: said.append(here.chat("a")))
        first.start()
        assert begun.wait(60)
        refused = here.chat("b")
        assert refused.status_code == 503
        assert int(refused.headers["Retry-After"]) > 0
        assert here.client.get("/agents/ada/blocks").status_code == 200
        go.set()
        first.join(60)
        assert answer(said[0]) == "done"
        assert answer(here.chat("b")) == "done"


def test_an_agent_in_use_elsewhere_is_409(here: Served) -> None:
    """At once, and worth trying again."""
    here.house.make("busy")
    with here.house.runtime.writer("busy"):
        refused = here.chat("Hello", model="busy")
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "agent_in_use"
    assert "Retry-After" in refused.headers


def test_a_server_that_stops_answers_what_it_has_begun(tmp_path: Path) -> None:
    """The turn that runs is answered; who comes later is told to come back, until it is gone."""
    begun, go = threading.Event(), threading.Event()

    def wait(request: ModelRequest) -> str:
        begun.set()
        assert go.wait(60)
        return "done"

    with served(tmp_path, wait) as here:
        said: list[httpx.Response] = []
        first = threading.Thread(target=lambda: said.append(here.chat("a")))
        first.start()
        assert begun.wait(60)
        here.server.drain()
        late = here.client.post("/agents/ada/messages", json={"text": "b"})
        assert late.status_code == 503
        assert late.json()["error"]["retryable"] is True
        go.set()
        here.keeper.stop()
        first.join(60)
        here.server.stop()
        assert answer(said[0]) == "done"
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{here.url}/health", trust_env=False)


def test_a_turn_that_is_cut_off_by_the_stop_goes_on_after_it(tmp_path: Path) -> None:
    """Its client is told to come back; with its key it gets the answer of the same message."""
    begun = threading.Event()
    held = True

    with served(tmp_path) as here:
        complete = here.house.model.complete

        def patient(request: ModelRequest, **more: object) -> object:
            if held and request.purpose == "turn":
                begun.set()
                more["cancel"].wait(60)  # type: ignore[attr-defined]  # a CancelToken
            return complete(request, **more)  # type: ignore[arg-type]  # as it was called

        here.house.model.complete = patient  # type: ignore[method-assign, assignment]  # it can be held up
        said: list[httpx.Response] = []
        key = {"Idempotency-Key": "k"}
        first = threading.Thread(target=lambda: said.append(here.chat("a", headers=key)))
        first.start()
        assert begun.wait(60)
        here.server.drain()
        here.keeper.stop(grace=0)
        first.join(60)
        assert said[0].status_code == 503
    with served(tmp_path) as here:
        assert answer(here.chat("a", headers=key)) == "re a"
        assert [text for _, text in here.stored()] == ["a", "re a"]


def test_streams_are_kept_alive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a model thinks, the stream begins and pings."""
    from pagemind.runtime.http import chat_completions, events

    monkeypatch.setattr(chat_completions, "SERVE_BEGIN_SECONDS", 0.05)
    monkeypatch.setattr(events, "SERVE_PING_SECONDS", 0.05)
    pinged = threading.Event()

    def wait(request: ModelRequest) -> str:
        assert pinged.wait(60)
        return "done"

    with served(tmp_path, wait) as here:
        body = {"model": "ada", "messages": talk("a"), "stream": True}
        with here.client.stream("POST", "/v1/chat/completions", json=body) as response:
            lines = []
            for line in response.iter_lines():
                lines.append(line)
                if line == ": ping":
                    pinged.set()
    assert lines[-2] == "data: [DONE]"
