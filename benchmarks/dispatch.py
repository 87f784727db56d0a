"""The whole pipeline against bare pydantic decode plus encode, in one process.

Run: `python -m benchmarks.dispatch`. Each row is a median over interleaved rounds, so that a busy
machine slows both sides alike. The bare side does what one would write by hand without toolgen:
strict closed models, one `TypeAdapter` a side, the same document in and the same result out.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import statistics
import time
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from gen.assistant.toolsets import devices
from gen.types import Device
from toolgen.events import Events
from toolgen.runtime import (
    CallMeta,
    Continue,
    Hook,
    Runtime,
    Scheduling,
    SyncToolContext,
    ToolCall,
    ToolContext,
    ToolsetRegistration,
    Verdict,
)
from toolgen.runtime.testing import RecordingExecutor

ROUNDS, CALLS = 41, 300
SEEN = dt.datetime(2026, 1, 31, tzinfo=dt.UTC)
Kind = Literal["light", "plug", "thermostat", "sensor", "blind", "lock"]
State = Literal["online", "offline", "unknown"]


class Bare(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class BarePayload(Bare):
    site_id: str
    status: State | None = None
    kind: Kind | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    cursor: str | None = None


class BareDevice(Bare):
    id: str
    name: str
    kind: Kind
    room: str
    manual: str
    status: State
    last_seen: dt.datetime | None = None


class BareResult(Bare):
    devices: list[BareDevice]
    next_cursor: str | None = None
    returned: int
    truncated: bool
    total: int | None = None
    refinement_hint: str | None = None


def _device(number: int) -> dict[str, object]:
    return {
        "id": f"h{number:02}",
        "name": f"Device {number}",
        "kind": "sensor",
        "room": "Hall",
        "manual": "klima-s2",
        "status": "online",
        "last_seen": SEEN,
    }


def _page(size: int) -> dict[str, object]:
    return {"returned": size, "truncated": True, "total": 40, "next_cursor": "ZGV2aWNlLTIw"}


def _result(size: int) -> devices.ListDevicesResult:
    found = [Device.model_validate(_device(number)) for number in range(size)]
    return devices.ListDevicesResult.model_validate({"devices": found, **_page(size)})


def _bare_result(size: int) -> BareResult:
    found = [BareDevice.model_validate(_device(number)) for number in range(size)]
    return BareResult.model_validate({"devices": found, **_page(size)})


GOOD = b'{"site_id":"harbour","status":"online","limit":20,"cursor":"abc"}'
BAD = b'{"site_id":5,"status":"lost","limit":900,"site":1}'
TOOL = "assistant.devices.list_devices"
META = CallMeta(session_id="s-9", tool_call_id="c-1")


class Executor(RecordingExecutor):
    def __init__(self, result: devices.ListDevicesResult) -> None:
        super().__init__({})
        self._result = result

    async def list_devices(
        self, payload: devices.ListDevicesPayload, ctx: ToolContext
    ) -> devices.ListDevicesResult:
        return self._result


class Blocking:
    """Answers from a thread."""

    def __init__(self, result: devices.ListDevicesResult) -> None:
        self._result = result

    def list_devices(
        self, payload: devices.ListDevicesPayload, ctx: SyncToolContext
    ) -> devices.ListDevicesResult:
        return self._result

    get_time_series = set_state = list_devices


class Passing(Hook):
    """Lets every call go on."""

    async def before_tool(self, call: ToolCall, payload: object, ctx: ToolContext) -> Verdict:
        return Continue()


Once = Callable[[], Awaitable[object]]


class Row(NamedTuple):
    """Two things that are compared; each makes one call."""

    name: str
    ours: Once
    against: str
    other: Once


def runtime_with(executor: object, **host: Any) -> Runtime:
    made = Runtime(**host)
    made.tools.register(
        ToolsetRegistration(name="assistant.devices", specs=devices.SPECS, executor=executor, format=1)
    )
    return made


def watched(executor: object) -> Runtime:
    """Return a runtime with one subscriber, who does not keep up."""
    events = Events()
    events.subscribe()
    return runtime_with(executor, events=events)


def contestants(size: int) -> list[Row]:
    """Return what is measured on a result of this many devices."""
    ours, bares = _result(size), _bare_result(size)
    call = _calling(runtime_with(Executor(ours)))
    return [
        *_against_bare(call, ours, bares),
        *_mistakes(runtime_with(Executor(ours))),
        Row("a hook", _calling(runtime_with(Executor(ours), hooks=[Passing()])), "call", call),
        Row(
            "a timeout",
            _calling(runtime_with(Executor(ours), scheduling=Scheduling(tool_timeout_s=60.0))),
            "call",
            call,
        ),
        Row("a thread", _calling(runtime_with(Blocking(ours))), "call", call),
        Row("a subscriber", _calling(watched(Executor(ours))), "call", call),
    ]


def _calling(runtime: Runtime) -> Once:
    """Return one good call."""

    async def call() -> object:
        return await runtime.call(TOOL, GOOD, META)

    return call


def _against_bare(call: Once, ours: devices.ListDevicesResult, bares: BareResult) -> list[Row]:
    """Return a call and its two codecs beside those of pydantic."""
    payload, result = TypeAdapter(BarePayload), TypeAdapter(BareResult)
    spec = devices.LIST_DEVICES

    async def execute() -> BareResult:
        return bares

    async def bare() -> bytes:
        payload.validate_json(GOOD)
        return result.dump_json(await execute())

    async def bare_decode() -> object:
        return payload.validate_json(GOOD)

    async def decode() -> object:
        return spec.payload.decode(GOOD)

    async def bare_encode() -> bytes:
        return result.dump_json(bares)

    async def encode() -> bytes:
        return spec.result.encode(ours)

    return [
        Row("call", call, "bare decode + encode", bare),
        Row("decode", decode, "bare decode", bare_decode),
        Row("encode", encode, "bare encode", bare_encode),
    ]


def _mistakes(runtime: Runtime) -> list[Row]:
    """Return calls whose arguments do not fit: always the same ones, and new ones each time."""
    payload, numbers = TypeAdapter(BarePayload), count()

    async def bare_invalid() -> object:
        try:
            return payload.validate_json(BAD)
        except ValidationError as error:
            return error.errors()

    async def invalid() -> object:
        return await runtime.call(TOOL, BAD, META)

    async def new_mistake() -> object:
        wrong = b'{"site_id":5,"status":"lost","limit":900,"site%d":1}' % next(numbers)
        return await runtime.call(TOOL, wrong, META)

    return [
        Row("invalid call", invalid, "bare validation, with its errors", bare_invalid),
        Row("one new mistake", new_mistake, "bare validation, with its errors", bare_invalid),
    ]


async def measure(rows: list[Row]) -> list[list[tuple[float, float]]]:
    """Return for each row the microseconds of both sides, a pair a round."""
    taken: list[list[tuple[float, float]]] = [[] for _ in rows]
    for _ in range(ROUNDS):
        for row, pairs in zip(rows, taken, strict=True):
            pairs.append((await duration_us(row.ours), await duration_us(row.other)))
    return taken


async def duration_us(once: Once) -> float:
    start = time.perf_counter()
    for _ in range(CALLS):
        await once()
    return (time.perf_counter() - start) / CALLS * 1e6


def report(size: int) -> None:
    rows = contestants(size)
    print(f"{size} devices in the result")
    for row, pairs in zip(rows, asyncio.run(measure(rows)), strict=True):
        ours, other = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        more = statistics.median(a - b for a, b in pairs)
        print(
            f"  {row.name:12} {ours:6.1f} µs   {row.against:32} {other:6.1f} µs   "
            f"ratio {ratio:.2f}, {more:+.1f} µs"
        )


def main() -> None:
    for size in (20, 1):
        report(size)


if __name__ == "__main__":
    main()
