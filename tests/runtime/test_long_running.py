"""Work that goes on after its call: what the model gets at once, what is said on the way, what comes last."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gen.assistant.toolsets import maintenance
from tests.catalog_entries import catalog_entry
from tests.runtime.tools import META
from tests.selection import first
from toolgen.calls.call import CallName
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.runtime import (
    LongRunningReturn,
    MalformedResultError,
    Runtime,
    ToolContext,
    ToolOutcome,
    ToolResult,
    ToolsetRegistration,
    ToolSpec,
)
from toolgen.runtime.functions import LongRunningSpec
from toolgen.waiting.once_call import Resolution

Ack, Done, Progress = (
    maintenance.UpdateFirmwareAck,
    maintenance.UpdateFirmwareResult,
    maintenance.UpdateFirmwareProgress,
)
DECLARED = replace(maintenance.UPDATE_FIRMWARE, injected=())
"""Has an acknowledgement and progress."""
SILENT = replace(DECLARED, long_running=LongRunningSpec())
AT_ONCE = replace(DECLARED, long_running=None)
LEFT = "no power; the work may be done all the same"
ARGUMENTS = b'{"device_id": "h01", "version": "2.4.0"}'


class Updating:
    """An executor that returns what a test says."""

    def __init__(self, returns: Callable[[ToolContext], Any]) -> None:
        self._returns = returns

    async def update_firmware(self, payload: Any, ctx: ToolContext) -> Any:
        return self._returns(ctx)


def runtime(returns: Any, spec: ToolSpec[Any, Any] = DECLARED, **host: Any) -> Runtime:
    made = Runtime(**{"engine": InProcessEngine(), **host})
    executor = Updating(returns if callable(returns) else lambda ctx: returns)
    toolset = ToolsetRegistration(name="assistant.maintenance", specs=[spec], executor=executor)
    made.tools.register(toolset)
    return made


async def call(returns: Any, spec: ToolSpec[Any, Any] = DECLARED) -> ToolResult:
    return await runtime(returns, spec).call(spec.id, ARGUMENTS, META)


async def test_the_model_gets_the_acknowledgement_at_once() -> None:
    result = await call(ToolOutcome.pending("job-1", Ack(minutes=4)))
    assert (result.status, result.json) == ("pending", b'{"minutes":4}')
    assert result.suspension is not None
    assert result.suspension.handle == "job-1"


async def test_without_a_declared_acknowledgement_the_model_waits() -> None:
    result = await call(ToolOutcome.pending("job-1"), SILENT)
    assert (result.status, result.json) == ("suspended", b"")


async def test_the_result_may_be_there_at_once() -> None:
    result = await call(Done(version="2.4.0"))
    assert (result.status, result.json) == ("ok", b'{"version":"2.4.0"}')


@pytest.mark.parametrize("spec", [DECLARED, SILENT], ids=["acknowledged", "waited for"])
async def test_without_an_engine_it_is_not_run(
    spec: ToolSpec[Any, Any], caplog: pytest.LogCaptureFixture
) -> None:
    begun: list[ToolContext] = []

    def begins(ctx: ToolContext) -> LongRunningReturn[Any, Any]:
        begun.append(ctx)
        return ToolOutcome.pending("job-1")

    executor = Updating(begins)
    made = Runtime()
    toolset = ToolsetRegistration(name="assistant.maintenance", specs=[spec], executor=executor)
    made.tools.register(toolset)
    name = CallName(interface="test", call_id="c1")
    for result in (
        await made.call(spec.id, ARGUMENTS, META),
        await made.call_once(name, spec.id, ARGUMENTS, META),
    ):
        assert (result.status, begun) == ("denied", [])
        assert json.loads(result.json) == {
            "error": "update_firmware was not run: it is long-running, and this runtime has no engine",
            "code": "approval_unavailable",
        }
    assert "Runtime(engine=InProcessEngine())" in caplog.text


MISTAKES: dict[str, tuple[Any, ToolSpec[Any, Any], str]] = {
    "no acknowledgement": (
        ToolOutcome.pending("job-1"),
        DECLARED,
        "update_firmware returned a pending result without its acknowledgement: its design declares "
        "LongRunning(ack=UpdateFirmwareAck), so return ToolOutcome.pending(handle, UpdateFirmwareAck(…))",
    ),
    "the result as acknowledgement": (
        ToolOutcome.pending("job-1", Done(version="2.4.0")),
        DECLARED,
        "the acknowledgement of update_firmware does not fit: "
        "expected UpdateFirmwareAck, got UpdateFirmwareResult",
    ),
    "an untyped acknowledgement": (
        ToolOutcome.pending("job-1", {"minutes": 4}),
        DECLARED,
        "the acknowledgement of update_firmware does not fit: expected UpdateFirmwareAck, got dict",
    ),
    "the acknowledgement as handle": (
        ToolOutcome.pending(Ack(minutes=4)),  # type: ignore[call-overload]  # the mistake
        DECLARED,
        "update_firmware returned a pending result whose handle is a value of type UpdateFirmwareAck; it "
        "must be a non-empty string",
    ),
    "the acknowledgement alone": (
        Ack(minutes=4),
        DECLARED,
        "update_firmware returned an acknowledgement without the handle of the work; "
        "hint: return ToolOutcome.pending(handle, UpdateFirmwareAck(…))",
    ),
    "the acknowledgement as a result with artifacts": (
        ToolOutcome.of(Ack(minutes=4)),
        DECLARED,
        "update_firmware returned an acknowledgement without the handle of the work",
    ),
    "an empty handle": (
        ToolOutcome.pending("", Ack(minutes=4)),
        DECLARED,
        "update_firmware returned a pending result whose handle is an empty string",
    ),
    "an acknowledgement that is not declared": (
        ToolOutcome.pending("job-1", Ack(minutes=4)),
        SILENT,
        "update_firmware returned an acknowledgement, but its LongRunning declares no ack",
    ),
    "a tool that does not answer later": (
        ToolOutcome.pending("job-1"),
        AT_ONCE,
        "update_firmware returned a pending result, but its design has no LongRunning",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
async def test_what_its_design_does_not_declare_is_the_executors_bug(
    mistake: str, caplog: pytest.LogCaptureFixture
) -> None:
    returned, spec, reason = MISTAKES[mistake]
    made = runtime(returned, spec)
    result = await made.call(spec.id, ARGUMENTS, META)
    assert result.status == "error"
    assert result.retry_hint is None
    assert b" ran; its result could not be read" in result.json
    assert reason in caplog.text
    assert spec.id in caplog.text
    assert await made.suspensions.list() == (), "nothing waits that nobody was told of"


def test_the_catalog_advertises_what_comes_at_once() -> None:
    schema = maintenance.UPDATE_FIRMWARE.output_schema
    assert catalog_entry(maintenance.UPDATE_FIRMWARE)["output"] == schema
    for document in ({"minutes": 4}, {"version": "2.4.0"}):
        jsonschema.validate(document, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"percent": 4}, schema)
    assert SILENT.output_schema == AT_ONCE.output_schema == SILENT.result.schema
    assert "output" not in catalog_entry(SILENT)
    assert catalog_entry(SILENT)["long_running"] == {}


PROGRESS = [
    pytest.param(Progress(percent=40), {"percent": 40}, id="typed"),
    pytest.param({"percent": 40}, {"percent": 40}, id="JSON"),
    pytest.param(None, None, id="none"),
]
WRONG = [
    pytest.param({"percent": "forty"}, "percent", id="JSON that does not fit"),
    pytest.param({}, "percent", id="incomplete"),
    pytest.param(Ack(minutes=4), "expected UpdateFirmwareProgress", id="another class"),
    pytest.param(40, "expected UpdateFirmwareProgress", id="a number"),
    pytest.param(object(), "expected UpdateFirmwareProgress", id="no JSON"),
]
LISTENS = pytest.mark.parametrize("listens", [True, False], ids=["somebody listens", "nobody listens"])


@LISTENS
@pytest.mark.parametrize(("value", "shown"), PROGRESS)
async def test_progress_is_told(value: Any, shown: Any, listens: bool) -> None:
    events = Events() if listens else None
    told = None if events is None else events.subscribe(types=["tool_update"])

    def reports(ctx: ToolContext) -> LongRunningReturn[Any, Any]:
        ctx.progress(0.1, "begun", value)
        return ToolOutcome.pending("job-1", Ack(minutes=4))

    made = runtime(reports, events=events)
    waiting = (await made.call(DECLARED.id, ARGUMENTS, META)).suspension
    assert waiting is not None
    await made.suspensions.progress(waiting.token, 0.4, "half", value)
    if events is not None and told is not None:
        events.close()
        assert [event.value async for event in told] == [shown, shown]  # type: ignore[union-attr]  # one type


@LISTENS
@pytest.mark.parametrize(("value", "reason"), WRONG)
async def test_progress_that_does_not_fit_is_refused(value: Any, reason: str, listens: bool) -> None:
    events = Events() if listens else None
    subscription = None if events is None else events.subscribe()
    made = runtime(ToolOutcome.pending("job-1", Ack(minutes=4)), events=events)
    waiting = (await made.call(DECLARED.id, ARGUMENTS, META)).suspension
    assert waiting is not None
    with pytest.raises(MalformedResultError, match=f"the progress of update_firmware does not fit.*{reason}"):
        await made.suspensions.progress(waiting.token, value=value)
    done = await made.suspensions.answer(waiting.token, {"version": "2.4.0"})
    assert done.status == "ok", "the work goes on all the same"
    del subscription


@LISTENS
@pytest.mark.parametrize("value", [float("nan"), {"a": [float("inf")]}])
async def test_any_progress_is_json(value: Any, listens: bool) -> None:
    made = runtime(ToolOutcome.pending("job-1"), SILENT, events=Events() if listens else None)
    waiting = (await made.call(SILENT.id, ARGUMENTS, META)).suspension
    assert waiting is not None
    with pytest.raises(
        MalformedResultError, match="does not fit: it contains a number that is infinite or NaN"
    ):
        await made.suspensions.progress(waiting.token, value=value)


NO_FRACTIONS: list[Any] = ["half", {}, True, 2.0, -0.1, 10**30, float("nan"), float("inf")]


@LISTENS
@pytest.mark.parametrize(
    ("fraction", "message"),
    first([*((value, "") for value in NO_FRACTIONS), (0.5, None), (None, b"begun")], 6),
)
async def test_progress_that_no_log_could_hold_is_refused(fraction: Any, message: Any, listens: bool) -> None:
    """An event of another type would make the log of its run unreadable, and JSON has no infinity."""
    made = runtime(ToolOutcome.pending("job-1", Ack(minutes=4)), events=Events() if listens else None)
    waiting = (await made.call(DECLARED.id, ARGUMENTS, META)).suspension
    assert waiting is not None
    with pytest.raises(MalformedResultError, match=r"the progress (fraction|message) must be"):
        await made.suspensions.progress(waiting.token, fraction, message)

    def reports(ctx: ToolContext) -> LongRunningReturn[Any, Any]:
        ctx.progress(fraction, message)
        return ToolOutcome.pending("job-1", Ack(minutes=4))

    failed = await runtime(reports).call(DECLARED.id, ARGUMENTS, META)
    assert (failed.status, b"failed with an internal error" in failed.json) == ("error", True)


@pytest.mark.parametrize(("fraction", "shown"), [(1.0000000000000002, 1.0), (-1e-12, 0.0), (1, 1)])
async def test_progress_beyond_its_ends_by_rounding_is_told_as_the_end(fraction: float, shown: float) -> None:
    events = Events()
    told = events.subscribe(types=["tool_update"])
    made = runtime(ToolOutcome.pending("job-1", Ack(minutes=4)), events=events)
    waiting = (await made.call(DECLARED.id, ARGUMENTS, META)).suspension
    assert waiting is not None
    await made.suspensions.progress(waiting.token, fraction)
    events.close()
    assert [event.fraction async for event in told] == [shown]  # type: ignore[union-attr]  # one type


@LISTENS
async def test_a_tool_that_says_what_does_not_fit_has_failed(listens: bool) -> None:
    def reports(ctx: ToolContext) -> LongRunningReturn[Any, Any]:
        ctx.progress(value={"percent": "forty"})
        return ToolOutcome.pending("job-1", Ack(minutes=4))

    made = runtime(reports, events=Events() if listens else None)
    result = await made.call(DECLARED.id, ARGUMENTS, META)
    assert result.retry_hint is None
    assert b"failed with an internal error" in result.json


async def test_without_declared_progress_any_json_is_told() -> None:
    made = runtime(ToolOutcome.pending("job-1"), SILENT)
    waiting = (await made.call(SILENT.id, ARGUMENTS, META)).suspension
    assert waiting is not None
    await made.suspensions.progress(waiting.token, value=[1, {"a": None}])
    with pytest.raises(MalformedResultError, match="does not fit"):
        await made.suspensions.progress(waiting.token, value=object())


@pytest.mark.parametrize("spec", [DECLARED, SILENT], ids=["acknowledged", "silent"])
@pytest.mark.parametrize("by", ["token", "run", "name"])
async def test_work_that_nobody_waits_for_any_more_is_unknown(by: str, spec: ToolSpec[Any, Any]) -> None:
    """It has begun elsewhere; that its result is not wanted does not undo it."""
    pending = ToolOutcome.pending("job-1", Ack(minutes=4) if spec is DECLARED else None)
    made = runtime(pending, spec)
    name = CallName(interface="test", call_id="c1")

    async def called() -> ToolResult:
        if by == "name":
            return await made.call_once(name, spec.id, ARGUMENTS, META)
        return await made.call(spec.id, ARGUMENTS, META)

    asked = (await called()).suspension
    assert asked is not None
    if by in ("run", "name"):
        await made.runs.cancel(asked.run_id, "no power")
    else:
        result = await made.suspensions.cancel(asked.token, "no power")
        assert (result.status, result.retry_hint) == ("unknown", None)
    assert made.engine is not None
    ends = [one async for _, one in made.engine.events(asked.run_id) if one["type"] == "tool_end"]
    assert (ends[-1]["status"], ends[-1]["result"]) == ("unknown", {"unknown": LEFT})
    if by == "name":
        again = await called()
        assert (again.status, json.loads(again.json)) == ("unknown", {"unknown": LEFT})
    resolved = await made.runs.resolve(asked.run_id, "", Resolution(outcome="failed", message="no"), by="jo")
    assert resolved.status == "error"


async def test_work_whose_tool_is_gone_is_unknown_when_it_is_canceled(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    async with runtime(ToolOutcome.pending("job-1", Ack(minutes=4)), engine=InProcessEngine(path)) as made:
        asked = (await made.call(DECLARED.id, ARGUMENTS, META)).suspension
    assert asked is not None
    async with Runtime(engine=InProcessEngine(path)) as other:
        result = await other.suspensions.cancel(asked.token, "no power")
    assert (result.status, json.loads(result.json)) == ("unknown", {"unknown": LEFT})


async def test_a_function_may_answer_later() -> None:
    async def export(month: str) -> LongRunningReturn[dict[str, int], str]:
        """Export a month."""
        return ToolOutcome.pending(month, "begun")

    async def acknowledge() -> str:
        """Acknowledge."""
        return ""

    late = LongRunningSpec(ack=func_tool(acknowledge).spec.result)
    made = Runtime(engine=InProcessEngine())
    made.tools.register(
        function_toolset("x.exports", [func_tool(export, toolset="x.exports", long_running=late)])
    )
    begun = await made.call("export", {"month": "May"})
    assert (begun.status, begun.json) == ("pending", b'"begun"')
    assert begun.suspension is not None
    done = await made.suspensions.answer(begun.suspension.token, {"rows": 3})
    assert (done.status, json.loads(done.json)) == ("ok", {"rows": 3})
