"""Small toolsets for the tests of the runtime: real generated specs, with other facts."""

from __future__ import annotations

import dataclasses
from typing import Any

from gen.assistant.toolsets import devices
from tests.virtual_time import now
from toolgen.runtime import CallMeta, Runtime, Suspended, ToolResult, ToolsetRegistration, ToolSpec
from toolgen.waiting.options import WaitOptions

TOOL = "assistant.devices.list_devices"
META = CallMeta(run_id="r", session_id="s", turn_id="t", tool_call_id="c1")
SITE = b'{"site_id": "s1"}'
EMPTY: dict[str, Any] = {"devices": [], "returned": 0, "truncated": False}


def spec(**facts: Any) -> ToolSpec[Any, Any]:
    """Return the spec of list_devices with other facts; it asks for no injected field then."""
    return dataclasses.replace(devices.LIST_DEVICES, injected=(), **facts)


def waiting(result: ToolResult) -> Suspended:
    """Return what a call waits for."""
    assert result.suspension is not None, result.json
    return result.suspension


def nothing() -> devices.ListDevicesResult:
    return devices.LIST_DEVICES.result.decode(EMPTY)


def much() -> devices.ListDevicesResult:
    """Return a result of 246 bytes."""
    return devices.LIST_DEVICES.result.decode({**EMPTY, "refinement_hint": "name a room " * 15})


async def lists_much(payload: Any, ctx: Any) -> Any:
    return much()


class Listing:
    """An executor of one tool: counts, and does what the test says."""

    def __init__(self, does: Any = None) -> None:
        self.calls: list[Any] = []
        self._does = does

    async def list_devices(self, payload: Any, ctx: Any) -> Any:
        self.calls.append(payload)
        return nothing() if self._does is None else await self._does(payload, ctx)


def runtime(executor: object, *specs: ToolSpec[Any, Any], **host: Any) -> Runtime:
    """Return a runtime with one toolset of these specs, list_devices as it stands by default."""
    made = Runtime(**host)
    made.tools.register(
        ToolsetRegistration(name="assistant.devices", specs=specs or (spec(),), executor=executor)
    )
    return made


async def ask(made: Runtime, meta: CallMeta = META) -> Any:
    result = await made.call(TOOL, SITE, meta)
    assert (result.status, result.json) == ("suspended", b"")
    assert result.suspension is not None
    return result.suspension


def options(**given: Any) -> WaitOptions:
    return WaitOptions(clock=now, **given)
