"""docs/json.md is true: every key of every answer stands in it, with its type, and no other."""

import json
import re
import shutil
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from cli_kit import PLAIN, Cli

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.facts import FactBook
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.skill import Draft
from pagemind.runtime.skill_book import SkillBook

DOCS = Path(__file__).resolve().parents[2] / "docs" / "json.md"
_ROW = re.compile(r"^\| `([^`]+)` \| (.+?) \| .*\|$")
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "list of string": (list,),
    "list of object": (list,),
    "time": (str,),
    "null": (type(None),),
}


def documented() -> dict[str, dict[str, str]]:
    """Each section's keys and types."""
    sections: dict[str, dict[str, str]] = {}
    current: dict[str, str] = {}
    for line in DOCS.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            current = sections.setdefault(line.removeprefix("## "), {})
        elif match := _ROW.match(line):
            current[match[1]] = match[2].replace("\\|", "|")
    return sections


SECTIONS = documented()


def leaves(value: Any, path: str, known: dict[str, str]) -> list[tuple[str, Any]]:
    """Every documented path of an answer with its value; objects that are a type stay whole."""
    if isinstance(value, dict) and path not in known:
        found = []
        for key, inner in value.items():
            found += leaves(inner, f"{path}.{key}" if path else key, known)
        return found
    if isinstance(value, list) and path not in known:
        found = []
        for inner in value:
            found += leaves(inner, f"{path}[]", known)
        return found
    return [(path, value)]


def hold(section: str, answer: dict[str, Any], *, may_lack: str | tuple[str, ...] = "") -> None:
    """The answer has the documented keys, each with a value of its type, and no other."""
    known = SECTIONS[section]
    assert answer.pop("schema") == 1
    found = leaves(answer, "", known)
    for path, value in found:
        assert path in known, f"{section}: {path} is not documented"
        types = tuple(t for name in known[path].split(" | ") for t in _TYPES[name])
        exact = type(value) in types or (float in types and type(value) is int)
        assert exact, f"{section}: {path} is {value!r}, documented as {known[path]}"
        if known[path].startswith("time") and value is not None:
            assert datetime.fromisoformat(value).tzinfo is not None
            assert value.endswith("Z")
    missing = set(known) - {path for path, _ in found}
    assert not {path for path in missing if not path.startswith(may_lack or "-")}


# What an agent may have none of; for a diff see test_cli_past.py.
_MAY_LACK: dict[str, str | tuple[str, ...]] = {
    "inspect": ("hot[]", "evicted_next.groups[]"),
    "inspect --trust": ("untrusted[]", "aside[]", "refused[]", "blocks[]"),
    "agents diff": ("blocks[]", "passages.edited[]", "passages.retired[]"),
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of an agent that was told so much that pages left its window."""
    home = tmp_path_factory.mktemp("told") / "home"
    with Runtime(home) as runtime:
        agent = runtime.agent("ada", parse_definition(PLAIN), model="scripted/echo")
        for text in ("Hello, I am Sam.", "My boat is called Nomad."):
            agent.send(text)
        for number in range(40):
            agent.send(f"{number}: " + "a long sentence about the sea " * 8)
    return home


@pytest.fixture
def full(cli: Cli, told: Path) -> Cli:
    """An agent with something of everything."""
    shutil.copytree(told, cli.home, dirs_exist_ok=True)
    note = cli.home / "notes.md"
    note.write_text("# Boat\n\nBerth 42.\n", encoding="utf-8")
    assert cli("memory", "insert", "ada", "--file", str(note), "--tag", "boat").code == 0
    with Runtime(cli.home) as runtime, runtime.writer("ada") as writer:
        FactBook(writer.state).add("Sam", "lives_in", "Lisbon")
        draft = Draft.of("moor", "When the boat comes in.", "Fenders first.", None, "")
        what = {"state": "pending", "seq": 0, "trust": 80, "sources": ["m1"]}
        writer.state.changes.add("extract", "add", {"text": "Sam has a boat."}, **what)
        SkillBook(writer.state).save(draft, why="it waits", refused=False, trust=80, turn=1)
    return cli


def test_every_answer_is_as_documented(full: Cli) -> None:
    """The real commands against the page."""
    for section, words in {
        "agents list": ["agents", "list"],
        "agents show": ["agents", "show", "ada"],
        "agents show --at": ["agents", "show", "ada", "--at", "m2"],
        "agents history": ["agents", "history", "ada"],
        "agents diff": ["agents", "diff", "ada", "m1"],
        "memory blocks": ["memory", "blocks", "ada"],
        "memory history": ["memory", "history", "ada", "human"],
        "memory search": ["memory", "search", "ada", "berth"],
        "memory passages": ["memory", "passages", "ada"],
        "memory facts": ["memory", "facts", "ada"],
        "memory pages": ["memory", "pages", "ada"],
        "memory skills": ["memory", "skills", "ada"],
        "memory pin": ["memory", "pin", "ada", "m1"],
        "inspect": ["inspect", "ada"],
        "inspect --trust": ["inspect", "ada", "--trust"],
        "models list": ["models", "list"],
        "models path": ["models", "path"],
        "usage": ["usage"],
        "usage --by": ["usage", "--by", "purpose"],
        "init": ["init", "--model", "scripted/echo", "--embedding", "none"],
        "config list": ["config", "list"],
        "observe": ["observe", "ada", "It rains.", "--source", "weather"],
        "memory rebuild": ["memory", "rebuild", "ada"],
        "memory compact": ["memory", "compact", "ada"],
        "memory review": ["memory", "review", "ada"],
        "memory trust": ["memory", "trust", "ada", "m1", "--yes"],
        "memory why": ["memory", "why", "ada", "a1"],
        "memory revoke": ["memory", "revoke", "ada", "--source", "a1", "--dry-run"],
        "memory sleep": ["memory", "sleep", "ada"],
        "memory segments": ["memory", "segments", "ada"],
        "agents accept": ["agents", "accept", "ada"],
        "agents good": ["agents", "good", "ada", "it listened"],
        "memory forget": ["memory", "forget", "ada", "a1", "--dry-run"],
        "memory erase --dry-run": ["memory", "erase", "ada", "--id", "m1", "--dry-run"],
        "memory reembed": ["memory", "reembed", "ada"],
        "upgrade": ["upgrade"],
        "doctor": ["doctor"],
        "audit verify": ["audit", "verify"],
        "audit show": ["audit", "show", "ada"],
    }.items():
        ran = full(*words, "--json")
        assert ran.code == 0, (words, ran.err)
        hold(section, ran.json, may_lack=_MAY_LACK.get(section, ""))


def test_the_time_machine_is_as_documented(full: Cli) -> None:
    """What it takes back, which lines there are, and what a copy is."""
    undo = full("agents", "rewind", "ada", "m2", "--yes", "--json").json
    hold("agents undo", undo, may_lack="world")
    full("observe", "ada", "It rains.", "--source", "weather")
    hold("agents lines", full("agents", "lines", "ada", "--json").json)
    fork = full("agents", "fork", "ada", "bob", "--at", "m2", "--json").json
    hold("agents fork", fork)


def test_a_turn_is_as_documented(full: Cli) -> None:
    """Without a function called, the keys of calls are absent; all others are there."""
    hold("send", full("send", "ada", "Hello", "--json").json, may_lack="tool_calls[]")


def test_an_erasure_is_as_documented(full: Cli) -> None:
    """`memory erase` answers as documented."""
    ran = full("memory", "erase", "ada", "--id", "m1", "--yes", "--json")
    assert ran.code == 0, ran.json["found"]
    hold("memory erase", ran.json)


def test_an_insert_is_as_documented(full: Cli) -> None:
    """Files that were skipped are named."""
    ran = full("memory", "insert", "ada", "--file", str(full.home / "nothing.txt"), "--json")
    hold("memory insert", ran.json, may_lack="near[]")
    assert ran.code == 1


def test_an_evaluation_is_as_documented(full: Cli) -> None:
    """A hit, a miss and an error."""
    cases = full.home / "cases.yaml"
    case = "- {question: the boat, expected: Nomad}\n- {question: x, expected: y}\n"
    cases.write_text(f"cases:\n{case}- {{question: x, evidence: [m9999]}}\n", encoding="utf-8")
    hold("eval", full("eval", "ada", str(cases), "--json").json)


def test_a_task_is_as_documented(cli: Cli) -> None:
    """Its plan, its last line and its place in the list."""
    task = cli.home / "facts.yaml"
    task.write_text(
        "agent: {definition: ./plain.yaml, model: scripted/echo}\ndo: [{say: hello}]\n",
        encoding="utf-8",
    )
    hold("run --dry-run", cli("run", str(task), "--dry-run", "--json").json)
    last = cli("run", str(task), "--json").out.splitlines()[-1]
    hold("run", json.loads(last))
    hold("tasks list", cli("tasks", "list", "--json").json)
    body = task.read_text(encoding="utf-8").replace("hello", "hello, expect: {lacks: hello}")
    task.write_text(f"on_error: ask\nname: asks\n{body}", encoding="utf-8")
    cli("run", str(task))
    hold("tasks answer", cli("tasks", "answer", "asks", "--json").json)


def test_what_waits_for_an_awake_home_is_as_documented(full: Cli) -> None:
    """Timers, the queue, and a message that was left in it."""
    hold("send --queue", full("send", "ada", "hello", "--queue", "--json").json)
    hold("queue list", full("queue", "list", "--json").json)
    full("schedules", "add", "ada", "every hour", "Look out.")
    hold("schedules list", full("schedules", "list", "--json").json)


def test_lists_say_how_many_there_are(full: Cli) -> None:
    """`total` counts all, also where --last shows fewer."""
    answer = full("agents", "history", "ada", "--last", "3", "--json").json
    assert [item["turn"] for item in answer["items"]] == [40, 41, 42]
    assert answer["total"] == 42
    answer = full("memory", "passages", "ada", "--last", "1", "--json").json
    assert len(answer["items"]) == 1


def test_one_page_has_its_text(full: Cli) -> None:
    """Every message of the page, in order."""
    answer = full("memory", "pages", "ada", "p1", "--json").json
    assert answer["id"] == "p1"
    assert "m1 [" in answer["text"]
    assert answer["text"].index("m1 [") < answer["text"].index("m3 [")


def test_the_request_is_the_next_one(full: Cli) -> None:
    """--request adds what would be sent, system to messages."""
    request = full("inspect", "ada", "--request", "--json").json["request"]
    assert request["system"][0].startswith("You are a test agent.")
    assert request["tools"][0]["name"] == "core_append"
    assert request["messages"][-1]["role"] == "assistant"
    plain = full("inspect", "ada", "--request").out
    assert request["system"][0] in plain
    assert "--- function page_in" in plain


def test_answers_about_archives_are_as_documented(cli: Cli) -> None:
    """The life of one, with a file that is not there."""
    docs = cli.home / "docs"
    docs.mkdir()
    (docs / "hours.md").write_text("# Hours\n\nThe office closes at six.\n", encoding="utf-8")
    missing = str(docs / "nothing.txt")
    for section, words, code in (
        ("archives show", ["new", "handbook", "-e", "none"], 0),
        ("archives insert", ["insert", "handbook", "-f", str(docs), "-f", missing], 3),
        ("archives insert", ["insert", "handbook", "Berth 42."], 0),
        ("archives insert", ["sync", "handbook", str(docs)], 0),
        ("archives list", ["list"], 0),
        ("archives show", ["show", "handbook"], 0),
        ("archives search", ["search", "handbook", "office"], 0),
        ("archives rebuild", ["rebuild", "handbook"], 0),
        ("archives reembed", ["reembed", "handbook"], 0),
        ("archives show", ["delete", "handbook", "--yes"], 0),
    ):
        ran = cli("archives", *words, "--json")
        assert ran.code == code, (words, ran.err)
        answer = ran.json
        if section == "archives insert":  # what these runs have none of
            answer["near"] = answer["near"] or [{"id": "a1", "near": "a2", "similarity": 1.0}]
            answer["skipped"] = answer["skipped"] or [{"path": "x", "why": "y"}]
        hold(section, answer)


def test_answers_about_shared_blocks_are_as_documented(cli: Cli) -> None:
    """Every key of every answer."""
    plan = "blocks:\n  plan: {value: Map the harbour., limit: 100, shared: team_plan}\n"
    cli.definition.write_text(PLAIN.replace("blocks:\n", plan), encoding="utf-8")
    cli.ada("Hello")
    for section, words in (
        ("blocks list", ["list"]),
        ("blocks show", ["show", "team_plan"]),
        ("blocks show", ["edit", "team_plan", "--text", "x"]),
        ("blocks show", ["restore", "team_plan", "1"]),
        ("blocks show", ["new", "other"]),
        ("memory history", ["history", "team_plan"]),
        ("blocks show", ["delete", "other", "--yes"]),
    ):
        ran = cli("blocks", *words, "--json")
        assert ran.code == 0, (words, ran.err)
        hold(section, ran.json)


def test_answers_about_mcp_servers_are_as_documented(cli: Cli) -> None:
    """Every key, also of a server that cannot be reached."""
    nasty = Path(__file__).resolve().parents[1] / "mcp" / "nasty_server.py"
    servers = (
        f"{{n: {{command: [{sys.executable}, {nasty}]}}, absent: {{command: [no-such-thing]}}}}"
    )
    text = PLAIN.replace("[core_append, recall", f"[{{mcp: {servers}}}, core_append, recall")
    cli.definition.write_text(text, encoding="utf-8")
    ran = cli("mcp", "tools", str(cli.definition), "--json")
    assert ran.code == 3, ran.err
    hold("mcp tools", ran.json)
