"""Isolation: no verb finds, or changes, what is not the caller's, whatever it is asked for.

Every verb of every surface is taken from its registry and driven with the ids, keys, names and
scopes of another agent, of an archive without a right to it, of another owner and of scopes out of
sight. A verb, or an argument of one, that is not known here fails: give it its line.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

import pytest
from awake_kit import house
from cli_kit import Cli
from http_kit import served_house
from isolation_kit import QUERY, STRANGERS, Hidden, Watch, hidden_home
from kernel_kit import runtime_at

from pagemind.runtime.cli import app
from pagemind.runtime.clock import SystemClock
from pagemind.runtime.http.app import ROUTES
from pagemind.runtime.mcp_server.functions import MemoryFunctions
from pagemind.runtime.reviewing import Reviewing
from pagemind.runtime.testing import ScriptedModel
from pagemind.tools import GROUPS


@pytest.fixture(scope="module")
def hidden(tmp_path_factory: pytest.TempPathFactory) -> Hidden:
    folder = tmp_path_factory.mktemp("isolation")
    return hidden_home(folder / "home", folder / "files")


# --- functions of the model, and of the MCP server ------------------------------------------------

# What an argument is: one of Hidden.called, or a value that is nobody's.
ARGUMENTS: dict[str, str | list[Any]] = {
    **{"id": "id", "block": "block", "scope": "scope", "namespace": "namespace", "key": "key"},
    **{"archive": "archive", "agent": "agent", "entity": "entity", "subject": "entity"},
    **{"speaker": "speaker", "path": "path", "tags": "tags", "any_tags": "tags", "name": "skill"},
    **{"query": "query", "situation": "query", "task": "query", "ids": "ids", "page": "id"},
    **{"text": ["boat"], "content": ["A word."], "value": [{"a": 1}], "old_text": ["The"]},
    **{"new_text": ["A"], "relation": ["lives_in"], "object": ["Faro"], "message": ["Hello."]},
    **{"when": ["in 2 hours"], "instructions": ["Do it."], "when_to_use": ["Now."], "hops": [2]},
    **{"limit": [20], "depth": [3], "filter": [{}], "direction": ["both"], "tier": ["both"]},
    **{"role": ["user"], "start": ["2020"], "end": ["2090"], "as_of": ["2090"], "part": [1]},
    **{"importance": [5], "outcome": ["done"], "private": [False], "ttl": ["30 days"]},
    **{"metadata": [{}], "wait": [False], "index": [["text"]], "if_version": [1], "regex": [False]},
    **{"ignore_case": [True], "line": [1], "since": ["2020"], "until": ["2090"], "code": [""]},
    **{"tests": [""], "arguments": [{}], "origins": [["user"]], "ranking": ["relevance"]},
    **{"max_tokens": [4000]},
}
# Functions that reach no memory by a name; what they reach is held elsewhere.
NOT_OF_MEMORY = {
    "clock_now": "takes nothing",
    "http_get": "reaches the web: test_bad_tools.py",
    "python": "runs in an empty folder: test_bad_tools.py",
    "shell": "runs what a person allowed: test_bad_tools.py",
    "ask_user": "asks a person",
}


def calls(schema: Mapping[str, Any], hidden: Hidden, name: str) -> Iterator[dict[str, Any]]:
    """The arguments of a function, with each hidden name in turn; the others are as they are
    needed, and once all are given."""
    values: dict[str, Sequence[Any]] = {}
    for argument in schema["properties"]:
        what = ARGUMENTS.get(argument)
        assert what is not None, f"{name}({argument}) has no line in ARGUMENTS"
        if argument == "ids":
            values[argument] = [[each] for each in hidden.called["id"]]
        elif (argument == "name" and name == "grep_files") or name == "list_files" == argument:
            values[argument] = ["*"]
        else:
            values[argument] = hidden.called[what] if isinstance(what, str) else what
    needed = {key: values[key][0] for key in schema.get("required", ())}
    yield needed
    for argument, several in values.items():
        for value in several:
            yield {**needed, argument: value}
            if argument == "namespace" and "key" in needed:
                yield from ({**needed, argument: value, "key": k} for k in values["key"])


def test_no_function_of_the_model(hidden: Hidden) -> None:
    """Whatever a model calls, with whatever it has guessed."""
    watch = Watch(hidden)
    with runtime_at(hidden.home, SystemClock()) as runtime:
        model = ScriptedModel(lambda request: "Yes.")
        agent = runtime.agent("ada", model=model, create=False)
        given = {tool.name: tool for group in GROUPS.values() for tool in group}
        schemas = {each.name: each.parameters for each in agent.queue_manager.context.tools}
        assert set(schemas) | set(NOT_OF_MEMORY) == set(given)
        for name, schema in schemas.items():
            if name in NOT_OF_MEMORY:
                continue
            for number, arguments in enumerate(calls(schema, hidden, name)):
                watch.run(
                    f"{name}({arguments})",
                    partial(agent.call, name, arguments, id=f"{name}-{number}"),
                )
        agent.send(QUERY)
        watch.tell("what she was shown", str([r.messages for r in model.requests]))
    watch.end()
    assert watch.asked > 400


def test_no_function_of_the_mcp_server(hidden: Hidden) -> None:
    """A program that uses ada's memory sees no more than ada does."""
    watch = Watch(hidden)
    with runtime_at(hidden.home, SystemClock()) as runtime:
        served = MemoryFunctions(runtime, "ada", sends=False)
        for tool, _ in served.tools():
            for arguments in calls(tool.parameters, hidden, tool.name):
                watch.run(
                    f"{tool.name}({arguments})",
                    partial(served.call, tool, dict(arguments), "mallory"),
                )
    watch.end()
    assert watch.asked > 100


# --- the Python API -------------------------------------------------------------------------------

# What else a method takes that names something; `None`: it is left out.
TAKES: dict[str, str | list[Any] | None] = {
    **ARGUMENTS,
    **{"number": "number", "label": "block", "pattern": "namespace", "line": "line"},
    **{"to": [133, 400], "version": [1], "call": ["c1"], "source": "id", "reason": ["x"]},
    **{
        "*ids": "id",
        "wanted": None,
        "servers": None,
        "distrust": None,
        "dry_run": [True],
        "fences": None,
    },
    **{"filters": None, "name": "skill", "states": [("pending",)], "event": None, "change": None},
    **dict.fromkeys(("observer", "cancel", "consent", "on_rows", "images", "schema", "kept")),
    **dict.fromkeys(("refresh", "refresh_on_read", "keeping", "sight", "lock", "apply", "eager")),
    **dict.fromkeys(("max_tokens", "offset", "seconds", "turns", "speaker", "origin", "document")),
    **dict.fromkeys(("importance", "if_version", "wait", "ttl", "metadata", "tags", "query")),
    **dict.fromkeys(("ranking", "limit", "embedding")),
}
# Methods that are no verb on memory, end the object, or hand out another one that is driven here.
NO_VERB = {
    "close, for_person, watch, hold, release, at_rest, follow_within, prefill": "machinery",
    "recover, part_with, line, text_of, listing": "machinery",
    "handle, send, asend, astream, stream, retry, approve": "turns: what a model is shown is above",
    "call": "the functions are above",
    "send_message_to, send_message_to_all": "a program lets it talk with whom it likes",
    "archival, archival_of, editor": "hand out what the functions work on",
    "pages_in, trusted": "take what another of these gave",
    "seen": "takes a change that find() gave",
    "rebuild, reembed, carry_over": "take nothing that names anything",
}


def methods(thing: object) -> Iterator[tuple[str, dict[str, Any], Callable[..., Any]]]:
    """The public methods that take the name of something, each with what it takes."""
    left = {each for several in NO_VERB for each in several.split(", ")}
    for name, method in inspect.getmembers(thing, inspect.ismethod):
        if name.startswith("_") or name in left:
            continue
        takes: dict[str, Any] = {}
        for parameter in inspect.signature(method).parameters.values():
            key = f"{'*' if parameter.kind is parameter.VAR_POSITIONAL else ''}{parameter.name}"
            assert key in TAKES, f"{type(thing).__name__}.{name}({key}) has no line in TAKES"
            if (what := TAKES[key]) is not None:
                takes[key] = what
        if any(isinstance(what, str) for what in takes.values()):
            yield name, takes, method


def test_no_method_of_the_python_api(hidden: Hidden) -> None:
    """Objects of ada's, and of an archive of hers, with the names of what is not hers."""
    watch = Watch(hidden, (STRANGERS,))

    def drive(*things: object) -> None:
        for thing in things:
            for name, takes, method in methods(thing):
                every = {
                    key: hidden.called[what] if isinstance(what, str) else what
                    for key, what in takes.items()
                }
                for key in (each for each, what in takes.items() if isinstance(what, str)):
                    for value in every[key]:
                        given = {**{k: v[0] for k, v in every.items()}, key: value}
                        what = f"{type(thing).__name__}.{name}({given})"
                        several = [given.pop(k) for k in list(given) if k.startswith("*")]
                        watch.run(what, partial(method, *several, **given))

    with runtime_at(hidden.home, SystemClock()) as runtime:
        agent = runtime.agent("ada", model=ScriptedModel(lambda request: "Yes."), create=False)
        drive(agent, agent.store, runtime.timers("ada"), runtime.memory("shed"))
        agent.close()
        with runtime.writer("ada") as writer:
            drive(writer, writer.items, writer.pages, Reviewing(writer.state, writer.editor))
        drive(runtime.store("shed"))
    watch.end()
    assert watch.asked > 100


# --- the command line -----------------------------------------------------------------------------

# Each command that is about an agent: what it is asked, with a kind of name in the place of one.
COMMANDS_OF_ADA: dict[str, tuple[str, ...]] = {
    "send": ("ada {query}",),
    "observe": ("ada boat --source {speaker}",),
    "inspect": ("ada --request",),
    "memory blocks": ("ada",),
    "memory search": ("ada {query}", "ada {query} --id {id}", "ada {query} --scope {scope}"),
    "memory passages": ("ada --last 100",),
    "memory facts": ("ada {entity}", "ada {entity} --history"),
    "memory pages": ("ada {id}",),
    "memory segments": ("ada --all",),
    "memory history": ("ada {id}", "ada {block}"),
    "memory insert": ("ada boat --scope {scope}",),
    "memory edit": ("ada {block} --text A",),
    "memory forget": ("ada {id} --yes", "ada --scope {scope} --dry-run"),
    "memory skills": ("ada {skill}", "ada {skill} --approve"),
    "memory store": ("ada get {namespace} k1", "ada delete {namespace} k1", "ada list {namespace}"),
    "memory pin": ("ada {id}",),
    "memory unpin": ("ada {id}",),
    "memory review": ("ada {id}", "ada {id} --approve", "ada {id} --reject", "ada {id} --undo"),
    "memory why": ("ada {id}",),
    "memory trust": ("ada {id} --yes", "ada {block} --yes"),
    "memory revoke": ("ada --source {id} --dry-run",),
    "memory restore": ("ada {id} 1", "ada {block} 1"),
    "agents show": ("ada", "ada --at {id}"),
    "agents history": ("ada --all",),
    "agents diff": ("ada {id}",),
    "agents rewind": ("ada {id} --yes",),
    "agents lines": ("ada",),
    "agents bring-back": ("ada {line} --yes",),
    "agents fork": ("ada eva --at {id}",),
    "schedules list": ("ada",),
    "schedules cancel": ("ada {id}",),
    "queue list": ("ada",),
    "audit show": ("ada",),
    "audit verify": ("ada",),
}
# The others, and why they are none of these.
OTHER_COMMANDS = {
    "archives, blocks": "are about an archive or a shared block, which a person names",
    "config, init, completion, models, usage, doctor, upgrade, tasks, replay": "the house",
    "demo, up": "the house",
    "chat, run, mcp": "work as `send` does, or as the functions above",
    "eval, memory dump, memory load, agents export, agents import": "files that a person names",
    "memory sleep, memory rebuild, memory compact, memory reembed": "take the agent alone",
    "agents list, agents new, agents update, agents delete, agents path": "the agent alone",
    "agents accept, agents undo, agents good, agents bad, schedules add": "the agent alone",
    "schedules reset": "the agent alone",
    "queue retry, queue drop": "events, which a person names",
    "memory erase": "what it finds and takes is held in tests/erasure",
}


def test_no_command(
    hidden: Hidden, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a person asks about ada is of ada alone."""
    others = {each for several in OTHER_COMMANDS for each in several.split(", ")}
    for _, words, _, _ in app.COMMANDS:
        known = {words, words.split()[0]} & others or words in COMMANDS_OF_ADA
        assert known, f"{words} has no line in COMMANDS_OF_ADA"
    monkeypatch.setenv("PAGEMIND_HOME", str(hidden.home))
    cli, watch = Cli(hidden.home, capsys), Watch(hidden, (STRANGERS,))
    for command, several in COMMANDS_OF_ADA.items():
        for line in several:
            kind = next((each for each in hidden.called if f"{{{each}}}" in line), None)
            for value in _telling(hidden, kind):
                words = [each.replace(f"{{{kind}}}", str(value)) for each in line.split()]
                model = ("--model", "scripted/echo") if command == "send" else ()
                ran = cli(*command.split(), *words, *model)
                watch.tell(f"{command} {words}", [ran.out, ran.err])
    watch.end()
    assert watch.asked > 50


def _telling(hidden: Hidden, kind: str | None) -> Sequence[Any]:
    """Some of each kind: each is a command of its own."""
    if kind is None:
        return ("",)
    return hidden.called[kind][: 2 if kind == "id" else 1]


# --- HTTP -----------------------------------------------------------------------------------------

BODIES: dict[str, dict[str, Any]] = {
    "/agents/{agent}/messages": {"text": QUERY},
    "/agents/{agent}/observations": {"text": "It rains.", "source": "sensor"},
    "/agents/{agent}/passages": {"text": "A boat.", "scope": "/bob"},
    "/agents/{agent}/schedules": {"when": "in 2 hours", "message": "Hello."},
    "/v1/chat/completions": {"model": "{agent}", "messages": [{"role": "user", "content": QUERY}]},
}


def test_no_route(hidden: Hidden) -> None:
    """A server of ada alone gives nothing of bob's, by his name or by an id of his."""
    watch = Watch(hidden, (STRANGERS,))
    with (
        house(hidden.home, clock=SystemClock()) as home,
        served_house(home, only={"ada"}) as served,
    ):
        for method, path, _ in ROUTES:
            named = re.findall(r"{(\w+)}", path)
            assert set(named) <= {"agent", "id", "target", "page", "model"}, path
            assert method == "GET" or path in BODIES or named[-1] == "id", f"{path}: BODIES"
            asked = [(each, "m1") for each in ("bob", hidden.bob, "BOB")]
            asked += [("ada", id) for id in hidden.called["id"][: 12 if len(named) > 1 else 1]]
            for agent, id in asked:
                at = path.replace("{agent}", agent).replace("{model}", agent)
                at = re.sub(r"{\w+}", quote(id, safe=""), at)
                body = BODIES.get(path) if method == "POST" else None
                if body is not None:
                    body = {k: agent if v == "{agent}" else v for k, v in body.items()}
                answer = served.client.request(method, at, json=body)
                watch.tell(f"{method} {at}", answer.text)
                assert agent == "ada" or not named or answer.status_code == 404, answer.text
        for query in hidden.called["query"]:
            for more in ({}, {"viewer": "bob"}, {"scope": "/bob"}, {"id": hidden.called["id"][0]}):
                found = served.client.get("/agents/ada/search", params={"query": query, **more})
                watch.tell(f"search {query} {more}", found.text)
    watch.end()
