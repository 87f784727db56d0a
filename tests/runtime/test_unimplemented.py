"""Tools that are not implemented: the log says where their methods stand, and no model is told."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, Final

import pytest

from tests.runtime.tools import META, SITE, nothing, runtime, spec

TOOL = "assistant.devices.list_devices"
HERE = str(Path(__file__))


class Stub:
    async def list_devices(self, payload: Any, ctx: Any) -> Any:
        raise NotImplementedError("list_devices returns ListDevicesResult")


class StubInAThread:
    def list_devices(self, payload: Any, ctx: Any) -> Any:
        raise NotImplementedError


class Half:
    async def list_devices(self, payload: Any, ctx: Any) -> Any:
        if payload.site_id == "s1":
            raise NotImplementedError("sites of the first kind")
        return nothing()


class Calling:
    """What it calls is not there: a fault of its own, as any other."""

    async def list_devices(self, payload: Any, ctx: Any) -> Any:
        self.missing()

    def missing(self) -> None:
        raise NotImplementedError


@pytest.mark.parametrize("seconds", [None, 60.0])
@pytest.mark.parametrize("executor", [Stub(), StubInAThread(), Half()], ids=lambda one: type(one).__name__)
async def test_the_log_names_the_method_and_the_model_does_not(
    caplog: pytest.LogCaptureFixture, executor: object, seconds: float | None
) -> None:
    result = await runtime(executor, spec(timeout=seconds)).call(TOOL, SITE, META)
    assert result.json == b'{"error":"list_devices is not implemented"}'
    assert result.retry_hint is not None
    assert (result.retry_hint.reason, result.retry_hint.tool) == ("tool_unavailable", TOOL)
    (record,) = caplog.records
    method = type(executor).list_devices  # type: ignore[attr-defined]  # each of them has it
    line, name = method.__code__.co_firstlineno, type(executor).__name__
    expected = f"{HERE}:{line}: {name}.list_devices is not implemented (tool {TOOL})"
    assert (record.levelno, record.getMessage()) == (logging.ERROR, expected)
    assert record.exc_info is None
    seen = (result.json.decode(), str(result.error), repr(result.retry_hint))
    assert not [text for text in seen if "test_unimplemented" in text or f":{line}" in text]


class Service:
    """A stub of a service, as `toolgen init --add` writes it."""

    async def devices_of(self, site: str) -> Any:
        raise NotImplementedError("devices_of returns DevicesOfResult")


class Bound:
    """An executor as it is generated of bound tools."""

    _service_methods: Final = {"device_service": ("devices_of",)}

    def __init__(self) -> None:
        self._device_service = Service()

    async def list_devices(self, payload: Any, ctx: Any) -> Any:
        return await self._device_service.devices_of(payload.site_id)


async def test_a_service_that_is_not_written_yet_is_named(caplog: pytest.LogCaptureFixture) -> None:
    result = await runtime(Bound()).call(TOOL, SITE, META)
    assert result.json == b'{"error":"list_devices is not implemented"}'
    line = Service.devices_of.__code__.co_firstlineno
    assert [record.getMessage() for record in caplog.records] == [
        f"{HERE}:{line}: Service.devices_of is not implemented (tool {TOOL})"
    ]


async def test_what_a_method_calls_is_a_fault_as_any_other(caplog: pytest.LogCaptureFixture) -> None:
    result = await runtime(Calling()).call(TOOL, SITE, META)
    assert result.json.startswith(
        b'{"error":"list_devices failed with an internal error; the arguments were valid (reference '
    )
    (record,) = caplog.records
    assert record.exc_info is not None
