"""OpenTelemetry spans of tool calls, for hosts with `opentelemetry-api`: `toolgen[otel]`.

Names and attributes follow OpenTelemetry's semantic conventions for generative AI ("Execute tool span");
names outside of the conventions begin with `toolgen.`. Nothing here is imported before it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pydantic_core import from_json, to_json

from toolgen.calls.call import Arguments, CallMeta, arguments_json
from toolgen.calls.errors import DeclaredError
from toolgen.calls.results import OpenSpan, ToolResult
from toolgen.calls.specs import ToolSpec
from toolgen.contract.extras import extra
from toolgen.contract.logs import logger
from toolgen.contract.secrets import current, scrubbed, scrubbed_json

from ..redaction import is_public, public_result

if TYPE_CHECKING:
    from opentelemetry.trace import Span, TracerProvider

Attributes: TypeAlias = Mapping[str, str | int | float | bool | list[str]]

SCOPE: Final = "toolgen.runtime"
"""Name of the instrumentation scope of all spans and metrics."""
OTHER: Final = "_OTHER"
"""Placeholder for a name that is unknown or invented by a model, by OpenTelemetry's conventions."""
_LONGEST: Final = 8192
"""Maximum number of characters of arguments or of a result in a span."""
_MOST_OPEN: Final = 1_000
"""Maximum number of open spans of calls that runs answer."""

log = logger("toolgen.runtime")


class CallSpan:
    """The span of one call; `end` records the call's result."""

    __slots__ = ("_shows_content", "_span", "_spec", "is_left_open")

    def __init__(self, span: Span | None, spec: ToolSpec, shows_content: bool) -> None:
        self._span = span
        self._spec = spec
        self._shows_content = shows_content
        self.is_left_open = False
        """Whether the span stays open because an agent's run answers the call."""

    def end(self, result: ToolResult) -> ToolResult:
        """Record how the call ended, and return its result; never raises.

        If an agent's run will answer the call, the result contains the span, which stays open.
        """
        if self._span is None:
            return result
        if result.delegated is not None:
            self.is_left_open = True
            span = OpenSpan(trace=trace_of(self._span), conclude=self.conclude)
            return replace(result, delegated=replace(result.delegated, span=span))
        try:
            self._note(self._span, result)
        except Exception:
            log.exception("the attributes of a span could not be set")
        return result

    def conclude(self, result: ToolResult | None) -> None:
        """End an open span, with the result if there is one; never raises."""
        if self._span is not None:
            if result is not None:
                self.end(result)
            end_span(self._span)

    def _note(self, span: Span, result: ToolResult) -> None:
        span.set_attribute("toolgen.status", result.status)
        if result.frozen is not None:
            span.set_attribute("toolgen.suspension_id", result.frozen.id)
        if self._shows_content and result.json:
            span.set_attribute("gen_ai.tool.call.result", _shown_result(result, self._spec)[:_LONGEST])
        error = result.error
        if error is None or result.status != "error":
            return
        hint = result.retry_hint
        reason = hint.reason if hint is not None else "tool_error"
        span.set_attribute("error.type", error.code if isinstance(error, DeclaredError) else reason)
        if error.correlation_id:
            span.set_attribute("toolgen.correlation_id", error.correlation_id)
        span.set_status(_error(), _description(result))


class ToolSpans:
    """Creates one span for each call; spans of operations inside the tool are its children."""

    def __init__(
        self,
        provider: TracerProvider | None = None,
        *,
        shows_content: bool = False,
        makes_chats: bool = True,
    ) -> None:
        """Get a tracer of the provider, by default of the process's provider.

        With `shows_content`, spans contain the model's arguments and the result as the model reads it,
        without injected and sensitive values. `makes_chats=False` leaves the spans of model requests to
        another instrumentation, so that no token is counted twice.

        Raises:
            ToolgenError: `opentelemetry-api` is not installed.
        """
        with extra("otel"):
            from opentelemetry import trace

        self._tracer = trace.get_tracer(SCOPE, scope_version(), tracer_provider=provider)
        self._shows_content = shows_content
        self.makes_chats = makes_chats
        self._left_open: dict[str, OpenSpan] = {}
        """Open spans by the run that answers the call; beyond `_MOST_OPEN`, the oldest span is ended."""

    @contextmanager
    def of(
        self, spec: ToolSpec, meta: CallMeta, arguments: Arguments = b"", before: str = ""
    ) -> Iterator[Callable[[ToolResult], ToolResult]]:
        """Make the span current while the call runs; an exception that leaves the block is recorded by type.

        `before` is the span of the execution before the call was suspended, in any process; it becomes the
        parent of this span, which also has a link to it. If the tracer fails, the failure is logged, and the
        call continues without a span.
        """
        span = self._started(spec, meta, arguments, before)
        call = CallSpan(span, spec, self._shows_content)
        with ending_on_error(span):
            yield call.end
        if span is not None and not call.is_left_open:
            end_span(span)

    def here(self) -> str:
        """Return the W3C Trace Context (`traceparent`) of the current span; "" without one."""
        from opentelemetry.trace import get_current_span

        return trace_of(get_current_span())

    def under(self, trace: str) -> AbstractContextManager[None]:
        """Make the span of a `traceparent` current, if it is valid."""
        return within(span_of(trace))

    def leave_open(self, run_id: str, call: OpenSpan) -> None:
        """Keep the span of a call open until the run with this id, which answers it, is over."""
        self._left_open[run_id] = call
        if len(self._left_open) > _MOST_OPEN:
            self.conclude(next(iter(self._left_open)))

    def conclude(self, run_id: str, result: ToolResult | None = None) -> None:
        """End the span of a call that a run answered; no effect in a process without the span."""
        if (call := self._left_open.pop(run_id, None)) is not None:
            call.conclude(result)

    def started(
        self,
        name: str,
        attributes: Attributes,
        *,
        under: str = "",
        is_linked: bool = False,
        is_client: bool = False,
    ) -> Span | None:
        """Return a started span, without the attributes that are empty strings.

        It is a child of the current span, or of the span that `under` names by its W3C Trace Context; with
        `is_linked` it has a link to that span. `is_client` marks a request to another service. None if the
        tracer fails, which is logged.
        """
        from opentelemetry.trace import Link, SpanKind, set_span_in_context

        above = span_of(under)
        context = None if above is None else set_span_in_context(above)
        links = [Link(above.get_span_context())] if is_linked and above is not None else []
        kind = SpanKind.CLIENT if is_client else SpanKind.INTERNAL
        present = {key: value for key, value in attributes.items() if value != ""}
        try:
            return self._tracer.start_span(name, context, kind, present, links)
        except Exception:
            log.exception("a span could not be started")
            return None

    def _started(self, spec: ToolSpec, meta: CallMeta, arguments: Arguments, before: str) -> Span | None:
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": spec.name,
            "gen_ai.tool.type": "function",
            "toolgen.tool": spec.id,
            "gen_ai.tool.call.id": meta.tool_call_id,
            "gen_ai.agent.id": meta.agent,
            "gen_ai.conversation.id": meta.session_id,
            "toolgen.run_id": meta.run_id,
            "toolgen.turn_id": meta.turn_id,
            "toolgen.parent_tool_call_id": meta.parent_tool_call_id,
        }
        if self._shows_content:
            try:
                attributes["gen_ai.tool.call.arguments"] = _shown_arguments(arguments, spec)[:_LONGEST]
            except Exception:
                log.exception("the arguments of a call could not be added to its span")
        return self.started(f"execute_tool {spec.name}", attributes, under=before, is_linked=True)


@contextmanager
def ending(span: Span | None) -> Iterator[None]:
    """Make a span current and end it with the block; an exception that leaves it is recorded by type."""
    with ending_on_error(span):
        yield
    if span is not None:
        end_span(span)


@contextmanager
def ending_on_error(span: Span | None) -> Iterator[None]:
    """Make a span current; if an exception leaves the block, end the span with it."""
    if span is None:
        yield
        return
    try:
        with within(span):
            yield
    except BaseException as error:
        end_span(span, error)
        raise


@contextmanager
def within(span: Span | None) -> Iterator[None]:
    """Make a span current that other code ends."""
    if span is None:
        yield
        return
    from opentelemetry.trace import use_span

    with use_span(span, end_on_exit=False, record_exception=False, set_status_on_exception=False):
        yield


def trace_of(span: Span | None) -> str:
    """Return the W3C Trace Context (`traceparent`) of a span; "" without a valid span."""
    if span is None:
        return ""
    from opentelemetry.trace import set_span_in_context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: dict[str, str] = {}
    try:
        TraceContextTextMapPropagator().inject(carrier, set_span_in_context(span))
    except Exception:
        log.exception("a span has no trace context")
    return carrier.get("traceparent", "")


def span_of(trace: str) -> Span | None:
    """Return the span for a `traceparent` of another time or process; None if it is not valid."""
    if not trace:
        return None
    from opentelemetry.context import Context
    from opentelemetry.trace import get_current_span
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    span = get_current_span(TraceContextTextMapPropagator().extract({"traceparent": trace}, Context()))
    return span if span.get_span_context().is_valid else None


def scope_version() -> str:
    """Return the version of this package; "" if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # a slow import

    try:
        return version("toolgen")
    except PackageNotFoundError:
        return ""


def _description(result: ToolResult) -> str:
    """Return the error text for the span, without texts of people or models."""
    hint = result.retry_hint
    if hint is not None and hint.issues:
        return f"{len(hint.issues)} issues with the arguments"
    return "" if result.error is None else scrubbed(result.error.message)


def _shown_arguments(arguments: Arguments, spec: ToolSpec) -> str:
    """Return the arguments without sensitive values; "" if the tool has some and the arguments do not fit."""
    document = arguments_json(arguments)
    if not spec.payload.sensitive:
        return scrubbed(document.decode(errors="replace"))
    if not is_public(document, spec.payload):
        return ""
    return to_json(scrubbed_json(spec.payload.public(from_json(document)))).decode()


def _shown_result(result: ToolResult, spec: ToolSpec) -> str:
    """Return the model's JSON of a result, without sensitive values."""
    if current() is None and not spec.is_sensitive:
        return result.json.decode(errors="replace")
    return to_json(scrubbed_json(public_result(result, spec))).decode()


def end_span(span: Span, error: BaseException | None = None) -> None:
    """End a span, with an exception if there is one; never raises."""
    try:
        if error is not None:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(_error())
        span.end()
    except Exception:
        log.exception("a span could not be ended")


def _error() -> Any:
    from opentelemetry.trace import StatusCode

    return StatusCode.ERROR
