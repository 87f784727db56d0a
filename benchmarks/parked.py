"""What runs cost that wait for a person: `python -m benchmarks.parked`.

Calls wait that have to be approved, ten thousand of them in a file. Printed are the bytes of each, and how
much of a core the process takes while nothing happens. Bytes of memory are those of Python's objects, bytes
of a file are its size; what is beyond the arguments counts them once.
"""

from __future__ import annotations

import asyncio
import gc
import time
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime
from toolgen.runtime.functions import func_tool, function_toolset

RUNS: Final = 10_000
SOME: Final = 1_000
AT_ONCE: Final = 100
LENGTHS: Final = (200, 1400, 2000)
"""Of the arguments, in bytes. With the middle one a row is just too long for two of them to share a page."""
SECONDS: Final = 20.0
"""For which nothing happens."""


async def send(text: str) -> str:
    """Send.

    Args:
        text: What is sent.
    """
    return text


TOOL: Final = func_tool(send, toolset="bench.mail", confirm=ConfirmSpec(hint="Send it?"))


def main() -> None:
    """Print what each run costs, and what all cost while nothing happens."""
    length = LENGTHS[-1]
    print(f"in memory: {asyncio.run(_held(InProcessEngine(), length)):.0f} bytes of memory for each run")
    with TemporaryDirectory() as folder:
        held = asyncio.run(_held(InProcessEngine(Path(folder) / "held.db"), length))
        print(f"in a file, FULL: {held:.0f} bytes of memory for each run")
        for length in LENGTHS:
            path = Path(folder) / f"{length}.db"
            asyncio.run(_parked(InProcessEngine(path), length))
            size = path.stat().st_size / SOME
            beyond = size - length
            print(f"  {size:.0f} bytes of the file with arguments of {length}, {beyond:.0f} beyond them")
        asyncio.run(_idle(Path(folder) / "idle.db"))


async def _held(engine: InProcessEngine, length: int) -> float:
    """Return the bytes of memory of each run, of the second thousand."""
    async with _runtime(engine) as runtime:
        await _park(runtime, SOME, length)
        gc.collect()
        tracemalloc.start()
        await _park(runtime, SOME, length)
        await asyncio.sleep(0.1)
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return held / SOME


async def _parked(engine: InProcessEngine, length: int) -> None:
    async with _runtime(engine) as runtime:
        await _park(runtime, SOME, length)
        await asyncio.sleep(0.1)


async def _idle(path: Path) -> None:
    async with _runtime(InProcessEngine(path)) as runtime:
        before = time.perf_counter()
        await _park(runtime, RUNS, LENGTHS[-1])
        rate = RUNS / (time.perf_counter() - before)
        await asyncio.sleep(1.0)
        cpu, began = time.process_time(), time.perf_counter()
        await asyncio.sleep(SECONDS)
        idle = (time.process_time() - cpu) / (time.perf_counter() - began)
        print(f"  {RUNS} begun and parked at {rate:.0f} a second; idle they take {idle:.3%} of a core")


def _runtime(engine: InProcessEngine) -> Runtime:
    runtime = Runtime(engine=engine)
    runtime.tools.register(function_toolset("bench.mail", [TOOL]))
    return runtime


async def _park(runtime: Runtime, runs: int, length: int) -> None:
    """Return when so many more calls wait."""

    async def several(count: int) -> None:
        for _ in range(count):
            result = await runtime.call(TOOL.spec.id, {"text": "x" * length}, CallMeta())
            assert result.suspension is not None

    await asyncio.gather(*(several(runs // AT_ONCE) for _ in range(AT_ONCE)))


if __name__ == "__main__":
    main()
