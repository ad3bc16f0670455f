"""legalise.to_wire: what is sent is legal for each provider family, and nothing is lost."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wire_rules import FAMILIES, check

from pagemind.runtime.legalise import NO_RESULT, Rules, provider_of, rules_for, to_wire
from pagemind.runtime.message import Blob, Message, Reasoning, Text, ToolCall
from pagemind.runtime.model import ModelRequest, ToolSchema

MODELS = {
    "openai": "openai/my-local",
    "anthropic": "anthropic/claude-sonnet-4-5",
    "gemini": "gemini/gemini-2.5-flash",
    "mistral": "mistral/mistral-large-latest",
    "ollama": "ollama/llama3.1",
}
TOOLS = (ToolSchema("clock_now", "The time.", {"type": "object", "properties": {}}),)


def user(text: str) -> Message:
    return Message("user", (Text(text),))


def said(text: str, *calls: tuple[str, str], reasoning: tuple[Reasoning, ...] = ()) -> Message:
    return Message(
        "assistant",
        (*reasoning, Text(text)),
        tool_calls=tuple(ToolCall(i, name, "{}") for i, name in calls),
    )


def result(call_id: str, text: str = "done") -> Message:
    return Message("tool", (Text(text),), tool_call_id=call_id, name="clock_now")


def wire(
    *messages: Message, family: str = "openai", tools: tuple[ToolSchema, ...] = TOOLS
) -> list[dict]:
    request = ModelRequest(("You are Ada.",), messages, tools)
    out = to_wire(request, rules_for(MODELS[family]))
    check(out, family, tools=bool(tools))
    return out


# --- any sequence -------------------------------------------------------------------------------

texts = st.one_of(
    st.sampled_from(["", " ", "\n", "hello", "\ud83c", "a\x00b", "</tool_result>", "🍸", "."]),
    st.text(st.characters(codec=None), max_size=12),
)
ids = st.sampled_from(["c1", "c2", "abcdefgh1", "abcdefgh2", "", " ", "x" * 300, "\ud83c", "a.b|c"])
names = st.sampled_from(["clock_now", "web.search", "", "x" * 90, "\ud83c"])
arguments = st.sampled_from(
    ["{}", '{"a": 1}', "", "not json", "[1]", '{"a": NaN}', '{"a": "\\ud83c"}', '{"a', "[" * 5000]
)
opaques = st.sampled_from(
    [
        {"reasoning_content": "hm\ud83c"},
        {"thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s\ud83c"}]},
        {"thinking_blocks": "wrong", "other": 1},
        "text",
        None,
    ]
)
providers = st.sampled_from(["anthropic", "openai/my-local", "ollama/llama3.1", "gemini"])
parts = st.one_of(
    texts.map(Text),
    st.builds(Reasoning, providers, opaques),
    st.builds(Blob, st.just("ab" * 32), st.just("image/png"), st.just(9), st.just(9), texts),
)
messages = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant", "tool"]),
    parts=st.lists(parts, max_size=3).map(tuple),
    tool_calls=st.lists(st.builds(ToolCall, ids, names, arguments), max_size=3).map(tuple),
    tool_call_id=ids,
    name=names,
    kind=st.sampled_from(["talk", "notice", "reading", "observation"]),
)


@settings(max_examples=400, deadline=None)
@given(
    history=st.lists(messages, max_size=9),
    system=st.lists(texts, max_size=3),
    tools=st.booleans(),
)
def test_any_sequence_becomes_legal(history: list[Message], system: list[str], tools: bool) -> None:
    """For any messages at all, what is sent is legal for every provider family."""
    request = ModelRequest(tuple(system), tuple(history), TOOLS if tools else ())
    known = {c.id for m in history for c in m.tool_calls}
    for family in FAMILIES:
        out = to_wire(request, rules_for(MODELS[family]))
        check(out, family, tools=tools)
        assert to_wire(request, rules_for(MODELS[family])) == out
        sent = {c["id"] for m in out for c in m.get("tool_calls", ())}
        assert sent <= known | {"\ufffd"}, "an id was rewritten"


@settings(max_examples=150, deadline=None)
@given(order=st.permutations(["r1", "r2", "late word"]), drop=st.sets(st.sampled_from("12")))
def test_no_text_is_lost_whatever_the_order_of_results(order: list[str], drop: set[str]) -> None:
    """Results out of order, apart from their call or missing: every text still arrives."""
    tail = []
    for item in order:
        if item == "late word":
            tail.append(user(item))
        elif item[1] not in drop:
            tail.append(result(f"c{item[1]}", f"output {item[1]}"))
    out = wire(user("go"), said("", ("c1", "clock_now"), ("c2", "clock_now")), *tail)
    everything = json.dumps(out)
    for message in tail:
        assert message.text in everything


# --- one fact each ------------------------------------------------------------------------------


def test_a_call_without_its_result_gets_one() -> None:
    """A call cut off by a crash is answered with an error text, directly after it."""
    out = wire(user("go"), said("", ("c1", "clock_now"), ("c2", "clock_now")), result("c2"))
    assert [m["role"] for m in out] == ["system", "user", "assistant", "tool", "tool"]
    assert [m["content"] for m in out[3:]] == [NO_RESULT, "done"]


def test_what_stands_between_a_call_and_its_result_moves_behind_it() -> None:
    """A user message that arrived while a tool ran comes after the result."""
    out = wire(user("go"), said("", ("c1", "clock_now")), user("hurry"), result("c1"))
    assert [m["role"] for m in out[2:]] == ["assistant", "tool", "user"]


def test_an_orphaned_result_becomes_fenced_user_text() -> None:
    """A result whose call was evicted keeps its text, fenced, and cannot close its own fence."""
    out = wire(result("gone", "data </tool_result> more"), user("so?"))
    assert out[1]["role"] == "user"
    assert out[1]["content"].startswith(
        '<tool_result name="clock_now">\ndata <\\/tool_result> more'
    )
    assert out[1]["content"].count("</tool_result>") == 1


def test_the_first_message_is_the_users() -> None:
    """A history whose head was evicted starts with a placeholder from the user."""
    for family in FAMILIES:
        assert wire(said("I said"), user("ok"), family=family)[1]["role"] == "user"


def test_an_id_used_again_belongs_to_its_latest_call() -> None:
    """A server that restarts its numbering does not steal the result of a later call."""
    first, second = said("", ("call_0", "clock_now")), said("", ("call_0", "clock_now"))
    out = wire(user("a"), first, user("b"), second, result("call_0", "late"))
    assert [m["content"] for m in out if m["role"] == "tool"] == [NO_RESULT, "late"]
    flat = wire(user("a"), first, user("b"), second, result("call_0", "late"), family="anthropic")
    assert [m["content"] for m in flat if m["role"] == "tool"] == ["late"]


def test_ids_a_provider_refuses_are_shown_as_text() -> None:
    """Mistral takes only its own nine characters: a foreign group is fenced, not renamed."""
    history = (
        user("go"),
        said("Let me see.", ("call_abc", "clock_now")),
        result("call_abc", "noon"),
    )
    out = wire(*history, family="mistral")
    assert [m["role"] for m in out] == ["system", "user", "assistant", "user"]
    assert '<tool_call name="clock_now">' in out[3]["content"]
    assert "noon" in out[3]["content"]


def test_a_long_signature_in_an_id_survives_for_gemini() -> None:
    """Gemini's call id carries a signature of any length; it goes back letter for letter."""
    long = "call_1__thought__" + "A" * 3000
    out = wire(user("go"), said("", (long, "clock_now")), result(long), family="gemini")
    assert out[2]["tool_calls"][0]["id"] == out[3]["tool_call_id"] == long


def test_anthropic_gets_no_calls_without_functions() -> None:
    """A request without functions shows its history of calls as text."""
    out = wire(
        user("go"),
        said("", ("c1", "clock_now")),
        result("c1", "noon"),
        family="anthropic",
        tools=(),
    )
    assert all("tool_calls" not in m for m in out)
    assert "noon" in out[-1]["content"]


def test_the_system_parts_stay_apart_for_anthropic() -> None:
    """Each part may carry its own cache breakpoint; elsewhere they are one text."""
    request = ModelRequest(("head", "", "core"), (user("hi"),))
    parts = to_wire(request, rules_for(MODELS["anthropic"]))[0]["content"]
    assert [p["text"] for p in parts] == ["head", "core"]
    assert to_wire(request, rules_for(MODELS["openai"]))[0]["content"] == "head\n\ncore"


def test_reasoning_returns_only_to_its_maker() -> None:
    """Thinking blocks go back to Anthropic and to nobody else."""
    blocks = [{"type": "thinking", "thinking": "hm", "signature": "s"}]
    thought = Reasoning("anthropic", {"thinking_blocks": blocks})
    history = (user("go"), said("", ("c1", "clock_now"), reasoning=(thought,)), result("c1"))
    assert wire(*history, family="anthropic")[2]["thinking_blocks"] == blocks
    for family in ("openai", "gemini", "ollama"):
        assert "hm" not in json.dumps(wire(*history, family=family))


def test_openai_like_reasoning_is_echoed_within_the_loop_only() -> None:
    """Reasoning goes back while its tool loop runs; a person ends it, a notice does not."""
    thought = Reasoning("openai/my-local", {"reasoning_content": "hm"})
    loop = (user("go"), said("", ("c1", "clock_now"), reasoning=(thought,)), result("c1"))
    notice = Message("user", (Text("memory pressure"),), kind="notice")
    assert wire(*loop, notice)[2]["reasoning_content"] == "hm"
    assert "hm" not in json.dumps(wire(*loop, said("Noon."), user("thanks")))


def test_mistral_gets_a_turn_between_a_result_and_the_user() -> None:
    """An interrupted turn leaves a result before the next user message: Mistral refuses that."""
    out = wire(
        user("go"),
        said("", ("abcdefgh1", "clock_now")),
        result("abcdefgh1"),
        user("again"),
        family="mistral",
    )
    assert [m["role"] for m in out[-3:]] == ["tool", "assistant", "user"]


@pytest.mark.parametrize(
    ("name", "provider", "family"),
    [
        ("gpt-4o", "openai", "openai"),
        ("claude-sonnet-4-5", "anthropic", "anthropic"),
        ("bedrock/anthropic.claude-3", "bedrock", "anthropic"),
        ("openrouter/anthropic/claude-sonnet-4.5", "openrouter", "anthropic"),
        ("gemini/gemini-2.5-pro", "gemini", "gemini"),
        ("ollama/mistral", "ollama_chat", "ollama"),
        ("mistral/mistral-small", "mistral", "mistral"),
        ("hosted_vllm/Qwen/Qwen3", "hosted_vllm", "openai"),
    ],
)
def test_a_model_name_tells_its_family(name: str, provider: str, family: str) -> None:
    """The rules follow from the litellm name alone."""
    assert provider_of(name) == provider
    assert rules_for(name).family == family


def test_only_openai_itself_limits_ids_to_forty_characters() -> None:
    """vLLM's ids are longer than OpenAI accepts; each keeps what it can read."""
    assert rules_for("openai/gpt-4o").call_id != rules_for("openai/my-local").call_id
    assert rules_for("openai/gpt-oss-20b") == Rules("openai", "openai/gpt-oss-20b")


def test_only_anthropic_is_sent_thinking_blocks() -> None:
    """A proxy that handed over thinking blocks under an openai name does not get them back."""
    thought = Reasoning(MODELS["openai"], {"thinking_blocks": [{"type": "thinking"}]})
    history = (user("go"), said("", ("c1", "clock_now"), reasoning=(thought,)), result("c1"))
    assert "thinking_blocks" not in json.dumps(wire(*history))
