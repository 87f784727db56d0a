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


PAGE = {"returned": 20, "truncated": True, "total": 40, "next_cursor": "ZGV2aWNlLTIw"}
RESULT = devices.ListDevicesResult(devices=[Device(**_device(n)) for n in range(20)], **PAGE)  # type: ignore[arg-type]  # facts by name
BARE_RESULT = BareResult(devices=[BareDevice(**_device(n)) for n in range(20)], **PAGE)  # type: ignore[arg-type]  # facts by name

GOOD = b'{"site_id":"harbour","status":"online","limit":20,"cursor":"abc"}'
BAD = b'{"site_id":5,"status":"lost","limit":900,"site":1}'
TOOL = "assistant.devices.list_devices"
META = CallMeta(session_id="s-9", tool_call_id="c-1")


class Executor(RecordingExecutor):
    async def list_devices(
        self, payload: devices.ListDevicesPayload, ctx: ToolContext
    ) -> devices.ListDevicesResult:
        return RESULT


async def _execute() -> BareResult:
    return BARE_RESULT


def contestants() -> dict[str, Callable[[], Awaitable[object]]]:
    """Return what is measured, by name; each makes one call."""
    runtime = Runtime()
    registration = ToolsetRegistration(
        name="assistant.devices", specs=devices.SPECS, executor=Executor({}), format=1
    )
    runtime.register(registration)
    payload, result = TypeAdapter(BarePayload), TypeAdapter(BareResult)
    spec = devices.LIST_DEVICES

    async def bare() -> bytes:
        payload.validate_json(GOOD)
        return result.dump_json(await _execute())

    async def bare_invalid() -> object:
        try:
            return payload.validate_json(BAD)
        except ValidationError as error:
            return error.errors()

    async def call() -> object:
        return await runtime.call(TOOL, GOOD, META)

    async def invalid() -> object:
        return await runtime.call(TOOL, BAD, META)

    async def bare_encode() -> bytes:
        return result.dump_json(BARE_RESULT)

    async def encode() -> bytes:
        return spec.result.encode(RESULT)

    async def bare_decode() -> object:
        return payload.validate_json(GOOD)

    async def decode() -> object:
        return spec.payload.decode(GOOD)

    return {
        "bare decode + encode": bare,
        "call": call,
        "bare decode": bare_decode,
        "decode": decode,
        "bare encode": bare_encode,
        "encode": encode,
        "bare validation of invalid arguments": bare_invalid,
        "invalid call": invalid,
    }


async def measure() -> dict[str, list[float]]:
    """Return microseconds a call, one figure a round."""
    running = contestants()
    taken: dict[str, list[float]] = {name: [] for name in running}
    for _ in range(ROUNDS):
        for name, once in running.items():
            start = time.perf_counter()
            for _ in range(CALLS):
                await once()
            taken[name].append((time.perf_counter() - start) / CALLS * 1e6)
    return taken


def main() -> None:
    taken = asyncio.run(measure())
    for ours, bare in (
        ("call", "bare decode + encode"),
        ("decode", "bare decode"),
        ("encode", "bare encode"),
        ("invalid call", "bare validation of invalid arguments"),
    ):
        ratio = statistics.median(a / b for a, b in zip(taken[ours], taken[bare], strict=True))
        print(
            f"{ours:12} {statistics.median(taken[ours]):6.1f} µs   "
            f"{bare:36} {statistics.median(taken[bare]):6.1f} µs   ratio {ratio:.2f}"
        )


if __name__ == "__main__":
    main()
