"""Runtimes of an executor that records its calls, with the calls and results of `list_devices`."""

from __future__ import annotations

from typing import Any

from gen.assistant.toolsets import devices
from toolgen.runtime import CallMeta, Runtime, ToolResult, ToolsetRegistration
from toolgen.runtime.testing import RecordingExecutor

META = CallMeta(session_id="s-9", tool_call_id="c-1")
LIST = "assistant.devices.list_devices"
ARGUMENTS = b'{"site_id": "harbour"}'


def page(**facts: Any) -> devices.ListDevicesResult:
    return devices.ListDevicesResult(**{"devices": [], "returned": 0, "truncated": False, **facts})


def runtime_with(answer: Any, **more: Any) -> tuple[Runtime, RecordingExecutor]:
    executor = RecordingExecutor({"list_devices": answer, **more})
    runtime = Runtime()
    runtime.tools.register(registration(executor))
    return runtime, executor


def registration(executor: object) -> ToolsetRegistration:
    return ToolsetRegistration(name="assistant.devices", specs=devices.SPECS, executor=executor)


async def call(answer: Any, arguments: Any = ARGUMENTS, meta: CallMeta = META) -> ToolResult:
    return await runtime_with(answer)[0].call(LIST, arguments, meta)
