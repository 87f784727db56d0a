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
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from gen.assistant.toolsets import devices
from gen.types import Device
from toolgen.runtime import CallMeta, Runtime, ToolContext, ToolsetRegistration
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


Contestants = dict[str, Callable[[], Awaitable[object]]]


def contestants(size: int) -> Contestants:
    """Return what is measured on a result of this many devices, by name; each makes one call."""
    ours, bares = _result(size), _bare_result(size)
    runtime = Runtime()
    runtime.register(
        ToolsetRegistration(name="assistant.devices", specs=devices.SPECS, executor=Executor(ours), format=1)
    )
    payload, result = TypeAdapter(BarePayload), TypeAdapter(BareResult)
    spec = devices.LIST_DEVICES

    async def execute() -> BareResult:
        return bares

    async def bare() -> bytes:
        payload.validate_json(GOOD)
        return result.dump_json(await execute())

    async def call() -> object:
        return await runtime.call(TOOL, GOOD, META)

    async def bare_decode() -> object:
        return payload.validate_json(GOOD)

    async def decode() -> object:
        return spec.payload.decode(GOOD)

    async def bare_encode() -> bytes:
        return result.dump_json(bares)

    async def encode() -> bytes:
        return spec.result.encode(ours)

    async def bare_invalid() -> object:
        try:
            return payload.validate_json(BAD)
        except ValidationError as error:
            return error.errors()

    async def invalid() -> object:
        return await runtime.call(TOOL, BAD, META)

    return {
        "call": call,
        "bare decode + encode": bare,
        "decode": decode,
        "bare decode": bare_decode,
        "encode": encode,
        "bare encode": bare_encode,
        "invalid call": invalid,
        "bare validation, with its errors": bare_invalid,
    }


async def measure(running: Contestants) -> dict[str, list[float]]:
    """Return microseconds a call, one figure a round."""
    taken: dict[str, list[float]] = {name: [] for name in running}
    for _ in range(ROUNDS):
        for name, once in running.items():
            start = time.perf_counter()
            for _ in range(CALLS):
                await once()
            taken[name].append((time.perf_counter() - start) / CALLS * 1e6)
    return taken


def report(size: int) -> None:
    taken = asyncio.run(measure(contestants(size)))
    print(f"{size} devices in the result")
    names = list(taken)
    for ours, bare in zip(names[::2], names[1::2], strict=True):
        pairs = list(zip(taken[ours], taken[bare], strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        more = statistics.median(a - b for a, b in pairs)
        print(
            f"  {ours:12} {statistics.median(taken[ours]):6.1f} µs   {bare:32} "
            f"{statistics.median(taken[bare]):6.1f} µs   ratio {ratio:.2f}, {more:+.1f} µs"
        )


def main() -> None:
    for size in (20, 1):
        report(size)


if __name__ == "__main__":
    main()
