"""The embedded model. What needs the real file uses the small plumbing model and skips without."""

import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import (
    Cancelled,
    ContextOverflow,
    LocalModelError,
    MissingExtra,
)
from pagemind.runtime.message import Message, Text, ToolCall
from pagemind.runtime.model import ModelRequest, ToolSchema
from pagemind.runtime.models.local_model import LocalModel
from pagemind.runtime.models.pull import find

NAME = "smollm2-135m"
ROLL = ToolSchema(
    "roll_dice",
    "Roll dice.",
    {
        "type": "object",
        "properties": {"sides": {"type": "integer", "enum": [6, 20]}},
        "required": ["sides"],
    },
)


def asked(text: str, **rest: object) -> ModelRequest:
    """A request with one message."""
    return ModelRequest(("Be brief.",), (Message("user", (Text(text),)),), **rest)  # type: ignore[arg-type]  # a test's shorthand


@pytest.fixture(scope="module")
def small() -> Iterator[LocalModel]:
    """The plumbing model, loaded once."""
    pytest.importorskip("xllamacpp")
    try:
        find(NAME)
    except LocalModelError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    model = LocalModel(NAME, window=512)
    yield model
    model.close()


def test_an_absent_model_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error comes when the model is named, not in the middle of a turn."""
    monkeypatch.delenv("PAGEMIND_MODELS", raising=False)
    with pytest.raises(LocalModelError) as caught:
        LocalModel(NAME, home=tmp_path)
    assert caught.value.hint == f"pagemind models pull {NAME}"


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    """A text file called .gguf is refused before the engine sees it."""
    pytest.importorskip("xllamacpp")
    path = tmp_path / "own.gguf"
    path.write_text("not a model")
    with pytest.raises(LocalModelError, match="not a GGUF model file"):
        LocalModel(f"local/{path}").complete(asked("hi"))


def test_a_truncated_model_is_an_error_of_the_person(tmp_path: Path) -> None:
    """What begins like a model and ends early is named, with what to do."""
    pytest.importorskip("xllamacpp")
    path = tmp_path / "own.gguf"
    path.write_bytes(b"GGUF\x03\x00\x00\x00" + b"\x00" * 64)
    with pytest.raises(LocalModelError, match="cannot load it"):
        LocalModel(path).complete(asked("hi"))


def test_the_extra_is_named_where_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the engine's package the hint is the pip command."""
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    path = tmp_path / "own.gguf"
    path.write_bytes(b"GGUF")
    with pytest.raises(MissingExtra) as caught:
        LocalModel(path).complete(asked("hi"))
    assert caught.value.hint == "pip install 'pagemind[local]'"


@pytest.mark.local_model
def test_it_streams_what_it_replies(small: LocalModel) -> None:
    """The pieces add up to the reply, and the engine's usage comes with it."""
    seen: list[str] = []
    reply = small.complete(asked("Say hello.", max_tokens=12), on_text=seen.append)
    assert "".join(seen) == reply.text != ""
    assert len(seen) > 1
    assert reply.usage.prompt_tokens > 0
    assert 0 < reply.usage.completion_tokens <= 12


@pytest.mark.local_model
def test_it_obeys_a_schema(small: LocalModel) -> None:
    """Even a model that cannot choose answers in the form it is held to."""
    schema = {
        "type": "object",
        "properties": {"colour": {"enum": ["red", "blue"]}},
        "required": ["colour"],
        "additionalProperties": False,
    }
    reply = small.complete(asked("Pick a colour.", response_schema=schema, max_tokens=30))
    assert json.loads(reply.text)["colour"] in ("red", "blue")


@pytest.mark.local_model
def test_a_function_call_is_parsed(small: LocalModel) -> None:
    """In a talk that is all calls the next one comes as a ToolCall with fitting arguments."""
    again = Message("user", (Text("Roll a die."),))
    rolled = (
        Message("assistant", (), (ToolCall("c1", "roll_dice", '{"sides": 6}'),)),
        Message("tool", (Text("4"),), tool_call_id="c1", name="roll_dice"),
    )
    history = (again, *rolled, again, *rolled, again, *rolled, again)
    seen: list[str] = []
    request = ModelRequest(("Roll dice.",), history, (ROLL,), max_tokens=40)
    reply = small.complete(request, on_text=seen.append)
    assert "".join(seen) == reply.text
    assert [call.name for call in reply.tool_calls] == ["roll_dice"]
    assert reply.tool_calls[0].parsed()["sides"] in (6, 20)
    assert reply.finish == "tool_calls"


@pytest.mark.local_model
def test_a_warmed_head_is_not_read_again(small: LocalModel) -> None:
    """After prefill() the head of the prompt comes from the cache."""
    head = "The harbour office opens at nine and closes at noon. " * 6
    request = ModelRequest((head,), (Message("user", (Text("When?"),)),), max_tokens=4)
    small.prefill(request)
    reply = small.complete(request)
    assert reply.usage.cached_tokens > reply.usage.prompt_tokens * 0.8


@pytest.mark.local_model
def test_cancel_stops_a_reply(small: LocalModel) -> None:
    """Cancelled from within the stream, it raises and the model works on."""
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        small.complete(
            asked("Count.", max_tokens=200), on_text=lambda piece: cancel.cancel(), cancel=cancel
        )
    assert small.complete(asked("Hi.", max_tokens=4)).text


@pytest.mark.local_model
def test_a_prefill_makes_way_for_a_turn(small: LocalModel) -> None:
    """A completion that comes during a prefill does not wait for its end."""
    long = asked("a long story about ships " * 70, max_tokens=4)
    warming = threading.Thread(target=small.prefill, args=(long,))
    warming.start()
    reply = small.complete(asked("Hi.", max_tokens=4))
    warming.join(timeout=60)
    assert reply.text
    assert not warming.is_alive()


@pytest.mark.local_model
def test_a_prompt_beyond_the_window_overflows(small: LocalModel) -> None:
    """The engine's refusal is the error that the loop knows how to answer."""
    assert small.window().tokens == 512
    with pytest.raises(ContextOverflow, match="window of 512"):
        small.complete(asked("word " * 900, max_tokens=4))


@pytest.mark.local_model
def test_standard_error_stays_quiet(small: LocalModel, capfd: pytest.CaptureFixture[str]) -> None:
    """llama.cpp says nothing on the person's terminal, not even when it loads."""
    small.close()
    small.complete(asked("Hi.", max_tokens=2))
    captured = capfd.readouterr()
    assert captured.err + captured.out == ""
