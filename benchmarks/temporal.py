"""What runs on Temporal cost that wait for a person: `python -m benchmarks.temporal [RUNS [CACHED]]`.

A thousand by default, with workers that keep 100 and 1,000 runs in memory. Each waits with a question of
2,000 bytes, as an agent does that needs an approval, then does a call. The server is the development server
on an SQLite file. Memory is the resident memory of a process, and what it grew by.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import Awaitable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

from tests.conformance.engines.processes import TemporalWorkers
from tests.engines.toys import call
from tests.temporal_server import TemporalServer
from toolgen.engines.temporal import TemporalLimits

QUESTION: Final = {"text": "x" * 2_000}
STEPS: Final[Any] = [
    {"wait": ["answer:wait:0"], "about": QUESTION},
    {"calls": [call("b")]},
]
CACHED: Final = (100, 1_000)
FEW: Final = 10
"""Runs of one session among all."""
AT_ONCE: Final = 20
IDLE_S: Final = 20.0
T = TypeVar("T")


def main() -> None:
    """Print the figures for each size of the workers' memory of runs."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    for cached in [int(given) for given in sys.argv[2:]] or CACHED:
        with TemporaryDirectory() as folder:
            asyncio.run(_measure(Path(folder), runs, cached))


async def _measure(folder: Path, runs: int, cached: int) -> None:
    file = folder / "temporal.db"
    server = TemporalServer(file)
    server.start()
    workers = TemporalWorkers(folder, {"address": server.address, "limits": TemporalLimits()})
    try:
        await workers.start("one", limits=TemporalLimits(max_cached_runs=cached))
        await _park(workers, "warm", 20, "")
        memory, empty, disk = resident(workers.pid("one")), resident(server.pid), size(folder)
        took, _ = await timed(_park(workers, "r", runs - FEW, "many"))
        await _park(workers, "few", FEW, "few")
        print(f"{runs} runs that wait, max_cached_runs={cached}: parked at {runs / took:.0f} a second")
        worker, held = resident(workers.pid("one")), resident(server.pid)
        for what, was, is_now in (("worker", memory, worker), ("server", empty, held)):
            each = (is_now - was) / runs
            print(f"  {what}: {was / 1e6:.0f} to {is_now / 1e6:.0f} MB, {each / 1e3:.1f} kB a run")
        print(f"  database: {(size(folder) - disk) / runs / 1e3:.1f} kB a run")
        before = cpu_s(workers.pid("one")), cpu_s(server.pid)
        await asyncio.sleep(IDLE_S)
        idle = [
            (cpu_s(pid) - was) / IDLE_S
            for pid, was in zip((workers.pid("one"), server.pid), before, strict=True)
        ]
        print(f"  idle: worker {idle[0]:.2%} of a core, server {idle[1]:.2%}")
        await _answers(workers, runs)
        await _lists(workers)
        await _restarts(workers, server, cached)
    finally:
        await workers.close()
        server.kill()


async def _park(workers: TemporalWorkers, prefix: str, runs: int, session: str) -> None:
    """Return when so many more runs wait."""
    at_once = asyncio.Semaphore(AT_ONCE)

    async def one(run_id: str) -> None:
        async with at_once:
            await workers.client.start_run("script", STEPS, run_id=run_id, session=session)
            await workers.client.settled(run_id)

    await asyncio.gather(*(one(f"{prefix}{number}") for number in range(runs)))


async def _answers(workers: TemporalWorkers, runs: int) -> None:
    for what, number in (("newest", runs - FEW - 1), ("oldest", 0)):
        took, receipt = await timed(workers.client.answer(f"r{number}", "wait:0", "yes", key="k"))
        over, _ = await timed(workers.client.result(f"r{number}"))
        print(f"  {what}: {receipt} after {took * 1e3:.0f} ms, over {over * 1e3:.0f} ms later")


async def _lists(workers: TemporalWorkers) -> None:
    client = workers.client
    took, waits = await timed(client.open_waits(session="few"))
    print(f"  open_waits of a session: {len(waits)} in {took * 1e3:.0f} ms")
    took, few = await timed(client.list_runs(session="few"))
    print(f"  list_runs of a session: {len(few)} in {took * 1e3:.0f} ms")
    took, waits = await timed(client.open_waits(limit=100))
    print(f"  open_waits of all: {len(waits)} in {took * 1e3:.0f} ms")
    took, found = await timed(client.list_runs(limit=100))
    print(f"  list_runs of all: {len(found)} in {took * 1e3:.0f} ms")
    took, status = await timed(client.status("r1"))
    print(f"  status: {status.state} in {took * 1e3:.0f} ms")


async def _restarts(workers: TemporalWorkers, server: TemporalServer, cached: int) -> None:
    await workers.kill("one")
    started, _ = await timed(workers.start("one", limits=TemporalLimits(max_cached_runs=cached)))
    took, receipt = await timed(workers.client.answer("r2", "wait:0", "yes", key="k"))
    print(f"  worker killed, another up after {started:.1f} s: {receipt} after {took * 1e3:.0f} ms")
    took, receipt = await timed(workers.client.answer("r3", "wait:0", "yes", key="k"))
    print(
        f"  the next: {receipt} after {took * 1e3:.0f} ms; worker {resident(workers.pid('one')) / 1e6:.0f} MB"
    )
    server.kill()
    started, _ = await timed(asyncio.to_thread(server.start))
    took, receipt = await timed(workers.client.answer("r4", "wait:0", "yes", key="k"))
    print(f"  server killed, up after {started:.1f} s: {receipt} after {took * 1e3:.0f} ms")


async def timed(work: Awaitable[T]) -> tuple[float, T]:
    """Return the seconds that something takes, and its result."""
    began = time.perf_counter()
    result = await work
    return time.perf_counter() - began, result


def resident(pid: int) -> float:
    """Return the bytes of memory of a process."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text("utf-8"))
    assert found is not None
    return int(found[1]) * 1024


def cpu_s(pid: int) -> float:
    """Return the seconds of a core that a process has taken; the kernel counts hundredths."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def size(folder: Path) -> float:
    """Return the bytes of a database with its write-ahead log."""
    return sum(path.stat().st_size for path in folder.glob("temporal.db*"))


if __name__ == "__main__":
    main()
