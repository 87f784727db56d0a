"""A process that works on a Temporal server, to be killed or stopped.

Its settings are the arguments of the engine, with `loops` for which version of the loops it has, `lacks` for
names of loops and activities that it does not have, `drain_s`, `key` to hide what it sends, and `reports` for
the database that carries reports. SIGTERM closes the engine, as a deployment does.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Any

from tests.engines.toys import script
from tests.engines.worker import logging_tool, write
from toolgen.adapters.postgres import Postgres, PostgresReports
from toolgen.engines import Activity, ActivityInfo
from toolgen.engines.temporal import TemporalEngine

from .codec import XorCodec
from .versions import versioned


def tool_of(log: Path) -> Activity:
    """Return the tool; it can hold the event loop for seconds, and say something in an exception."""
    logged = logging_tool(log)

    async def tool(info: ActivityInfo, arg: dict[str, Any]) -> Any:
        if info.attempt == 1 and "blocks" in arg:
            write(log, f"block {arg['id']} {info.attempt}")
            time.sleep(arg["blocks"])  # noqa: ASYNC251
        if "says" in arg:
            raise ConnectionError(arg["says"])
        done = await logged(info, arg)
        return arg.get("result", done)

    return tool


def channel(conninfo: str | None) -> PostgresReports | None:
    """Return what carries reports by a database."""
    return None if conninfo is None else PostgresReports(Postgres(conninfo), secret=b"a secret of tests")


async def work(name: str, log: Path, settings: dict[str, Any]) -> None:
    """Execute runs until the process is told to end."""
    lacks = settings.pop("lacks", [])
    loops, drain_s, key = settings.pop("loops", 1), settings.pop("drain_s", 0.0), settings.pop("key", None)
    reports = channel(settings.pop("reports", None))
    engine = TemporalEngine(**settings, codec=None if key is None else XorCodec(key), reports=reports)
    all_loops = {"script": script, "versioned": versioned(loops)}
    engine.register(
        loops={name: loop for name, loop in all_loops.items() if name not in lacks},
        activities={} if "tool" in lacks else {"tool": tool_of(log)},
    )
    engine.assign(drain_s=drain_s)
    end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end.set)
    await engine.start()
    write(log, f"ready {name} 0")
    await end.wait()
    write(log, f"closing {name} 0")
    await engine.close()
    write(log, f"closed {name} 0")


def run(name: str, log: Path, said: Path, settings: dict[str, Any]) -> None:
    """Work until the process is told to end; its output is added to the file `said`."""
    with said.open("ab") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    asyncio.run(work(name, log, settings))
