"""The function executor: find, validate, run, and turn every error into a result the model reads.

A call with effect "memory" commits its effect and its result in one transaction, by way of the
`store` callback; any other call stores its result after it ran.
"""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass

from pagemind.runtime.arguments import is_json_object, unparsed
from pagemind.runtime.clock import Clock
from pagemind.runtime.errors import (
    BadArguments,
    HomeUnusable,
    PagemindError,
    StorageError,
    ToolError,
)
from pagemind.runtime.message import Message, Provenance, Text, ToolCall, clean_text
from pagemind.runtime.settings import OWN_RESULT_TRUST, WORLD_RESULT_TRUST
from pagemind.runtime.state.accesses import Accesses
from pagemind.runtime.state.database import Database
from pagemind.runtime.tool import Tool, ToolContext, ToolRegistry, ToolResult, takes_context

_log = logging.getLogger("pagemind.tools")
ONCE = "called "  # the beginning of the keys under which answers of calls by hand are kept


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call came to. `speech` is text for the person (protocol heartbeat)."""

    message: Message
    ok: bool
    error: str | None
    ms: float
    speech: str | None = None


class FunctionExecutor:
    """Runs the calls of one agent."""

    def __init__(self, registry: ToolRegistry, database: Database, clock: Clock) -> None:
        self._registry = registry
        self._database = database
        self._clock = clock
        self._accesses = Accesses(database, clock)

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
    ) -> Outcome:
        """Run one call and store its result. Never raises for what the model or the tool did.

        `cut_off`: the output limit ended the reply inside this call, so it is not run. `note` is
        put after the result (the nudge of a repeated call).
        """
        started = self._clock.monotonic()
        error: str | None = None
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
            if tool.effect == "memory":
                with self._database.transaction():
                    result = self._run(tool, context, arguments)
                    stored = store(self._message(call, result, note, tool, ok=True))
            else:
                result = self._run(tool, context, arguments)
                message = self._message(call, result, note, tool, ok=True)
                if result.shown:
                    with self._database.transaction():
                        stored = store(message)
                        self._accesses.record_shown(result.shown)
                else:
                    stored = store(message)
        except (StorageError, HomeUnusable):
            raise  # the disk is not the model's business
        except ToolError as refused:
            error = refused.message
        except PagemindError as other:
            error = f"{call.name}: {other.message}"
        except Exception as fault:
            # A tool's own fault must reach the model as a result, and the person as a log line.
            _log.warning("%s raised", call.name, exc_info=True)
            error = f"{call.name} failed: {type(fault).__name__}: {fault}"
        if stored is None:
            failed = ToolResult(error or "")
            stored = store(self._message(call, failed, note, None, ok=False))
        ms = (self._clock.monotonic() - started) * 1000
        return Outcome(stored, error is None, error, ms, result.speech if error is None else None)

    def call(
        self, name: str, arguments: dict[str, object], context: ToolContext, *, once: str = ""
    ) -> str:
        """Run a function by hand: what it answers, and no message. With effect memory it is done
        once for an id `once`: what it did and its answer commit together, and the answer is given
        again. Raises ToolError, and what the function raises."""
        tool = self._registry.find(name)
        checked = tool.validate(arguments)
        if tool.effect != "memory" or not once:
            return self._run(tool, context, checked).text
        key = f"{ONCE}{once}"
        with self._database.transaction():
            if stored := self._database.meta(key):
                return str(json.loads(stored))
            answer = self._run(tool, context, checked).text
            self._database.set_meta(key, json.dumps(answer, ensure_ascii=False))
        return answer

    def forget_call(self, once: str) -> None:
        """Whoever called has noted the answer elsewhere."""
        self._database.write("DELETE FROM meta WHERE key = ?", (f"{ONCE}{once}",))

    def parameters(self) -> dict[str, dict[str, object]]:
        """The JSON schema of the arguments of each function."""
        return {tool.name: tool.parameters for tool in self._registry}

    def _run(self, tool: Tool, context: ToolContext, arguments: dict[str, object]) -> ToolResult:
        if takes_context(tool.function):
            answer = tool.function(context, **arguments)
        else:
            answer = tool.function(**arguments)
        if isinstance(answer, ToolResult):
            return answer
        if not isinstance(answer, str):
            answer = json.dumps(answer, ensure_ascii=False, default=str)
        return ToolResult(answer)

    def _message(
        self, call: ToolCall, result: ToolResult, note: str, tool: Tool | None, *, ok: bool
    ) -> Message:
        text = clean_text(result.text) or ("done" if ok else "failed")
        if note:
            text = f"{text}\n{note}"
        trust = WORLD_RESULT_TRUST if tool and tool.effect == "world" else OWN_RESULT_TRUST
        return Message(
            role="tool",
            parts=(Text(text),),
            tool_call_id=call.id,
            name=call.name,
            kind="reading" if result.reference else "talk",
            speaker=call.name,
            provenance=Provenance("tool", call.name, trust),
            ok=ok,
            reference=result.reference,
        )


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
