"""Replay: runs an agent again from a trace, and says where it does otherwise than it did.

The agent starts from the state that the trace holds, on a model that answers what was recorded.
Functions of memory run; what searched, or acted on the world, answers from the trace and is not
done again. Nothing is asked of a network, and each replay is like the one before.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pagemind.runtime.agent import Agent
from pagemind.runtime.clock import FrozenClock, SystemClock, parse_rfc3339
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.erasure.texts import strings_of
from pagemind.runtime.errors import AgentExists, PagemindError, ToolFailed, UserError
from pagemind.runtime.event import event_from_json
from pagemind.runtime.exchange import Exchange, Exchanges
from pagemind.runtime.function_names import BETWEEN
from pagemind.runtime.main_context import Prefetched
from pagemind.runtime.message import TRUST
from pagemind.runtime.model import Embedder, Model
from pagemind.runtime.model_choice import ModelChoice
from pagemind.runtime.models.replay_model import (
    Difference,
    ReplayModel,
    lines_of,
    windows_of,
)
from pagemind.runtime.parts import Parts
from pagemind.runtime.person import Consent
from pagemind.runtime.replayed_consent import RecordedPerson
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import Hit
from pagemind.runtime.state.dump import restore
from pagemind.runtime.state.home import Home
from pagemind.runtime.state.state import State
from pagemind.runtime.tool import File, Tool, ToolContext, ToolResult, takes_context
from pagemind.runtime.trace import Observer, ignore
from pagemind.runtime.trace_file import TraceLine
from pagemind.runtime.untrusted import KEY, NONE

# Turns that a person, a clock or a kill ended may have ended earlier than their replay would.
_CUT_SHORT = frozenset(("interrupted", "time"))


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay came to; `difference` is the first one, None for none."""

    agent: str
    turns: int
    requests: int
    difference: Difference | None

    def as_json(self) -> dict[str, Any]:
        return {
            "agent": self.agent,
            "turns": self.turns,
            "requests": self.requests,
            "same": self.difference is None,
            "difference": self.difference.as_json() if self.difference else None,
        }


@dataclass(slots=True)
class _Part:
    """One turn of the record, and what came before the next one."""

    line: TraceLine
    opened: Mapping[str, Any] | None  # the agent was opened anew for it …
    state: list[dict[str, Any]]  # … from this state, where it is not what the last part left
    exchanges: list[Exchange] = field(default_factory=list)
    answers: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    returned: dict[str, str] = field(default_factory=dict)
    shared: dict[str, dict[str, str]] = field(default_factory=dict)  # by the call that waited
    taken_up: dict[str, str] = field(default_factory=dict)
    prefetched: Prefetched | None = None
    gists: int = 0  # answers about gists that were kept before this turn
    ended: str = ""  # the stop reason
    settled: bool = False  # a flush ran in the idle after it
    left: bool = False  # the person did something else after it: the next part starts from there


def replay(
    path: str | Path,
    *,
    agent: str | None = None,
    home: str | Path | None = None,
    observer: Observer = ignore,
) -> Replayed:
    """Run the agent of a trace again, until it is through or does otherwise.

    It is left in `home`, where it can be looked at; without one nothing stays. Raises UserError
    for a file that cannot be replayed, AgentExists.
    """
    lines = lines_of(Path(path), agent)
    if home is not None:
        _refuse_erased(lines, Path(path), Path(home))
    parts, times = _parts(lines, Path(path))
    name = lines[0].agent
    clock = ReplayClock(parse_rfc3339(lines[0].at), times)
    first = parts[0].opened or {}
    model = ReplayModel((), name=first["model"], windows=windows_of(lines), stop=True)
    turns = 0
    with _Stage(home, clock, model, Parts(**first["parts"])) as stage:
        if stage.home.exists(name):
            raise AgentExists(
                f"there is an agent called {name!r} in {stage.home.path} already",
                hint="give --home a folder of its own",
            )
        for part in parts:
            stage.begin(part, name)
            ended = stage.run(part, observer)
            turns += 1
            if found := _difference(part, model, ended):
                return Replayed(name, turns, model.asked, found)
    return Replayed(name, turns, model.asked, None)


def _refuse_erased(lines: Sequence[TraceLine], path: Path, home: Path) -> None:
    """A trace cannot leave out what was erased from the home that its agent is left in: it would
    run otherwise. Raises UserError."""
    if not (home / "home.db").exists():
        return
    opened = Home(home, SystemClock())
    try:
        denied = opened.denied
        held = denied.anything and any(
            denied.has_text(text) or denied.has_id(text)
            for line in lines
            for text in strings_of(line.data)
        )
    finally:
        opened.close()
    if held:
        raise UserError(
            f"{path} holds what was erased from {home}: it is not run again",
            hint="delete it, or replay it without --home: then nothing of it stays",
        )


def _difference(part: _Part, model: ReplayModel, ended: str) -> Difference | None:
    if model.differences:
        return model.differences[0]
    if part.ended and ended != part.ended and part.ended not in _CUT_SHORT:
        step = max((each.step for each in part.exchanges), default=0)
        what = f"the turn ended with {ended}, and with {part.ended} in the trace"
        return Difference(step, "turn", what)
    if model.left:
        what = (
            f"the trace asks a model once more ({model.left[0].purpose}), and the replay does not"
        )
        return Difference(model.left[0].step, "request", what)
    return None


def _parts(lines: Sequence[TraceLine], path: Path) -> tuple[list[_Part], dict[int, datetime]]:
    """The turns of a record, and when each message was stored. Raises UserError."""
    parts: list[_Part] = []
    times: dict[int, datetime] = {}
    together = Exchanges()
    opened: Mapping[str, Any] | None = None
    state: list[dict[str, Any]] = []
    for line in lines:
        data = line.data
        try:
            exchange = together.take(line)
            if line.kind == "opened":
                opened = data
            elif line.kind == "state":
                if "left_out" in data:
                    raise UserError(
                        f"{path}:{line.number}: the agent was too large to be kept in the trace"
                        f" ({data['left_out'] >> 20} MB), so it cannot be replayed"
                    )
                state.append(dict(data))
            elif line.kind == "stored":
                times[data["seq"]] = parse_rfc3339(data["at"])
            elif line.kind == "asked":
                parts.append(_Part(line, opened, state))
                opened, state = None, []
            elif parts:
                _take(parts[-1], line, exchange)
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(f"{path}:{line.number}: not a line of a trace ({error!r})") from None
    if not parts:
        raise UserError(f"{path} holds no turn that could be replayed")
    if not parts[0].state or parts[0].opened is None:
        raise UserError(
            f"{path} does not hold the state that its agent started from",
            hint="its beginning was cut off; record a new trace",
        )
    return parts, times


def _take(part: _Part, line: TraceLine, exchange: Exchange | None) -> None:
    data = line.data
    if exchange is not None:
        # What the sleep-time worker asked after a turn: the next part begins with what it made.
        slept = exchange.purpose == "background" and part.ended
        if not slept and (not part.left or exchange.purpose == "gist"):
            part.exchanges.append(exchange)
    elif line.kind == "shared":
        part.taken_up.update(data["blocks"])
    elif line.kind == "answer":
        part.answers[data["id"]] = data
        if part.taken_up:  # before that call had its answer
            part.shared[data["id"]], part.taken_up = part.taken_up, {}
    elif line.kind == "tool_returned":
        part.returned[data["id"]] = data["text"]
    elif line.kind == "prefetched":
        part.prefetched = Prefetched(data["seq"], data["text"], tuple(data["ids"]), data["trust"])
    elif line.kind == "gists_written":
        part.gists += 1
    elif line.kind == "turn_ended":
        part.ended = data["stop_reason"]
    elif line.kind == "flush_started" and part.ended:
        part.left = data["reason"] != "idle"
        part.settled = part.settled or not part.left


class ReplayClock(FrozenClock):
    """Stands at the time when the next message was stored in the record."""

    def __init__(self, at: datetime, times: Mapping[int, datetime]) -> None:
        super().__init__(at)
        self._ids = 1 << 48  # the record's own may have been made by a clock that stood still, too
        self._times = times
        self.next_seq: Callable[[], int] | None = None

    def now(self) -> datetime:
        if self.next_seq is not None:
            self._now = self._times.get(self.next_seq(), self._now)
        return self._now


class _Stage(Runtime):
    """A runtime whose models and functions answer from the record."""

    def __init__(
        self, home: str | Path | None, clock: ReplayClock, model: ReplayModel, parts: Parts
    ) -> None:
        super().__init__(home or ":memory:", clock=clock, background=False, parts=parts)
        self._replayed = model
        self._record_clock = clock
        self._part: _Part | None = None
        self._opened: Mapping[str, Any] = {}
        self._agent: Agent | None = None

    def begin(self, part: _Part, name: str) -> None:
        """Bring the agent to where the part began."""
        if self._agent is not None:
            self._idle(part)
        self._part = part
        if part.opened is not None or part.state:
            self._opened = part.opened or self._opened
            self._leave()
            if part.state:
                self._put(name, part.state)
            self._agent = self.agent(name, create=False)
            self._agent.person = RecordedPerson(
                lambda id: self._part is not None and id in self._part.answers,
                lambda: self._part.returned if self._part is not None else {},
            )
            self._agent.settles = False
            self._agent.turns.prefetch = self._prefetched
            journal = self._agent.state.journal
            self._record_clock.next_seq = lambda: journal.last_seq + 1
        self._replayed.may_end = part.ended in _CUT_SHORT or not part.ended
        self._replayed.load(part.exchanges)

    def _prefetched(self, seq: int, text: str) -> Prefetched | None:
        return self._part.prefetched if self._part else None

    def _idle(self, part: _Part) -> None:
        """What was done about gists between two turns."""
        assert self._agent is not None
        for _ in range(part.gists):
            self._agent.write_gists()
        self._replayed.drop()

    def run(self, part: _Part, observer: Observer) -> str:
        """Replay the turn; how it ended."""
        assert self._agent is not None
        body = part.line.data
        for label, value in body.get("shared", {}).items():
            self._agent.shared_blocks.as_told(label, value)
        try:
            if body["do"] == "retry":
                result = self._agent.retry(observer=observer)
            elif body["do"] == "approve":
                consent = Consent(body["allowed"], body["always"], body["reason"])
                result = self._agent.approve(consent, observer=observer)
            else:
                result = self._agent.handle(event_from_json(body), observer=observer)
            # In the record the next turn may have come before the flush that was due.
            if part.settled:
                self._agent.queue_manager.settle()
        except PagemindError as error:  # it raised then, too, or the turn ended otherwise
            return f"{type(error).__name__}: {error.message}"
        return result.stop_reason

    def _share(self, values: Mapping[str, str]) -> None:
        """What others had written by now, in the middle of a turn."""
        assert self._agent is not None
        for label, value in values.items():
            self._agent.shared_blocks.as_told(label, value)
        self._agent.follow_within()

    def _leave(self) -> None:
        self._record_clock.next_seq = None
        if self._agent is not None:
            self._agent.close()
            self._agent = None

    def _put(self, name: str, rows: list[dict[str, Any]]) -> None:
        """The agent as the rows say, in place of the one that may be here."""
        if self.home.exists(name):
            self.home.remove(self.home.find(name))
        agent_id = self.clock.new_id()
        with self.home.making(agent_id) as folder:
            state = State(folder, self.clock)
            try:
                restore(state.database, rows)
                state.database.set_meta("agent_id", agent_id)
                if not state.database.meta(KEY):  # recorded before there were fences
                    state.database.set_meta(KEY, NONE)
                definition = AgentDefinition.from_json(state.database.meta("definition"))
            finally:
                state.close()
            self.home.add(agent_id, name, definition.name, "")

    # --- what the agent is made from --------------------------------------------------------------

    def choose_model(self, name: str, asked: str | None = None) -> ModelChoice:
        return ModelChoice(self._opened["model"], "the trace")

    def _model(self, choice: ModelChoice, definition: AgentDefinition | None) -> tuple[Model, str]:
        if definition is None:  # who summarises
            return self._replayed.named(choice.name), "default"
        return self._replayed, self._opened["protocol"]

    def _embedder_of(self, definition: AgentDefinition) -> Embedder | None:
        return None

    def _servers_of(self, name: str, definition: AgentDefinition, state: State) -> None:
        return None  # what they said is in the trace

    def _tools(self, definition: AgentDefinition) -> list[Tool]:
        # A person's own functions are not imported: a trace may come from anywhere.
        own = super()._tools(definition.within([u.name for u in definition.uses if not u.own]))
        terms = {use.name.rpartition(":")[2]: use.terms for use in definition.uses}
        for server in definition.servers:
            for each in self._opened["tools"]:
                name, between, tool = each["id"].partition(BETWEEN)
                if between and name == server.name:
                    terms[each["id"]] = server.terms_of(tool)
        names = {tool.name for tool in own}
        others = [each for each in self._opened["tools"] if each["id"] not in names]
        stand_ins = [replace(self._stand_in(o), terms=terms.get(o["id"])) for o in others]
        return [*map(self._answering, own), *stand_ins]

    def _answering(self, tool: Tool) -> Tool:
        """The same function, with the recorded answer where it only looked or did not stay at
        home."""
        inner = tool.function
        wants_context = takes_context(inner)

        def run(ctx: ToolContext, arguments: Mapping[str, Any]) -> str | ToolResult:
            return inner(ctx, **arguments) if wants_context else inner(**arguments)

        def answered(ctx: ToolContext, **arguments: Any) -> str | ToolResult:
            recorded = self._recorded(ctx.call_id)
            if recorded is None and (tool.effect == "world" or tool.foreign):
                raise self._unknown(tool.name, ctx.call_id)  # in no case is it done again
            if tool.effect == "memory" or recorded is None:
                answer = run(ctx, arguments)
                return recorded if recorded and _is_same_store(tool, answer, recorded) else answer
            if tool.name == "page_in":  # what is read becomes warm
                with suppress(PagemindError):
                    run(ctx, arguments)
            return recorded

        return replace(tool, function=answered)

    def _stand_in(self, recorded: Mapping[str, Any]) -> Tool:
        """A function of the person's own, which is not here."""

        def answered(ctx: ToolContext, **arguments: Any) -> str | ToolResult:
            found = self._recorded(ctx.call_id)
            if found is None:
                raise self._unknown(recorded["id"], ctx.call_id)
            return found

        return _StandIn(
            recorded["id"],
            recorded["description"],
            answered,
            dict(recorded["parameters"]),
            recorded["effect"],
            foreign=recorded.get("foreign", False),
            arguments=_anything(),
        )

    def _unknown(self, name: str, call_id: str) -> ToolFailed:
        """What a call came to that has no answer in the trace."""
        text = self._part.returned.get(call_id, "") if self._part else ""
        return ToolFailed(text or f"{name}: the trace holds no answer to this call")

    def _recorded(self, call_id: str) -> ToolResult | None:
        """What a call was answered. Raises ToolFailed where it failed."""
        data = self._part.answers.get(call_id) if self._part else None
        if data is None:
            return None
        if self._part is not None and (shared := self._part.shared.get(call_id)):
            self._share(shared)
        if error := data.get("error"):
            raise ToolFailed(error["message"])
        hits = tuple(
            Hit(
                each["id"],
                each["tier"],
                "",
                0.0,
                page=each["page"],
                archive=each["archive"],
                origin=each.get("origin", ""),
                trust=each.get("trust", TRUST.get(each.get("origin", ""), 100)),
            )
            for each in data.get("shown", ())
        )
        files = tuple(
            File(base64.b64decode(each["data"]), each["media_type"], each["caption"])
            for each in data.get("files", ())
        )
        return ToolResult(
            data["text"],
            data.get("reference"),
            data.get("speech"),
            hits,
            files=files,
            trust=data.get("trust", 100),
        )

    def close(self) -> None:
        self._record_clock.next_seq = None
        super().close()


class _StandIn(Tool):
    """Takes whatever was given: what it took in the record is not known."""

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return dict(arguments)


def _anything() -> Any:
    from pydantic import BaseModel

    return BaseModel


def _is_same_store(tool: Tool, answer: str | ToolResult, recorded: ToolResult) -> bool:
    """Whether an insert differs only in what it is near to, which an embedder told."""
    text = answer if isinstance(answer, str) else answer.text
    first, said = text.partition("\n")[0], recorded.text.partition("\n")[0]
    return tool.name == "archival_insert" and first == said
