"""Spans after the GenAI conventions, made from what happens."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from trace_kit import definition, weather

from pagemind.runtime import spans
from pagemind.runtime.errors import MissingExtra, RateLimited, UserError
from pagemind.runtime.model import ModelReply, Usage
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.spans import Spans
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel, call

sdk = pytest.importorskip("opentelemetry.sdk.trace")
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider  # noqa: E402  # only if it is there
from opentelemetry.sdk.trace.export import SimpleSpanProcessor  # noqa: E402
from opentelemetry.sdk.trace.export.in_memory_span_exporter import (  # noqa: E402
    InMemorySpanExporter,
)
from opentelemetry.trace import SpanKind, StatusCode  # noqa: E402

SCRIPT = [
    call("weather", place="Porto"),
    ModelReply("It rains.", usage=Usage(900, 12, 800), cost=0.002),
    call("core_append", block="nobody", content="x"),
    "Sorry.",
    RateLimited("slow down"),
]


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def provider(exporter: InMemorySpanExporter) -> Iterator[TracerProvider]:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    yield provider
    provider.shutdown()


def run(provider: TracerProvider, home: Path, *, content: bool | None = None) -> None:
    watch = Spans(provider, content=content).observer
    with Runtime(home, embedder=HashingEmbedder(32), background=False, watch=watch) as runtime:
        model = ScriptedModel(SCRIPT, name="openai/gpt-4o-mini")
        agent = runtime.agent("ada", definition(), model=model, tools=[weather])
        for text in ("And the weather?", "Note it", "Fail"):
            agent.send(text)


def attributes(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


def test_a_turn_its_calls_and_its_functions_are_spans(
    provider: TracerProvider, exporter: InMemorySpanExporter, tmp_path: Path
) -> None:
    """invoke_agent holds chat and execute_tool, named and attributed as the conventions say."""
    run(provider, tmp_path)
    found = exporter.get_finished_spans()
    turns = [span for span in found if span.name == "invoke_agent ada"]
    assert len(turns) == 3
    first = [s for s in found if s.parent and s.parent.span_id == turns[0].context.span_id]
    assert [s.name for s in first] == [
        "chat gpt-4o-mini",
        "execute_tool weather",
        "chat gpt-4o-mini",
    ]
    chat, tool, last = first
    assert chat.kind is SpanKind.CLIENT
    assert attributes(chat)["gen_ai.operation.name"] == "chat"
    assert attributes(chat)["gen_ai.provider.name"] == "openai"
    assert attributes(chat)["gen_ai.request.model"] == "gpt-4o-mini"
    assert attributes(chat)["gen_ai.response.finish_reasons"] == ("tool_calls",)
    assert attributes(tool)["gen_ai.tool.name"] == "weather"
    assert attributes(tool)["gen_ai.tool.type"] == "function"
    assert str(attributes(tool)["gen_ai.tool.call.id"]).startswith("call_")
    assert attributes(last)["gen_ai.usage.input_tokens"] == 900
    assert attributes(last)["gen_ai.usage.cache_read.input_tokens"] == 800
    assert attributes(turns[0])["gen_ai.agent.name"] == "ada"
    assert attributes(turns[0])["gen_ai.conversation.id"] == "ada:1"
    assert attributes(turns[0])["gen_ai.usage.output_tokens"] == 12
    assert attributes(turns[0])["pagemind.stop_reason"] == "answered"


def test_what_fails_is_an_error_by_type(
    provider: TracerProvider, exporter: InMemorySpanExporter, tmp_path: Path
) -> None:
    """A refused call and a failed model end their spans with error.type."""
    run(provider, tmp_path)
    found = exporter.get_finished_spans()
    tool = next(s for s in found if s.name == "execute_tool core_append")
    assert attributes(tool)["error.type"] == "tool_error"
    assert tool.status.status_code is StatusCode.ERROR
    turn = [s for s in found if s.name == "invoke_agent ada"][-1]
    assert attributes(turn)["error.type"] == "model_error"
    assert all(s.end_time for s in found)


def test_texts_are_left_out_unless_asked_for(
    provider: TracerProvider, exporter: InMemorySpanExporter, tmp_path: Path
) -> None:
    """By default no attribute holds what was said; with content messages and calls do."""
    run(provider, tmp_path / "without")
    said = json.dumps([attributes(s) for s in exporter.get_finished_spans()])
    assert "Porto" not in said
    assert "rain" not in said
    exporter.clear()
    run(provider, tmp_path / "with", content=True)
    found = exporter.get_finished_spans()
    turn = attributes(next(s for s in found if s.name == "invoke_agent ada"))
    assert "And the weather?" in str(turn["gen_ai.input.messages"])
    assert "It rains." in str(turn["gen_ai.output.messages"])
    tool = attributes(next(s for s in found if s.name == "execute_tool weather"))
    assert tool["gen_ai.tool.call.arguments"] == '{"place": "Porto"}'
    assert "rain" in str(tool["gen_ai.tool.call.result"])


def test_flushes_are_events_of_the_turn(
    provider: TracerProvider, exporter: InMemorySpanExporter, tmp_path: Path
) -> None:
    """What paging does is seen where it happened."""
    watch = Spans(provider).observer
    with Runtime(tmp_path, embedder=HashingEmbedder(32), background=False, watch=watch) as runtime:
        model = ScriptedModel(lambda request: "The boat. " * 60, name="scripted")
        agent = runtime.agent("ada", definition(), model=model, tools=[weather])
        for number in range(18):
            agent.send(f"Go on {number}")
    names = {e.name for s in exporter.get_finished_spans() for e in s.events}
    assert {"pagemind.warned", "pagemind.flush_ended", "pagemind.page_written"} <= names


def test_nothing_is_imported_where_nothing_is_wanted(tmp_path: Path) -> None:
    """Without --otel and an endpoint no part of OpenTelemetry is loaded."""
    code = (
        "import sys; from pagemind.runtime.spans import wanted; from pagemind.runtime import "
        "Runtime; assert wanted(asked=False) is None;"
        "print([m for m in sys.modules if m.startswith('opentelemetry')])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "", "HOME": str(tmp_path)},
    )
    assert ran.stdout.strip() == "[]"


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for, it is an error with the pip command; by the environment alone it is not."""
    for name in [n for n in sys.modules if n.startswith("opentelemetry")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    assert spans.wanted(asked=False) is None
    with pytest.raises(MissingExtra) as raised:
        spans.wanted(asked=True)
    assert "pagemind[otel]" in raised.value.hint


def test_the_usual_variables_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disabled, no exporter, a console, an unknown one."""
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert spans.wanted(asked=True) is None
    monkeypatch.delenv("OTEL_SDK_DISABLED")
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    assert spans.wanted(asked=True) is None
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console")
    assert spans.wanted(asked=True) is not None
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "zipkin")
    with pytest.raises(UserError, match="zipkin"):
        spans.wanted(asked=True)


def test_spans_and_a_trace_go_together(
    provider: TracerProvider, exporter: InMemorySpanExporter, tmp_path: Path
) -> None:
    """Both watch the same agent."""
    trace = tmp_path / "t.jsonl"
    watch = Spans(provider).observer
    with Runtime(
        tmp_path / "home", embedder=HashingEmbedder(32), background=False, watch=watch, trace=trace
    ) as runtime:
        runtime.agent("ada", definition(), model=ScriptedModel(["Hi."]), tools=[weather]).send("Hi")
    assert trace.stat().st_size
    assert exporter.get_finished_spans()
