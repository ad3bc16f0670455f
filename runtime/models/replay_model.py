"""ReplayModel: a model that answers what a trace has recorded, and compares what it is asked.

    model = ReplayModel.from_trace("talk.jsonl")
    agent = runtime.agent("ada", definition, model=model)
    …
    assert not model.differences

No network, no key, the same answers every time.
"""

import difflib
import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pagemind.runtime import errors
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import Cancelled, ModelError, PromptTooLarge, UserError
from pagemind.runtime.exchange import Exchange, exchanges, request_json
from pagemind.runtime.model import ModelReply, ModelRequest, OnRetry, OnText, WindowInfo
from pagemind.runtime.models.redact import redact_json, secrets_of
from pagemind.runtime.request_digest import RequestDigest
from pagemind.runtime.settings import REPLAY_DIFF_LINES
from pagemind.runtime.trace_file import TraceLine, read

_LINE_CHARS = 160
_FENCED = ("summary", "page_table", "pinned")


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a replay left the record: `step` is the recorded one's, 0 beside the turns; `section`
    is one of contract.md's, or `request` or `turn` where there is no counterpart."""

    step: int
    section: str
    what: str
    diff: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "section": self.section,
            "what": self.what,
            "diff": list(self.diff),
        }


class ReplayModel:
    """Answers from `recorded`, in order; gists have an order of their own. `windows` are those of
    models by name. With `stop` the first difference ends the turn, as Ctrl-C would."""

    def __init__(
        self,
        recorded: Iterable[Exchange],
        *,
        name: str,
        windows: Mapping[str, WindowInfo] | None = None,
        stop: bool = False,
    ) -> None:
        self._name = name
        self._windows = dict(windows or {})
        self._stop = stop
        self._digest = RequestDigest()
        self._left: deque[Exchange] = deque()
        self._gists: deque[Exchange] = deque()
        self._last_step = 0
        self.asked = 0
        self.may_end = not stop  # whether more may be asked for than there is
        self.differences: list[Difference] = []
        self.load(recorded)

    @classmethod
    def from_trace(cls, path: str | Path, *, agent: str | None = None) -> "ReplayModel":
        """The model of a trace's agent. Raises UserError for a file that cannot be replayed."""
        lines = lines_of(Path(path), agent)
        opened = next(line for line in lines if line.kind == "opened")
        return cls(exchanges(lines), name=opened.data["model"], windows=windows_of(lines))

    def load(self, recorded: Iterable[Exchange]) -> None:
        """Answer with these, too, once the others are used up."""
        for each in recorded:
            (self._gists if each.purpose == "gist" else self._left).append(each)

    @property
    def left(self) -> Sequence[Exchange]:
        """What nobody has asked for yet, gists apart."""
        return tuple(self._left)

    def drop(self) -> None:
        """Forget what nobody asked for."""
        self._left.clear()
        self._gists.clear()

    @property
    def name(self) -> str:
        return self._name

    def named(self, name: str) -> "ReplayModel":
        """The same record under the name of another model: who summarises, say."""
        other = ReplayModel((), name=name, windows=self._windows, stop=self._stop)
        other._left, other._gists, other.differences = self._left, self._gists, self.differences
        return other

    def complete(
        self,
        request: ModelRequest,
        *,
        on_text: OnText | None = None,
        on_retry: OnRetry | None = None,
        cancel: CancelToken | None = None,
    ) -> ModelReply:
        waiting = self._gists if request.purpose == "gist" else self._left
        if not waiting:
            return self._nothing_left(request, cancel)
        exchange = waiting.popleft()
        self._last_step = exchange.step or self._last_step
        self.asked += 1
        found = difference(exchange, request, self._digest)
        if found is not None:
            self.differences.append(found)
            if self._stop:
                self._end(cancel)
        if exchange.reply is None:
            raise self._error(exchange, on_text)
        if on_text is not None and exchange.reply.text:
            on_text(exchange.reply.text)
        return exchange.reply

    def _nothing_left(self, request: ModelRequest, cancel: CancelToken | None) -> ModelReply:
        if not self._stop:
            raise ModelError(
                "the trace holds no more answers", hint="record a new one, or ask less of it"
            )
        if not self.may_end:
            what = f"a model is asked ({request.purpose}) where the trace asks for nothing more"
            self.differences.append(Difference(self._last_step, "request", what))
        self._end(cancel)
        raise AssertionError("the turn has ended")

    @staticmethod
    def _end(cancel: CancelToken | None) -> None:
        if cancel is not None:
            cancel.cancel()
        raise Cancelled("the replay ends here")

    def _error(self, exchange: Exchange, on_text: OnText | None) -> Exception:
        if on_text is not None and exchange.shown:
            on_text(exchange.shown)
        if exchange.error is None:
            return Cancelled("the trace ends here")
        kind, message = exchange.error
        known = getattr(errors, kind, None)
        if kind == "KeyboardInterrupt":
            return Cancelled(message)
        if (
            isinstance(known, type)
            and issubclass(known, errors.PagemindError)
            and not issubclass(known, PromptTooLarge)
        ):
            return known(message)
        return ModelError(f"{self._name} failed: {kind}: {message}")

    def window(self) -> WindowInfo | None:
        return self._windows.get(self._name)

    def prefill(self, request: ModelRequest) -> None:
        """A record has nothing to warm."""

    def close(self) -> None:
        """A record holds nothing."""


# --- reading ----------------------------------------------------------------------------------


def lines_of(path: Path, agent: str | None) -> list[TraceLine]:
    """The lines of one agent; its name may be left out where there is only one. Raises UserError
    for a file that is no trace, or holds nothing to replay."""
    lines = list(read(path))
    names = list(dict.fromkeys(line.agent for line in lines if line.kind == "opened"))
    if not names:
        raise UserError(f"{path} holds no agent that could be replayed")
    if agent is None and len(names) > 1:
        raise UserError(
            f"{path} holds several agents: {', '.join(names)}", hint="say which with --agent NAME"
        )
    wanted = agent or names[0]
    if wanted not in names:
        raise UserError(f"{path} holds no agent {wanted!r}", hint=f"it holds {', '.join(names)}")
    own = [line for line in lines if line.agent == wanted]
    if not all(line.data.get("content", True) for line in own if line.kind == "opened"):
        raise UserError(
            f"{path} was recorded without texts (--no-content), so it cannot be replayed",
            hint="it can be read; record without --no-content for a replay",
        )
    return own


def windows_of(lines: Iterable[TraceLine]) -> dict[str, WindowInfo]:
    """The windows of the models, by their names."""
    return {
        line.data["model"]: WindowInfo(line.data["tokens"], line.data["source"])
        for line in lines
        if line.kind == "window" and line.data["tokens"] is not None
    }


# --- comparing --------------------------------------------------------------------------------


def difference(
    exchange: Exchange, request: ModelRequest, digest: RequestDigest
) -> Difference | None:
    """The first thing in which a request is not the recorded one. Keys that the trace left out
    are none."""
    if exchange.purpose != request.purpose:
        what = f"recorded a call for {exchange.purpose}, replayed one for {request.purpose}"
        return Difference(exchange.step, "request", what)
    if exchange.sha256 == digest.of(request):
        return None
    now = redact_json(request_json(0, "", "", request, None), secrets_of(None))

    def found(section: str, what: str, before: str, after: str) -> Difference:
        return Difference(exchange.step, section, what, _diff(before, after))

    for at, section in enumerate(("system", "core")):
        before, after = ("\n".join(each[at : at + 1]) for each in (exchange.system, now["system"]))
        if before != after:
            return found(section, f"the section {section} is not the same", before, after)
    if exchange.functions != now["functions"]:
        texts = (_functions(each) for each in (exchange.functions, now["functions"]))
        return found("tools", "the functions are not the same", *texts)
    for at in range(max(len(exchange.messages), len(now["messages"]))):
        one, other = (
            each[at] if at < len(each) else None for each in (exchange.messages, now["messages"])
        )
        if _sent(one) != _sent(other):
            section = _section(one, other)
            name = next((f"m{m['seq']}" for m in (one, other) if m and m["seq"]), "the head")
            return found(section, f"{name} is not the same", _text(one), _text(other))
    return None


def _sent(message: Mapping[str, Any] | None) -> object:
    return (message["role"], message["content"]) if message else None


def _functions(functions: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(json.dumps(each, sort_keys=True, ensure_ascii=False) for each in functions)


def _text(message: Mapping[str, Any] | None) -> str:
    """A message as it is shown in a diff."""
    if message is None:
        return ""
    content = message["content"]
    texts = [part.get("text") or part["type"] for part in content["parts"]]
    calls = [f"{call['name']}({call['arguments']})" for call in content.get("tool_calls", ())]
    return "\n".join([f"{message['role']}:", *texts, *calls])


def _without_memories(message: Mapping[str, Any] | None) -> str:
    """A message without what prefetch placed before its text."""
    head, _, rest = _text(message).partition("</memories>")
    return (rest or head.removeprefix("user:")).strip()


def _section(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> str:
    """Which part of the window it is that differs."""
    if any(message is None or message["seq"] for message in (one, other)):
        return "prefetch" if _without_memories(one) == _without_memories(other) else "queue"
    for tag in _FENCED:
        inside = [_text(m).partition(f"<{tag}>")[2].partition(f"</{tag}>")[0] for m in (one, other)]
        if inside[0] != inside[1]:
            return tag
    return "queue"


def _diff(before: str, after: str) -> tuple[str, ...]:
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm=""))
    shown = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    cut = [f"{line[:_LINE_CHARS]}…" if len(line) > _LINE_CHARS else line for line in shown]
    more = len(cut) - REPLAY_DIFF_LINES
    return (*cut[:REPLAY_DIFF_LINES], *([f"… {more} more lines"] if more > 0 else []))
