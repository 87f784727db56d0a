"""The steps of a call, as a `Trace` tells them."""

from __future__ import annotations

from typing import Any

import pytest

from gen.assistant.toolsets import devices
from toolgen.calls.reports import Trace
from toolgen.runtime import (
    Abort,
    Answer,
    Artifact,
    Bounds,
    CallMeta,
    Hook,
    Runtime,
    ToolCall,
    ToolContext,
    ToolError,
    ToolOutcome,
    ToolResult,
    ToolsetRegistration,
    Verdict,
)
from toolgen.runtime.testing import RecordingExecutor

META = CallMeta(session_id="s-9")
LIST, READ = "assistant.devices.list_devices", "assistant.devices.get_time_series"
PAGE = devices.ListDevicesResult(devices=[], returned=0, truncated=False, total=0)
SUMMARY = devices.GetTimeSeriesResult(summary="Quiet.", count=0)
UNDECLARED = ToolOutcome(result=SUMMARY, artifacts=(Artifact(kind="photo", data=SUMMARY),))
DAY = b'{"device_id": "h1", "start": "2026-01-01T00:00:00Z", "end": "2026-01-02T00:00:00Z"}'


def registered(answer: Any, *hooks: Hook) -> tuple[Runtime, RecordingExecutor]:
    runtime = Runtime(hooks=hooks)
    executor = RecordingExecutor({"list_devices": answer, "get_time_series": answer})
    runtime.tools.register(
        ToolsetRegistration(name="assistant.devices", specs=devices.SPECS, executor=executor)
    )
    return runtime, executor


async def traced(tool: str, arguments: bytes, answer: Any, meta: CallMeta = META) -> Trace:
    (runtime, _), trace = registered(answer), Trace()
    await runtime.call(tool, arguments, meta, trace=trace)
    return trace


async def test_each_step_says_what_it_gave() -> None:
    trace = await traced(LIST, b'{"site_id": "harbour"}', PAGE)
    values = {step.name: step.value for step in trace.steps}
    assert list(values) == ["lookup", "decode", "inject", "execute", "encode", "check"]
    assert values["lookup"] == LIST
    assert values["decode"].site_id == "harbour"
    assert values["inject"] == ("session_id",)
    assert values["execute"] is PAGE
    assert values["encode"] == b'{"devices":[],"returned":0,"truncated":false,"total":0}'
    assert values["check"] == Bounds(returned=0, truncated=False, total=0)
    assert all(0 <= step.duration_s < 5 for step in trace.steps)
    assert "s-9" not in repr(trace.steps)


@pytest.mark.parametrize(
    ("tool", "arguments", "answer", "meta", "step"),
    [
        ("assistant.devices.nothing", b"{}", PAGE, META, "lookup"),
        (LIST, b"{}", PAGE, META, "decode"),
        (LIST, b'{"site_id": "harbour"}', PAGE, CallMeta(), "inject"),
        (LIST, b'{"site_id": "harbour"}', ToolError("closed"), META, "execute"),
        (LIST, b'{"site_id": "harbour"}', SUMMARY, META, "encode"),
        (LIST, b'{"site_id": "harbour"}', PAGE.model_copy(update={"total": -1}), META, "check"),
        (READ, DAY, UNDECLARED, META, "check"),
    ],
)
async def test_it_ends_with_the_error_of_the_step_that_failed(
    tool: str, arguments: bytes, answer: Any, meta: CallMeta, step: str
) -> None:
    last = (await traced(tool, arguments, answer, meta)).steps[-1]
    assert last.name == step
    assert isinstance(last.value, ToolError)


class Audit(Hook):
    """An after-hook that aborts, raises, or gives a result that does not fit."""

    def __init__(self, end: str) -> None:
        self.end = end

    async def after_tool(self, call: ToolCall, result: ToolResult, ctx: ToolContext) -> Verdict:
        if self.end == "raises":
            raise RuntimeError("the audit is away")
        return Abort(error=ToolError("closed")) if self.end == "aborts" else Answer(result="text")


@pytest.mark.parametrize("end", ["aborts", "raises", "does not fit"])
async def test_a_call_that_fails_after_its_checks_has_one_result(end: str) -> None:
    (runtime, _), trace = registered(PAGE, Audit(end)), Trace()
    result = await runtime.call(LIST, {"site_id": "harbour"}, META, trace=trace)
    assert result.status == "error"
    assert [step.name for step in trace.steps[-2:]] == ["check", "after"]
    assert trace.steps[-1].value is result.error


async def test_a_trace_of_another_call_is_refused_before_anything_runs() -> None:
    runtime, executor = registered(PAGE)
    trace = Trace()
    await runtime.call(LIST, {"site_id": "harbour"}, META, trace=trace)
    steps = list(trace.steps)
    with pytest.raises(ValueError, match="create a new Trace"):
        await runtime.call(LIST, {"site_id": "quay"}, META, trace=trace)
    with pytest.raises(ValueError, match="create a new Trace"):
        await runtime.call("assistant.devices.nothing", {}, META, trace=trace)
    assert trace.steps == steps
    assert len(executor.calls) == 1
