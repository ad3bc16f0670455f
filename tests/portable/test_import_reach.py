"""An agent from elsewhere reaches nothing beyond its memory until a person has accepted it."""

import json
import zipfile
from pathlib import Path

import pytest
from kernel_kit import runtime_at
from portable_kit import definition as plain

from pagemind.runtime.approvals import KEY
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.invariants import check_state
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel, call

TOOLS = """
name: guest
embedding: none
context_window: 8192
tools:
- core
- shell: {rule: allow, folder: work, env: [HARBOUR_PASS]}
- http_get: {allow: [evil.example]}
- files: {roots: [/etc], write: [out]}
- python: {network: true}
- ask_user
"""
HERE = """
- no_such_module_here:run
- mcp:
    time: {command: [no-such-server], env: [HARBOUR_PASS]}
    wiki: {url: "https://wiki.example/mcp", token_env: WIKI_TOKEN, rule: allow}
inbox: drop
"""
REACH = [
    "read files in /etc",
    "read and write files in out",
    "read from evil.example",
    "run Python code with the network",
    "run commands in work, seeing HARBOUR_PASS",
    "call no_such_module_here:run, code that is installed here",
    "start the program no-such-server, seeing HARBOUR_PASS, asking before each call",
    "use the MCP server at https://wiki.example/mcp, seeing WIKI_TOKEN",
    "read the files that come into drop",
]


@pytest.fixture
def guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with an agent that would do all of this at once."""
    path = tmp_path / "far" / "guest.yaml"
    path.parent.mkdir()
    monkeypatch.setenv("HARBOUR_PASS", "tide-and-time-42")
    with runtime_at(tmp_path / "theirs") as runtime:
        agent = runtime.agent("guest", parse_definition(TOOLS, str(path)), model=ScriptedModel())
        agent.observe("The pass is tide-and-time-42.", source="sensor")
        agent.state.database.set_meta("called other:1", '"an answer"')
        agent.close()
        with runtime.reader("guest"):
            runtime.export_agent("guest", tmp_path / "made.pmz")
    _with_definition(tmp_path / "made.pmz", tmp_path / "guest.pmz", TOOLS.rstrip() + HERE)
    return tmp_path / "guest.pmz"


def _with_definition(made: Path, wanted: Path, text: str) -> None:
    """The file with this definition in it, and its sums right."""
    import hashlib

    with zipfile.ZipFile(made) as old:
        members = {name: old.read(name) for name in old.namelist()}
    stored = json.loads(members["definition.json"])
    assert "folder" not in stored  # where it lay is nobody's business
    assert stored["source"] == "guest.yaml"
    stored["definition"] = parse_definition(text).raw
    stored["folder"] = "/"
    data = json.dumps(stored).encode()
    members["definition.json"] = data
    manifest = json.loads(members["manifest.json"])
    for member in manifest["members"].values() if "members" in manifest else ():
        assert set(member) >= {"bytes", "sha256"}
    manifest["members"]["definition.json"] |= {
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    manifest["meta"] |= {"imported": "", "accepted": "x", KEY: '{"turn": 1}'}
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(wanted, "w") as new:
        for name, body in members.items():
            new.writestr(name, body)


def test_nothing_is_open_until_a_person_accepts(guest: Path, tmp_path: Path) -> None:
    """It is listed at import; then it opens, with relative folders where the person is."""
    with Runtime(tmp_path / "ours", background=False) as runtime:
        done = runtime.import_agent(guest, name="eva")
        told = [each for each in done.notes if each.startswith("closed until")]
        assert [each.partition("opens it: ")[2] for each in told] == REACH
        model = ScriptedModel([call("shell", command="echo hi"), "Well."])
        agent = runtime.agent("eva", model=model)
        first = agent.send("go")
        assert "closed until `pagemind agents accept eva`" in first.warnings[0]
        names = {tool.name for tool in model.requests[0].tools}
        assert names == {"core_append", "core_edit", "core_rewrite", "ask_user"}
        assert agent.pending() is None
        assert agent.state.database.meta("called other:1") == ""
        agent.close()
        assert runtime.accept("eva", apply=False)[-5] == (
            f"run commands in {Path.cwd() / 'work'}, seeing HARBOUR_PASS"
        )
        with runtime.reader("eva") as reader:
            assert reader.definition.closed[-3:] == (
                "MCP server time",
                "MCP server wiki",
                "inbox",
            )
            assert reader.definition.inbox_folder is None


def test_an_accepted_agent_may_do_it(guest: Path, tmp_path: Path) -> None:
    """Until another definition comes; an update is a person's own."""
    with Runtime(tmp_path / "ours", background=False) as runtime:
        runtime.import_agent(guest, name="eva")
        runtime.update("eva", parse_definition(TOOLS, "guest"), apply=True)
        with runtime.reader("eva") as reader:
            assert not reader.definition.closed
        runtime.import_agent(guest.with_name("made.pmz"), name="ivy")
        runtime.accept(
            "ivy", only=parse_definition(TOOLS.replace("rule: allow", "rule: ask"), "guest")
        )
        with runtime.reader("ivy") as reader:
            assert reader.definition.closed
        runtime.accept("ivy")
        with runtime.reader("ivy") as reader:
            assert not reader.definition.closed
            assert reader.definition.folder == Path.cwd()
        forked = runtime.fork("ivy", "zoe")
        with runtime.reader(forked.agent) as reader:
            assert not reader.definition.closed


def test_a_variable_of_a_function_does_not_leave(guest: Path) -> None:
    """What a function may see is a secret like a key of a provider."""
    with zipfile.ZipFile(guest) as file:
        assert not any(b"tide-and-time-42" in file.read(name) for name in file.namelist())


def test_what_waits_is_not_carried_along(tmp_path: Path) -> None:
    """In a copy of either kind the call lapses: only one agent may make it."""
    ours = parse_definition("name: a\nembedding: none\ncontext_window: 8192\ntools: [shell]\n")
    ran = tmp_path / "ran"
    with runtime_at(tmp_path / "home") as runtime:
        model = ScriptedModel([call("shell", command=f"echo x >> {ran}")], after="Done.")
        agent = runtime.agent("ada", ours, model=model)
        assert agent.send("go").stop_reason == "approval"
        runtime.fork("ada", "eva")
        runtime.export_agent("ada", tmp_path / "ada.pmz")
        runtime.import_agent(tmp_path / "ada.pmz", name="ivy")
        for name in ("eva", "ivy"):
            _lapsed(runtime, name)
        assert agent.approve().text == "Done."
    assert ran.read_text() == "x\n"


def _lapsed(runtime: Runtime, name: str) -> None:
    with runtime.reader(name) as reader:
        assert reader.info().pending is None
        assert not check_state(reader.state)
    with runtime.agent(name, model=ScriptedModel(after="Fine.")) as copy:
        assert copy.pending() is None
        (result,) = [m for m in copy.state.journal.newest(9) if m.role == "tool"]
        assert "nobody approved this call" in result.text
        assert not check_state(copy.state)
        assert copy.send("Hello").text == "Fine."


def test_an_agent_without_such_functions_needs_no_word(tmp_path: Path) -> None:
    """A backup of an agent that has its memory alone comes back as it was."""
    with runtime_at(tmp_path / "home") as runtime:
        runtime.agent("ada", plain(), model=ScriptedModel()).close()
        runtime.export_agent("ada", tmp_path / "ada.pmz")
        done = runtime.import_agent(tmp_path / "ada.pmz", name="eva")
        assert not [each for each in done.notes if "closed" in each]
        assert not runtime.agent("eva", model=ScriptedModel(after="Hi.")).send("x").warnings
