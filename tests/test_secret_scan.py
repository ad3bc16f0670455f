"""Secrets are known by their form, replaced by their kind, and kept out of what a model writes."""

import random
import string
import subprocess
import sys
from pathlib import Path

import pytest
from kernel_kit import agent_at, small

from pagemind.runtime.agent import Agent
from pagemind.runtime.secret_scan import secrets_in, without
from pagemind.runtime.testing import ScriptedModel, call

_LETTERS = string.ascii_letters + string.digits


def made(count: int) -> str:
    """Letters and digits of no meaning, the same each time."""
    return "".join(random.Random(count).choices(_LETTERS, k=count))


# Put together here, so that no scanner of the repository takes them for real ones.
KINDS = {
    "aws access key": "AK" + "IA" + "ABCDEFGHIJ234567",
    "github token": "gh" + "p_" + made(36),
    "gitlab token": "glp" + "at-" + made(20),
    "openai key": "sk" + "-proj-" + made(48),
    "anthropic key": "sk" + "-ant-api03-" + made(80),
    "google key": "AI" + "za" + made(35),
    "slack token": "xox" + "b-123456789012-123456789012-" + made(24),
    "stripe access key": "sk" + "_live_" + made(24),
    "private key": "-----BEGIN RSA "
    + f"PRIVATE KEY-----\n{made(64)}\n-----END RSA PRIVATE KEY-----",
    "json web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl",
    "bearer token": "Bearer " + made(40),
    "password": "password: " + "hunter2-" + made(4),
    "password in an address": "postgres://sam:" + made(12) + "@db.example.org/x",
}
TOKEN = KINDS["github token"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_is_known_by_its_form_and_replaced_by_its_kind(kind: str) -> None:
    """Wherever in a text it stands; what is around it stays."""
    text = f"Remember that {KINDS[kind]} is for the harbour."
    found = secrets_in(text)
    assert [each.kind for each in found] == [kind]
    kept = without(text, found)
    assert kept.startswith("Remember that ")
    assert kept.endswith(" is for the harbour.")
    assert f"[secret: {kind}]" in kept
    assert KINDS[kind][-8:] not in kept.replace("@db.example.org/x", "")
    assert secrets_in(kept) == []


@pytest.mark.parametrize(
    "text",
    [
        "The password is under the mat, and the key: the third from the left.",
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "See https://example.org/a/very-long-path/20260508/IMG_20260508_140312_HDR.jpg",
        "id 0198f3c2-7d1e-7a31-9b1c-5d5d8e8e0e5f, branch feature/retry-with-backoff-2",
        "api_key: ${OPENAI_API_KEY}, token = <your token>",
        "sk-learn, ghp_short, AKIA, Bearer of bad news, mail sam@example.org",
    ],
)
def test_what_only_looks_random_is_no_secret(text: str) -> None:
    """Hashes, ids, file names, addresses and talk about secrets stay."""
    assert secrets_in(text) == []


def test_plain_text_does_not_even_load_the_library() -> None:
    """Nearly every text is plain."""
    code = (
        "import sys; from pagemind.runtime.secret_scan import secrets_in;"
        " secrets_in('My dog Pixel is afraid of thunder. Call +351 912 345 678.');"
        " print('detect_secrets' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


def written(agent: Agent) -> str:
    """All that memory holds, messages apart."""
    tables = ("passages", "passage_versions", "block_versions", "changes", "entities")
    rows = (agent.state.database.rows(f"SELECT * FROM {table}") for table in tables)
    return "\n".join(str(tuple(row)) for each in rows for row in each)


SCRIPT = [
    call("archival_insert", content=f"The deploy token is {TOKEN}.", tags=[TOKEN]),
    call("core_append", block="human", content=f"Uses {TOKEN}."),
    "Noted.",
]
TOOLS = ("core_append", "archival_insert")


def test_what_a_model_stores_has_the_kind_in_its_place(tmp_path: Path) -> None:
    """In passages and core memory; the message itself stays as it was said, and the audit log has
    the kind alone."""
    with agent_at(tmp_path, ScriptedModel(list(SCRIPT)), small(4096, *TOOLS)) as agent:
        agent.send(f"My deploy token is {TOKEN}")
        assert TOKEN not in written(agent)
        assert "without the secret" in agent.state.journal.get([3])[3].text
        assert "The deploy token is [secret: github token]." in written(agent)
        assert agent.context.core.get("human").value == "Uses [secret: github token]."
        assert agent.state.journal.get([1])[1].text == f"My deploy token is {TOKEN}"
        [row] = [each for each in agent.state.audit.rows() if each.op == "secret left out"]
        assert (row.target, row.detail["kinds"]) == ("a1", ["github token"])


def test_refused_a_model_is_told_which_kind_stands_where(tmp_path: Path) -> None:
    """And nothing is stored."""
    strict = small(4096, *TOOLS, more="trust: {secrets: refuse}\n")
    with agent_at(tmp_path, ScriptedModel(list(SCRIPT)), strict) as agent:
        result = agent.send(f"My deploy token is {TOKEN}")
        errors = [each.error or "" for each in result.tool_calls]
        assert all("holds a secret (github token)" in error for error in errors)
        assert TOKEN not in written(agent)
        assert agent.state.passages.count() == 0


def test_allowed_and_what_a_person_stores_stays_as_it_is(tmp_path: Path) -> None:
    """It is theirs to say."""
    free = small(4096, *TOOLS, more="trust: {secrets: allow}\n")
    with agent_at(tmp_path / "a", ScriptedModel(list(SCRIPT)), free) as agent:
        agent.send("Keep it.")
        assert f"The deploy token is {TOKEN}." in written(agent)
    with agent_at(tmp_path / "b", ScriptedModel()) as agent:
        agent.insert(f"The deploy token is {TOKEN}.")
        assert TOKEN in written(agent)
