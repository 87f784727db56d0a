"""`toolgen call`: one tool call through the runtime that the project configures."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Final, assert_never

from toolgen.contract.printable import printable
from toolgen.contract.secrets import scrubbed
from toolgen.runtime import (
    Artifact,
    Bounds,
    CallMeta,
    Runtime,
    Suspended,
    ToolError,
    ToolOutcome,
    ToolResult,
    Trace,
    TraceStep,
)

from .config import Project
from .runtime import DURABLE_HINT, collect_unimplemented, load_runtime, require_meta, specs_of
from .sensitive import hiding_arguments, shown_document
from .terminal import show_document
from .waiting import describe_suspended

LEFT_WORK: Final = "the agent has answered, and has left work that goes on:"


async def call_tool(project: Project, tool: str, data: bytes, meta: CallMeta, *, trace: bool = False) -> int:
    """Print the JSON that the model would see, without sensitive values; return 1 when the call failed."""
    runtime = await load_runtime(project)
    specs = specs_of(runtime, tool)
    require_meta(specs, meta)
    spec = specs[0] if specs else None
    traced = None
    if trace:
        _build_codecs(runtime, tool)
        traced = Trace()
    runtime.runs.be_client()
    with collect_unimplemented() as unimplemented, redirect_stdout(sys.stderr):
        try:
            result = await runtime.call(tool, data, meta, trace=traced)
        finally:
            await runtime.aclose()
    if traced is not None:
        with hiding_arguments(data, spec):
            for line in _steps(traced, result):
                print(scrubbed(printable(line)), file=sys.stderr)
    elif facts := "; ".join(_bounds_and_artifacts(result)):
        print(printable(facts), file=sys.stderr)
    for line in unimplemented:
        print(line, file=sys.stderr)
    for asked in result.suspensions:
        print(_waiting_text_of(runtime, asked), file=sys.stderr)
    for work in left_work(result):
        print(f"{LEFT_WORK}\n{_waiting_text_of(runtime, work)}", file=sys.stderr)
    if result.json:
        with hiding_arguments(data, spec):
            show_document(shown_document(result, spec))
    return 0 if result.status in ("ok", "pending", "suspended") else 1


def left_work(result: ToolResult) -> tuple[Suspended, ...]:
    """Return the work that the run of an agent, which has answered a call, has left to come."""
    return () if result.run_link is None else result.run_link.pending


def waiting_text(suspended: Suspended) -> str:
    """Return a text that says what a suspended call waits for and how to answer it."""
    option = " --answer JSON" if suspended.kind != "confirmation" else ""
    return f"{describe_suspended(suspended)}\nanswer it with: toolgen approve {suspended.id}{option}"


def _waiting_text_of(runtime: Runtime, suspended: Suspended) -> str:
    """Return what a call waits for, and how to answer it where that works after this process ended."""
    if runtime.engine is not None and runtime.engine.caps.is_durable:
        return waiting_text(suspended)
    gone = "it cannot be answered: the runs of the configured runtime end with its process"
    return f"{describe_suspended(suspended)}\n{gone}\n  hint: {DURABLE_HINT}"


def _build_codecs(runtime: Runtime, tool: str) -> None:
    """Build the codecs of the first call of a process, so that times are those of a running server."""
    for spec in runtime.tools.list():
        if tool in (spec.id, spec.name):
            _ = spec.payload.type, spec.result.type


def _steps(trace: Trace, result: ToolResult) -> list[str]:
    """Return one line for each step with its time, and their sum."""
    lines = [_line(step.name, step.duration_s, _shown(step, result)) for step in trace.steps]
    return [*lines, _line("total", sum(step.duration_s for step in trace.steps), result.status)]


def _line(name: str, duration_s: float, text: str) -> str:
    return f"{name:8}{duration_s * 1e3:9.3f} ms  {text}"


def _shown(step: TraceStep, result: ToolResult) -> str:
    if isinstance(step.value, ToolError):
        return f"failed: {step.value}"
    match step.name:
        case "lookup":
            return str(step.value)
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
            return "; ".join(_bounds_and_artifacts(result)) or "no bounds, no artifacts"
        case _:
            assert_never(step.name)


def _bounds_and_artifacts(result: ToolResult) -> list[str]:
    """Return lines for the bounds and artifacts, which are not part of the model's JSON."""
    bounds = [] if result.bounds is None else [_bounds(result.bounds)]
    return [*bounds, *map(_artifact, result.artifacts)]


def _bounds(bounds: Bounds) -> str:
    total = "an unknown total" if bounds.total is None else bounds.total
    return f"bounds: {bounds.returned} of {total}{', truncated' if bounds.truncated else ''}"


def _artifact(artifact: Artifact) -> str:
    return f"artifact: {artifact.kind}, {len(artifact.json)} bytes"
