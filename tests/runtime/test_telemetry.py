"""Spans of calls, with OpenTelemetry's own SDK."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from gen.assistant.toolsets.devices import specs
from tests.runtime.tools import SITE, Listing, runtime, spec, waiting
from toolgen.engines import InProcessEngine
from toolgen.events.telemetry.spans import ToolSpans
from toolgen.runtime import CallMeta, ConfirmSpec, ToolError, ToolResult

SPEC = specs.LIST_DEVICES
META = CallMeta(run_id="r", session_id="s", turn_id="t", tool_call_id="c")
OK = ToolResult(tool=SPEC.id, status="ok", json=b'{"secret":1}')


class Recorded:
    """A provider, and the spans that have ended."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))

    def spans(self) -> tuple[ReadableSpan, ...]:
        return self._exporter.get_finished_spans()


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


def test_a_call_is_a_span_with_its_ids_and_nothing_of_its_content(recorded: Recorded) -> None:
    with ToolSpans(recorded.provider).of(SPEC, META, b'{"room":"attic"}') as end:
        end(OK)
    (found,) = recorded.spans()
    assert found.name == f"execute_tool {SPEC.name}"
    assert dict(found.attributes or {}) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": SPEC.name,
        "gen_ai.tool.type": "function",
        "toolgen.tool": SPEC.id,
        "gen_ai.tool.call.id": "c",
        "gen_ai.conversation.id": "s",
        "toolgen.run_id": "r",
        "toolgen.turn_id": "t",
        "toolgen.status": "ok",
    }
    assert found.status.status_code is StatusCode.UNSET


def test_content_is_shown_when_asked_for(recorded: Recorded) -> None:
    with ToolSpans(recorded.provider, shows_content=True).of(SPEC, META, b'{"room":"attic"}') as end:
        end(OK)
    attributes = recorded.spans()[0].attributes or {}
    assert attributes["gen_ai.tool.call.arguments"] == '{"room":"attic"}'
    assert attributes["gen_ai.tool.call.result"] == '{"secret":1}'


async def test_what_a_tool_calls_is_a_child_of_its_span(recorded: Recorded) -> None:
    tracer, spans = trace.get_tracer("http", tracer_provider=recorded.provider), ToolSpans(recorded.provider)

    async def call() -> None:
        with spans.of(SPEC, META):
            await asyncio.ensure_future(asyncio.to_thread(lambda: tracer.start_span("GET").end()))

    with tracer.start_as_current_span("run"):
        await asyncio.gather(call(), call())
    found: list[Any] = list(recorded.spans())
    run = found[-1]
    tools = {span.context.span_id: span for span in found if span.name.startswith("execute_tool")}
    gets = [span.parent.span_id for span in found if span.name == "GET" and span.parent]
    assert sorted(gets) == sorted(tools)
    assert {span.parent and span.parent.span_id for span in tools.values()} == {run.context.span_id}


def test_a_failed_call_is_an_error_with_its_reference(recorded: Recorded) -> None:
    error = ToolError("it failed (reference 1a)", correlation_id="1a")
    with ToolSpans(recorded.provider).of(SPEC, META) as end:
        end(ToolResult(tool=SPEC.id, status="error", error=error))
    (found,) = recorded.spans()
    assert (found.status.status_code, found.status.description) == (
        StatusCode.ERROR,
        "it failed (reference 1a)",
    )
    assert (found.attributes or {})["toolgen.correlation_id"] == "1a"
    assert (found.attributes or {})["error.type"] == "tool_error"


def test_an_exception_passes_and_ends_the_span_by_its_type_alone(recorded: Recorded) -> None:
    with (
        pytest.raises(asyncio.CancelledError),
        ToolSpans(recorded.provider).of(SPEC, META),
    ):
        raise asyncio.CancelledError("the secret")
    (found,) = recorded.spans()
    assert (found.attributes or {})["error.type"] == "CancelledError"
    assert not found.events
    assert found.status.description is None


def test_a_tracer_that_fails_breaks_no_call(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(TracerProvider):
        def get_tracer(self, *_: object, **__: object) -> trace.Tracer:
            class Failing(trace.NoOpTracer):
                def start_span(self, *_: object, **__: object) -> trace.Span:
                    raise OSError("no tracer")

            return Failing()

    with ToolSpans(Broken()).of(SPEC, META) as end:
        end(OK)
    assert "a span could not be started" in caplog.text


async def test_the_span_of_a_call_that_waits_names_what_it_waits_for(recorded: Recorded) -> None:
    made = runtime(
        Listing(), spec(confirm=ConfirmSpec()), engine=InProcessEngine(), spans=ToolSpans(recorded.provider)
    )
    asked = waiting(await made.call(SPEC.id, SITE, META))
    (found,) = recorded.spans()
    assert (found.attributes or {})["toolgen.suspension_id"] == asked.id
