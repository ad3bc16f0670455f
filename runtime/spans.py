"""OpenTelemetry spans of what agents do, after the semantic conventions for generative AI.

invoke_agent ada                one turn
├── chat gpt-4o-mini            one model call of it
├── execute_tool recall_search  one call of a function
└── events                      prefetched, warned, flush, page, retry
flush ada                       a flush in the idle after one

An observer makes them of TraceEvents. Texts are left out, unless
OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT says true. Needs the extra `otel`; nothing of it
is imported before it is wanted.
"""

import json
import logging
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pagemind.runtime.errors import MissingExtra, UserError
from pagemind.runtime.models.redact import redact, secrets_of
from pagemind.runtime.trace import Observer, TraceEvent

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span, SpanKind, Tracer, TracerProvider

_log = logging.getLogger("pagemind.spans")
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
# How the conventions call a provider, where litellm calls it otherwise.
_PROVIDERS = {
    "gemini": "gcp.gemini",
    "vertex_ai": "gcp.vertex_ai",
    "bedrock": "aws.bedrock",
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "mistral": "mistral_ai",
    "xai": "x_ai",
    "moonshot": "moonshot_ai",
    "watsonx": "ibm.watsonx.ai",
    "ollama_chat": "ollama",
}
# Events of a turn that become events of its span, and what is kept of each.
_EVENTS = {
    "prefetched": ("tokens",),
    "warned": ("ratio",),
    "page_written": ("id", "tokens"),
    "summarised": ("rung", "tokens"),
    "flush_ended": ("freed", "used", "pages"),
    "model_retrying": ("seconds",),
}


class Spans:
    """Makes spans with a tracer of `provider`, the program's own by default; `content` adds what
    was said. `observer(name)` watches one agent: `Runtime(watch=Spans().observer)`.

    Raises MissingExtra.
    """

    def __init__(
        self, provider: "TracerProvider | None" = None, *, content: bool | None = None
    ) -> None:
        try:
            from opentelemetry import trace
        except ImportError:
            raise _missing() from None
        self._tracer = trace.get_tracer("pagemind", tracer_provider=provider)
        asked = os.environ.get(_CONTENT, "").strip().lower() in ("true", "1", "span_only")
        self._content = asked if content is None else content

    def observer(self, agent: str) -> Observer:
        """For the turns of one agent, one after the other."""
        return _Turns(self._tracer, agent, self._content).take


class _Turns:
    """The open spans of one agent."""

    def __init__(self, tracer: "Tracer", agent: str, content: bool) -> None:
        self._tracer = tracer
        self._agent = agent
        self._content = content
        self._asked = ""
        self._turn: Span | None = None
        self._call: Span | None = None
        self._tool: Span | None = None
        self._flush: Span | None = None
        self._secrets = secrets_of(None)

    def take(self, event: TraceEvent) -> None:
        """The observer."""
        data = event.data
        if event.kind == "asked":
            self._asked = str(data.get("text", ""))
        elif event.kind == "turn_started":
            self._begin(data)
        elif self._turn is None:
            self._in_the_idle(event)
        elif event.kind == "model_called":
            self._end(self._call, error="context_overflow")  # asked again with less
            self._call = self._chat(data)
        elif event.kind == "model_replied":
            self._replied(data)
        elif event.kind == "tool_called":
            self._tool = self._execute(data)
        elif event.kind == "tool_returned":
            self._returned(data)
        elif event.kind == "turn_ended":
            self._ended(data)
        else:
            _note(self._turn, event)

    # --- a turn ---------------------------------------------------------------------------------

    def _begin(self, data: Mapping[str, Any]) -> None:
        from opentelemetry.trace import SpanKind

        for left in (self._tool, self._call, self._turn, self._flush):  # of a turn that raised
            self._end(left, error="_OTHER")
        self._flush = None
        self._turn = self._start(
            f"invoke_agent {self._agent}",
            SpanKind.INTERNAL,
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": self._agent,
                "gen_ai.conversation.id": f"{self._agent}:{data['conversation']}",
                "pagemind.turn": data["turn"],
                **_model(str(data.get("model", ""))),
            },
            root=True,
        )
        if self._content:
            self._turn.set_attribute("gen_ai.input.messages", self._message("user", self._asked))

    def _ended(self, data: Mapping[str, Any]) -> None:
        assert self._turn is not None
        result, stop = data["result"], data["stop_reason"]
        failed = "" if stop in ("answered", "interrupted") else str(stop)
        self._end(self._tool, error=stop)
        self._end(self._call, error=stop)
        usage = result["usage"]
        self._turn.set_attributes({"pagemind.stop_reason": stop, **_usage(usage)})
        if result["cost"]["known"]:
            self._turn.set_attribute("pagemind.cost_usd", result["cost"]["amount"])
        if self._content:
            said = self._message("assistant", result["text"], finish_reason="stop")
            self._turn.set_attribute("gen_ai.output.messages", said)
        self._end(self._turn, error=failed)
        self._turn = self._call = self._tool = None

    def _in_the_idle(self, event: TraceEvent) -> None:
        """A flush between two turns is a span of its own."""
        from opentelemetry.trace import SpanKind

        if event.kind == "flush_started":
            named = {"gen_ai.agent.name": self._agent}
            self._flush = self._start(f"flush {self._agent}", SpanKind.INTERNAL, named)
        elif self._flush is not None:
            _note(self._flush, event)
            if event.kind == "flush_ended":
                self._end(self._flush)
                self._flush = None

    # --- its parts ------------------------------------------------------------------------------

    def _chat(self, data: Mapping[str, Any]) -> "Span":
        from opentelemetry.trace import SpanKind

        model = str(data.get("model", ""))
        attributes = {"gen_ai.operation.name": "chat", "pagemind.step": data["step"]}
        here = model.startswith(("local/", "scripted"))
        return self._start(
            f"chat {_model(model)['gen_ai.request.model']}".strip(),
            SpanKind.INTERNAL if here else SpanKind.CLIENT,
            {**attributes, **_model(model), "pagemind.estimated_tokens": data["prompt_tokens"]},
        )

    def _replied(self, data: Mapping[str, Any]) -> None:
        if self._call is not None:
            self._call.set_attributes(_usage(data))
            self._call.set_attribute("gen_ai.response.finish_reasons", [data["finish"]])
        self._end(self._call)
        self._call = None

    def _execute(self, data: Mapping[str, Any]) -> "Span":
        from opentelemetry.trace import SpanKind

        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": data["name"],
            "gen_ai.tool.call.id": data["id"],
            "gen_ai.tool.type": "function",
        }
        if self._content:
            arguments = json.dumps(data["arguments"], ensure_ascii=False)
            attributes["gen_ai.tool.call.arguments"] = redact(arguments, self._secrets)
        return self._start(f"execute_tool {data['name']}", SpanKind.INTERNAL, attributes)

    def _returned(self, data: Mapping[str, Any]) -> None:
        if self._tool is not None and self._content:
            text = redact(data["text"], self._secrets)
            self._tool.set_attribute("gen_ai.tool.call.result", text)
        self._end(self._tool, error="" if data["ok"] else "tool_error")
        self._tool = None

    # --- spans ----------------------------------------------------------------------------------

    def _start(
        self, name: str, kind: "SpanKind", attributes: Mapping[str, Any], *, root: bool = False
    ) -> "Span":
        """A span below the turn's; the turn's own is below whatever the program has open."""
        from opentelemetry.trace import set_span_in_context

        above = None if root or self._turn is None else set_span_in_context(self._turn)
        return self._tracer.start_span(name, above, kind, attributes)

    @staticmethod
    def _end(span: "Span | None", *, error: str = "") -> None:
        from opentelemetry.trace import StatusCode

        if span is None:
            return
        if error:
            span.set_attribute("error.type", error)
            span.set_status(StatusCode.ERROR)
        span.end()

    def _message(self, role: str, text: str, **more: str) -> str:
        parts = [{"type": "text", "content": redact(text, self._secrets)}]
        return json.dumps([{"role": role, "parts": parts, **more}], ensure_ascii=False)


def _note(span: "Span", event: TraceEvent) -> None:
    if event.kind in _EVENTS:
        kept = {f"pagemind.{k}": event.data[k] for k in _EVENTS[event.kind] if k in event.data}
        span.add_event(f"pagemind.{event.kind}", kept)


def _model(name: str) -> dict[str, str]:
    provider, slash, model = name.partition("/")
    return {
        "gen_ai.request.model": model if slash else name,
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
    }


def _usage(data: Mapping[str, Any]) -> dict[str, int]:
    """What was reported; 0 is unknown."""
    found = {
        "gen_ai.usage.input_tokens": data["prompt_tokens"],
        "gen_ai.usage.output_tokens": data["completion_tokens"],
        "gen_ai.usage.cache_read.input_tokens": data["cached_tokens"],
    }
    return {key: value for key, value in found.items() if value}


# --- for the command line ---------------------------------------------------------------------


def wanted(*, asked: bool) -> Callable[[str], Observer] | None:
    """Spans to where the OTEL_… variables say, if they are asked for or an endpoint is set.

    Raises MissingExtra, or UserError for an exporter that is not known, where they were asked for.
    """
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    if not asked and not any(os.environ.get(name) for name in _ENDPOINTS):
        return None
    try:
        exporter = _exporter()
        if exporter is None:
            return None
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except (ImportError, UserError) as error:
        # The variables may be meant for other programs.
        if not asked:
            _log.info("no spans: %s", error)
            return None
        raise (_missing() if isinstance(error, ImportError) else error) from None
    named = os.environ.get("OTEL_SERVICE_NAME", "pagemind")
    provider = TracerProvider(resource=Resource.create({"service.name": named}))
    provider.add_span_processor(BatchSpanProcessor(exporter))  # what is left is sent at the exit
    return Spans(provider).observer


def _exporter() -> "SpanExporter | None":
    named = os.environ.get("OTEL_TRACES_EXPORTER", "otlp").strip() or "otlp"
    if named == "none":
        return None
    if named == "console":
        import sys

        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter(out=sys.stderr)
    if named == "otlp":
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        return OTLPSpanExporter()
    raise UserError(f"OTEL_TRACES_EXPORTER={named} is not known here", hint="otlp, console or none")


def _missing() -> MissingExtra:
    return MissingExtra("OpenTelemetry is not installed", hint="pip install 'pagemind[otel]'")
