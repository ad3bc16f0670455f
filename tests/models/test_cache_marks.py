"""Cache breakpoints: where a provider has them, at the ends of what later requests repeat."""

import json
from dataclasses import replace
from typing import Any

import pytest
from loopback import Loopback
from native_wire import ANTHROPIC_REPLY, NativeServer, anthropic_faults
from wire_rules import FAMILIES

from pagemind.runtime.legalise import rules_for, to_wire
from pagemind.runtime.message import Message, Provenance, Text, ToolCall
from pagemind.runtime.model import ModelRequest, ToolSchema
from pagemind.runtime.models.litellm_model import LitellmModel
from pagemind.runtime.models.litellm_request import Endpoint, completion_arguments

CLAUDE = rules_for("anthropic/claude-x")
MARKED = (
    *("anthropic/claude-x", "claude-sonnet-4-5", "vertex_ai/claude-sonnet-4-5"),
    *("bedrock/anthropic.claude-sonnet-4-20250514-v1:0", "openrouter/anthropic/claude-opus-4"),
    *("bedrock/us.anthropic.claude-3-5-sonnet-20241022-v2:0", "litellm_proxy/claude-x"),
)
PLAIN = (
    *("openai/gpt-4o", "gemini/gemini-2.5-flash", "mistral/x", "ollama/llama3", "openai/claude-x"),
    *("bedrock/anthropic.claude-3-haiku-20240307-v1:0", "bedrock/amazon.nova-pro-v1:0"),
)
TOOLS = (ToolSchema("clock_now", "Tell the time.", {"type": "object", "properties": {}}),)


def notice(text: str) -> Message:
    """The head of main context is one."""
    return Message("user", (Text(text),), kind="notice", provenance=Provenance("runtime"))


def user(text: str) -> Message:
    return Message("user", (Text(text),))


def assistant(text: str, *calls: ToolCall) -> Message:
    return Message("assistant", (Text(text),) if text else (), calls)


CALL = ToolCall("c1", "clock_now", "{}")
RESULT = Message("tool", (Text("noon"),), tool_call_id="c1", name="clock_now")
REQUEST = ModelRequest(
    ("instructions", "core"),
    (notice("<earlier/>"), user("hello"), assistant("Hi."), user("what time is it?")),
    TOOLS,
    stable=(1, 3),
)


def marks(wire: list[dict[str, Any]]) -> list[str]:
    """The text before each breakpoint, from the last one or the message's start on."""
    found = []
    for message in wire:
        content = message["content"]
        if "cache_control" in message:
            found.append(content)
        elif isinstance(content, list):
            found += [part["text"] for part in content if "cache_control" in part]
    return found


def plain(wire: list[dict[str, Any]]) -> list[Any]:
    """Messages with their texts in one piece."""
    flat = []
    for message in wire:
        content = message["content"]
        if isinstance(content, list) and message["role"] != "system":
            content = "".join(part["text"] for part in content)
        rest = {key: value for key, value in message.items() if key != "cache_control"}
        if message["role"] == "system":
            content = [part["text"] for part in content] if isinstance(content, list) else content
        flat.append({**rest, "content": content})
    return flat


def test_the_ends_of_what_is_repeated_are_marked() -> None:
    """Instructions with the functions, the head, what stands before the event, and the whole."""
    wire = to_wire(REQUEST, CLAUDE, marked=True)
    assert marks(wire) == ["instructions", "<earlier/>", "Hi.", "what time is it?"]


def test_the_texts_are_those_without_marks() -> None:
    """A mark moves no byte."""
    assert plain(to_wire(REQUEST, CLAUDE, marked=True)) == plain(to_wire(REQUEST, CLAUDE))


def test_without_a_head_core_memory_is_marked() -> None:
    """Before the first flush it is the last that holds."""
    request = replace(REQUEST, messages=(user("hello"),), stable=())
    assert marks(to_wire(request, CLAUDE, marked=True)) == ["instructions", "core", "hello"]


def test_in_a_turn_the_newest_result_is_marked() -> None:
    """The next step repeats all of this one, and there are never more than four."""
    request = replace(REQUEST, messages=(*REQUEST.messages, assistant("", CALL), RESULT))
    assert marks(to_wire(request, CLAUDE, marked=True)) == [
        *("instructions", "<earlier/>", "Hi.", "noon")
    ]


def test_an_event_right_after_the_head_is_no_part_of_it() -> None:
    """Both are one message of the user there: the mark stands between them."""
    request = replace(REQUEST, messages=(notice("<earlier/>"), user("hello")), stable=(1,))
    wire = to_wire(request, CLAUDE, marked=True)
    assert marks(wire) == ["instructions", "core", "<earlier/>", "\n\nhello"]


def test_calls_alone_bear_no_mark() -> None:
    """An assistant message without text before the event is left as it is."""
    request = replace(
        REQUEST,
        messages=(user("a"), assistant("", CALL), RESULT, user("b")),
        stable=(3,),
    )
    assert marks(to_wire(request, CLAUDE, marked=True)) == ["instructions", "core", "noon", "b"]


@pytest.mark.parametrize("name", [*MARKED, *PLAIN])
def test_only_who_has_them_gets_them(name: str) -> None:
    """Claude where its key is known to arrive; for all others nothing changes."""
    wire = to_wire(REQUEST, rules_for(name), marked=True)
    assert ("cache_control" in json.dumps(wire)) == (name in MARKED)
    if name in PLAIN:
        assert wire == to_wire(REQUEST, rules_for(name))


@pytest.mark.parametrize("family", FAMILIES)
def test_marks_are_asked_for(family: str) -> None:
    """Without `marked` no provider gets any."""
    assert "cache_control" not in json.dumps(to_wire(REQUEST, rules_for(f"{family}/x")))


def test_anthropic_receives_them() -> None:
    """On the wire, through litellm: four at most, the functions before the first."""
    messages = (*REQUEST.messages, assistant("Let me see.", CALL), RESULT)
    with NativeServer(anthropic_faults, ANTHROPIC_REPLY) as server:
        model = LitellmModel("anthropic/claude-x", api_base=server.url, api_key="k")
        model.complete(replace(REQUEST, messages=messages))
        model.complete(replace(REQUEST, messages=messages, purpose="summary"))
    assert server.faults == []
    turn, summary = server.bodies
    assert json.dumps(turn).count('"cache_control"') == 4
    assert [("cache_control" in part) for part in turn["system"]] == [True, False]
    blocks = [
        (message["role"], block["type"], block.get("text", ""))
        for message in turn["messages"]
        for block in message["content"]
        if "cache_control" in block
    ]
    assert blocks == [
        ("user", "text", "<earlier/>"),
        ("assistant", "text", "Hi."),
        ("user", "tool_result", ""),
    ]
    assert "cache_control" not in json.dumps(summary)


def test_other_servers_receive_what_they_always_did() -> None:
    """No marks, no key, texts in one piece."""
    with Loopback("ok") as server:
        model = LitellmModel("openai/test", api_base=server.url, api_key="sk-test")
        model.complete(replace(REQUEST, cache_key="abc"))
        (body,) = server.requests
    assert all(isinstance(message["content"], str) for message in body["messages"])
    assert "cache" not in json.dumps(body)
    assert not server.illegal


@pytest.mark.parametrize(
    ("name", "base", "key"),
    [
        ("openai/gpt-4o", None, "abc"),
        ("gpt-4o-mini", None, "abc"),
        ("openai/gpt-4o", "http://127.0.0.1:1/v1", None),
        ("anthropic/claude-x", None, None),
        ("groq/llama", None, None),
    ],
)
def test_openai_is_told_whose_prefix_it_is(
    name: str, base: str | None, key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenAI itself alone: other servers of its format may refuse what they do not know."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)
    endpoint = Endpoint(name, rules_for(name), base, "k", {}, False)
    arguments = completion_arguments(
        endpoint,
        replace(REQUEST, cache_key="abc"),
        streaming=True,
        seconds=9,
        window=None,
        temperature=False,
    )
    assert arguments.get("prompt_cache_key") == key


def test_litellm_passes_the_key_on() -> None:
    """It arrives as OpenAI documents it."""
    with Loopback("ok") as server:
        named = {"params": {"prompt_cache_key": "abc"}, "api_base": server.url}
        LitellmModel("openai/gpt-4o", api_key="sk-test", **named).complete(REQUEST)  # type: ignore[arg-type]  # mixed values
        (body,) = server.requests
    assert body["prompt_cache_key"] == "abc"
