"""A key reaches its provider and nobody else: no log, trace, error, answer, export or store.

The keys planted here look like nothing in particular, so that only knowing them takes them out; a
server that repeats them in its errors stands for the providers that do.
"""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback, Reply, error_body

from pagemind.runtime.cli.app import main
from pagemind.runtime.cli.logs import reset
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.errors import PagemindError
from pagemind.runtime.models.embedders import make_embedder
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder

KEY = "plantedKey0e5fA91cc7"
HEADER = "plantedHeader77b2D4e0"
BEARER = "plantedBearer1c9eF3a8"
TOKEN = "plantedToken93ab0c1d"
ENVIRONMENT = "plantedOther5d5d8e8e"
PLANTED = (KEY, HEADER, BEARER, TOKEN, ENVIRONMENT)
TOLD = f"you sent {KEY}, x-team {HEADER}, Bearer {BEARER}, token {TOKEN}; not {ENVIRONMENT}"

DEFINITION = """
name: plain
system: You are a test agent.
embedding: none
context_window: 4096
model:
  name: openai/test
  api_base: {base}
  api_key_env: PLANTED_KEY
  params:
    extra_headers:
      X-Team: ${{PLANTED_HEADER}}
      X-Authorization: Bearer ${{PLANTED_BEARER}}
    extra_body: {{vendor: {{access_token: "${{PLANTED_TOKEN}}"}}}}
"""

# Every way in which a provider can say what it was sent.
TELLING = {
    "401": Reply(status=401, error=error_body(TOLD)),
    "401 as text": Reply(status=401, error=TOLD),
    "403 as a page": Reply(status=403, error=f"<html><body>{TOLD}</body></html>"),
    "404": Reply(status=404, error=error_body(TOLD)),
    "400": Reply(status=400, error=error_body(TOLD)),
    "400 too long": Reply(status=400, error=error_body(f"prompt is too long. {TOLD}")),
    "429": Reply(status=429, error=error_body(TOLD), headers={"retry-after": "9999"}),
    "429 no credit": Reply(status=429, error=error_body(TOLD, "insufficient_quota")),
    "500": Reply(status=500, error=error_body(TOLD)),
    "plain string": Reply(status=400, error={"error": TOLD}),
    "html": Reply(fault="html"),
    "reset": Reply("Yes, it is.", fault="reset", after=3),
}


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The keys stand in the environment; waits between attempts do not."""
    for name, value in (
        ("PLANTED_KEY", KEY),
        ("PLANTED_HEADER", HEADER),
        ("PLANTED_BEARER", BEARER),
        ("PLANTED_TOKEN", TOKEN),
        ("OPENAI_API_KEY", ENVIRONMENT),
    ):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("pagemind.runtime.cancel.CancelToken.wait", lambda self, seconds: None)
    yield
    reset()


def leaks(*places: Path | str) -> list[str]:
    """Where a planted key can be read."""
    found = []
    for place in places:
        files = [place]
        if isinstance(place, Path) and place.is_dir():
            files = [each for each in place.rglob("*") if each.is_file()]
        for each in files:
            data = each.read_bytes() if isinstance(each, Path) else each.encode()
            found += [f"{key} in {str(each)[:300]}" for key in PLANTED if key.encode() in data]
    return found


@pytest.mark.parametrize("telling", TELLING)
def test_a_failed_turn_leaves_no_key_behind(
    tmp_path: Path, telling: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the command line prints, logs and stores about a failure has none of the keys."""
    home, log, file = tmp_path / "home", tmp_path / "all.log", tmp_path / "plain.yaml"
    with Loopback(["Hello.", TELLING[telling]]) as server:
        file.write_text(DEFINITION.format(base=server.url), encoding="utf-8")
        common = ["-vv", "--log-file", str(log), "send", "ada", "--home", str(home)]
        assert main([*common, "-d", str(file), "Hello?"]) == 0
        assert main([*common, "--json", "And now?"]) == 4
        assert main([*common, "And then?"]) == 4
        sent = json.dumps([server.headers, server.requests])
    for key in (KEY, HEADER, BEARER, TOKEN):
        assert key in sent, "the provider itself must get it"
    out, err = capsys.readouterr()
    assert '"error"' in out
    assert leaks(home, log, out, err) == []


def test_what_a_person_asks_about_an_agent_has_no_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Showing, inspecting, listing and checking an agent tell how it is reached, not by what."""
    home, file = tmp_path / "home", tmp_path / "plain.yaml"
    with Loopback("Hello.") as server:
        file.write_text(DEFINITION.format(base=server.url), encoding="utf-8")
        assert main(["send", "ada", "--home", str(home), "-d", str(file), "Hello?"]) == 0
        changed = file.read_text(encoding="utf-8").replace(
            "X-Team:", "X-More: ${PLANTED_TOKEN}\n      X-Team:"
        )
        file.write_text(changed, encoding="utf-8")
        asked = [
            ["agents", "show", "ada"],
            ["agents", "list"],
            ["agents", "update", "ada", "-d", str(file)],
            ["inspect", "ada"],
            ["memory", "list", "ada"],
            ["doctor"],
        ]
        for words in asked:
            for more in ([], ["--json"]):
                main(["-vv", *words, *more, "--home", str(home)])
    out, err = capsys.readouterr()
    assert "${PLANTED_TOKEN}" in out, "a diff shows what was written"
    assert leaks(home, out, err) == []


@pytest.mark.parametrize("telling", TELLING)
def test_a_trace_has_no_key(tmp_path: Path, telling: str, caplog: pytest.LogCaptureFixture) -> None:
    """Events, results and errors of a turn hold none, nor does the log at its finest."""
    caplog.set_level(logging.DEBUG)
    seen: list[str] = []
    with (
        Loopback(TELLING[telling]) as server,
        Runtime(tmp_path, embedder=HashingEmbedder(8), background=False) as runtime,
    ):
        definition = parse_definition(DEFINITION.format(base=server.url))
        agent = runtime.agent("ada", definition)
        turn = agent.send("Hello?", observer=lambda event: seen.append(repr(event)))
        assert turn.error is not None
        seen += [repr(turn), json.dumps(turn.as_json()), json.dumps(turn.error.as_json())]
        seen += [
            repr(agent.model),
            repr(vars(agent.model)),
            repr(definition),
            repr(runtime.choose_model("ada")),
        ]
        seen += _chain(turn.error)
    assert leaks(tmp_path, *seen, caplog.text) == []


def _chain(error: BaseException) -> list[str]:
    """What a traceback of this error would show."""
    import traceback

    return traceback.format_exception(error)


def test_an_embedder_tells_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """An embedding endpoint that repeats the key in its refusal is not repeated."""

    def refuse(_: dict[str, Any]) -> Reply:
        return Reply(status=401, error=error_body(f"you sent {ENVIRONMENT}"))

    with Loopback(embed=refuse) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        embedder = make_embedder("openai/text-embedding-3-small")
        assert embedder is not None
        with pytest.raises(PagemindError) as refused:
            embedder.embed(["Hello."])
    assert leaks(refused.value.message, refused.value.hint, *_chain(refused.value)) == []
