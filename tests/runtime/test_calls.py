"""One call, whatever happens in it, ends in exactly one result."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import pickle
from typing import Any

import pytest

from gen import types as home
from gen.assistant.toolsets import account, devices, documents
from tests.runtime.recording import ARGUMENTS, LIST, META, call, page, registration, runtime_with
from toolgen.runtime import (
    Artifact,
    CallMeta,
    FieldIssue,
    MalformedResultError,
    RetryHint,
    Runtime,
    ToolCall,
    ToolContext,
    ToolError,
    ToolModel,
    ToolOutcome,
    ToolResult,
    ToolsetRegistration,
    ToolValidationError,
)
from toolgen.runtime.generated import CallBuilder
from toolgen.runtime.testing import RecordingExecutor


class Page(ToolModel):
    """The fields of a ListDevicesResult."""

    devices: list[home.Device]
    returned: int
    truncated: bool
    total: int | None = None
    refinement_hint: str | None = None
    next_cursor: str | None = None


async def test_a_call_decodes_injects_executes_and_encodes() -> None:
    runtime, executor = runtime_with(page(total=0))
    result = await runtime.call(LIST, ARGUMENTS, META)
    assert (result.status, result.tool, result.tool_call_id) == ("ok", LIST, "c-1")
    assert result.json == b'{"devices":[],"returned":0,"truncated":false,"total":0}'
    assert result.bounds is not None
    assert (result.bounds.returned, result.bounds.total, result.bounds.truncated) == (0, 0, False)
    (recorded,) = executor.calls
    assert isinstance(recorded.payload, devices.ListDevicesPayload)
    assert (recorded.payload.limit, recorded.payload.session_id) == (20, "s-9")
    assert (recorded.context.meta, recorded.context.tool) == (META, LIST)


async def test_a_tool_is_named_by_its_spec() -> None:
    runtime, _ = runtime_with(page())
    assert (await runtime.call(devices.LIST_DEVICES, ARGUMENTS, META)).tool == LIST
    snapshot = await runtime.tools.snapshot()
    assert (await snapshot.call(devices.LIST_DEVICES, ARGUMENTS, META)).tool == LIST
    with pytest.raises(TypeError, match="expected a tool's id, its wire name or its ToolSpec, got int"):
        await runtime.call(7, ARGUMENTS, META)  # type: ignore[arg-type]  # what a host may write


async def test_injected_values_stand_nowhere_but_in_the_payload() -> None:
    runtime, executor = runtime_with(page())
    result = await runtime.call(LIST, ARGUMENTS, CallMeta(session_id="secret-77"))
    payload = executor.calls[0].payload
    assert payload.session_id == "secret-77"
    assert "secret-77" not in repr(payload) + repr(result) + repr(executor.calls[0].context)
    assert b"secret-77" not in devices.LIST_DEVICES.payload.encode(payload)
    assert "session_id" not in dict(payload)
    assert b"secret-77" not in pickle.dumps(payload)
    assert copy.copy(payload).session_id == "secret-77"


async def test_a_call_fact_that_is_missing_is_the_servers_error(caplog: pytest.LogCaptureFixture) -> None:
    result = await call(page(), meta=CallMeta())
    assert result.status == "error"
    assert result.retry_hint is None
    assert "session_id" in caplog.text
    assert b"session_id" not in result.json


@pytest.mark.parametrize(
    "error", [ValueError("secret"), SystemExit(3), asyncio.CancelledError(), RecursionError()]
)
async def test_what_an_executor_raises_stays_in_the_log(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    result = await call(error)
    assert result.status == "error"
    assert result.error is not None
    assert result.error.correlation_id is not None
    assert result.error.correlation_id in caplog.text
    assert caplog.records[0].exc_info is not None
    assert b"secret" not in result.json
    assert b"Traceback" not in result.json


async def test_a_tool_error_is_told_to_the_model_as_it_is() -> None:
    hint = RetryHint(reason="rate_limited", tool=LIST, retry_after=2.5)
    result = await call(ToolError("come back later", cause=ToolError("too many"), retry_hint=hint))
    assert result.json == b'{"error":"come back later"}'
    assert result.error is not None
    assert str(result.error.cause) == "too many"
    assert result.retry_hint is hint


class Bare(ToolError):
    def __init__(self) -> None:
        pass


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ToolError("lone \ud800 surrogate"), "lone ? surrogate"),
        (ToolError(ValueError("x")), "x"),  # type: ignore[arg-type]  # what a careless author writes
        (Bare(), "the tool failed"),
    ],
)
async def test_a_strange_tool_error_is_still_one_result(error: ToolError, told: str) -> None:
    assert json.loads((await call(error)).json) == {"error": told}


async def test_an_executors_own_validation_error_is_not_the_models(caplog: pytest.LogCaptureFixture) -> None:
    issue = FieldIssue(keys=("password",), constraint="missing_field", message="is required")
    result = await call(ToolValidationError((issue,)))
    assert b"password" not in result.json
    assert "password" in caplog.text


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            None,
            "expected ListDevicesResult, got None; hint: return ListDevicesResult(devices=…, returned=…, "
            "truncated=…)",
        ),
        ({"devices": []}, "got dict; hint: write ListDevicesResult(devices=…, returned=…, truncated=…)"),
        (
            devices.ListDevicesResult,
            "got the class ListDevicesResult; hint: write ListDevicesResult(devices=…",
        ),
        (ToolOutcome.of(ToolError("none")), "got ToolError; hint: write raise instead of return"),
        ((number for number in range(1)), "got generator; hint: return one ListDevicesResult(devices=…"),
        (documents.SearchResult(hits=[], returned=0, truncated=False), "got SearchResult"),
        (
            Page(**dict(page())),
            "got Page; hint: convert it, because it has the same fields: ListDevicesResult(**dict(…))",
        ),
        (page(returned=-1), "returned is -1"),
        (page(returned=3), "returned is 3, but the result has 0 items"),
        (page().model_copy(update={"devices": ["junk"]}), "ListDevicesResult cannot be encoded"),
        (
            ToolOutcome.of(page(), artifacts=[Artifact(kind="chart", data=page())]),
            "kind 'chart' is not declared",
        ),
    ],
)
async def test_a_result_that_breaks_its_contract_is_the_executors_bug(
    answer: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    result = await call(answer)
    assert result.status == "error"
    assert result.retry_hint is not None
    assert result.retry_hint.reason == "malformed_response"
    assert reason in caplog.text
    assert reason.encode() not in result.json


async def test_an_empty_window_of_an_unpaged_tool_is_not_truncated(caplog: pytest.LogCaptureFixture) -> None:
    runtime = Runtime()
    answer = documents.SearchResult(hits=[], returned=0, truncated=True)
    executor = RecordingExecutor({"search": answer})
    runtime.tools.register(ToolsetRegistration(name="d", specs=documents.SPECS, executor=executor))
    assert (await runtime.call("search", b'{"query":"x"}')).status == "error"
    assert "truncated false" in caplog.text
    assert (await call(page(truncated=True, next_cursor="c"))).status == "ok"  # an empty page with a cursor


def test_an_artifact_of_another_type_is_refused_where_it_is_made() -> None:
    series: Any = devices.GET_TIME_SERIES.artifacts["time_series"]
    with pytest.raises(
        MalformedResultError, match="artifact time_series must be of type TimeSeries, not dict"
    ):
        series.of({"points": []})


async def test_an_artifact_travels_beside_the_result() -> None:
    series = home.TimeSeries(
        device=home.Device(id="d", name="D", kind="sensor", room="r", manual="m", status="online"),
        quantity="temperature",
        unit="°C",
        readings=[],
    )
    answer = ToolOutcome.of(
        devices.GetTimeSeriesResult(summary="Nothing.", count=0),
        artifacts=[devices.GET_TIME_SERIES_TIME_SERIES.of(series)],
    )
    runtime, _ = runtime_with(page(), get_time_series=answer)
    arguments = {"device_id": "d", "start": "2026-01-01T00:00:00Z", "end": "2026-01-02T00:00:00Z"}
    result = await runtime.call("get_time_series", arguments, META)
    assert result.json == b'{"summary":"Nothing.","count":0}'
    (artifact,) = result.artifacts
    assert (artifact.kind, artifact.source_tool) == ("time_series", "assistant.devices.get_time_series")
    assert json.loads(artifact.json)["unit"] == "°C"
    assert devices.GET_TIME_SERIES_TIME_SERIES.get(result) is series
    assert devices.GET_TIME_SERIES_TIME_SERIES.get(await call(page())) is None


async def test_an_unknown_tool_gets_close_names_and_nothing_runs() -> None:
    runtime, executor = runtime_with(page())
    result = await runtime.call("list_device", b"{}", META)
    assert (result.status, executor.calls) == ("error", [])
    assert b"list_devices" in result.json
    assert result.retry_hint is not None
    assert result.retry_hint.reason == "tool_unavailable"


async def test_calls_at_once_keep_their_order_and_do_not_stop_each_other() -> None:
    runtime, _ = runtime_with(page(), set_state=ValueError("broken"))
    dim = devices.SET_STATE.payload.type(device_id="d", command=home.CommandDim(level=1))
    calls = [
        CallBuilder(devices.SET_STATE)(dim, META),
        ToolCall(tool=LIST, payload_json=b'{"site_id": "harbour"}', meta=META),
        ToolCall(tool="nothing", payload_json=b"{}"),
    ]
    results = await runtime.call_all(calls)
    assert [result.status for result in results] == ["error", "ok", "error"]
    assert [result.tool for result in results] == [calls[0].tool, LIST, "nothing"]


async def test_the_callers_own_cancellation_is_not_swallowed() -> None:
    started = asyncio.Event()

    class Slow(RecordingExecutor):
        async def list_devices(self, payload: object, ctx: ToolContext) -> devices.ListDevicesResult:
            started.set()
            await asyncio.Event().wait()
            return page()

    runtime = Runtime()
    runtime.tools.register(registration(Slow({})))
    task = asyncio.create_task(runtime.call(LIST, ARGUMENTS, META))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_raw_executor_gets_the_call_as_it_came() -> None:
    seen: list[ToolCall] = []

    async def serve(call: ToolCall, ctx: ToolContext) -> ToolResult:
        seen.append(call)
        if call.tool.endswith("set_state"):
            return ToolResult(tool=call.tool, status="error", error=ToolError("not today"))
        return ToolResult(tool=call.tool, status="ok", result=page())

    runtime = Runtime()
    runtime.tools.register(registration(serve))
    result = await runtime.call(LIST, ARGUMENTS, META)
    assert result.json == b'{"devices":[],"returned":0,"truncated":false}'
    assert seen[0].payload_json == ARGUMENTS
    assert seen[0].payload.session_id == "s-9"
    arguments = {"device_id": "d", "command": {"kind": "dim", "level": 5}}
    refused = await runtime.call("set_state", arguments, META)
    assert refused.json == b'{"error":"not today"}'


async def test_typed_calls_are_built_for_planners() -> None:
    runtime, executor = runtime_with(page())
    built = devices.calls.list_devices(devices.ListDevicesPayload(site_id="harbour"), META)
    assert built.payload_json == b'{"site_id":"harbour","limit":20}'
    (result,) = await runtime.call_all([built])
    assert (result.status, len(executor.calls)) == ("ok", 1)


async def test_logs_name_the_tool(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "toolgen.runtime")
    await call(ValueError("broken"))
    assert LIST in caplog.text


def test_account_and_documents_are_registered_side_by_side() -> None:
    runtime = Runtime()
    for name, specs in (("a", account.SPECS), ("d", documents.SPECS)):
        runtime.tools.register(ToolsetRegistration(name=name, specs=specs, executor=RecordingExecutor({})))
    assert runtime.tools.toolsets() == ("a", "d")
    assert [spec.name for spec in runtime.tools.list()] == ["get_user_data", "search", "table_of_contents"]
