"""docs/http.md is true: what it shows is what is answered, and nothing is served beside it."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from awake_kit import house
from cli_kit import PLAIN, Cli
from http_kit import Served, served_house

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.http import chat_request, faults
from pagemind.runtime.http.app import ROUTES
from pagemind.runtime.model_choice import ModelChoice, make_model

DOC = Path(__file__).resolve().parents[2] / "docs" / "http.md"
TEXT = DOC.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """ada on the echoing model, as in the page."""
    home = tmp_path_factory.mktemp("home")
    with house(home) as found:
        found.model = make_model(ModelChoice("scripted/echo", "test"), home, None)  # type: ignore[assignment]  # a plain model
        found.runtime.create("ada", parse_definition(PLAIN))
        with served_house(found) as served:
            yield served


def shown() -> list[tuple[str, str]]:
    """Each command of the page, and what it prints."""
    blocks = re.findall(r"^```console\n(.+?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    steps = [step for block in blocks for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, printed) for command, _, printed in (s.partition("\n") for s in steps)]


def curl(client: httpx.Client, words: list[str]) -> str:
    """What curl does with these."""
    headers, data, url = {}, None, ""
    at = iter(words)
    for word in at:
        if word == "-H":
            name, _, value = next(at).partition(": ")
            headers[name] = value
        elif word == "-d":
            data = next(at)
        elif not word.startswith("-"):
            url = word.removeprefix("localhost:8080")
    response = client.request("POST" if data else "GET", url, headers=headers, content=data)
    return response.text


def test_the_page_shows_what_is_answered(
    here: Served, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but what `…` stands for."""
    monkeypatch.setenv("PAGEMIND_HOME", str(tmp_path / "other"))
    for command, expected in shown():
        program, *words = shlex.split(command)
        if program == "curl":
            printed = curl(here.client, words)
        elif words[-1].startswith("0.0.0.0"):
            ran = cli(*words)
            assert ran.code == 1
            printed = ran.err
        else:
            continue  # it runs in the fixture
        at = 0
        for piece in re.split(r"…\n?", expected):
            piece = piece.strip("\n")
            if "text_delta" in piece:  # the model gives it in pieces of its own
                continue
            assert piece in printed[at:], f"{command}\n{printed}"
            at = printed.index(piece, at) + len(piece)


def test_the_pages_python_runs(here: Served, capsys: pytest.CaptureFixture[str]) -> None:
    """With OpenAI's own client."""
    (code,) = re.findall(r"^```python\n(.+?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    exec(compile(code.replace("http://127.0.0.1:8080", here.url), str(DOC), "exec"), {})
    assert capsys.readouterr().out == "You said: sam: What is my boat called?"


def test_every_route_stands_in_the_page() -> None:
    """And no other."""
    rows = set(re.findall(r"^\| `(GET|POST|DELETE) ([^`?]+)`", TEXT, re.MULTILINE))
    assert rows == {(method, path) for method, path, _ in ROUTES}


def test_every_refusal_stands_in_the_page() -> None:
    """Keys and statuses."""
    assert not [key for key in chat_request._REFUSED if f"`{key}`" not in TEXT]
    told = {status for row in re.findall(r"^\| ([\d, ]+) \|", TEXT, re.MULTILINE)
            for status in row.replace(" ", "").split(",")}  # fmt: skip
    assert not [status for _, status, _ in faults._STATUS if str(status) not in told]
