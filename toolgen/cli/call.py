"""`toolgen call`: runs one call through the configured runtime, and shows suspended calls."""

from __future__ import annotations

import datetime as dt
import json
import shlex
import sys
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import fields
from typing import Any, Final, assert_never

from toolgen.calls.reports import Trace, TraceStep
from toolgen.capabilities import MemoryArtifactStore
from toolgen.contract.printable import printable, visible
from toolgen.contract.secrets import HIDDEN, scrubbed
from toolgen.events import Event, ToolAuthorization, ToolUpdate
from toolgen.events.redaction import public_warnings
from toolgen.runtime import (
    Artifact,
    Bounds,
    CallMeta,
    Runtime,
    Suspended,
    ToolError,
    ToolOutcome,
    ToolResult,
    ToolSpec,
)
from toolgen.runtime.public_views import hiding_arguments, shown_document
from toolgen.shapes.constraints import LIMITS
from toolgen.shapes.sensitive import redacted

from .config import Project
from .runtime import (
    NOT_OVER,
    UNANSWERABLE,
    collect_method_faults,
    denial_hint,
    is_durable,
    opened_for,
    project_runtime,
    require_meta,
    specs_of,
    unregistered_hint,
)
from .terminal import show_document

PENDING_WORK: Final = "the agent has answered; this work is still pending:"
_LIMITS: Final = (*(row.keyword for row in LIMITS), "pattern", "format", "default")

RESOLUTIONS: Final = " (--result JSON | --failed TEXT | --not-run)"
"""Options of `toolgen runs resolve RUN CALL`, of which one is required."""


async def call_tool(
    project: Project,
    tool: str,
    data: bytes,
    meta: CallMeta,
    *,
    trace: bool = False,
    show_sensitive: bool = False,
) -> int:
    """Print the JSON that the model would see, with sensitive values if `show_sensitive` is set.

    Return 1 if the call failed, and 3 if it is suspended.
    """
    async with project_runtime(project) as runtime:
        runtime.runs.run_as_client()
        traced = Trace() if trace else None
        with collect_method_faults() as faults:
            async with opened_for(runtime, tool) as within:
                specs = specs_of(runtime, tool, within)
                require_meta(specs, meta)
                if traced is not None:
                    for spec in specs:
                        _ = spec.payload.type, spec.result.type  # build them now, as in a running server
                async with _progress_shown(runtime):
                    result = await runtime.call(tool, data, meta, trace=traced, within=within)
        _show(runtime, result, specs, data, traced, faults)
        if not specs and (hint := unregistered_hint(project, tool)):
            print(hint, file=sys.stderr)
        if result.json:
            with hiding_arguments(data, specs[0] if specs else None):
                shown = result.json if show_sensitive else shown_document(result, next(iter(specs), None))
            show_redacted(result, shown, "; --show-sensitive shows them")
    if result.status in ("suspended", "running"):
        return NOT_OVER
    return 0 if result.status in ("ok", "pending") else 1


def show_redacted(result: ToolResult, shown: bytes, how: str = "") -> None:
    """Print the redacted JSON of a result, and a note to stderr if the model sees more."""
    if shown != result.json and json.loads(shown) != json.loads(result.json):
        print(f"sensitive values are redacted here; the model sees them{how}", file=sys.stderr)
    show_document(shown)


def _show(
    runtime: Runtime,
    result: ToolResult,
    specs: Sequence[ToolSpec],
    data: bytes,
    traced: Trace | None,
    faults: Iterable[str],
) -> None:
    """Print further facts of the call to stderr; the model does not see them."""
    spec = specs[0] if specs else None
    if traced is not None:
        with hiding_arguments(data, spec):
            for line in _steps(traced, result, is_stored=_stores_artifacts(runtime)):
                print(scrubbed(visible(line)), file=sys.stderr)
    elif facts := "; ".join(_bounds_and_artifacts(result, is_stored=_stores_artifacts(runtime))):
        print(printable(facts), file=sys.stderr)
    for warning in public_warnings(result, spec):
        print(printable(f"does not fit: {warning}"), file=sys.stderr)
    for line in faults:
        print(line, file=sys.stderr)
    if hint := denial_hint(runtime, result.tool, str(result.error or "")) or _json_hint(result, spec):
        print(hint, file=sys.stderr)
    for suspended in result.suspensions:
        print(_waiting_text_of(runtime, suspended), file=sys.stderr)
    for work in pending_work_of(result):
        print(f"{PENDING_WORK}\n{_waiting_text_of(runtime, work)}", file=sys.stderr)


def _json_hint(result: ToolResult, spec: ToolSpec | None) -> str:
    """Return a hint on how to quote the arguments if they are not JSON; "" otherwise."""
    issues = () if result.retry_hint is None else result.retry_hint.issues
    if spec is None or not any(issue.constraint == "invalid_json" for issue in issues):
        return ""
    example = spec.example or json.dumps(
        dict.fromkeys(spec.payload.schema.get("required", ()), "…"), ensure_ascii=False
    )
    return (
        "  hint: pass the arguments as one JSON object, with single quotes around it "
        f"for the shell: toolgen call {spec.name} {shlex.quote(example)}"
    )


@asynccontextmanager
async def _progress_shown(runtime: Runtime) -> AsyncIterator[None]:
    """Print the progress and the grants of calls to stderr, if the runtime has `Events`."""
    if runtime.events is None:
        yield
        return
    async with runtime.events.on(_show_progress, types=["tool_update", "tool_authorization"]):
        yield


def _show_progress(event: Event) -> None:
    if isinstance(event, ToolAuthorization):
        if event.grant_id:
            print(printable(event.reason), file=sys.stderr, flush=True)
        return
    assert isinstance(event, ToolUpdate)
    percent = [] if event.fraction is None else [f"{event.fraction:.0%}"]
    text = [printable(event.message)] if event.message else []
    value = [] if event.value is None else [_json(event.value)]
    line = f"{event.tool.rpartition('.')[2]}: {' '.join([*percent, *text, *value])}"
    print(scrubbed(visible(line)), file=sys.stderr, flush=True)


def pending_work_of(result: ToolResult) -> tuple[Suspended, ...]:
    """Return the pending work of the agent run behind a call."""
    return () if result.run_link is None else result.run_link.pending


def waiting_text(suspended: Suspended) -> str:
    """Return a description of a suspended call, with the command that answers it."""
    option = " --answer JSON" if suspended.kind != "confirmation" else ""
    return f"{describe_suspended(suspended)}\nanswer it with: toolgen approve {suspended.id}{option}"


def _waiting_text_of(runtime: Runtime, suspended: Suspended) -> str:
    """Return a description of a suspended call; if the runtime is durable, with the command to answer it."""
    if is_durable(runtime):
        return waiting_text(suspended)
    return f"{describe_suspended(suspended)}\n{UNANSWERABLE}"


def _stores_artifacts(runtime: Runtime) -> bool:
    """Return whether other commands can load the artifacts of the runtime, because they are not in memory."""
    capability = runtime.assembly.options.capabilities.get("artifacts")
    return not isinstance(getattr(capability, "store", None), MemoryArtifactStore)


def _steps(trace: Trace, result: ToolResult, *, is_stored: bool) -> list[str]:
    """Return one line for each step with its time, and their sum."""
    lines = [
        _line(step.name, step.duration_s, _shown(step, result, is_stored=is_stored)) for step in trace.steps
    ]
    return [*lines, _line("total", sum(step.duration_s for step in trace.steps), result.status)]


def _line(name: str, duration_s: float, text: str) -> str:
    return f"{name:8}{duration_s * 1e3:9.3f} ms  {text}"


def _shown(step: TraceStep, result: ToolResult, *, is_stored: bool) -> str:
    if isinstance(step.value, ToolError):
        return f"failed: {printable(str(step.value))}"
    match step.name:
        case "lookup":
            return printable(str(step.value))
        case "decode":
            return repr(step.value)
        case "inject":
            return ", ".join(step.value) or "nothing"
        case "execute":
            value = step.value.result if isinstance(step.value, ToolOutcome) else step.value
            return type(value).__name__
        case "encode":
            return f"{len(step.value)} bytes"
        case "check" | "after":
            facts = "; ".join(_bounds_and_artifacts(result, is_stored=is_stored))
            return printable(facts) or "no bounds, no artifacts"
        case _:
            assert_never(step.name)


def _bounds_and_artifacts(result: ToolResult, *, is_stored: bool) -> list[str]:
    """Return lines for the bounds and artifacts, which are not part of the model's JSON."""
    bounds = [] if result.bounds is None else [_bounds(result.bounds)]
    return [*bounds, *(_artifact(artifact, is_stored=is_stored) for artifact in result.artifacts)]


def _bounds(bounds: Bounds) -> str:
    total = "an unknown total" if bounds.total is None else bounds.total
    return f"bounds: {bounds.returned} of {total}{', truncated' if bounds.truncated else ''}"


def _artifact(artifact: Artifact, *, is_stored: bool) -> str:
    text = f"artifact: {artifact.kind}, {len(artifact.json)} bytes"
    uri = "" if artifact.ref is None else artifact.ref.uri
    return f"{text}, see: toolgen artifacts show '{uri}'" if uri and is_stored else text


def describe_suspended(suspended: Suspended) -> str:
    """Return the lines that describe a suspended call: question, arguments, expected answer."""
    lines = [f"{printable(suspended.tool)} waits until {_until(suspended)}: {suspended.kind}"]
    question = suspended.question or (f"pending as {suspended.handle!r}" if suspended.handle else "")
    lines += [printable(text) for text in (question, suspended.preview) if text]
    part = "the preview does not show all arguments; these are all:"
    if suspended.run_id:
        lines += [f"run: {printable(suspended.run_id)}"]
    if suspended.requested_by:
        lines += [f"requested by {printable(suspended.requested_by)}"]
    if suspended.reason:
        lines += [f"asked again: {printable(suspended.reason)}"]
    lines += [part if suspended.is_shortened else "arguments:"]
    shown = _shown_arguments(suspended)
    lines += [f"  {_json(name)}: {_json(value)}" for name, value in shown.items()] or ["  none"]
    if suspended.request:
        lines += [f"missing: {_json(dict(suspended.request))}"]
    schema = suspended.answer_schema
    lines += [f"answer: {_expected(schema)}{_noted(_limits(schema))}"]
    return "\n".join(map(visible, lines))


def summarize_suspended(suspended: Suspended) -> str:
    """Return a two-line summary of a suspended call."""
    text = suspended.question or suspended.preview or suspended.handle
    facts = f"{suspended.id}  {suspended.kind}  {suspended.tool}  until {_until(suspended)}  {text}"
    return f"{printable(facts)}\n  {visible(_json(_shown_arguments(suspended)))}"


def suspended_record(suspended: Suspended) -> dict[str, Any]:
    """Return a suspended call as JSON, without its token and its digests."""
    hidden = ("token", "arguments_mac", "outer", "sensitive")
    facts = {
        field.name: getattr(suspended, field.name) for field in fields(suspended) if field.name not in hidden
    }
    request = None if suspended.request is None else dict(suspended.request)
    schema = dict(suspended.answer_schema)
    return {**facts, "arguments": _shown_arguments(suspended), "answer_schema": schema, "request": request}


def _shown_arguments(suspended: Suspended) -> dict[str, object]:
    """Return the arguments, with a placeholder for each sensitive value."""
    shown: dict[str, Any] = redacted(dict(suspended.arguments), suspended.sensitive, HIDDEN)
    return shown


def _until(suspended: Suspended) -> str:
    if not suspended.expires_at:
        return "its run ends"
    try:
        return f"{dt.datetime.fromtimestamp(suspended.expires_at, dt.UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):  # beyond the year 9999
        return "the end of time"


def _expected(schema: Mapping[str, Any]) -> str:
    """Return a short text of the answers that a JSON Schema accepts."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        values = schema.get("enum") or [each["const"] for each in schema.get("oneOf", ()) if "const" in each]
        if values:
            return " or ".join(map(_json, values))
        kinds = schema.get("type", "any JSON")
        return printable(kinds if isinstance(kinds, str) else " or ".join(map(str, kinds)))
    required = schema.get("required", ())
    parts = []
    for name, part in properties.items():
        is_span = name.endswith("_s") and part.get("type") in ("integer", "number")
        notes = ["seconds"] if is_span else []
        notes += [*_limits(part), *([] if name in required else ["optional"])]
        parts.append(f"{_json(name)}: {_expected(part)}{_noted(notes)}")
    return f"{{{', '.join(parts)}}}"


def _noted(notes: Sequence[str]) -> str:
    return f" ({', '.join(notes)})" if notes else ""


def _limits(schema: Mapping[str, object]) -> list[str]:
    """Return the limits and the default of a value, by the keywords of JSON Schema."""
    return [f"{word} {_json(schema[word])}" for word in _LIMITS if word in schema]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
