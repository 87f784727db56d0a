"""Bare pydantic, against which every call is measured, and how two sides are compared in one process.

Pydantic is all that this module imports: it runs in the environments of the peers too. The bare side is what
one would write by hand without a framework: strict closed models, one `TypeAdapter` a side, the same document
in and the same result out.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import gc
import json
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

ROUNDS: Final = 31
SLICE_S: Final = 0.006
"""Seconds of the processor that one side takes in a round."""
AT_ONCE: Final = 1000
GATHERED: Final = f"{AT_ONCE:,} at once"
FEW_ROUNDS: Final = 9
"""Of a thousand calls at once."""

SEEN: Final = dt.datetime(2026, 1, 31, tzinfo=dt.UTC)
GOOD: Final = b'{"site_id":"harbour","status":"online","limit":20,"cursor":"abc"}'
BAD: Final = b'{"site_id":"harbour","status":"lost","limit":900}'
"""Arguments with two issues."""
PING: Final = b'{"text":"pong"}'
Kind = Literal["light", "plug", "thermostat", "sensor", "blind", "lock"]
State = Literal["online", "offline", "unknown"]
Limit = Annotated[int, Field(ge=1, le=100)]


class Bare(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Payload(Bare):
    site_id: str
    status: State | None = None
    kind: Kind | None = None
    limit: Limit = 20
    cursor: str | None = None


class Device(Bare):
    id: str
    name: str
    kind: Kind
    room: str
    manual: str
    status: State
    last_seen: dt.datetime | None = None


class Result(Bare):
    devices: list[Device]
    next_cursor: str | None = None
    returned: int
    truncated: bool
    total: int | None = None
    refinement_hint: str | None = None


class Ping(Bare):
    text: str


def device(number: int) -> dict[str, Any]:
    """Return the fields of one device of the result."""
    return {
        "id": f"h{number:02}",
        "name": f"Device {number}",
        "kind": "sensor",
        "room": "Hall",
        "manual": "klima-s2",
        "status": "online",
        "last_seen": SEEN,
    }


def page(size: int) -> dict[str, Any]:
    """Return the fields of the result beside its devices."""
    return {"returned": size, "truncated": True, "total": 40, "next_cursor": "ZGV2aWNlLTIw"}


def result_of(size: int) -> Result:
    """Return the result of `list_devices` with so many devices; 20 are 3 kB of JSON."""
    return Result.model_validate({"devices": [device(number) for number in range(size)], **page(size)})


Once = Callable[[], Awaitable[object]]


class Row(NamedTuple):
    """Two sides that are compared; each makes one call."""

    name: str
    ours: Once
    against: str
    bare: Once


class Ratio(NamedTuple):
    """The medians of both sides in microseconds of the processor, and of the ratio of each round."""

    ours_us: float
    bare_us: float
    ratio: float


def listing(size: int) -> Once:
    """Return a call of `list_devices` without a framework."""
    return coding(Payload, GOOD, Result, result_of(size))


def pinging() -> Once:
    """Return a call without a framework of a tool that takes one text and returns it."""
    return coding(Ping, PING, str, "pong")


def coding(payload: Any, document: bytes, result: Any, value: object) -> Once:
    """Return a decode of arguments, an await, and an encode of the result."""
    decode, encode = TypeAdapter(payload).validate_json, TypeAdapter(result).dump_json

    async def execute() -> object:
        return value

    async def bare() -> bytes:
        decode(document)
        return encode(await execute())

    return bare


def refusing() -> Once:
    """Return a validation of arguments with two issues, and their text as JSON."""
    decode = TypeAdapter(Payload).validate_json

    async def bare() -> str:
        try:
            raise AssertionError(decode(BAD))
        except ValidationError as error:
            return error.json(include_url=False)

    return bare


def gathered(once: Once) -> Once:
    """Return a thousand calls at once."""

    async def all_of_them() -> None:
        await asyncio.gather(*(once() for _ in range(AT_ONCE)))

    return all_of_them


def is_page(document: object, size: int) -> bool:
    """Return whether a text is the JSON of a result with so many devices."""
    return isinstance(document, str | bytes) and len(json.loads(document)["devices"]) == size


async def measure(rows: Sequence[Row], rounds: int = ROUNDS) -> dict[str, Ratio]:
    """Return what the rows show, by name: sides take turns, so that a busy machine slows both alike."""
    repeats = [(await _repeats(row.ours), await _repeats(row.bare)) for row in rows]
    pairs: list[list[tuple[float, float]]] = [[] for _ in rows]
    for _ in range(rounds):
        gc.collect()
        await _cost_us(rows[0].ours, repeats[0][0])  # the first after it finds nothing in the caches
        for row, (many, bare), kept in zip(rows, repeats, pairs, strict=True):
            kept.append((await _cost_us(row.ours, many), await _cost_us(row.bare, bare)))
    return {row.name: _ratio(kept) for row, kept in zip(rows, pairs, strict=True)}


async def _repeats(once: Once) -> int:
    """Return how many calls take a slice, after some to warm up."""
    await _cost_us(once, 3)
    return max(1, round(SLICE_S * 1e6 / await _cost_us(once, 5)))


async def _cost_us(once: Once, calls: int) -> float:
    start = time.process_time()
    for _ in range(calls):
        await once()
    return (time.process_time() - start) / calls * 1e6


def _ratio(pairs: list[tuple[float, float]]) -> Ratio:
    ours, bare = (statistics.median(side) for side in zip(*pairs, strict=True))
    return Ratio(ours, bare, statistics.median(a / b for a, b in pairs))
