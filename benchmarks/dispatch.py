"""Calls of toolgen against bare pydantic, in one process: `python -m benchmarks.dispatch`.

Each row is a median over interleaved rounds, in time of the processor. Against a call stand the decode of its
arguments and the encode of its result; `benchmarks.bare` has that side, `benchmarks.generated` two toolsets.
With `--json` the rows are JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any, Final

from pydantic import TypeAdapter

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
    ToolOutcome,
    ToolResult,
    ToolsetRegistration,
    Verdict,
)
from toolgen.runtime.functions import ArtifactSpec, function_toolset
from toolgen.runtime.testing import RecordingExecutor

from . import bare
from .bare import BAD, GOOD, PING, Once, Ratio, Row, gathered, is_page, listing, pinging, refusing
from .generated import generated

TOOL: Final = "assistant.devices.list_devices"
FOREIGN: Final = "bench.others.list_devices"
META: Final = CallMeta(session_id="s-9", tool_call_id="c-1")
LIMIT: Final = Scheduling(tool_timeout_s=60.0)
NUMBERS: Final = 9000
CALL: Final = "decode, encode"
ARTIFACT: Final = ArtifactSpec(kind="page", codec=devices.LIST_DEVICES.result)


class TextDevice(bare.Device):
    last_seen: str | None = None  # type: ignore[assignment] # the foreign schema has a text


class TextResult(bare.Result):
    devices: list[TextDevice]  # type: ignore[assignment] # of them


class Values(bare.Bare):
    values: list[float]


def result_of(size: int) -> devices.ListDevicesResult:
    found = [Device.model_validate(bare.device(number)) for number in range(size)]
    return devices.ListDevicesResult.model_validate({"devices": found, **bare.page(size)})


class Executor(RecordingExecutor):
    """Returns one result, of a class of the toolset or with an artifact."""

    def __init__(self, result: object) -> None:
        super().__init__({})
        self._result = result

    async def list_devices(self, payload: object, ctx: ToolContext) -> Any:
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


class Before(Hook):
    """Lets every call go on."""

    async def before_tool(self, call: ToolCall, payload: object, ctx: ToolContext) -> Verdict:
        return Continue()


class After(Hook):
    """Lets every result pass."""

    async def after_tool(self, call: ToolCall, result: ToolResult, ctx: ToolContext) -> Verdict:
        return Continue()


HOOKS: Final = (Before(), After())


async def ping(text: str) -> str:
    """Return the text."""
    return text


def calling(runtime: Runtime, tool: str, arguments: bytes) -> Once:
    """Return a call; its result has the text that the model gets."""
    return lambda: runtime.call(tool, arguments, META)


def runtime_with(
    executor: object, specs: Any = devices.SPECS, name: str = "assistant.devices", **host: Any
) -> Runtime:
    made = Runtime(**host)
    made.tools.register(ToolsetRegistration(name=name, specs=specs, executor=executor))
    return made


def lists(size: int, **host: Any) -> Once:
    return calling(runtime_with(Executor(result_of(size)), **host), TOOL, GOOD)


def pings(**host: Any) -> Once:
    runtime = Runtime(**host)
    runtime.tools.register(function_toolset("local.functions", [ping]))
    return calling(runtime, "ping", PING)


def watched() -> Events:
    """Return the events of one subscriber, who does not keep up."""
    events = Events()
    events.subscribe()
    return events


def plain_calls() -> list[Row]:
    """Return the rows that peers have too."""
    listed = lists(20)
    return [
        Row("20 devices", listed, CALL, listing(20)),
        Row("1 device", lists(1), CALL, listing(1)),
        Row("ping", pings(), CALL, pinging()),
        Row("invalid", calling(runtime_with(Executor(None)), TOOL, BAD), "validation, errors", refusing()),
    ]


def hosts() -> list[Row]:
    """Return the rows of what a host adds to a call."""
    thread = calling(runtime_with(Blocking(result_of(20))), TOOL, GOOD)
    return [
        Row("artifact", with_artifact(), "decode, two encodes", both_encoded()),
        Row("before hook", lists(20, hooks=HOOKS[:1]), CALL, listing(20)),
        Row("before and after hook", lists(20, hooks=HOOKS), CALL, listing(20)),
        Row("before and after hook, ping", pings(hooks=HOOKS), CALL, pinging()),
        Row("time limit", lists(20, scheduling=LIMIT), CALL, listing(20)),
        Row("time limit, ping", pings(scheduling=LIMIT), CALL, pinging()),
        Row("subscriber", lists(20, events=watched()), CALL, listing(20)),
        Row("thread", thread, CALL, listing(20)),
        Row("invalid, each time another", new_mistakes(), "validation, errors", refusing()),
    ]


def with_artifact() -> Once:
    """Return a call whose result of 20 devices has an artifact of 20 devices beside it."""
    spec = replace(devices.LIST_DEVICES, artifacts={"page": ARTIFACT})
    outcome = ToolOutcome.of(result_of(20), artifacts=[ARTIFACT.of(result_of(20))])
    return calling(runtime_with(Executor(outcome), (spec, *devices.SPECS[1:])), TOOL, GOOD)


def both_encoded() -> Once:
    once, result = listing(20), bare.result_of(20)
    encode = TypeAdapter(bare.Result).dump_json

    async def bare_artifact() -> object:
        return await once(), encode(result)

    return bare_artifact


def new_mistakes() -> Once:
    runtime, numbers = runtime_with(Executor(None)), count()

    async def invalid() -> object:
        wrong = b'{"site_id":"harbour","limit":900,"site%d":1}' % next(numbers)
        return await runtime.call(TOOL, wrong, META)

    return invalid


def foreign(others: Any) -> Row:
    """Return a call of a tool with foreign schemas, both with a rule that types cannot hold."""
    found = [bare.device(number) | {"last_seen": "2026-01-31T00:00:00Z"} for number in range(20)]
    fields = {"devices": found, **bare.page(20)}
    types = others.LIST_DEVICES.result.type
    runtime = runtime_with(Executor(types.model_validate(fields)), others.SPECS, "bench.others")
    once = bare.coding(bare.Payload, GOOD, TextResult, TextResult.model_validate(fields))
    return Row("foreign with rules", calling(runtime, FOREIGN, GOOD), CALL, once)


def numbers(package: Any) -> list[Row]:
    """Return a decode and an encode of an array of numbers."""
    spec, adapter = package.SMOOTH, TypeAdapter(Values)
    document = json.dumps({"values": [number + 0.25 for number in range(NUMBERS)]}).encode()
    result, values = spec.result.decode(document), adapter.validate_json(document)
    return [
        Row(
            f"{NUMBERS:,} floats, decode",
            *sides("decode", spec.payload.decode, adapter.validate_json, document),
        ),
        Row(
            f"{NUMBERS:,} floats, encode",
            *sides("encode", spec.result.encode, adapter.dump_json, result, values),
        ),
    ]


def codecs() -> list[Row]:
    """Return the two codecs of a call of 20 devices alone."""
    spec, payload, result = (
        devices.LIST_DEVICES,
        TypeAdapter(bare.Payload),
        TypeAdapter(bare.Result),
    )
    return [
        Row("decode alone", *sides("decode", spec.payload.decode, payload.validate_json, GOOD)),
        Row(
            "encode alone",
            *sides("encode", spec.result.encode, result.dump_json, result_of(20), bare.result_of(20)),
        ),
    ]


def sides(
    against: str, ours: Callable[[Any], object], theirs: Callable[[Any], object], *values: Any
) -> tuple[Once, str, Once]:
    """Return two functions as what is compared; the last value is that of pydantic."""

    async def call() -> object:
        return ours(values[0])

    async def once() -> object:
        return theirs(values[-1])

    return call, against, once


async def checked(rows: list[Row]) -> None:
    """Raise an AssertionError where a call does not return what it should."""
    for row in rows:
        if row.against != CALL:
            continue
        result = await row.ours()
        assert isinstance(result, ToolResult)
        text = result.json
        assert text == b'"pong"' or is_page(text, 1 if row.name == "1 device" else 20), (row.name, text)


async def measured() -> dict[str, tuple[str, Ratio]]:
    """Return what each row is measured against, and what it shows."""
    with generated() as (others, arrays):
        rows = [*plain_calls(), *hosts(), foreign(others), *numbers(arrays), *codecs()]
        await checked(rows)
        found = await bare.measure(rows)
        at_once = Row(bare.GATHERED, gathered(rows[0].ours), CALL, gathered(rows[0].bare))
        found |= await bare.measure([at_once], bare.FEW_ROUNDS)
    return {row.name: (row.against, found[row.name]) for row in [*rows, at_once]}


def rounded(row: Ratio) -> dict[str, float]:
    return {name: round(value, 3) for name, value in row._asdict().items()}


def main() -> None:
    """Print the rows, or what `benchmarks.report` reads of them."""
    rows = asyncio.run(measured())
    if sys.argv[1:] == ["--json"]:
        print(
            json.dumps({name: {"against": against} | rounded(row) for name, (against, row) in rows.items()})
        )
        return
    for name, (against, row) in rows.items():
        more = row.ours_us - row.bare_us
        print(
            f"{name:28} {row.ours_us:8.1f} µs   {against:20} {row.bare_us:8.1f} µs   "
            f"ratio {row.ratio:5.2f}, {more:+.1f} µs"
        )


if __name__ == "__main__":
    main()
