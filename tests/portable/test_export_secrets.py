"""No secret leaves with an agent: not a key, not a header, not a value of the environment."""

import json
from pathlib import Path

import pytest
from kernel_kit import small
from portable_kit import members, tables

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.invariants import check_state
from pagemind.runtime.portable.secrets import Secrets
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel, temporary_runtime

KEY = "plantedKey0e5fA91cc7"
TOKEN = "plantedToken93ab0c1d"
LITERAL = "plantedLiteral77b2D4"
PASSWORD = "plantedPass5d5d8e8e"
OTHER = "plantedOther1c9eF3a8"
PLANTED = (KEY, TOKEN, LITERAL, PASSWORD, OTHER)

DEFINITION = """
name: plain
system: "You work for ${VENDOR_TOKEN} in ${TEAM}."
embedding: none
context_window: 4096
model:
  name: openai/test
  api_base: https://sam:plantedPass5d5d8e8e@127.0.0.1:9/v1?key=plantedPass5d5d8e8e
  api_key_env: ODD_NAME
  params:
    temperature: 0.5
    extra_headers:
      X-Team: plantedLiteral77b2D4
      X-Authorization: Bearer ${PLANTED_HEADER}
      User-Agent: harbour
    extra_body: {vendor: {region: eu}}
"""


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "ODD_NAME": KEY,
        "VENDOR_TOKEN": TOKEN,
        "PLANTED_HEADER": OTHER,
        "TEAM": "harbour",
    }.items():
        monkeypatch.setenv(name, value)


def everything(path: Path) -> str:
    """All that stands in a file, Parquet unpacked."""
    import io

    from pyarrow import parquet

    found = [path.read_bytes().decode("latin-1")]
    for name, data in members(path).items():
        if name.endswith(".parquet"):
            found.append(repr(parquet.read_table(io.BytesIO(data)).to_pylist()))
        else:
            found.append(data.decode("utf-8"))
    return "\n".join(found)


def test_planted_secrets_are_not_in_the_file(planted: None, tmp_path: Path) -> None:
    """Whatever a definition says, and whatever was said to it or by it: not one of them; the
    names of variables are. What was left out is told at both ends."""
    with temporary_runtime() as runtime:
        model = ScriptedModel([f"The key is {KEY}.", "Well."])
        agent = runtime.agent("ada", definition=parse_definition(DEFINITION), model=model)
        agent.send(f"My token is {TOKEN}; header {OTHER}.")
        agent.insert(f"Remember {KEY}.")
        agent.close()
        with runtime.reader("ada") as reader:
            assert TOKEN in reader.request().messages[0].text
        done = runtime.export_agent("ada", tmp_path / "ada.pmz")
        text = everything(tmp_path / "ada.pmz")
        for secret in PLANTED:
            assert secret not in text
        for name in ("ODD_NAME", "VENDOR_TOKEN", "PLANTED_HEADER"):
            assert name in text
        told = "\n".join(done.notes)
        for place in ("extra_headers.X-Team", "api_base", "ODD_NAME in messages"):
            assert place in told, told
        assert not [secret for secret in PLANTED if secret in told]
        stored = json.loads(members(tmp_path / "ada.pmz")["definition.json"])["definition"]
        assert stored["model"]["api_base"] == "https://127.0.0.1:9/v1"
        params = stored["model"]["params"]
        assert params["extra_headers"] == {
            "X-Authorization": "Bearer ${PLANTED_HEADER}",
            "User-Agent": "harbour",
        }
        assert params["extra_body"] == {"vendor": {"region": "eu"}}
        made = runtime.import_agent(tmp_path / "ada.pmz", name="eva")
        assert any("left out by the export" in note for note in made.notes)
        with runtime.reader("eva") as reader:
            assert not [f for f in check_state(reader.state) if f.status == "wrong"]
            assert reader.definition.model is not None
            assert "[secret]" in reader.messages(3)[1].text


def test_keys_that_an_older_definition_holds_are_left_out() -> None:
    """Wherever they stand in a model or its fallbacks; what refers to a variable stays."""
    literal = {"Authorization": f"Bearer {LITERAL}", "accept": "text/plain"}
    stored = {
        "definition": {
            "model": {
                "name": "a",
                "params": {"extra_body": {"vendor": {"access_token": LITERAL, "region": "eu"}}},
                "fallbacks": ["b", {"name": "c", "params": {"extra_headers": literal}}],
            }
        }
    }
    secrets = Secrets(stored, {})
    assert LITERAL not in json.dumps(secrets.definition)
    assert secrets.left_out == [
        "model.params.extra_body.vendor.access_token",
        "model.fallbacks.1.params.extra_headers.Authorization",
    ]
    model = secrets.definition["definition"]["model"]
    assert model["params"] == {"extra_body": {"vendor": {"region": "eu"}}}
    assert model["fallbacks"][1]["params"] == {"extra_headers": {"accept": "text/plain"}}
    assert LITERAL in json.dumps(stored)  # the agent keeps its own


def test_without_secrets_nothing_is_changed(tmp_path: Path) -> None:
    """A variable that is no key stays where it was said."""
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", definition=small(), model=ScriptedModel(["Yes."]))
        agent.send("The path is /usr/bin.")
        agent.close()
        assert not runtime.export_agent("ada", tmp_path / "ada.pmz").notes
        runtime.import_agent(tmp_path / "ada.pmz", name="eva")
        with runtime.reader("ada") as one, runtime.reader("eva") as other:
            assert tables(one) == tables(other)


def test_what_a_file_reaches_is_told(
    runtime_: Runtime, planted: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it would send what it is told, and the variables it reads; one that is not set is no
    reason to lose an agent."""
    agent = runtime_.agent(
        "ada", definition=parse_definition(DEFINITION), model=ScriptedModel(["Yes."])
    )
    agent.send("Hello.")
    agent.close()
    runtime_.export_agent("ada", tmp_path / "ada.pmz")
    monkeypatch.delenv("TEAM")
    made = runtime_.import_agent(tmp_path / "ada.pmz", name="eva")
    told = "\n".join(made.notes)
    assert "it sends what it is told to https://127.0.0.1:9/v1 (openai/test)" in told
    assert "ODD_NAME, PLANTED_HEADER, TEAM, VENDOR_TOKEN" in told
    assert "not set here, and needed by its definition: TEAM" in told
    monkeypatch.setenv("TEAM", "harbour")
    with runtime_.reader("eva") as reader:
        assert reader.state.journal.count() == 2


@pytest.fixture
def runtime_() -> object:
    with temporary_runtime() as opened:
        yield opened
