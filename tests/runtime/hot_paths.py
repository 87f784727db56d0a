"""The calls whose work is held by `test_hot_paths.py`, and what they execute, function by function:
`python -m tests.runtime.hot_paths ping`, in two checkouts, shows what has become more.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final

from gen.assistant.toolsets import devices
from gen.types import Device
from tests.work import Work, work_of
from toolgen.calls.functions.tools import function_toolset
from toolgen.events import Events
from toolgen.runtime import (
    CallMeta,
    Continue,
    Hook,
    Runtime,
    Scheduling,
    ToolCall,
    ToolContext,
    ToolOutcome,
    ToolResult,
    ToolsetRegistration,
    ToolSpec,
    Verdict,
)
from toolgen.runtime.functions import ArtifactSpec, SchemaCodec
from toolgen.runtime.generated import SchemaModel
from toolgen.runtime.testing import RecordingExecutor

WARM_UP: Final = 5
"""Calls before the one that counts: what the first ones cache is not a cost of a call."""
META: Final = CallMeta(session_id="s-9", tool_call_id="c-1")
SITE: Final = b'{"site_id":"harbour","status":"online","limit":20,"cursor":"abc"}'
PAGE: Final = ArtifactSpec(kind="page", codec=devices.LIST_DEVICES.result)
WRONG: Final = b'{"site_id":5,"status":"lost","limit":900,"site":1}'


class Passing(Hook):
    """Lets every call go on."""

    async def before_tool(self, call: ToolCall, payload: object, ctx: ToolContext) -> Verdict:
        return Continue()


class PassingBoth(Passing):
    """Lets every call and every result go on."""

    async def after_tool(self, call: ToolCall, result: ToolResult, ctx: ToolContext) -> Verdict:
        return Continue()


async def ping(text: str) -> str:
    """Return the text."""
    return text


def page(size: int) -> devices.ListDevicesResult:
    found = [
        Device(
            id=f"h{number:02}",
            name=f"Device {number}",
            kind="sensor",
            room="Hall",
            manual="klima-s2",
            status="online",
            last_seen=dt.datetime(2026, 1, 31, tzinfo=dt.UTC),
        )
        for number in range(size)
    ]
    return devices.ListDevicesResult(devices=found, returned=size, truncated=True, total=40, next_cursor="x")


def pinging(**host: Any) -> Callable[[], Awaitable[ToolResult]]:
    runtime = Runtime(**host)
    runtime.tools.register(function_toolset("local.functions", [ping]))
    return lambda: runtime.call("ping", b'{"text":"pong"}', META)


class Search(SchemaModel, extra="forbid"):
    """Arguments and result of a tool whose schema is of somebody else, with a rule that no type holds."""

    site_id: str
    limit: int | None = None
    cursor: str | None = None


SEARCH: Final = {
    "type": "object",
    "properties": {
        "site_id": {"type": "string"},
        "limit": {"type": "integer"},
        "cursor": {"type": "string"},
    },
    "required": ["site_id"],
    "dependentRequired": {"cursor": ["limit"]},
    "additionalProperties": False,
}


def searching() -> Callable[[], Awaitable[ToolResult]]:
    def codec() -> SchemaCodec[Search]:
        return SchemaCodec(None, __name__, "Search", {"Search": json.dumps(SEARCH)}, is_exact=False)

    runtime = Runtime()
    spec = ToolSpec(id="others.tools.search", description="Search.", payload=codec(), result=codec())
    executor = RecordingExecutor({"search": Search(site_id="harbour", limit=20, cursor="abc")})
    runtime.tools.register(ToolsetRegistration(name="others.tools", specs=(spec,), executor=executor))
    return lambda: runtime.call("search", b'{"site_id":"harbour","limit":20,"cursor":"abc"}', META)


def listing(
    arguments: bytes = SITE, result: object = None, specs: Any = devices.SPECS, **host: Any
) -> Callable[[], Awaitable[ToolResult]]:
    runtime = Runtime(**host)
    executor = RecordingExecutor({"list_devices": page(20) if result is None else result})
    runtime.tools.register(ToolsetRegistration(name="assistant.devices", specs=specs, executor=executor))
    return lambda: runtime.call("assistant.devices.list_devices", arguments, META)


def with_artifact() -> Callable[[], Awaitable[ToolResult]]:
    spec = replace(devices.LIST_DEVICES, artifacts={"page": PAGE})
    outcome = ToolOutcome.of(page(20), artifacts=[PAGE.of(page(20))])
    return listing(result=outcome, specs=(spec, *devices.SPECS[1:]))


def with_subscriber() -> Callable[[], Awaitable[ToolResult]]:
    events = Events()
    events.subscribe()
    return listing(events=events)


PATHS: Final[dict[str, Callable[[], Callable[[], Awaitable[ToolResult]]]]] = {
    "ping": pinging,
    "ping with a hook": lambda: pinging(hooks=[Passing()]),
    "ping with a time limit": lambda: pinging(scheduling=Scheduling(tool_timeout_s=60.0)),
    "20 devices": listing,
    "20 devices with two hooks": lambda: listing(hooks=[PassingBoth()]),
    "20 devices and an artifact": with_artifact,
    "20 devices with a subscriber": with_subscriber,
    "foreign with rules": searching,
    "arguments that do not fit": lambda: listing(WRONG),
}
"""What makes a runtime and returns one call of it, by name."""


def work_on(path: str) -> Work:
    """Return what one call executes."""

    async def one() -> Work:
        call = PATHS[path]()
        for _ in range(WARM_UP):
            await call()
        return await work_of(call)

    return asyncio.run(one())


if __name__ == "__main__":
    for name in sys.argv[1:] or PATHS:
        print(name, *work_on(name).lines(), sep="\n")
