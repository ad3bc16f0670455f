"""The JSON contracts as REST: the same answers as the command line, and turns with their events."""

import base64
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from awake_kit import asked, echo, house
from cli_kit import Cli
from http_kit import PNG, Served, served, served_house

from pagemind.runtime.errors import ModelTimeout
from pagemind.runtime.message import Blob
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.testing import call


def script(request: ModelRequest) -> Any:
    text = asked(request)
    if text == "fail":
        return ModelTimeout("no answer in time")
    if text == "ring":
        return call("ring_bell", times=3)
    if "JSON" in text:
        return '{"boat": "Nomad"}'
    return echo(request)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """ada, who was told so much that pages left her window."""
    with served(tmp_path_factory.mktemp("home"), script) as found:
        for number in range(12):
            text = f"{number}: " + "a long sentence about the sea " * 8
            found.client.post("/agents/ada/messages", json={"text": text, "speaker": "sam"})
        found.client.post(
            "/agents/ada/passages", json={"text": "The boat is Nomad.", "tags": ["boat"]}
        )
        yield found


def events(response: httpx.Response) -> list[tuple[str, Any]]:
    """Names and data of a stream."""
    assert response.headers["Content-Type"].startswith("text/event-stream")
    blocks = [block.splitlines() for block in response.text.strip().split("\n\n")]
    return [(head[7:], json.loads(data[6:])) for head, data in blocks]


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("", "agents list"),
        ("/ada", "agents show ada"),
        ("/ada/inspect", "inspect ada"),
        ("/ada/inspect?request", "inspect ada --request"),
        ("/ada/history", "agents history ada"),
        ("/ada/history?last=2&before=m9&all", "agents history ada --last 2 --before m9 --all"),
        ("/ada/blocks", "memory blocks ada"),
        ("/ada/blocks/human/history", "memory history ada human"),
        ("/ada/passages?last=1", "memory passages ada --last 1"),
        ("/ada/passages/a1/history", "memory history ada a1"),
        ("/ada/pages", "memory pages ada"),
        ("/ada/pages/p1", "memory pages ada p1"),
        ("/ada/pages/d0", "memory pages ada d0"),
        ("/ada/search", "memory search ada"),
        ("/ada/search?speaker=sam&role=user&part=2&max_tokens=90",
         "memory search ada --speaker sam --role user --part 2 --max-tokens 90"),
        ("/ada/search?tag=boat&tier=archival", "memory search ada --tag boat --tier archival"),
    ],
)  # fmt: skip
def test_what_is_read_is_what_the_command_prints(
    here: Served, cli: Cli, path: str, command: str
) -> None:
    """To the key."""
    home = ("--home", str(here.house.runtime.home.path))
    printed = cli(*command.split(), *home, "--json")
    assert printed.code == 0, printed.err
    found = here.client.get(f"/agents{path}")
    assert found.status_code == 200, found.text
    assert _timeless(found.json()) == _timeless(printed.json)


def _timeless(body: Any) -> Any:
    """Without what another moment, another open file or another embedder changes."""
    if isinstance(body, dict):
        if "results" in body:
            body = {**body, "results": [sorted(each) for each in body["results"]]}
        return {key: _timeless(value) for key, value in body.items() if key != "bytes"}
    return [_timeless(each) for each in body] if isinstance(body, list) else body


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/agents/adda/blocks", 404, "no agent is called 'adda'"),
        ("/agents/ada/pages/p9999", 404, "there is no page 'p9999'"),
        ("/agents/ada/blocks/humane/history", 404, "no block or passage"),
        ("/agents/ada/search?querry=a", 400, "has no 'querry'"),
        ("/agents/ada/search?tier=all", 400, "is one of recall, archival, pages, both"),
        ("/agents/ada/search?part=0", 400, "'part' must be a number"),
        ("/agents/ada/search?start=someday", 400, "someday"),
        ("/agents/ada/search?query=sea&part=99", 404, "no part 99"),
        ("/agents/ada/search?tier=pages&role=user", 400, "have no role"),
        ("/agents/ada/history?before=mm", 400, "mm"),
        ("/agents/ada/", 404, "nothing at"),
    ],
)
def test_what_cannot_be_read_is_said(here: Served, path: str, status: int, message: str) -> None:
    """With the error of the contract, and what may help."""
    refused = here.client.get(path)
    assert refused.status_code == status
    body = refused.json()
    assert body["schema"] == 1
    assert message in body["error"]["message"]
    assert set(body["error"]) == {"type", "message", "hint", "code", "retryable"}


def test_another_method_is_405(here: Served) -> None:
    """And says which there are."""
    refused = here.client.delete("/agents/ada/passages")
    assert refused.status_code == 405
    assert set(refused.headers["Allow"].split(", ")) == {"GET", "HEAD", "POST"}


def test_a_message_answers_as_send(here: Served) -> None:
    """With its id it is answered once, with an image it is seen."""
    picture = "data:image/png;base64," + base64.b64encode(PNG).decode()
    body = {"text": "Look", "speaker": "sam", "id": "look-1", "images": [picture]}
    first = here.client.post("/agents/ada/messages", json=body).json()
    assert first["schema"] == 1
    assert (first["speaker"], first["stop_reason"]) == ("sam", "answered")
    assert here.client.post("/agents/ada/messages", json=body).json() == first
    with here.house.runtime.reader("ada") as reader:
        assert any(isinstance(part, Blob) for part in reader.messages(2)[0].parts)


def test_a_turn_tells_its_events(here: Served) -> None:
    """Each under its kind, then the result; the text is that of the pieces."""
    told = events(
        here.client.post(
            "/agents/ada/messages", json={"text": "Hello"}, headers={"Accept": "text/event-stream"}
        )
    )
    kinds = [kind for kind, _ in told]
    assert kinds[0] == "turn_started"
    assert kinds[-1] == "result"
    assert {"model_called", "text_delta", "model_replied"} <= set(kinds)
    pieces = "".join(data["text"] for kind, data in told if kind == "text_delta")
    assert told[-1][1]["text"] == pieces == "re Hello"


def test_a_failed_turn_has_a_status_and_its_answer(here: Served) -> None:
    """The keys of `send`, with `error`; as events it is the result as well."""
    failed = here.client.post("/agents/ada/messages", json={"text": "fail"})
    assert failed.status_code == 504
    assert failed.json()["stop_reason"] == "model_error"
    assert failed.json()["error"]["type"] == "ModelTimeout"
    headers = {"Accept": "text/event-stream"}
    told = events(here.client.post("/agents/ada/messages", json={"text": "fail"}, headers=headers))
    assert told[-1][1]["error"]["type"] == "ModelTimeout"


def test_an_answer_can_be_asked_to_fit_a_schema(here: Served) -> None:
    """Its value is `data`."""
    schema = {"type": "object", "properties": {"boat": {"type": "string"}}, "required": ["boat"]}
    body = {"text": "Which boat?", "schema": schema}
    assert here.client.post("/agents/ada/messages", json=body).json()["data"] == {"boat": "Nomad"}


def test_what_happened_and_what_is_to_be_kept_are_recorded(here: Served) -> None:
    """Also while a turn runs in another process: then it waits in the inbox."""
    seen = here.client.post("/agents/ada/observations", json={"text": "It rains", "source": "sky"})
    assert seen.status_code == 201
    assert seen.json()["id"].startswith("m")
    again = here.client.post("/agents/ada/passages", json={"text": "The boat is Nomad."}).json()
    assert again["duplicates"] == ["a1"]
    here.house.make("busy")
    with here.house.runtime.writer("busy"):
        left = here.client.post("/agents/busy/observations", json={"text": "It snows"}).json()
        kept = here.client.post("/agents/busy/passages", json={"text": "Snow."}).json()
    assert (left["left"], kept["left"]) == (True, 1)
    here.client.post("/agents/busy/messages", json={"text": "Hello"})
    assert ("user", "It snows") in here.stored("busy")


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("messages", {}, "'text' is missing"),
        ("messages", {"text": " "}, "the message is empty"),
        ("messages", {"text": 7}, "'text' must be a text"),
        ("messages", {"txt": "a"}, "a message has no 'txt'"),
        ("messages", {"text": "a", "images": ["x"]}, "images[0] is no image but an address"),
        ("messages", {"text": "a", "images": ["data:image/png;base64,!"]}, "is no base64"),
        ("messages", {"text": "a", "images": ["data:image/png;base64,aaaa"]}, "is no PNG, JPEG"),
        ("messages", {"text": "a", "schema": {"type": "nothing"}}, "is no JSON schema"),
        ("passages", {"text": ""}, "nothing to keep"),
        ("passages", {"text": "a", "importance": 11}, "from 1 to 10"),
        ("passages", {"text": "a", "tags": "sea"}, "must be a list of texts"),
        ("passages", {"text": "a", "evergreen": "yes"}, "must be true or false"),
        ("observations", {"text": "a", "sauce": "b"}, "has no 'sauce'"),
    ],
)
def test_what_cannot_be_said_is_a_400(
    here: Served, path: str, body: dict[str, Any], message: str
) -> None:
    """Nothing of it is stored."""
    before = here.stored()
    refused = here.client.post(f"/agents/ada/{path}", json=body)
    assert refused.status_code == 400, refused.text
    assert message in refused.json()["error"]["message"]
    assert here.stored() == before


@contextmanager
def leaving(here: Served, begun: threading.Event, **body: Any) -> Iterator[None]:
    """A client that asks, and leaves when this is left."""
    data = json.dumps(body).encode()
    head = "POST /agents/ada/messages HTTP/1.1\r\nHost: localhost\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    address = (here.server.address.host, here.server.address.port)
    with socket.create_connection(address, timeout=60) as client:
        client.sendall(head.encode() + data)
        assert begun.wait(60)
        yield


def held(here: Served, begun: threading.Event) -> None:
    """The first turn of the model runs until it is stopped."""
    complete = here.house.model.complete

    def patient(request: ModelRequest, **more: Any) -> Any:
        if not begun.is_set():
            begun.set()
            more["cancel"].wait(60)  # raises when it is stopped
        return complete(request, **more)

    here.house.model.complete = patient  # type: ignore[method-assign]  # it can be held up


def test_a_client_that_leaves_stops_a_turn_that_it_waits_for(tmp_path: Path) -> None:
    """Also where nothing is streamed: the message stays, the turn is interrupted."""
    begun = threading.Event()
    with served(tmp_path) as here:
        held(here, begun)
        with leaving(here, begun, text="Hello"):
            pass
        here.house.until(lambda: here.keeper.running == 0)
        (turn,) = here.client.get("/agents/ada/history").json()["items"]
        assert turn["stop_reason"] == "interrupted"


def test_who_leaves_takes_no_answer_from_another(tmp_path: Path) -> None:
    """A client that tries again before it is known that it left gets the answer all the same."""
    begun = threading.Event()
    with served(tmp_path) as here:
        held(here, begun)
        body = {"text": "Hello", "id": "once"}
        said: list[httpx.Response] = []
        again = threading.Thread(
            target=lambda: said.append(here.client.post("/agents/ada/messages", json=body))
        )
        with leaving(here, begun, **body):
            again.start()
            callers = here.keeper._callers
            here.house.until(lambda: any(len(callers.of(n)) > 1 for n in callers.numbers()))
        again.join(60)
        assert said[0].json()["text"] == "re Hello"
        assert here.stored() == [("user", "Hello"), ("assistant", "re Hello")]


def test_a_call_waits_for_consent_and_goes_on_when_it_has_it(tmp_path: Path) -> None:
    """It is listed, and approved or denied by its id; the turn then answers."""
    replies = iter(["ran", "well"])

    def careful(request: ModelRequest) -> Any:
        if request.messages[-1].role == "tool":
            return next(replies)
        return call("shell", command="echo hi")

    with served(tmp_path, careful, tools="{shell: {seconds: 5}}") as here:
        for verdict, body, text in (("approve", {}, "ran"), ("deny", {"reason": "no"}, "well")):
            ended = here.client.post("/agents/ada/messages", json={"text": "Say hi."}).json()
            assert ended["stop_reason"] == "approval"
            waiting = here.client.get("/agents/ada/pending").json()
            (pending,) = waiting["items"]
            assert pending == ended["pending"]
            other = here.client.post(f"/agents/ada/pending/other/{verdict}", json=body)
            assert other.status_code == 404
            path = f"/agents/ada/pending/{pending['id']}/{verdict}"
            answered = here.client.post(path, json=body).json()
            assert (answered["stop_reason"], answered["text"]) == ("answered", text)
            assert here.client.get("/agents/ada/pending").json()["items"] == []
        ran, *_, denied = [text for role, text in here.stored() if role == "tool"]
        assert ran == "hi"
        assert "no" in denied


def test_timers_are_set_seen_and_cancelled(here: Served, cli: Cli) -> None:
    """As on the command line."""
    body = {"when": "every 10 minutes", "message": "Is the kettle on?"}
    made = here.client.post("/agents/ada/schedules", json=body)
    assert made.status_code == 201
    home = ("--home", str(here.house.runtime.home.path))
    listed = here.client.get("/agents/ada/schedules").json()
    assert listed == cli("schedules", "list", "ada", "--json", *home).json
    assert made.json() == {"schema": 1, **listed["items"][0]}
    refused = here.client.post("/agents/ada/schedules", json={"when": "soonish", "message": "a"})
    assert refused.status_code == 400
    timer = made.json()["id"]
    assert here.client.delete(f"/agents/ada/schedules/{timer}").json()["id"] == timer
    assert here.client.delete(f"/agents/ada/schedules/{timer}").status_code == 404


def test_a_message_can_be_left_in_the_queue(tmp_path: Path) -> None:
    """Nobody waits for its answer; it is on disk, and listed until its turn has ended."""
    begun, go = threading.Event(), threading.Event()

    def wait(request: ModelRequest) -> str:
        begun.set()
        assert go.wait(60)
        return echo(request)

    with served(tmp_path, wait) as here:
        body = {"text": "Hello", "speaker": "sam", "id": "once", "queue": True}
        left = here.client.post("/agents/ada/messages", json=body)
        assert left.status_code == 202
        assert begun.wait(60)
        (waiting,) = here.client.get("/agents/ada/queue").json()["items"]
        assert (waiting["number"], waiting["id"]) == (left.json()["queued"], "once")
        go.set()
        here.house.until(lambda: here.client.get("/agents/ada/queue").json()["total"] == 0)
        assert here.stored()[-1] == ("assistant", "re sam: Hello")


def test_only_the_agents_that_are_named_are_served(tmp_path: Path) -> None:
    """Of the others nothing is told, not even that they are there."""
    with house(tmp_path) as home:
        home.make("ada", "bob")
        with served_house(home, only=["ada"]) as here:
            names = [each["name"] for each in here.client.get("/agents").json()["items"]]
            models = [each["id"] for each in here.client.get("/v1/models").json()["data"]]
            assert names == models == ["ada"]
            for path in ("", "/blocks", "/pending"):
                assert here.client.get(f"/agents/bob{path}").status_code == 404
            refused = here.chat("Hello", model="bob")
            assert refused.status_code == 404
