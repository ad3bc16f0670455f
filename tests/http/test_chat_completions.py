"""An agent behind OpenAI's interface, asked over real HTTP."""

import base64
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from awake_kit import asked, echo
from http_kit import PNG, Served, answer, served, talk
from hypothesis import given, settings
from hypothesis import strategies as st

from pagemind.runtime.errors import AuthenticationFailed, RateLimited
from pagemind.runtime.http.taking_in import plain
from pagemind.runtime.invariants import check_state
from pagemind.runtime.message import Blob
from pagemind.runtime.model import ModelReply, ModelRequest, Usage
from pagemind.runtime.testing import call

PICTURE = "data:image/png;base64," + base64.b64encode(PNG).decode()


def script(request: ModelRequest) -> Any:
    """What the agent is told to do."""
    text = asked(request).removeprefix("sam: ").removeprefix("kim: ")
    if text == "fail":
        return AuthenticationFailed("the key was refused")
    if text == "busy":
        return RateLimited("too many requests", retry_after=7)
    if text == "note it":
        return ModelReply("Let me see.", (call("core_append", block="human", content="noted"),))
    if request.messages[-1].role == "tool":
        return "Done."
    return ModelReply(f"re {text}", usage=Usage(30, 4, 10))


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("home"), script) as found:
        yield found


_names = iter(f"agent{number}" for number in range(10_000))


@pytest.fixture
def name(here: Served) -> str:
    """An agent that nobody has spoken to."""
    made = next(_names)
    here.house.make(made)
    return made


def chunks(response: httpx.Response) -> list[dict[str, Any]]:
    """What a stream sent, without its end."""
    data = [line[6:] for line in response.iter_lines() if line.startswith("data: ")]
    assert data.pop() == "[DONE]"
    return [json.loads(each) for each in data]


def test_an_answer_is_a_completion_of_openai(here: Served, name: str) -> None:
    """With the agent's name as the model, the usage of the turn, and what else there is to say."""
    body = here.chat("Hello", model=name).json()
    assert body["object"] == "chat.completion"
    assert body["model"] == name
    (choice,) = body["choices"]
    assert choice["message"] == {"role": "assistant", "content": "re Hello", "refusal": None}
    assert choice["finish_reason"] == "stop"
    assert body["usage"]["total_tokens"] == 34
    assert body["usage"]["prompt_tokens_details"] == {"cached_tokens": 10}
    assert body["pagemind"]["message_ids"] == ["m1", "m2"]


def test_a_stream_says_what_the_answer_is(here: Served, name: str) -> None:
    """All pieces together are the turn's text, over its steps; the usage comes if it is wanted."""
    options = {"stream": True, "stream_options": {"include_usage": True}}
    streamed = chunks(here.chat("note it", model=name, **options))
    said = "".join(c["delta"].get("content") or "" for each in streamed for c in each["choices"])
    assert said == "Let me see.\n\nDone."
    assert streamed[0]["choices"][0]["delta"]["role"] == "assistant"
    assert streamed[-2]["choices"][0]["finish_reason"] == "stop"
    assert streamed[-1]["choices"] == []
    assert "total_tokens" in streamed[-1]["usage"]
    assert len({each["id"] for each in streamed}) == 1
    # What it said is what a client sends back, and is known then.
    assert answer(here.chat("note it", said, "And?", model=name)) == "re And?"
    assert "and?" in here.stored(name)[-2][1].lower()
    assert len(here.stored(name)) == 6


def test_a_stream_holds_what_is_said_and_no_private_thought(tmp_path: Path) -> None:
    """With protocol heartbeat a text beside a call is the model's own."""

    def thinks(request: ModelRequest) -> ModelReply:
        return ModelReply("They greet me.", (call("send_message", message="Hello, Sam."),))

    with served(tmp_path, thinks, more="protocol: heartbeat\n") as here:
        streamed = chunks(here.chat("Hi", stream=True))
        said = [c["delta"].get("content") for each in streamed for c in each["choices"]]
        assert "".join(text or "" for text in said) == "Hello, Sam."
        answer(here.chat("Hi", "Hello, Sam.", "And?"))
        assert [text for role, text in here.stored() if role == "user"] == ["Hi", "And?"]


def test_the_clients_of_openai_and_of_litellm_are_served(here: Served, name: str) -> None:
    """Whole and streamed, with the errors that they know."""
    import openai

    http = httpx.Client(trust_env=False)
    with openai.OpenAI(api_key="none", base_url=f"{here.url}/v1", http_client=http) as client:
        assert name in [each.id for each in client.models.list()]
        history: Any = talk("Hello")
        done = client.chat.completions.create(model=name, messages=history, user="sam")
        assert done.choices[0].message.content == "re Hello"
        assert done.usage is not None
        assert done.usage.completion_tokens == 4
        history = talk("Hello", "re Hello", "More")
        stream = client.chat.completions.create(
            model=name, messages=history, user="sam", stream=True
        )
        assert "".join(each.choices[0].delta.content or "" for each in stream) == "re More"
        with pytest.raises(openai.NotFoundError) as caught:
            client.chat.completions.create(model=name + "0", messages=history)
        assert caught.value.code == "model_not_found"
        assert f"did you mean {name}" in caught.value.message
        with pytest.raises(openai.BadRequestError, match="'tools' is not served"):
            client.chat.completions.create(
                model=name,
                messages=history,
                tools=[{"type": "function", "function": {"name": "f", "parameters": {}}}],
            )
    assert [text for _, text in here.stored(name)] == ["Hello", "re Hello", "More", "re More"]


def test_a_history_that_is_sent_again_is_not_stored_again(here: Served, name: str) -> None:
    """Only the last message is new; `user` is who speaks."""
    answer(here.chat("a", model=name, user="sam"))
    answer(here.chat("a", "re a", "b", model=name, user="sam"))
    answer(here.chat("a", "re a", "b", "re b", "c", model=name, user="sam"))
    assert [text for _, text in here.stored(name)] == ["a", "re a", "b", "re b", "c", "re c"]
    with here.house.runtime.reader(name) as reader:
        assert {m.speaker for m in reader.messages(10)} == {"sam", "assistant"}


def test_a_history_of_elsewhere_is_taken_in_as_it_was_said(here: Served, name: str) -> None:
    """The agent sees it before the message, and trusts the answers as it trusts an import."""
    response = here.chat("My boat is Nomad.", "Nice!", "And my boat?", model=name)
    assert response.headers["Pagemind-Taken-In"] == "2"
    assert [(m.role, m.text) for m in here.house.model.requests[-1].messages][:2] == [
        ("user", "[Mon 2026-01-05 09:00] My boat is Nomad."),
        ("assistant", "Nice!"),
    ]
    with here.house.runtime.reader(name) as reader:
        first, second, *_ = reader.messages(10)
    assert (first.provenance.origin, first.provenance.trust) == ("user", 100)
    assert (second.provenance.origin, second.provenance.trust) == ("import", 50)
    answer(
        here.chat(
            "My boat is Nomad.", "Nice!", "And my boat?", "re And my boat?", "So?", model=name
        )
    )
    assert len(here.stored(name)) == 6


def test_what_was_erased_does_not_come_back_with_a_history(here: Served, name: str) -> None:
    """A client that goes on sending it is not heard; what else it sends is taken in."""
    erased = "My number is 0911-55-2368, and I live at the old lighthouse."
    denied = here.house.runtime.home.denied
    denied.add("before", [digest for digest in (denied.of_text(erased),) if digest])
    response = here.chat(erased, "Nice!", "And my boat?", model=name)
    assert response.headers["Pagemind-Taken-In"] == "1"
    assert erased not in [text for _, text in here.stored(name)]


def test_a_long_history_of_elsewhere_is_paged_out_as_it_is_taken_in(
    here: Served, name: str
) -> None:
    """All of it is there, once and in order, and the agent is sound."""
    long = "a sentence about the sea and the boats on it " * 3
    history = [f"{number}: {long}" for number in range(40)]
    reply = answer(here.chat(*history, "And now?", model=name))
    then = answer(here.chat(*history, "And now?", reply, "Then?", model=name))
    texts = [text for _, text in here.stored(name)]
    assert [plain(each) for each in texts[:40]] == [plain(each) for each in history]
    assert texts[40:] == ["And now?", reply, "Then?", then]
    with here.keeper.using(name) as agent:
        assert not check_state(agent.state)
        assert agent.state.pages.count() > 1


@given(st.data())
@settings(max_examples=8)
def test_each_message_is_stored_once_in_any_interleaving(here: Served, data: st.DataObject) -> None:
    """Threads of two speakers go on, are sent again, and are cut to their end, in any order."""
    name = next(_names)
    here.house.make(name)
    threads: list[list[str]] = [[], [], []]
    newest: dict[int, tuple[list[str], dict[str, str]]] = {}
    told: list[str] = []
    for number in range(data.draw(st.integers(4, 9))):
        at = data.draw(st.integers(0, 2))
        thread, who = threads[at], ("sam", "kim", "sam")[at]
        again = at in newest and data.draw(st.booleans())
        if again:
            sent, headers = newest[at]
            headers = {**headers, "x-stainless-retry-count": "1"} if len(sent) == 1 else headers
        else:
            word = data.draw(st.sampled_from(["yes", "no"])) if thread else f"thread {at}"
            sent, headers = [*thread, word], {}
            if len(sent) > 3 and data.draw(st.booleans()):
                # A window that is like one before cannot be told from it, but by a key.
                sent, headers = sent[-3:], {"Idempotency-Key": f"{at} {number}"}
            newest[at] = sent, headers
        reply = answer(here.chat(*sent, model=name, user=who, headers=headers))
        assert reply == f"re {sent[-1]}"
        if not again:
            thread += [sent[-1], reply]
            told += [sent[-1], reply]
    assert [text for _, text in here.stored(name)] == told


def test_a_key_makes_a_request_the_same(here: Served, name: str) -> None:
    """It is answered once; another message under it is refused, and a new key is a new message."""
    for key, texts in (("k1", 2), ("k1", 2), ("k2", 4)):
        assert answer(here.chat("yes", model=name, headers={"Idempotency-Key": key})) == "re yes"
        assert len(here.stored(name)) == texts
    other = here.chat("no", model=name, headers={"Idempotency-Key": "k1"})
    assert other.status_code == 422
    assert other.json()["error"]["code"] == "id_taken"


def test_a_message_without_a_history_is_new_unless_the_client_tries_again(
    here: Served, name: str
) -> None:
    """A client may leave all memory to the agent: then it says the same words anew."""
    for again in ("0", "0", "1"):
        answer(here.chat("yes", model=name, headers={"x-stainless-retry-count": again}))
    assert len(here.stored(name)) == 4


def test_what_was_taken_back_can_be_said_again(here: Served, name: str) -> None:
    """After an undo the same request is a new message: so an answer is made anew."""
    answer(here.chat("a", "b", "c", model=name))
    with here.keeper.using(name) as agent:
        agent.undo()
    answer(here.chat("a", "b", "c", model=name))
    assert [text for _, text in here.stored(name)] == ["a", "b", "c", "re c"]


def test_a_failed_turn_is_an_error_and_goes_on_when_it_is_sent_again(
    here: Served, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streamed or not, before a word was said it has a status; its message is stored once."""
    for options in ({}, {"stream": True}):
        refused = here.chat("a", "b", "fail", model=name, **options)
        assert refused.status_code == 502
        assert refused.json()["error"]["type"] == "server_error"
    busy = here.chat("busy", model=name)
    assert busy.status_code == 429
    assert busy.headers["Retry-After"] == "7"
    assert [text for _, text in here.stored(name)] == ["a", "b", "fail", "busy"]


def test_a_spent_budget_is_429(tmp_path: Path) -> None:
    """OpenAI's clients know it as insufficient_quota."""
    with served(tmp_path, more="budget: {day_usd: 0}\n") as here:
        refused = here.chat("Hello")
    assert refused.status_code == 429
    assert refused.json()["error"]["code"] == "insufficient_quota"


def test_an_image_is_sent_as_it_is(here: Served, name: str) -> None:
    """As data; an address is not fetched. Sent again with the history, it is known."""
    look = {"type": "image_url", "image_url": {"url": PICTURE}}
    first = {"role": "user", "content": [{"type": "text", "text": "Look"}, look]}
    body = {"model": name, "messages": [first]}
    said = answer(here.client.post("/v1/chat/completions", json=body))
    with here.house.runtime.reader(name) as reader:
        (blob,) = [part for part in reader.messages(2)[0].parts if isinstance(part, Blob)]
    assert blob.media_type == "image/png"
    body["messages"] = [first, {"role": "assistant", "content": said}, *talk("And?")]
    answer(here.client.post("/v1/chat/completions", json=body))
    assert len(here.stored(name)) == 4
    look["image_url"] = {"url": "http://127.0.0.1/secret.png"}
    refused = here.client.post("/v1/chat/completions", json=body)
    assert refused.status_code == 400
    assert "nothing is fetched" in refused.text


def test_what_an_agent_has_no_use_for_is_left_out_and_named(here: Served, name: str) -> None:
    """Sampling, the system's messages and unknown keys; what asks for another answer is refused."""
    messages = [{"role": "system", "content": "Be brief."}, *talk("Hello")]
    body = {"model": name, "messages": messages, "temperature": 0, "seed": 1, "new_thing": True}
    response = here.client.post("/v1/chat/completions", json=body)
    assert answer(response) == "re Hello"
    assert response.headers["Pagemind-Ignored"] == (
        "new_thing, seed, temperature, messages with role system"
    )
    for key, value in (("n", 2), ("logprobs", True), ("response_format", {"type": "json_object"})):
        refused = here.chat("Hello", model=name, **{key: value})
        assert refused.status_code == 400
        assert refused.json()["error"]["param"] == key
    assert len(here.stored(name)) == 2


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"{", None),
        (b"\xff", None),
        (b"[]", None),
        (b'{"a": NaN}', None),
        (b"[" * 100_000, None),
        (b'{"messages": []}', "model"),
        (b'{"model": "ada", "messages": []}', "messages"),
        (b'{"model": "ada", "messages": [7]}', "messages[0]"),
        (b'{"model": "ada", "messages": [{"role": "user", "content": 7}]}', "messages[0].content"),
        (b'{"model": "ada", "messages": [{"role": "user", "content": " "}]}', "messages[0]"),
        (b'{"model": "ada", "messages": [{"role": "assistant", "content": "a"}]}', "messages[0]"),
        (
            b'{"model": "ada", "stream": 1, "messages": [{"role": "user", "content": "a"}]}',
            "stream",
        ),
    ],
)
def test_bad_json_is_a_400_of_openai(here: Served, body: bytes, param: str | None) -> None:
    """It says what is wrong, and with which key."""
    refused = here.client.post(
        "/v1/chat/completions", content=body, headers={"Content-Type": "application/json"}
    )
    assert refused.status_code == 400
    error = refused.json()["error"]
    assert error["type"] == "invalid_request_error"
    assert error["param"] == param
    assert error["message"]


def test_two_clients_are_served_at_once(tmp_path: Path) -> None:
    """Agents work side by side; of one agent each message has its turn."""
    meeting = threading.Barrier(2, timeout=60)

    def wait(request: ModelRequest) -> str:
        if asked(request).endswith("meet"):
            meeting.wait()  # broken unless both turns run
        return echo(request)

    with served(tmp_path, wait) as here:
        here.house.make("bob")
        replies: list[str] = []

        def ask(name: str, text: str) -> None:
            replies.append(answer(here.chat(text, model=name)))

        jobs = [("ada", "meet"), ("bob", "meet"), *(("ada", f"m{n}") for n in range(4))]
        threads = [threading.Thread(target=ask, args=job) for job in jobs]
        for each in threads:
            each.start()
        for each in threads:
            each.join(60)
        assert sorted(replies) == ["re m0", "re m1", "re m2", "re m3", "re meet", "re meet"]
        said = [text for _, text in here.stored()]
        assert all(said[at + 1] == f"re {said[at]}" for at in range(0, len(said), 2))


def test_a_client_that_leaves_stops_its_turn(tmp_path: Path) -> None:
    """What it read stays, as interrupted; sent again, the turn goes on and its message is one."""
    read, gone = threading.Event(), threading.Event()

    def slowly(request: ModelRequest) -> str:
        return "one two three four five six"

    with served(tmp_path, slowly) as here:
        model = here.house.model
        complete = model.complete

        def patient(request: ModelRequest, **more: Any) -> ModelReply:
            on_text, cancel = more["on_text"], more["cancel"]
            if not gone.is_set() and request.purpose == "turn":
                on_text("one two ")
                read.set()
                cancel.wait(60)  # raises as soon as it is stopped
                raise AssertionError("the turn was not stopped")
            return complete(request, **more)

        model.complete = patient  # type: ignore[method-assign]  # a model that can be held up
        body = {"model": "ada", "messages": talk("a", "b", "count"), "stream": True}
        with here.client.stream("POST", "/v1/chat/completions", json=body) as response:
            for line in response.iter_lines():
                if "one" in line:
                    break
        here.house.until(lambda: here.keeper.running == 0)
        assert [text for _, text in here.stored()] == ["a", "b", "count", "one two  [interrupted]"]
        gone.set()
        again = answer(here.chat("a", "b", "count"))
        assert again == "one two three four five six"
        users = [text for role, text in here.stored() if role == "user"]
        assert users == ["a", "count"]
