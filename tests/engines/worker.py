"""A process that works on a journal file, to be killed: `python -m tests.engines.worker FILE LOG`.

Its tool appends to the log what it does, and waits at a gate until a file of that name is beside the log.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from toolgen.engines import Activity, ActivityInfo, InProcessEngine

from .toys import script


def logging_tool(log: Path) -> Activity:
    """Return the tool of a worker: it writes to the log what it does."""

    async def tool(info: ActivityInfo, arg: dict[str, Any]) -> Any:
        write(log, f"start {arg['id']} {info.attempt}")
        try:
            if arg.get("once"):
                await info.begun(arg.get("tells", ()))
                write(log, f"begun {arg['id']} {info.attempt}")
            for number in range(arg.get("emit", 0)):
                info.emit({"type": "tool_update", "number": number})
            while "gate" in arg and not (log.parent / arg["gate"]).exists():  # noqa: ASYNC110
                await asyncio.sleep(0.005)
            await asyncio.sleep(arg.get("sleep", 0))
            if info.attempt < arg.get("fail_until", 1):
                raise ConnectionError("no line")
        except asyncio.CancelledError:
            write(log, f"cancel {arg['id']} {info.attempt}")
            raise
        write(log, f"end {arg['id']} {info.attempt}")
        return {"id": arg["id"], "ok": True}

    return tool


async def work(path: Path, log: Path) -> None:
    """Execute the runs of the file until the process is killed."""
    engine = InProcessEngine(path)
    engine.register(loops={"script": script}, activities={"tool": logging_tool(log)})
    await engine.start()
    write(log, "ready - 0")
    await asyncio.Event().wait()


def write(log: Path, line: str) -> None:
    """Append a line at once, so that it is there although the process is killed."""
    descriptor = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    os.write(descriptor, f"{line}\n".encode())
    os.close(descriptor)


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), Path(sys.argv[2])))
