"""LitellmModel over a real HTTP server: streaming, retries, fallbacks, and each failure."""

import json
import subprocess
import sys
import threading
import time

import pytest
from loopback import Call, Loopback, Reply, error_body

from pagemind.runtime.arguments import unparsed
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import (
    AuthenticationFailed,
    BadReply,
    BadRequest,
    Cancelled,
    ContextOverflow,
    ModelError,
    ModelNotFound,
    ModelOverloaded,
    ModelTimeout,
    ModelUnreachable,
    OutputReserveConflict,
    RateLimited,
    StreamBroken,
    UserError,
)
from pagemind.runtime.legalise import rules_for
from pagemind.runtime.message import Message, Reasoning, Text, ToolCall
from pagemind.runtime.model import ModelReply, ModelRequest, ToolSchema, Usage
from pagemind.runtime.models.litellm_model import LitellmModel
from pagemind.runtime.models.retry import Backoff
from pagemind.runtime.models.stream_accumulator import StreamAccumulator
from pagemind.runtime.models.window_probe import is_local, registry_window

TOOLS = (
    ToolSchema(
        "core_append",
        "Add to a block.",
        {"type": "object", "properties": {"content": {"type": "string"}}},
    ),
)
QUICK = Backoff(base=0.01, jitter=lambda: 0.5)


def ask(text: str = "hello", **more: object) -> ModelRequest:
    return ModelRequest(("You are Ada.",), (Message("user", (Text(text),)),), TOOLS, **more)


def model(server: Loopback, **more: object) -> LitellmModel:
    given = {"api_base": server.url, "api_key": "sk-secret-1234567", "backoff": QUICK, **more}
    return LitellmModel("openai/test-model", **given)


def complete(server: Loopback, streaming: bool = True, **more: object) -> ModelReply:
    shown: list[str] = []
    reply = model(server, **more).complete(ask(), on_text=shown.append if streaming else None)
    if streaming and reply.finish != "refusal":
        assert "".join(shown).strip() == reply.text.strip()
    return reply


both = pytest.mark.parametrize("streaming", [True, False], ids=["stream", "whole"])


# --- replies ------------------------------------------------------------------------------------


@both
def test_text_usage_and_name_come_back(streaming: bool) -> None:
    """A reply carries its text, the provider's own token counts and the model's name."""
    with Loopback("Hello, Sam. How was the boat?") as server:
        reply = complete(server, streaming)
        assert reply.text == "Hello, Sam. How was the boat?"
        assert reply.finish == "stop"
        assert reply.model == "openai/test-model"
        assert reply.usage.prompt_tokens == server.prompt_tokens[0]
        assert reply.usage.completion_tokens > 0
        assert reply.cost is None
        assert server.requests[0]["max_tokens"] == 1024
        assert not server.illegal


@both
@pytest.mark.parametrize("factor", [None, 0.0, 1.6])
def test_usage_is_what_the_server_says(streaming: bool, factor: float | None) -> None:
    """Reported tokens are passed on as they are; missing or zero ones are 0, never a guess."""
    with Loopback("Hello.", usage_factor=factor) as server:
        used = complete(server, streaming).usage
        assert used.prompt_tokens == round((factor or 0) * server.prompt_tokens[0])
    if not factor:
        assert used == Usage()


def test_a_known_model_has_a_price() -> None:
    """The price of a model on litellm's list is computed from the reported usage."""
    with Loopback("Hello.") as server:
        named = LitellmModel("openai/gpt-4o-mini", api_base=server.url, api_key="sk-x")
        costs = [named.complete(ask(), on_text=o).cost for o in (None, lambda piece: None)]
    assert costs[0] == costs[1]
    assert costs[0] is not None
    assert 0 < costs[0] < 0.01


@both
@pytest.mark.parametrize("style", ["split", "index_zero", "id_everywhere", "doubled"])
def test_parallel_calls_arrive_whole(streaming: bool, style: str) -> None:
    """Two calls stay two calls, however a server spreads them over its chunks."""
    calls = (Call("core_append", {"content": "x" * 20}), Call("core_append", {"content": "y"}))
    with Loopback(Reply("Noted.", calls, call_style=style)) as server:
        reply = complete(server, streaming)
    assert [json.loads(c.arguments)["content"] for c in reply.tool_calls] == ["x" * 20, "y"]
    assert len({c.id for c in reply.tool_calls}) == 2
    assert reply.finish == "tool_calls"
    assert reply.text == "Noted."


@both
def test_calls_without_an_id_get_one(streaming: bool) -> None:
    """A server that gives no ids still gets each call answered under its own."""
    calls = (Call("core_append", {"content": "x"}, id=None), Call("clock_now", id=None))
    with Loopback(Reply(calls=calls)) as server:
        reply = complete(server, streaming)
    assert [c.name for c in reply.tool_calls] == ["core_append", "clock_now"]
    assert len({c.id for c in reply.tool_calls} - {""}) == 2


def test_calls_decide_not_the_finish_reason() -> None:
    """A server that says "stop" although it called a function is not believed."""
    with Loopback(Reply(calls=(Call("core_append", {"content": "x"}),), finish="stop")) as server:
        assert complete(server).finish == "tool_calls"


@both
def test_arguments_cut_off_are_kept_and_marked(streaming: bool) -> None:
    """Arguments that hit the output limit are closed, kept, and the reply says "length"."""
    cut = Call("core_append", '{"content": "a long te')
    with Loopback(Reply(calls=(cut,), finish="length")) as server:
        reply = complete(server, streaming)
    assert reply.finish == "length"
    assert json.loads(reply.tool_calls[0].arguments) == {"content": "a long te"}


@both
def test_arguments_beyond_repair_can_be_told(streaming: bool) -> None:
    """What is no JSON at all arrives as an object that carries the raw text."""
    with Loopback(Reply(calls=(Call("core_append", "please append it"),))) as server:
        reply = complete(server, streaming)
    assert unparsed(reply.tool_calls[0]) == "please append it"


@both
def test_a_tag_of_thought_is_not_shown(streaming: bool) -> None:
    """Reasoning that a model writes into its text reaches neither the person nor the transcript."""
    with Loopback(Reply("<think>What do I say?</think>\n\nHello.", piece=3)) as server:
        assert complete(server, streaming).text == "Hello."


@both
def test_reasoning_goes_back_to_its_model(streaming: bool) -> None:
    """reasoning_content is kept opaque and echoed within the same tool loop."""
    with Loopback([Reply(calls=(Call("clock_now"),), reasoning="Hm."), "Noon."]) as server:
        reply = complete(server, streaming)
        call = reply.tool_calls[0]
        loop = (
            Message("user", (Text("hello"),)),
            Message("assistant", reply.reasoning, tool_calls=reply.tool_calls),
            Message("tool", (Text("12:00"),), tool_call_id=call.id),
        )
        assert model(server).complete(ModelRequest(("s",), loop, TOOLS)).text == "Noon."
        assert server.requests[1]["messages"][2]["reasoning_content"] == "Hm."
        assert not server.illegal


@both
def test_an_empty_reply_is_called_empty(streaming: bool) -> None:
    """No text and no call is its own kind of finish, not an error and not a message."""
    with Loopback(Reply("")) as server:
        assert complete(server, streaming).finish == "empty"


def test_no_choices_is_an_empty_reply() -> None:
    """A provider that answers an empty list of choices said nothing."""
    with Loopback(Reply(fault="no_choices")) as server:
        assert complete(server, streaming=False).finish == "empty"


def test_a_refusal_is_told_apart() -> None:
    """A refusal and a content filter are a finish of their own."""
    with Loopback([Reply(refusal="I will not."), Reply("", finish="content_filter")]) as server:
        reply = complete(server, streaming=False)
        assert (reply.finish, reply.text) == ("refusal", "I will not.")
        assert complete(server).finish == "refusal"


def test_a_call_written_as_text_stays_text() -> None:
    """JSON in the text is not taken for a call here: the loop decides about that."""
    text = '{"name": "core_append", "arguments": {"content": "x"}}'
    with Loopback(text) as server:
        reply = complete(server)
    assert (reply.text, reply.tool_calls) == (text, ())


def test_long_runs_of_one_chunk_are_text() -> None:
    """A rule of 3,000 dashes streams through; litellm alone would abort it."""
    with Loopback(Reply("-" * 3000, piece=10)) as server:
        assert complete(server).text == "-" * 3000


def test_anthropic_thinking_blocks_are_put_together() -> None:
    """Text pieces and the signature that closes them become one block; redacted ones stay whole."""
    stream = StreamAccumulator(rules_for("anthropic/claude-x"), FrozenClock().new_id)
    pieces = [
        {"type": "thinking", "thinking": "a"},
        {"type": "thinking", "thinking": "b"},
        {"type": "thinking", "thinking": "", "signature": "s1"},
        {"type": "redacted_thinking", "data": "zz"},
        {"type": "thinking", "thinking": "cut off"},
    ]
    for piece in pieces:
        stream.feed({"choices": [{"delta": {"thinking_blocks": [piece]}}]})
    part = stream.reply("m", None).reasoning[0]
    assert part == Reasoning(
        "anthropic",
        {
            "thinking_blocks": [
                {"type": "thinking", "thinking": "ab", "signature": "s1"},
                {"type": "redacted_thinking", "data": "zz"},
            ]
        },
        part.text,
    )


def test_cached_tokens_are_read_in_both_forms() -> None:
    """OpenAI and Anthropic report cached tokens in different places."""
    for usage in (
        {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 7}},
        {"prompt_tokens": 9, "completion_tokens": 2, "cache_read_input_tokens": 7},
    ):
        stream = StreamAccumulator(rules_for("gpt-4o"), FrozenClock().new_id)
        stream.feed({"choices": [], "usage": usage})
        assert stream.reply("m", None).usage == Usage(9, 2, 7)


# --- what is sent -------------------------------------------------------------------------------


def test_the_request_says_what_was_asked() -> None:
    """Functions, schema, temperature and the definition's params are in the request; no retries of
    the SDK and no unknown keys in the messages.
    """
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    with Loopback("ok") as server:
        named = model(server, params={"top_p": 0.5})
        named.complete(ask(temperature=0.2, response_schema=schema, max_tokens=77))
        named.complete(ask(response_schema={"type": "object", "properties": {"a": {}}}))
        body, loose = server.requests
    assert body["tools"][0]["function"]["name"] == "core_append"
    assert (body["temperature"], body["top_p"], body["max_tokens"]) == (0.2, 0.5, 77)
    assert body["response_format"]["json_schema"]["schema"] == schema
    assert body["response_format"]["json_schema"]["strict"] is True
    assert loose["response_format"]["json_schema"]["strict"] is False
    assert not server.illegal


def test_a_model_that_takes_no_temperature_gets_none() -> None:
    """A refused temperature is left out, this time and from then on."""
    refusal = error_body("Unsupported value: 'temperature' does not support 0.2 with this model.")
    with Loopback([Reply(status=400, error=refusal), "ok", "ok"]) as server:
        named = model(server)
        assert named.complete(ask(temperature=0.2)).text == "ok"
        named.complete(ask(temperature=0.2))
        assert ["temperature" in r for r in server.requests] == [True, False, False]


def test_params_may_not_set_what_the_runtime_sets() -> None:
    """A definition that sets max_tokens or stream behind the runtime's back is refused."""
    with pytest.raises(UserError, match="max_tokens"):
        LitellmModel("gpt-4o", params={"max_tokens": 5})


def test_a_server_at_home_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any key a loopback server is called all the same."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Loopback("ok") as server:
        assert LitellmModel("openai/test", api_base=server.url).complete(ask()).text == "ok"


# --- failures -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(status=401, error=error_body("Incorrect API key: sk-secret-1234567")),
         AuthenticationFailed),
        (Reply(status=403), AuthenticationFailed),
        (Reply(status=402, error=error_body("Insufficient credits")), AuthenticationFailed),
        (Reply(status=429, error=error_body("You have exceeded it", "insufficient_quota")),
         AuthenticationFailed),
        (Reply(status=404, error=error_body("no such model")), ModelNotFound),
        (Reply(status=400, error=error_body("bad thing")), BadRequest),
        (Reply(status=422, error=error_body("bad thing")), BadRequest),
        (Reply(status=429), RateLimited),
        (Reply(status=500), ModelOverloaded),
        (Reply(status=502, error="<html><h1>Bad gateway</h1></html>"), ModelOverloaded),
        (Reply(status=503), ModelOverloaded),
        (Reply(status=504), ModelTimeout),
        (Reply(fault="html"), BadReply),
    ],
)  # fmt: skip
@both
def test_each_failure_has_its_error(reply: Reply, kind: type[ModelError], streaming: bool) -> None:
    """Status codes and nonsense become one error each: one line, no markup, no key."""
    with Loopback(reply) as server:
        with pytest.raises(ModelError) as caught:
            complete(server, streaming, backoff=Backoff(retries=0))
        assert len(server.requests) == 1
    assert type(caught.value) is kind
    assert caught.value.__cause__ is None
    for word in ("\n", "<", "sk-secret"):
        assert word not in caught.value.message + caught.value.hint


def test_a_refused_key_names_its_variable() -> None:
    """The hint of a refused key says which environment variable to set."""
    with Loopback(Reply(status=401)) as server, pytest.raises(AuthenticationFailed) as caught:
        complete(server)
    assert "OPENAI_API_KEY" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "variable"),
    [("openai/gpt-4o", "OPENAI_API_KEY"), ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY")],
)
def test_a_missing_key_is_no_server_error(
    name: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No key at all is found before anything is sent, and is not retried."""
    monkeypatch.delenv(variable, raising=False)
    retried: list[str] = []
    with pytest.raises(AuthenticationFailed) as caught:
        LitellmModel(name).complete(ask(), on_retry=lambda why, wait: retried.append(why))
    assert variable in caught.value.hint
    assert not retried


def test_a_name_without_provider_says_how_to_write_it() -> None:
    """An unknown bare name is answered with the form that names have."""
    with pytest.raises(ModelNotFound) as caught:
        LitellmModel("my-own-model", api_key="x").complete(ask())
    assert "provider/model" in caught.value.hint


def test_a_server_that_is_down_is_said_soon() -> None:
    """A refused connection at home is tried once more, then named with its address."""
    with Loopback("ok") as server:
        url = server.url
    waits: list[float] = []
    gone = LitellmModel("openai/x", api_base=url, api_key="k", backoff=QUICK)
    with pytest.raises(ModelUnreachable) as caught:
        gone.complete(ask(), on_retry=lambda why, wait: waits.append(wait))
    assert len(waits) == 1
    assert url in caught.value.message


def test_the_window_of_the_server_is_respected() -> None:
    """A prompt that is too long and a reserve that is too large are two different errors."""
    with Loopback("ok", window=400) as server:
        with pytest.raises(ContextOverflow):
            model(server).complete(ask("word " * 500, max_tokens=50))
        with pytest.raises(OutputReserveConflict):
            model(server).complete(ask("word", max_tokens=390))
        assert len(server.requests) == 2
        assert server.max_prompt_tokens == 0


# --- retries ------------------------------------------------------------------------------------


@both
def test_what_may_pass_is_tried_again(streaming: bool) -> None:
    """A failing provider is asked again with growing waits, each announced."""
    failures = [Reply(status=500), Reply(status=503), Reply(status=429)]
    heard: list[tuple[str, float]] = []
    with Loopback([*failures, "At last."]) as server:
        reply = model(server).complete(
            ask(),
            on_text=(lambda piece: None) if streaming else None,
            on_retry=lambda why, wait: heard.append((why, wait)),
        )
        assert len(server.requests) == 4
    assert reply.text == "At last."
    assert [round(wait, 4) for _, wait in heard] == [0.0075, 0.015, 0.03]


def test_what_cannot_pass_is_not_tried_again() -> None:
    """A bad request, a refused key and an unknown model are asked once."""
    for status in (400, 401, 404):
        with Loopback(Reply(status=status)) as server:
            with pytest.raises(ModelError):
                complete(server)
            assert len(server.requests) == 1


def test_the_number_of_tries_is_bounded() -> None:
    """A provider that keeps failing is asked retries + 1 times."""
    with Loopback(Reply(status=500)) as server:
        with pytest.raises(ModelOverloaded):
            complete(server, backoff=Backoff(retries=2, base=0.01))
        assert len(server.requests) == 3


def test_retry_after_is_obeyed() -> None:
    """The provider's own wait wins over ours; an hour is as good as no."""
    waits: list[float] = []
    with Loopback([Reply(status=429, headers={"retry-after": "0.2"}), "ok"]) as server:
        model(server).complete(ask(), on_retry=lambda why, wait: waits.append(wait))
    assert 0.2 <= waits[0] < 0.3
    with Loopback(Reply(status=429, headers={"retry-after": "3600"})) as server:
        with pytest.raises(RateLimited) as caught:
            complete(server)
        assert len(server.requests) == 1
    assert caught.value.retry_after == 3600


def test_a_wait_can_be_cut_short() -> None:
    """Ctrl-C during a wait ends the call at once."""
    cancel = CancelToken()
    with Loopback(Reply(status=429, headers={"retry-after": "100"})) as server:
        with pytest.raises(Cancelled):
            model(server).complete(ask(), on_retry=lambda why, wait: cancel.cancel(), cancel=cancel)
        assert len(server.requests) == 1


@pytest.mark.parametrize("fault", ["reset", "eof", "error_event"])
def test_a_broken_stream_is_repeated_only_if_nothing_was_shown(fault: str) -> None:
    """Before the first word the call is repeated; after it the break is an error."""
    with Loopback([Reply("Hello there.", fault=fault, after=1), "Hello."]) as server:
        assert complete(server).text == "Hello."
    shown: list[str] = []
    with Loopback([Reply("Hello there.", fault=fault, after=2), "Hello."]) as server:
        with pytest.raises(StreamBroken):
            model(server).complete(ask(), on_text=shown.append)
        assert len(server.requests) == 1
    assert shown == ["Hello "]


def test_fallbacks_are_tried_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """When a model is out, the next one answers and the reply says which; retries come first."""
    heard: list[str] = []
    with Loopback(Reply(status=500)) as down, Loopback("I am the spare.") as up:
        spare = LitellmModel("openai/spare", api_base=up.url, api_key="k")
        first = model(down, fallbacks=[spare], backoff=Backoff(retries=1, base=0.01))
        reply = first.complete(ask(), on_retry=lambda why, wait: heard.append(why))
        assert len(down.requests) == 2
    assert (reply.text, reply.model) == ("I am the spare.", "openai/spare")
    assert "trying openai/spare" in heard[-1]
    assert LitellmModel("openai/a", fallbacks=["openai/b"])._fallbacks[0].name == "openai/b"


def test_an_overflow_does_not_fall_back() -> None:
    """A prompt that is too long goes back to the loop, which can shorten it."""
    with Loopback("ok", window=100) as small, Loopback("ok") as big:
        spare = LitellmModel("openai/spare", api_base=big.url, api_key="k")
        with pytest.raises(ContextOverflow):
            model(small, fallbacks=[spare]).complete(ask("word " * 500))
        assert not big.requests


# --- time ---------------------------------------------------------------------------------------


def test_cancel_stops_the_server_too() -> None:
    """Cancelling between chunks raises Cancelled and closes the connection."""
    cancel = CancelToken()
    with Loopback(Reply("word " * 500, delay=0.02)) as server:
        with pytest.raises(Cancelled):
            model(server).complete(ask(), on_text=lambda piece: cancel.cancel(), cancel=cancel)
        assert wait_for(lambda: server.disconnects == 1)


@both
def test_cancel_works_while_the_server_is_silent(streaming: bool) -> None:
    """Cancelling needs no next chunk: a silent server is left at once."""
    cancel = CancelToken()
    with Loopback(Reply("never", fault="silence", after=0)) as server:
        threading.Timer(0.2, cancel.cancel).start()
        with pytest.raises(Cancelled):
            model(server).complete(
                ask(), on_text=(lambda piece: None) if streaming else None, cancel=cancel
            )
        assert wait_for(lambda: server.disconnects == 1)


def test_silence_is_a_timeout() -> None:
    """A stream that stops in the middle is given up after the silence limit."""
    with Loopback(Reply("Hello there.", fault="silence", after=2)) as server:
        with pytest.raises(ModelTimeout, match="silent"):
            model(server, silence=0.3).complete(ask(), on_text=lambda piece: None)
        assert wait_for(lambda: server.disconnects == 1)


@both
def test_the_deadline_holds_over_all_tries(streaming: bool) -> None:
    """A stream that never falls silent, and tries that never succeed, end at the deadline."""
    slow = Reply("word " * 5000, delay=0.05 if streaming else 30)
    with Loopback(slow) as server, pytest.raises(ModelTimeout, match="deadline"):
        complete(server, streaming, deadline=0.5)
    with Loopback(Reply(status=500)) as server:
        with pytest.raises(ModelOverloaded):
            complete(server, streaming, deadline=0.5, backoff=Backoff(retries=99, base=10))
        assert len(server.requests) == 1


def test_an_error_in_on_text_closes_the_stream() -> None:
    """A UI that fails while showing a piece gets its own error back, and the server is left."""

    def fail(piece: str) -> None:
        raise RuntimeError("the terminal is gone")

    with Loopback(Reply("word " * 500, delay=0.02)) as server:
        with pytest.raises(RuntimeError, match="terminal"):
            model(server).complete(ask(), on_text=fail)
        assert wait_for(lambda: server.disconnects == 1)


def test_many_threads_share_one_loop() -> None:
    """Agents in eight threads stream at the same time, each its own reply."""
    replies: dict[int, str] = {}

    def run(number: int) -> None:
        shown: list[str] = []
        named.complete(ask(f"number {number}"), on_text=shown.append)
        replies[number] = "".join(shown)

    with Loopback(lambda body: f"You said {body['messages'][-1]['content']}.") as server:
        named = model(server)
        threads = [threading.Thread(target=run, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert replies == {n: f"You said number {n}." for n in range(8)}


def wait_for(fact: object, seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if fact():  # type: ignore[operator]
            return True
        time.sleep(0.02)
    return False


# --- the window ---------------------------------------------------------------------------------


def test_the_server_knows_its_window_best() -> None:
    """vLLM's max_model_len and llama.cpp's n_ctx win over the registry, and are asked once."""
    with Loopback(models=[{"id": "gpt-4o", "max_model_len": 4096}]) as server:
        named = LitellmModel("openai/gpt-4o", api_base=server.url)
        assert [named.window().tokens, named.window().source] == [4096, "server"]
        assert server.paths == ["/v1/models"]
    with Loopback(props={"default_generation_settings": {"n_ctx": 2048}}) as server:
        assert LitellmModel("openai/x", api_base=server.url).window().tokens == 2048


def test_ollama_is_asked_in_its_own_way() -> None:
    """num_ctx of the model file, else the trained length up to our default."""
    with Loopback(show={"parameters": "num_ctx  16384\nstop x"}) as server:
        assert LitellmModel("ollama/m", api_base=server.root).window().tokens == 16384
    with Loopback(show={"model_info": {"llama.context_length": 131072}}) as server:
        assert LitellmModel("ollama/m", api_base=server.root).window().tokens == 8192


def test_a_silent_server_leaves_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that says nothing costs one question a minute; the registry answers then."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)
    clock = FrozenClock()
    with Loopback() as server:
        named = LitellmModel("openai/unheard-of", api_base=server.url, clock=clock)
        assert named.window() is None
        asked = len(server.paths)
        assert named.window() is None
        assert len(server.paths) == asked
        clock.advance(seconds=61)
        server.models.append({"id": "unheard-of", "max_model_len": 4096})
        assert named.window().tokens == 4096
    assert LitellmModel("gpt-4o").window().source == "registry"
    assert LitellmModel("anthropic/claude-sonnet-4-5").window().tokens == 200000
    assert registry_window("gemini/gemini-2.5-flash") == 1048576
    assert registry_window("openai/my-local") is None
    assert LitellmModel("openai/x", window=3000).window().tokens == 3000


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:8000/v1", True),
        ("http://127.0.0.1:8000", True),
        ("http://192.168.1.5/v1", True),
        ("http://[::1]:8000", True),
        ("https://api.example.com/v1", False),
        (None, False),
        ("not a url", False),
    ],
)
def test_which_servers_are_at_home(url: str | None, local: bool) -> None:
    """Loopback and private addresses are a person's own servers."""
    assert is_local(url) is local


# --- the import ---------------------------------------------------------------------------------


def test_nothing_is_imported_until_it_is_used() -> None:
    """Importing the module, making a model and asking its window does not import litellm."""
    code = (
        "import sys; from pagemind.runtime.models.litellm_model import LitellmModel;"
        "from pagemind.runtime.models.litellm_embedder import LitellmEmbedder;"
        "LitellmModel('gpt-4o').window(); LitellmEmbedder('x/y');"
        "print([m for m in ('litellm', 'openai', 'httpx') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_whole_call_prints_nothing() -> None:
    """A call, a failure and the end of the process leave standard output and error clean."""
    with Loopback(["ok", Reply(status=400)]) as server:
        code = (
            "from pagemind.runtime.models.litellm_model import LitellmModel, preload;"
            "from pagemind.runtime.message import Message, Text;"
            "from pagemind.runtime.model import ModelRequest;"
            "from pagemind.runtime.errors import ModelError\n"
            f"preload(); m = LitellmModel('openai/x', api_base={server.url!r}, api_key='k')\n"
            "r = ModelRequest(('s',), (Message('user', (Text('hi'),)),))\n"
            "assert m.complete(r, on_text=lambda p: None).text == 'ok'\n"
            "try: m.complete(r)\n"
            "except ModelError: pass\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_stored_call_goes_back_as_it_came() -> None:
    """Ids are opaque: what the server gave is what it gets, of any form."""
    call = ToolCall("call:1|x.y", "core_append", '{ "content":"é" }')
    history = (
        Message("user", (Text("go"),)),
        Message("assistant", (), tool_calls=(call,)),
        Message("tool", (Text("done"),), tool_call_id=call.id),
    )
    with Loopback("ok") as server:
        model(server).complete(ModelRequest(("s",), history, TOOLS))
        sent = server.requests[0]["messages"]
    assert sent[2]["tool_calls"][0]["id"] == sent[3]["tool_call_id"] == call.id
    assert sent[2]["tool_calls"][0]["function"]["arguments"] == call.arguments
