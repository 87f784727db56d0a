"""The calls that wait in a file of runs, read without executing any."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from toolgen.compatibility import ParkedCall
from toolgen.contract.errors import ToolgenError
from toolgen.engines import InProcessEngine
from toolgen.runs import RunWait
from toolgen.waiting.frozen import FrozenCall

_MOST: Final = 100_000
"""Open waits that are read."""


def parked_calls(file: Path) -> tuple[ParkedCall, ...]:
    """Return the calls that wait in a file of runs.

    Raises:
        ToolgenError: there is no such file, or it keeps no runs.
    """
    if not file.is_file():
        raise ToolgenError(
            f"there is no file of runs {file}", hint="name the file of the engine: --journal FILE"
        )
    return calls_of(asyncio.run(_open_waits(file)))


async def _open_waits(file: Path) -> tuple[RunWait, ...]:
    engine = InProcessEngine(file, worker=False)
    await engine.start(worker=False)
    try:
        return await engine.open_waits(limit=_MOST)
    finally:
        await engine.close()


def calls_of(waits: Iterable[RunWait]) -> tuple[ParkedCall, ...]:
    """Return the calls among the things that runs wait for."""
    calls = []
    for wait in waits:
        frozen = wait.about.get("frozen") if isinstance(wait.about, dict) else None
        if not isinstance(frozen, dict):
            continue  # a planner's question, which has no tool
        try:
            call = FrozenCall.from_json({key: value for key, value in frozen.items() if key != "seal"})
        except ValueError:
            continue  # a record that somebody else has written
        arguments = json.loads(call.payload_json)
        calls.append(ParkedCall(id=call.id, tool=call.tool, kind=call.kind, arguments=arguments))
    return tuple(calls)
