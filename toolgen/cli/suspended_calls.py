"""Suspended calls in a file of runs, read without executing any."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolgen.calls.call import FrozenCall
from toolgen.contract.errors import ToolgenError
from toolgen.engines import InProcessEngine, RunWait
from toolgen.runtime import Runtime, ToolSpec, ToolValidationError

from .runtime import specs_of
from .terminal import counted

if TYPE_CHECKING:
    from toolgen.checks.compatibility import SuspendedCallRecord

_MOST: Final = 100_000
"""Maximum number of suspended calls that are read."""


def suspended_calls(file: Path) -> tuple[SuspendedCallRecord, ...]:
    """Return the suspended calls in a file of runs.

    Raises:
        ToolgenError: the file does not exist, or contains no runs.
    """
    if not file.is_file():
        raise ToolgenError(
            f"the file of runs {file} does not exist", hint="pass the file of the engine: --journal FILE"
        )
    return calls_of(asyncio.run(_open_waits(file)))


def changed_tools(runtime: Runtime, waits: Iterable[RunWait]) -> list[str]:
    """Return a sentence for each tool whose contract differs from the contract of its suspended calls."""
    refused: Counter[str] = Counter()
    again: Counter[str] = Counter()
    for call in _frozen_in(waits):
        specs = specs_of(runtime, call.tool)
        if not specs or not _fits(specs[0], call):
            refused[call.tool] += 1
        elif call.kind != "pending" and specs[0].approval_digest != call.spec_digest:
            again[call.tool] += 1
    return [
        *(
            f"{counted(number, 'suspended call')} of {tool} cannot be resumed here: its contract changed"
            for tool, number in refused.items()
        ),
        *(
            f"{counted(number, 'suspended call')} of {tool} will be asked again: its contract changed"
            for tool, number in again.items()
        ),
    ]


def _fits(spec: ToolSpec, call: FrozenCall) -> bool:
    try:
        spec.payload.decode(call.payload_json)
    except ToolValidationError:
        return False
    return True


async def _open_waits(file: Path) -> tuple[RunWait, ...]:
    engine = InProcessEngine(file, worker=False)
    await engine.start(worker=False)
    try:
        return await engine.open_waits(limit=_MOST)
    finally:
        await engine.close()


def calls_of(waits: Iterable[RunWait]) -> tuple[SuspendedCallRecord, ...]:
    """Return the suspended calls among the waits of runs."""
    from toolgen.checks.compatibility import SuspendedCallRecord  # not imported by workers

    return tuple(
        SuspendedCallRecord(
            id=call.id, tool=call.tool, kind=call.kind, arguments=json.loads(call.payload_json)
        )
        for call in _frozen_in(waits)
    )


def _frozen_in(waits: Iterable[RunWait]) -> Iterator[FrozenCall]:
    for wait in waits:
        frozen = wait.about.get("frozen") if isinstance(wait.about, dict) else None
        if not isinstance(frozen, dict):
            continue  # a planner's question, which has no tool
        try:
            yield FrozenCall.from_json({key: value for key, value in frozen.items() if key != "seal"})
        except ValueError:
            continue  # a record of another program
