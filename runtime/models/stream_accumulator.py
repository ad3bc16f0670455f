"""One reply put together from the chunks of a stream, or from a whole response.

litellm's own builder merges parallel calls, drops calls without an id and trusts finish_reason;
this one decides by what it has seen. feed() hands back what may be shown to the person.
"""

from collections.abc import Callable, Iterable
from typing import Any

from pagemind.runtime.arguments import ends_in_text, is_json_object, repair_arguments
from pagemind.runtime.legalise import Rules
from pagemind.runtime.message import Reasoning, ToolCall, clean_text
from pagemind.runtime.model import Finish, ModelReply, Usage
from pagemind.runtime.think import ThinkFilter

_REFUSED = ("content_filter", "refusal", "safety")


def get(thing: Any, key: str) -> Any:
    """A field of a pydantic object or a dict; providers mix both."""
    return thing.get(key) if isinstance(thing, dict) else getattr(thing, key, None)


class _Open:
    """A call that is still arriving."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments = ""


class StreamAccumulator:
    """Use once: feed() each chunk (or feed_whole()), finish(), then reply()."""

    def __init__(self, rules: Rules, new_id: Callable[[], str]) -> None:
        self._rules = rules
        self._new_id = new_id
        self._text = ThinkFilter()
        self._refusal = ""
        self._thought = ""
        self._blocks: list[dict[str, Any]] = []
        self._calls: list[_Open] = []
        self._at: dict[int, _Open] = {}
        self._reason = ""
        self.usage: Any = None  # litellm's object, for its price
        self.heard = False  # anything but litellm's own last chunk has come

    def feed(self, chunk: Any) -> str:
        """Take one chunk of a stream."""
        self.usage = get(chunk, "usage") or self.usage
        shown = ""
        for choice in get(chunk, "choices") or ():
            reason = get(choice, "finish_reason")
            self._reason = reason or self._reason
            delta = get(choice, "delta")
            if delta is not None:
                shown += self._take(delta)
            self.heard = self.heard or not reason
        return shown

    def feed_whole(self, response: Any) -> None:
        """Take a response that was not streamed."""
        self.heard = True
        self.usage = get(response, "usage")
        for choice in (get(response, "choices") or ())[:1]:
            self._reason = get(choice, "finish_reason") or ""
            message = get(choice, "message")
            if message is not None:
                self._take(message)

    def finish(self) -> str:
        """What was held back and may be shown after all."""
        return self._text.finish()

    def reply(self, model: str, cost: float | None) -> ModelReply:
        """The reply. Nameless calls are dropped; if nothing else is left it counts as empty."""
        text, _ = self._text.result()
        text = clean_text(text.lstrip() if self._thought else text)
        calls = self._finished_calls()
        finish: Finish = "tool_calls" if calls else "stop"
        if self._refusal or self._reason in _REFUSED:
            # A filter stops a reply anywhere, in the middle of a call too: none of it is run.
            finish, text, calls = "refusal", text or clean_text(self._refusal), ()
        elif self._reason == "length" or self._breaks_off():
            finish = "length"
        elif not calls and not text.strip():
            finish = "empty"
        return ModelReply(
            text=text,
            tool_calls=calls,
            reasoning=self._reasoning(),
            usage=read_usage(self.usage),
            finish=finish,
            model=model,
            cost=cost,
        )

    def _take(self, delta: Any) -> str:
        self._refusal += get(delta, "refusal") or ""
        self._thought += get(delta, "reasoning_content") or ""
        self._take_blocks(get(delta, "thinking_blocks") or ())
        self._take_calls(get(delta, "tool_calls") or ())
        content = get(delta, "content")
        if isinstance(content, list):
            content = "".join(str(get(p, "text") or "") for p in content)
        return self._text.feed(content) if content else ""

    def _take_blocks(self, blocks: Iterable[Any]) -> None:
        """Anthropic's thinking arrives as text pieces, then the signature that closes the block."""
        for block in blocks:
            if get(block, "type") == "redacted_thinking":
                data = get(block, "data")
                self._blocks.append({"type": "redacted_thinking", "data": data})
                continue
            last = self._blocks[-1] if self._blocks else None
            if last is None or last["type"] != "thinking" or last["signature"]:
                last = {"type": "thinking", "thinking": "", "signature": ""}
                self._blocks.append(last)
            last["thinking"] += get(block, "thinking") or ""
            last["signature"] += get(block, "signature") or ""

    def _take_calls(self, deltas: Iterable[Any]) -> None:
        for delta in deltas:
            function = get(delta, "function")
            index = get(delta, "index")
            id, name = get(delta, "id") or "", get(function, "name") or ""
            arguments = get(function, "arguments")
            if index is None:  # whole calls have none, and each is its own
                index = len(self._calls) - (0 if id or name or not self._calls else 1)
            call = self._at.get(index)
            if call is None or _is_another(call, id, name):
                call = self._at[index] = _Open()
                self._calls.append(call)
            call.id = call.id or id
            call.name = call.name or name
            if not isinstance(arguments, str):
                arguments = repair_arguments(arguments) if arguments else ""
            call.arguments += arguments

    def _finished_calls(self) -> tuple[ToolCall, ...]:
        calls: list[ToolCall] = []
        used: set[str] = set()
        for call in self._calls:
            if not call.name.strip():
                continue
            id = call.id if call.id and call.id not in used else f"call_{self._new_id()}"
            used.add(id)
            calls.append(ToolCall(id, clean_text(call.name), repair_arguments(call.arguments)))
        return tuple(calls)

    def _breaks_off(self) -> bool:
        """Whether the last call ends inside a text: cut off, whatever the server calls it."""
        return bool(self._calls) and ends_in_text(self._calls[-1].arguments)

    def _reasoning(self) -> tuple[Reasoning, ...]:
        """What this provider wants back; reasoning it never takes back is not kept."""
        if self._rules.echo_reasoning == "never":
            return ()
        if self._blocks:
            text = "\n\n".join(b.get("thinking", "") for b in self._blocks)
            signed = [b for b in self._blocks if b.get("signature") or b.get("data")]
            opaque = {"thinking_blocks": signed}
            return (Reasoning(self._rules.provider, opaque, clean_text(text)),) if signed else ()
        if self._thought:
            text = clean_text(self._thought)
            return (Reasoning(self._rules.provider, {"reasoning_content": text}, text),)
        return ()


def _is_another(call: _Open, id: str, name: str) -> bool:
    """Whether a delta on a used index starts a new call: Ollama puts all calls on index 0."""
    if id and call.id:
        return id != call.id
    return bool(name and call.name) and (name != call.name or is_json_object(call.arguments))


def read_usage(usage: Any) -> Usage:
    """Tokens as reported; missing numbers are 0."""

    def number(thing: Any, key: str) -> int:
        value = get(thing, key) if thing is not None else None
        return int(value) if isinstance(value, int | float) and value > 0 else 0

    details = get(usage, "prompt_tokens_details") if usage is not None else None
    return Usage(
        number(usage, "prompt_tokens"),
        number(usage, "completion_tokens"),
        number(details, "cached_tokens") or number(usage, "cache_read_input_tokens"),
    )
