"""Declared errors: what executors raise, what the model is told, what planners and clients read back."""

from __future__ import annotations

import json
import logging
from typing import Any

import jsonschema
import pytest

from tests.cases.errors.gen import device_service
from tests.cases.errors.gen.device_service.service import DeviceService, ReadPayload, ReadResult
from tests.cases.errors.gen.home.toolsets import devices
from tests.cases.errors.gen.types import NotFound
from toolgen.agents import ToolAnswer
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.events.records import ToolEnd
from toolgen.runtime import (
    Ask,
    DeclaredError,
    Limits,
    MalformedResultError,
    Runtime,
    ToolCall,
    ToolError,
    ToolResult,
    ToolSpec,
)

MISSING = NotFound(id="d9", close=["d8"])


class Service(DeviceService):
    """A service that raises."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.calls = 0

    async def read(self, payload: ReadPayload) -> ReadResult:
        self.calls += 1
        raise self.error


class Devices(devices.BoundDevicesExecutor):
    """Reads by the service; renaming raises."""

    async def rename(self, payload: devices.RenamePayload, ctx: Any) -> devices.RenameResult:
        raise devices.RENAME_TAKEN.of(f"{payload.name} is taken")


def home(error: Exception, **host: Any) -> Runtime:
    runtime = Runtime(**host)
    runtime.tools.register(devices.registration(Devices(device_service=Service(error))))
    return runtime


async def read(error: Exception, **host: Any) -> ToolResult:
    return await home(error, **host).call("read", {"id": "d9"})


async def test_the_model_reads_message_code_and_details() -> None:
    result = await read(devices.READ_NOT_FOUND.of("no device d9", MISSING))
    assert result.status == "error"
    assert json.loads(result.json) == {
        "error": "no device d9",
        "code": "not_found",
        "details": {"id": "d9", "close": ["d8"]},
    }


async def test_a_bound_tool_has_the_errors_of_its_method() -> None:
    result = await read(device_service.READ_NOT_FOUND.of("no device d9", MISSING))
    assert devices.READ.errors["not_found"].get(result) == MISSING
    offline = await read(device_service.READ_OFFLINE.of("it sleeps"))
    assert json.loads(offline.json) == {"error": "it sleeps", "code": "offline", "retryable": True}
    assert devices.READ_OFFLINE.matches(offline)
    assert devices.READ_OFFLINE.get(offline) is None


async def test_clients_read_typed_details_and_planners_those_of_the_text() -> None:
    result = await read(devices.READ_NOT_FOUND.of("no device d9", MISSING))
    assert isinstance(result.error, DeclaredError)
    assert result.error.code == "not_found"
    for seen in (result, result.json, result.json.decode()):
        assert devices.READ_NOT_FOUND.matches(seen)
        assert devices.READ_NOT_FOUND.get(seen) == MISSING
        assert not devices.READ_TOO_OFTEN.matches(seen)
        assert devices.READ_TOO_OFTEN.get(seen) is None


class Asking:
    """A policy that has a person asked."""

    async def decide(self, call: ToolCall, spec: ToolSpec[Any, Any], preview: str) -> Ask:
        return Ask(question="Read it?")


async def test_who_delivers_again_reads_the_error_from_the_log() -> None:
    engine, error = InProcessEngine(), devices.READ_NOT_FOUND.of("no device d9", MISSING)
    async with home(error, engine=engine, policy=Asking()) as runtime:
        waits = (await runtime.call("read", {"id": "d9"})).suspension
        assert waits is not None
        for _ in range(2):
            result = await runtime.suspensions.answer(waits.token, {"approved": True})
            assert devices.READ_NOT_FOUND.matches(result)
            assert devices.READ_NOT_FOUND.get(result) == MISSING
            assert not devices.READ_TOO_OFTEN.matches(result)


@pytest.mark.parametrize("seen", ["", "no JSON", "[]", '{"value": 1}', '{"code": "not_found"}'])
def test_other_documents_are_no_errors(seen: str) -> None:
    assert not devices.READ_NOT_FOUND.matches(seen)
    assert devices.READ_NOT_FOUND.get(seen) is None


@pytest.mark.parametrize(
    "details", ['{"id": 5}', "{}", "5", "null", '{"id": "d9", "other": 1}', r'"{\"id\": \"d9\"}"']
)
def test_details_that_do_not_fit_are_none(details: str) -> None:
    """As those of another tool, or of an earlier version of this one."""
    text = f'{{"error": "no device d9", "code": "not_found", "details": {details}}}'
    for seen in (text, text.encode(), ToolAnswer(id="c", name="read", status="error", text=text)):
        assert devices.READ_NOT_FOUND.matches(seen)
        assert devices.READ_NOT_FOUND.get(seen) is None
    error = DeclaredError("no device d9", code="not_found", details_json=details.encode())
    kept = ToolResult(tool=devices.READ.id, status="error", error=error)
    assert devices.READ_NOT_FOUND.get(kept) is None


def test_a_good_result_with_the_fields_of_an_error_is_none_where_its_status_is_known() -> None:
    text = '{"error": "no device d9", "code": "not_found", "details": {"id": "d9", "close": ["d8"]}}'
    assert devices.READ_NOT_FOUND.matches(text), "a text alone does not say it"
    good, failed = (ToolAnswer(id="c", name="read", status=status, text=text) for status in ("ok", "error"))
    assert not devices.READ_NOT_FOUND.matches(good)
    assert devices.READ_NOT_FOUND.get(good) is None
    assert devices.READ_NOT_FOUND.matches(failed)
    assert devices.READ_NOT_FOUND.get(failed) == MISSING


class Unreadable(ToolError):
    """A failure that computes its facts, and fails."""

    def __init__(self, fact: str, error: BaseException) -> None:
        self.fact, self.error = fact, error

    def __getattribute__(self, name: str) -> Any:
        if name in ("fact", "error") or name != self.fact:
            return super().__getattribute__(name)
        raise self.error


@pytest.mark.parametrize("fact", ["message", "cause", "retry_hint", "correlation_id", "is_retryable"])
@pytest.mark.parametrize("error", [ValueError("odd"), SystemExit()], ids=["error", "exit"])
@pytest.mark.parametrize("is_cause", [False, True])
async def test_an_error_that_cannot_be_read_is_an_internal_one(
    fact: str, error: BaseException, is_cause: bool
) -> None:
    broken: ToolError = Unreadable(fact, error)
    events = Events()
    async with events.subscribe() as told:
        result = await read(ToolError("no", cause=broken) if is_cause else broken, events=events)
    assert result.status == "error"
    assert "internal error" in json.loads(result.json)["error"]
    assert [event.status async for event in told if isinstance(event, ToolEnd)] == ["error"]


async def test_an_error_without_details_has_none_in_the_document() -> None:
    runtime = home(ValueError())
    result = await runtime.call("rename", {"id": "d1", "name": "lamp"})
    assert json.loads(result.json) == {"error": "lamp is taken", "code": "taken"}


async def test_an_error_of_another_tool_keeps_its_message_alone(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        result = await read(devices.RENAME_TAKEN.of("somebody has it"))
    assert json.loads(result.json) == {"error": "somebody has it"}
    assert not isinstance(result.error, DeclaredError)
    assert (
        "home.devices.read raised the error taken, which its design does not declare, so the model gets "
        'only the message, without code and details; add Error("taken", …) to the tool'
    ) in caplog.text


@pytest.mark.parametrize(
    "error",
    [
        DeclaredError("no device", code="not_found"),
        DeclaredError("no device", code="not_found", details=devices.RenamePayload(id="a", name="b")),
        DeclaredError("no device", code="offline", details=MISSING),
    ],
    ids=["none", "another type", "where there are none"],
)
async def test_details_that_do_not_fit_are_the_executors_mistake(error: DeclaredError) -> None:
    result = await read(error)
    assert result.status == "error"
    assert result.retry_hint is None
    assert "code" not in json.loads(result.json)


def test_details_that_do_not_fit_are_refused_where_the_error_is_made() -> None:
    of: Any = devices.READ_NOT_FOUND.of
    with pytest.raises(
        MalformedResultError, match=r"not_found needs details.* write \.of\(message, NotFound\("
    ):
        of("no device")
    with pytest.raises(MalformedResultError, match="error not_found do not fit: expected NotFound, got dict"):
        of("no device", {"id": "d9"})


async def test_an_undeclared_error_stays_what_it_was() -> None:
    assert json.loads((await read(ToolError("no"))).json) == {"error": "no"}
    assert (
        "failed with an internal error; the arguments were valid"
        in (await read(ValueError("no"))).json.decode()
    )


async def test_details_that_are_too_long_are_left_out() -> None:
    long = NotFound(id="d9", close=["d" * 500])
    result = await read(devices.READ_NOT_FOUND.of("no device " * 99, long), limits=Limits(result_bytes=300))
    document = json.loads(result.json)
    assert len(result.json) <= 300
    assert (document["code"], document["details_left_out"]) == ("not_found", True)
    assert devices.READ_NOT_FOUND.get(result.json) is None
    assert devices.READ_NOT_FOUND.get(result) == long


async def test_the_end_of_the_call_names_the_error() -> None:
    events = Events()
    async with events.subscribe() as told:
        await read(devices.READ_NOT_FOUND.of("no device d9", MISSING), events=events)
    (end,) = [event async for event in told if isinstance(event, ToolEnd)]
    assert end.error is not None
    assert (end.error.get("code"), end.error["message"]) == ("not_found", "no device d9")


def test_the_catalog_has_the_schemas_of_the_errors() -> None:
    schema = devices.READ.errors["not_found"].codec
    assert schema is not None
    jsonschema.Draft202012Validator(schema.schema).validate({"id": "d9", "close": []})
    assert list(devices.READ.errors) == ["not_found", "too_often", "offline"]
