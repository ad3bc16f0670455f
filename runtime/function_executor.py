"""The function executor: find, validate, permit, run, and turn every error into a result the model
reads.

A call with effect "memory" commits its effect and its result in one transaction, by way of the
`store` callback; any other call stores its result after it ran.
"""

import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pagemind.runtime.approvals import NOT_RUN, Approvals, WaitsForApproval
from pagemind.runtime.arguments import is_json_object, unparsed
from pagemind.runtime.clock import Clock
from pagemind.runtime.deadline import within
from pagemind.runtime.errors import (
    BadArguments,
    Cancelled,
    HomeUnusable,
    NeedsApproval,
    PagemindError,
    StorageError,
    ToolError,
    ToolFailed,
)
from pagemind.runtime.function_names import WORK, tells_new
from pagemind.runtime.gate import Gate, Verdict
from pagemind.runtime.message import (
    TRUST,
    Blob,
    Message,
    Part,
    Provenance,
    Text,
    ToolCall,
    clean_text,
)
from pagemind.runtime.person import ApprovalRequest, Consent
from pagemind.runtime.settings import OWN_RESULT_TRUST, TOOL_MEGABYTES, WORLD_RESULT_TRUST
from pagemind.runtime.state.accesses import Accesses
from pagemind.runtime.state.audit import Audit
from pagemind.runtime.state.blobs import Blobs
from pagemind.runtime.state.database import Database
from pagemind.runtime.step_trust import FULL
from pagemind.runtime.tainted_services import within_taint
from pagemind.runtime.tool import (
    Tool,
    ToolContext,
    ToolRegistry,
    ToolResult,
    file_of,
    takes_context,
)
from pagemind.runtime.turn_rules import missing, refusal, terms_of

_log = logging.getLogger("pagemind.tools")
_ALLOWED = Verdict("allow")
ONCE = "called "  # the beginning of the keys under which answers of calls by hand are kept


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call came to. `speech` is text for the person (protocol heartbeat)."""

    message: Message
    ok: bool
    error: str | None
    ms: float
    speech: str | None = None
    trust: int = FULL  # of what came in by it, whoever asked


class _NotRun(ToolFailed):
    """A rule or a person does not allow the call."""


class FunctionExecutor:
    """Runs the calls of one agent. `approvals` keeps what waits for a person; `said_in` gives the
    messages of a turn, by which rules are held; `blobs` takes results that are no text."""

    def __init__(
        self,
        registry: ToolRegistry,
        database: Database,
        clock: Clock,
        *,
        approvals: Approvals | None = None,
        said_in: Callable[[int], Sequence[Message]] = lambda turn: (),
        blobs: Blobs | None = None,
        gate: Gate | None = None,
    ) -> None:
        self._registry = registry
        self._database = database
        self._clock = clock
        self._accesses = Accesses(database, clock)
        self._audit = Audit(database, clock)
        self._approvals = approvals
        self._said_in = said_in
        self._blobs = blobs
        self._gate = gate
        self._ruled = any(terms_of(tool).ruled for tool in registry)
        # A person consented once and for all; whether also while untrusted text is in view.
        self._always: dict[str, bool] = {}

    def rule(self, name: str) -> str:
        """allow, ask or deny: what its terms say of calls of a function, unless a person consented
        once and for all."""
        rule = next((terms_of(t).rule for t in self._registry if t.name == name), "allow")
        return "allow" if rule == "ask" and name in self._always else rule

    def judged(self, name: str, arguments: Mapping[str, Any], trust: int) -> Verdict:
        """What the gate makes of a call by hand whose arguments are as trusted as that."""
        tool = next((t for t in self._registry if t.name == name), None)
        if tool is None or self._gate is None:
            return _ALLOWED
        return self._gate.by_hand(tool, arguments, trust)

    def effect(self, name: str) -> str:
        """The declared effect of a function; unknown ones might have done anything."""
        return next((tool.effect for tool in self._registry if tool.name == name), "world")

    def execute(
        self,
        call: ToolCall,
        context: ToolContext,
        store: Callable[[Message], Message],
        *,
        cut_off: bool = False,
        note: str = "",
        consent: Consent | None = None,
    ) -> Outcome:
        """Run one call and store its result. Never raises for what the model or the tool did, but
        WaitsForApproval where a person must be asked and nobody is there.

        `cut_off`: the output limit ended the reply inside this call, so it is not run. `note` is
        put after the result (the nudge of a repeated call). `consent` is a person's answer that
        the call waited for.
        """
        started = self._clock.monotonic()
        error: str | None = None
        ran = True
        begun: Tool | None = None  # what it says of its failure is its own word
        result = ToolResult("")
        stored: Message | None = None
        try:
            if cut_off:
                raise BadArguments(
                    f"{call.name}: the arguments were cut off by the output limit, so it was not"
                    " run; make them shorter, or split the work into several calls"
                )
            tool = self._registry.find(call.name)
            if (raw := unparsed(call)) is not None:
                raise BadArguments(
                    f"{call.name}: the arguments are not a JSON object; it was not run."
                    f" What came: {raw[:200]}"
                )
            arguments = tool.validate(_arguments(call))
            try:
                self._permit(tool, call, context, consent)
            except (WaitsForApproval, _NotRun):
                raise
            except BaseException as fault:
                # Stopped while somebody was asked: the call surely was not run.
                why = ToolResult(f"{call.name} was not run: {_why_not_asked(fault)}")
                stored = store(self._message(call, why, note, tool, context, ok=False, ran=False))
                self._answered()
                raise
            begun = tool
            if tool.effect == "memory":
                context = _prepared(tool, context, arguments)
                with self._database.transaction():
                    result = self._run(tool, context, arguments)
                    stored = store(self._message(call, result, note, tool, context, ok=True))
            else:
                result = self._run(tool, context, arguments)
                message = self._message(call, result, note, tool, context, ok=True)
                if result.shown:
                    with self._database.transaction():
                        stored = store(message)
                        self._accesses.record_shown(result.shown)
                else:
                    stored = store(message)
        except (StorageError, HomeUnusable, Cancelled, WaitsForApproval):
            raise  # the disk, or who stops a turn, is not the model's business
        except ToolError as refused:
            error = refused.message
            ran = not isinstance(refused, _NotRun)
        except PagemindError as other:
            error = f"{call.name}: {other.message}"
        except Exception as fault:
            # A tool's own fault must reach the model as a result, and the person as a log line.
            _log.warning("%s raised", call.name, exc_info=True)
            error = f"{call.name} failed: {type(fault).__name__}: {fault}"
        if stored is None:
            failed = ToolResult(error or "")
            stored = store(self._message(call, failed, note, begun, context, ok=False, ran=ran))
        ms = (self._clock.monotonic() - started) * 1000
        trust = _came_in(begun, result, failed=error is not None) if ran else FULL
        speech = result.speech if error is None else None
        return Outcome(stored, error is None, error, ms, speech, trust)

    def call(
        self,
        name: str,
        arguments: dict[str, object],
        context: ToolContext,
        *,
        once: str = "",
        consent: Consent | None = None,
    ) -> str:
        """Run a function by hand: what it answers, and no message. With effect memory it is done
        once for an id `once`: what it did and its answer commit together, and the answer is given
        again. Its rule holds (the others are a turn's): without `consent` the person is asked.
        Raises NeedsApproval, ToolError, and what the function raises."""
        tool = self._registry.find(name)
        checked = tool.validate(arguments)
        self._permit_by_hand(tool, arguments, context, consent)
        if tool.effect != "memory" or not once:
            return self._text(self._run(tool, _prepared(tool, context, checked), checked))
        key = f"{ONCE}{once}"
        if not self.answered(once):
            context = _prepared(tool, context, checked)
        with self._database.transaction():
            if stored := self._database.meta(key):
                return str(json.loads(stored))
            answer = self._run(tool, context, checked).text
            self._database.set_meta(key, json.dumps(answer, ensure_ascii=False))
        return answer

    def _text(self, result: ToolResult) -> str:
        """Of a call by hand: what is no text is kept, and said under which hash."""
        if not result.files or self._blobs is None:
            return result.text
        kept = ", ".join(self._blobs.keep(file.data) for file in result.files)
        return f"{result.text} (sha256 {kept})"

    def answered(self, once: str) -> bool:
        """Whether a call of this id has its answer."""
        return bool(self._database.meta(f"{ONCE}{once}"))

    def forget_call(self, once: str) -> None:
        """Whoever called has noted the answer elsewhere."""
        self._database.write("DELETE FROM meta WHERE key = ?", (f"{ONCE}{once}",))

    def parameters(self) -> dict[str, dict[str, object]]:
        """The JSON schema of the arguments of each function."""
        return {tool.name: tool.parameters for tool in self._registry}

    def missing(self, turn: int) -> list[str]:
        """The functions that must have been called before the turn may end, and were not."""
        return missing(self._registry, self._said_in(turn)) if self._ruled else []

    def _permit_by_hand(
        self,
        tool: Tool,
        arguments: dict[str, object],
        context: ToolContext,
        consent: Consent | None,
    ) -> None:
        """Raises _NotRun where the definition or a person forbids the call, NeedsApproval where
        nobody is there to ask."""
        rule = terms_of(tool).rule
        if rule == "deny":
            raise _NotRun(f"{tool.name} is not allowed for this agent")
        verdict = self.judged(tool.name, arguments, context.trust)
        if verdict.kind == "refuse":
            raise _NotRun(verdict.why)
        if self.rule(tool.name) != "ask" and verdict.kind != "ask":
            return
        if consent is None and context.person is not None:
            request = _because(_request(tool, context.call_id, arguments, context), verdict.why)
            consent = context.person.approve(request)
        if consent is None:
            why = verdict.why or f"{tool.name} asks a person before each call"
            raise NeedsApproval(
                f"{why}, and nobody is there",
                hint="give the agent a person, or the call a consent",
            )
        self._heed(tool, consent, context.turn, tainted=False)

    def _heed(self, tool: Tool, consent: Consent, turn: int, *, tainted: bool) -> None:
        """Raises _NotRun for a refusal. Either answer stands in the audit log. `tainted`: whether
        it was asked for since untrusted text is in view."""
        op = "call approved" if consent.allowed else "call refused"
        always = consent.allowed and consent.always
        self._audit.add(op, tool.name, by="user", turn=turn, effect=tool.effect, always=always)
        if not consent.allowed:
            reason = f": {consent.reason}" if consent.reason else ""
            raise _NotRun(f"{tool.name} was not run: a person declined it{reason}")
        if consent.always:
            self._always[tool.name] = tainted or self._always.get(tool.name, False)

    def _permit(
        self,
        tool: Tool,
        call: ToolCall,
        context: ToolContext,
        consent: Consent | None,
    ) -> None:
        """Raises _NotRun where a rule or a person forbids the call, WaitsForApproval where nobody
        is there to ask."""
        terms = terms_of(tool)
        waited = self._approvals.pending() if self._approvals and consent is not None else None
        if consent is not None:
            self._answered()  # before it runs: killed in it, it must not be asked for again
        if terms.rule == "deny":
            raise _NotRun(f"{tool.name} is not allowed for this agent")
        if self._ruled and (why := refusal(tool, self._registry, self._said_in(context.turn))):
            raise _NotRun(why)
        if consent is not None:
            tainted = waited is not None and waited.tainted
            self._heed(tool, consent, context.turn, tainted=tainted)
            return
        verdict = _ALLOWED
        if self._gate is not None:
            consented = self._always.get(tool.name, False)
            verdict = self._gate.verdict(tool, call.parsed(), context, consented=consented)
        if verdict.kind in ("refuse", "aside"):
            raise _NotRun(verdict.why)
        asks = self.rule(tool.name) == "ask"
        if asks or verdict.kind == "ask":
            consent = self._ask(tool, call, context, verdict.why)
            self._heed(tool, consent, context.turn, tainted=verdict.kind == "ask")

    def _ask(self, tool: Tool, call: ToolCall, context: ToolContext, why: str) -> Consent:
        request = _because(_request(tool, call.id, call.parsed(), context), why)
        if self._approvals is not None:
            self._approvals.wait(request)
        consent = context.person.approve(request) if context.person is not None else None
        if consent is None:
            raise WaitsForApproval(request)
        self._answered()
        return consent

    def _answered(self) -> None:
        if self._approvals is not None:
            self._approvals.answered()

    def _run(self, tool: Tool, context: ToolContext, arguments: dict[str, object]) -> ToolResult:
        context = within_taint(tool, context)
        if tool.terms is not None:
            context = replace(context, terms=tool.terms, env=_env(tool))
        if takes_context(tool.function):
            call = partial(tool.function, context, **arguments)
        else:
            call = partial(tool.function, **arguments)
        try:
            # A transaction belongs to its thread; memory functions wait for nothing outside.
            if tool.effect == "memory" or tool.seconds is None:
                answer = call()
            else:
                answer = within(tool.seconds, call, tool.name, context.cancel)
        except (SystemExit, GeneratorExit) as left:  # it is not the function's to end the program
            raise ToolFailed(f"{tool.name} failed: {type(left).__name__}: {left}") from None
        return _result(tool, answer)

    def _message(
        self,
        call: ToolCall,
        result: ToolResult,
        note: str,
        tool: Tool | None,
        context: ToolContext,
        *,
        ok: bool,
        ran: bool = True,
    ) -> Message:
        text = clean_text(result.text) or ("done" if ok else "failed")
        if note:
            text = f"{text}\n{note}"
        trust = _came_in(tool, result, failed=not ok)
        # Nor is what was asked for while something untrusted was in view: it may repeat that.
        made = Provenance("tool" if ran else "runtime", call.name if ran else NOT_RUN)
        origin = replace(made, trust=min(trust if ran else made.trust, context.trust))
        parts: tuple[Part, ...] = (Text(text),)
        if result.files and self._blobs is not None:
            keep = self._blobs.keep
            parts += tuple(
                Blob(keep(file.data), file.media_type, len(file.data), 0, file.caption)
                for file in result.files
            )
        return Message(
            role="tool",
            parts=parts,
            tool_call_id=call.id,
            name=call.name,
            kind="reading" if result.reference else "talk",
            speaker=call.name,
            provenance=origin,
            ok=ok,
            reference=result.reference,
        )


def _came_in(tool: Tool | None, result: ToolResult, *, failed: bool) -> int:
    """How far a result is trusted: what memory gives back is no better for having been there."""
    return min(_of_function(tool, failed=failed), result.trust, *(h.trust for h in result.shown))


def _of_function(tool: Tool | None, *, failed: bool) -> int:
    if tool is None or not (tool.foreign or tool.effect == "world"):
        return OWN_RESULT_TRUST
    if tool.name in WORK["agents"] and not failed:  # why it failed may be in anybody's words
        return TRUST["agent"]
    inward = not tells_new(tool.name) or tool.name == "write_file"
    return OWN_RESULT_TRUST if inward else WORLD_RESULT_TRUST


def _why_not_asked(fault: BaseException) -> str:
    """What the model reads where asking a person came to nothing."""
    if isinstance(fault, Cancelled) or not isinstance(fault, Exception):
        return "the turn was stopped"
    return f"a person could not be asked about it: {type(fault).__name__}: {fault}"


def _request(
    tool: Tool, id: str, arguments: Mapping[str, Any], context: ToolContext
) -> ApprovalRequest:
    about = tool.terms.about(context.folder) if tool.terms is not None else ""
    return ApprovalRequest(
        context.agent, context.turn, id, tool.name, arguments, tool.effect, about
    )


def _because(request: ApprovalRequest, why: str) -> ApprovalRequest:
    """With what the gate says of it."""
    if not why:
        return request
    about = "; ".join(filter(None, (request.about, why)))
    return replace(request, about=about, tainted=True)


def _prepared(tool: Tool, context: ToolContext, arguments: dict[str, object]) -> ToolContext:
    if tool.before is None:
        return context
    return replace(context, prepared=tool.before(context, **arguments))


def _env(tool: Tool) -> dict[str, str]:
    """The variables that the function may see. Raises ToolFailed for one that is not set."""
    names = getattr(tool.terms, "env", ())
    for name in names:
        if name not in os.environ:
            raise ToolFailed(f"{tool.name}: the variable {name} is not set; a person has to set it")
    return {name: os.environ[name] for name in names}


def _result(tool: Tool, answer: object) -> ToolResult:
    """What a function gave, as a result. Raises ToolFailed for more than can be kept: part of it
    would look like all of it."""
    limit = TOOL_MEGABYTES << 20
    size = len(answer.text) if isinstance(answer, ToolResult) else 0
    if isinstance(answer, str | bytes | bytearray | memoryview):
        size = len(answer)
    if size <= limit:
        if isinstance(answer, ToolResult):
            return answer
        if isinstance(answer, bytes | bytearray | memoryview):
            return _of_bytes(bytes(answer))
        if answer is None:
            return ToolResult("")
        if not isinstance(answer, str):
            answer = json.dumps(answer, ensure_ascii=False, default=str)
            size = len(answer)
    if size > limit:
        raise ToolFailed(
            f"{tool.name} gave {size:,} characters, and at most {limit:,} are kept; nothing of it"
            " was: ask for less"
        )
    return ToolResult(str(answer))


def _of_bytes(data: bytes) -> ToolResult:
    try:
        return ToolResult(data.decode("utf-8"))
    except UnicodeDecodeError:
        return ToolResult(f"{len(data):,} bytes that are no text", files=(file_of(data),))


def _arguments(call: ToolCall) -> dict[str, object]:
    """The arguments as an object. Raises BadArguments for what could not be read as one."""
    written = unparsed(call)
    if written is None and not is_json_object(call.arguments or "{}"):
        written = call.arguments
    if written is not None:
        raise BadArguments(
            f"{call.name}: the arguments are not a JSON object; send one with the names that the"
            f" function takes. They began: {written[:80]}"
        )
    return call.parsed()
