"""A conversation that survives the end of its process: `python -m examples.home.durable`.

One process leads it, and is killed while a device is busy with new firmware. Another one goes on over the
same files. The device is this process, which is a client of theirs.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from gen.assistant.agents import chat
from toolgen.events import Events
from toolgen.runtime import Runtime

from .app import assistant
from .conversation import SESSION, conversation, turn
from .database import DATABASE, build, connect
from .scripts import LAMP, UPDATE

_READY: Final = "it waits"
"""The last line of the first process, and the first one of the second."""


async def story(path: Path) -> AsyncIterator[str]:
    """Yield what happens, line by line, over a new database at `path`."""
    build(path)
    async with _process("begin", path) as first:
        async for line in _lines(first):
            yield f"1 | {line}"
        async with _device(path) as device:
            (job,) = await device.suspensions.list(SESSION)
            yield "device: it begins"
        first.kill()
        await first.wait()
    yield "process 1 is killed"
    async with _process("go-on", path) as second, _device(path) as device:
        async for line in _lines(second):
            yield f"2 | {line}"
        yield "device: it is done"
        done = await device.suspensions.answer(job.token, {"version": "2.4.0"})
        yield f"device: it is told {done.status}"
        async for line in _lines(second):
            yield f"2 | {line}"


async def begin(path: Path) -> None:
    """Lead the conversation until an update goes on, and wait to be killed."""
    with closing(connect(path)) as database:
        async with assistant(database, path) as runtime:
            async for line in conversation(runtime, LAMP, UPDATE):
                print(line, flush=True)
            print(_READY, flush=True)
            await asyncio.Event().wait()


async def go_on(path: Path) -> None:
    """Go on with what waits, and print the turn that the end of the update opens."""
    events = Events()
    told = events.subscribe(types=["run_started"])
    with closing(connect(path)) as database:
        async with assistant(database, path, events=events) as runtime:
            for waiting in await runtime.suspensions.list(SESSION):
                name, arguments = waiting.tool.rpartition(".")[2], dict(waiting.arguments)
                print(f"{name} of {arguments['device_id']} goes on, asked for by the process before")
            print(_READY, flush=True)
            started = await anext(aiter(told))
            handle = chat.client(runtime).handle(started.run_id, session_id=SESSION)
            async for line in turn(runtime, handle):
                print(line, flush=True)


@asynccontextmanager
async def _device(path: Path) -> AsyncIterator[Runtime]:
    """Give a client of whatever process leads the conversation."""
    with closing(connect(path)) as database:
        runtime = assistant(database, path)
        runtime.runs.run_as_client()
        async with runtime:
            yield runtime


@asynccontextmanager
async def _process(what: str, path: Path) -> AsyncIterator[Process]:
    """Give a process that does one of the above; it is over when the block is."""
    program = (sys.executable, "-m", "examples.home.durable", what, str(path))
    process = await asyncio.create_subprocess_exec(*program, stdout=PIPE)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _lines(process: Process) -> AsyncIterator[str]:
    """Yield what a process prints, until it says that it waits, or is over."""
    assert process.stdout is not None
    async for line in process.stdout:
        text = line.decode().rstrip()
        if text == _READY:
            return
        yield text


async def _tell(path: Path) -> None:
    async for line in story(path):
        print(line, flush=True)


def main(arguments: list[str]) -> None:
    """Tell the story in a folder of its own, or be one of its processes."""
    match arguments:
        case ["begin", path]:
            asyncio.run(begin(Path(path)))
        case ["go-on", path]:
            asyncio.run(go_on(Path(path)))
        case _:
            with TemporaryDirectory() as folder:
                asyncio.run(_tell(Path(folder, DATABASE.name)))


if __name__ == "__main__":
    main(sys.argv[1:])
