"""What a provider accepts, made from canonical messages: `to_wire(request, rules_for(model))`.

The output is a list of OpenAI-format dicts. For any sequence of messages it holds that
- the system parts come first, as one message; then a user message;
- a call is followed at once by exactly its results, in the order of the calls; a missing result
  gets a synthetic one, a result that stands elsewhere is moved to its call;
- a result without a call, and a group whose call ids this provider would refuse, become fenced
  text in a user message: nothing is lost, and ids are never rewritten;
- an image goes to a model that sees, its caption to all;
- no text is empty, none holds a lone surrogate, and no key is unknown to the provider;
- reasoning goes back only to the model or provider that made it.
With `marked`, the ends of what later requests repeat get the provider's cache breakpoints; the
texts are the same without.
Nothing here does I/O; the same request gives the same bytes.
"""

import base64
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pagemind.runtime.arguments import plain_arguments
from pagemind.runtime.errors import NotFound
from pagemind.runtime.message import Blob, Message, Reasoning, ToolCall, clean_json, clean_text
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.untrusted import closed

Family = Literal["openai", "anthropic", "gemini", "mistral", "ollama"]
Wire = dict[str, Any]

# Placeholders, not sentences: they stand where a provider insists on a turn that nobody took.
OPENING = "(…)"
CLOSING = "(…)"
PAUSE = "(…)"
NO_OUTPUT = "(no output)"
NO_RESULT = "error: interrupted before a result was recorded"

_REASONING_KEYS: dict[str, type] = {"thinking_blocks": list, "reasoning_content": str}
_BAD_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_NAME_CHARACTERS = 64


@dataclass(frozen=True, slots=True)
class Rules:
    """What one provider insists on."""

    family: Family
    provider: str  # the tag on Reasoning; only equal tags are echoed
    merge_same_role: bool = True
    user_first: bool = True
    user_last: bool = False  # refuses a request that ends with the assistant's own words
    pause_after_tool: bool = False  # refuses a user message right after a tool result
    system_parts: bool = False  # system as content parts, so that cache breakpoints can be set
    tools_for_calls: bool = False  # refuses calls in the history of a request without functions
    unique_ids: bool = False  # refuses an id used twice in one request
    call_id: str = r".{1,256}"
    # loop: only after the person's last message, which is all that openai-like servers want;
    # always: the provider drops what it does not need, and dropping it here breaks its cache.
    echo_reasoning: Literal["never", "loop", "always"] = "loop"
    cache_marks: int = 0  # cache breakpoints that a request may have; most caches need none


def provider_of(model_name: str) -> str:
    """`openai` for `openai/gpt-4o-mini` and for the bare names that litellm knows."""
    provider, slash, _ = model_name.partition("/")
    if slash:
        return "ollama_chat" if provider == "ollama" else provider
    bare = model_name.lower()
    for start, owner in (("claude", "anthropic"), ("gemini", "vertex_ai")):
        if bare.startswith(start):
            return owner
    return "openai"


def rules_for(model_name: str) -> Rules:
    """The rules of the provider behind a litellm model name; openai-like where in doubt."""
    provider = provider_of(model_name)
    lower = model_name.lower()
    if provider == "ollama_chat":
        # Ollama joins consecutive messages of one role itself, whatever the template.
        return Rules("ollama", provider=model_name, merge_same_role=False)
    if provider == "anthropic" or "claude" in lower:
        return Rules(
            "anthropic",
            provider=provider,
            user_last=True,
            system_parts=True,
            tools_for_calls=True,
            unique_ids=True,
            echo_reasoning="always",
            cache_marks=4 if _takes_marks(provider, lower) else 0,
        )
    if provider in ("gemini", "vertex_ai") or "gemini" in lower:
        # The call id carries Gemini's thought signature: no other echo is needed, and ids are long.
        return Rules(
            "gemini", provider=provider, user_last=True, call_id=r".+", echo_reasoning="never"
        )
    if provider in ("mistral", "codestral"):
        return Rules(
            "mistral",
            provider=provider,
            user_last=True,
            pause_after_tool=True,
            call_id=r"[a-zA-Z0-9]{9}",
            echo_reasoning="never",
        )
    # Merging: the chat templates of vLLM and llama.cpp often insist on alternating roles.
    # Reasoning is tagged with the whole name: behind "openai/" stand servers of every kind.
    hosted = re.search(r"(?:^|/)(?:gpt-|chatgpt-|o\d)", lower) and "gpt-oss" not in lower
    return Rules("openai", provider=model_name, call_id=r".{1,40}" if hosted else r".{1,256}")


def _takes_marks(provider: str, lower: str) -> bool:
    """Whether Claude's breakpoints reach it this way: proxies of other kinds may refuse the key.

    Gemini has none in a request: litellm would make stored caches of them, which are billed by the
    hour, cost two calls each and are refused on the free tier. Its own cache goes by the prefix."""
    if provider == "bedrock":
        return not re.search(r"claude-(v2|instant|3-(opus|sonnet|haiku)|3-5-sonnet-2024062)", lower)
    return provider in ("anthropic", "vertex_ai", "openrouter", "litellm_proxy")


def to_wire(
    request: ModelRequest,
    rules: Rules,
    *,
    marked: bool = False,
    images: Callable[[str], bytes] | None = None,
) -> list[Wire]:
    """The messages of a request as the provider accepts them; see the head of this file. `images`
    gives what is in an image, for a model that sees; captions stand for them otherwise."""
    body: list[Wire] = []
    stable = sorted(request.stable)
    for at, wire in _conversation(request, rules):
        while stable and stable[0] <= at:
            stable.pop(0)
            if body:
                body[-1].setdefault(_ENDS, []).append(len(body[-1]["content"] or ""))
        _add(body, wire, rules)
    if rules.user_first and (not body or body[0]["role"] != "user"):
        body.insert(0, {"role": "user", "content": OPENING})
    if rules.user_last and body[-1]["role"] == "assistant":
        body.append({"role": "user", "content": CLOSING})
    system = _system(request.system, rules)
    ends = [wire.pop(_ENDS, []) for wire in body]
    if marked and rules.cache_marks:
        _mark(system, body, ends, rules.cache_marks)
    for wire in body:
        blobs = wire.pop(_BLOBS, [])
        if images is not None and blobs:
            wire["content"] = _with_images(wire["content"], blobs, images)
    return [*system, *body]


# --- images ---------------------------------------------------------------------------------------

_BLOBS = "blobs"  # while it is made: the images of its message


def _with_images(
    content: str | list[Wire], blobs: Sequence[Blob], images: Callable[[str], bytes]
) -> list[Wire]:
    """Text, then its images. One that is gone is left to its caption."""
    text: list[Wire] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    parts = list(text)
    for blob in blobs:
        try:
            data = base64.b64encode(images(blob.sha256)).decode("ascii")
        except NotFound:
            continue
        url = f"data:{blob.media_type};base64,{data}"
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return parts


# --- cache breakpoints ----------------------------------------------------------------------------

_ENDS = "ends"  # while it is made: after so many characters of its text a repeated stretch ends
_CACHED: Wire = {"cache_control": {"type": "ephemeral"}}


def _mark(system: list[Wire], body: list[Wire], ends: list[list[int]], most: int) -> None:
    """Set breakpoints after instructions and functions, after what holds until the next flush,
    before the event, and at the very end, for the next step. Functions stand before the system
    message and are covered by its marks."""
    parts = system[0]["content"] if system else []
    stretches = [(at, end) for at, some in enumerate(ends) for end in some if end]
    last = len(body) - 1, len(body[-1]["content"] or "")
    marks = [*(each for each in stretches if each != last), last]
    systems = [0] if parts else []
    # Without a head of its own, core memory is the last that holds.
    if len(parts) > 1 and len(systems) + len(marks) < most:
        systems.append(len(parts) - 1)
    for number in systems:
        parts[number] = {**parts[number], **_CACHED}
    for at in range(len(body)):
        mine = [end for where, end in marks[-(most - len(systems)) :] if where == at]
        if mine:
            body[at] = _with_marks(body[at], mine)


def _with_marks(wire: Wire, ends: Sequence[int]) -> Wire:
    if wire["role"] == "tool":
        return {**wire, **_CACHED}
    text = wire["content"]
    if not text:
        return wire  # calls alone: their results come after and are marked instead
    pieces: list[Wire] = []
    start = 0
    for end in sorted(set(ends)):
        pieces.append({"type": "text", "text": text[start:end], **_CACHED})
        start = end
    if text[start:].strip():
        pieces.append({"type": "text", "text": text[start:]})
    return {**wire, "content": pieces}


# --- the messages ---------------------------------------------------------------------------------


def _system(parts: Sequence[str], rules: Rules) -> list[Wire]:
    texts = [clean_text(part) for part in parts if part.strip()]
    if not texts:
        return []
    if rules.system_parts:
        return [{"role": "system", "content": [{"type": "text", "text": t} for t in texts]}]
    return [{"role": "system", "content": "\n\n".join(texts)}]


def _add(body: list[Wire], wire: Wire, rules: Rules) -> None:
    """Append, merging or separating where the provider insists on it."""
    last = body[-1] if body else None
    if last and rules.pause_after_tool and last["role"] == "tool" and wire["role"] == "user":
        body.append({"role": "assistant", "content": PAUSE})
    elif (
        last
        and rules.merge_same_role
        and last["role"] == wire["role"] != "tool"
        and "tool_calls" not in last
    ):
        body[-1] = _merged(last, wire)
        return
    body.append(wire)


def _merged(first: Wire, second: Wire) -> Wire:
    wire = {**first, **second}
    texts = [w["content"] for w in (first, second) if w["content"]]
    wire["content"] = "\n\n".join(texts) or None
    if blobs := [*first.get(_BLOBS, []), *second.get(_BLOBS, [])]:
        wire[_BLOBS] = blobs
    for key in _REASONING_KEYS:
        if key in first and key in second:
            wire[key] = first[key] + second[key]
    return wire


# --- calls and their results --------------------------------------------------------------------


@dataclass(slots=True)
class _Group:
    """A message and, for each of its calls by position, the result found for it."""

    message: Message
    at: int  # its place in the request
    results: dict[int, Message] = field(default_factory=dict)


def _pair(messages: Sequence[Message]) -> list[_Group]:
    """Each result goes to the latest open call of its id; what remains is a group of its own."""
    groups: list[_Group] = []
    waiting: dict[str, list[tuple[_Group, int]]] = {}
    for at, message in enumerate(messages):
        open_calls = waiting.get(message.tool_call_id) if message.role == "tool" else None
        if open_calls:
            group, position = open_calls.pop(0)
            group.results[position] = message
            continue
        group = _Group(message, at)
        groups.append(group)
        if message.role == "assistant":
            own: dict[str, list[tuple[_Group, int]]] = {}
            for position, call in enumerate(message.tool_calls):
                own.setdefault(call.id, []).append((group, position))
            waiting.update(own)  # an id used again: the older call stays without a result
    return groups


def _conversation(request: ModelRequest, rules: Rules) -> Iterator[tuple[int, Wire]]:
    """Each wire message with the place of what it is made from."""
    groups = _pair(request.messages)
    as_text = _refused(groups, request, rules)
    loop_start = max(
        (n for n, g in enumerate(groups) if g.message.role == "user" and g.message.kind == "talk"),
        default=-1,
    )
    for number, group in enumerate(groups):
        message = group.message
        if message.role == "tool":
            yield group.at, {"role": "user", "content": _fenced_result(message)}
            continue
        text = clean_text(message.text)
        wire: Wire = {"role": message.role, "content": text if text.strip() else None}
        if message.role == "user" and (blobs := _images_of(message)):
            wire[_BLOBS] = blobs
        calls = message.tool_calls if message.role == "assistant" else ()
        if number in as_text or not calls:
            if wire["content"]:
                yield group.at, wire
            if calls:
                yield group.at, {"role": "user", "content": _fenced_group(group)}
            continue
        wire["tool_calls"] = [_wire_call(call) for call in calls]
        if rules.echo_reasoning == "always" or (
            rules.echo_reasoning == "loop" and number > loop_start
        ):
            wire.update(_reasoning(message, rules))
        yield group.at, wire
        for position, call in enumerate(calls):
            result = _result_text(group.results.get(position))
            yield (
                group.at,
                {"role": "tool", "tool_call_id": clean_text(call.id), "content": result},
            )


def _images_of(message: Message) -> list[Blob]:
    return [
        part
        for part in message.parts
        if isinstance(part, Blob) and part.media_type.startswith("image/")
    ]


def _refused(groups: Sequence[_Group], request: ModelRequest, rules: Rules) -> set[int]:
    """The groups whose calls this provider would refuse; newest first keep a repeated id."""
    refused: set[int] = set()
    pattern = re.compile(rules.call_id, re.DOTALL)
    seen: set[str] = set()
    for number in range(len(groups) - 1, -1, -1):
        message = groups[number].message
        ids = [clean_text(call.id) for call in message.tool_calls]
        if (
            (rules.tools_for_calls and not request.tools)
            or len(set(ids)) < len(ids)
            or not all(pattern.fullmatch(i) and i.strip() for i in ids)
            or (rules.unique_ids and not seen.isdisjoint(ids))
        ):
            refused.add(number)
        else:
            seen.update(ids)
    return refused


def _wire_call(call: ToolCall) -> Wire:
    return {
        "id": clean_text(call.id),
        "type": "function",
        "function": {
            "name": _function_name(call.name),
            "arguments": plain_arguments(call.arguments),
        },
    }


def _function_name(name: str) -> str:
    """A name the model invented may hold what providers refuse on replay: `web.search`."""
    return _BAD_NAME.sub("_", name)[:_NAME_CHARACTERS] or "unknown"


def _reasoning(message: Message, rules: Rules) -> Wire:
    """The provider's own keys of its own reasoning; several parts of one key are joined."""
    keys: Wire = {}
    for part in message.parts:
        if not isinstance(part, Reasoning) or part.provider != rules.provider:
            continue
        opaque = part.opaque if isinstance(part.opaque, dict) else {}
        for key in _REASONING_KEYS:
            if key == "thinking_blocks" and rules.family != "anthropic":
                continue  # nobody else knows the key, whatever a proxy handed over
            value = clean_json(opaque.get(key))
            if value and isinstance(value, _REASONING_KEYS[key]):
                keys[key] = keys[key] + value if key in keys else value
    return keys


# --- results as text ----------------------------------------------------------------------------


def _result_text(result: Message | None) -> str:
    if result is None:
        return NO_RESULT
    text = clean_text(result.text)
    return text if text.strip() else NO_OUTPUT


def _fence(tag: str, name: str, text: str) -> str:
    inside = closed(text, "tool_call", "tool_result")
    return f'<{tag} name="{_function_name(name)}">\n{inside}\n</{tag}>'


def _fenced_result(result: Message) -> str:
    return _fence("tool_result", result.name, _result_text(result))


def _fenced_group(group: _Group) -> str:
    lines = []
    for position, call in enumerate(group.message.tool_calls):
        lines.append(_fence("tool_call", call.name, plain_arguments(call.arguments)))
        result = group.results.get(position)
        lines.append(_fence("tool_result", call.name, _result_text(result)))
    return "\n".join(lines)
