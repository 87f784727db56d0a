"""What the direct calls of a runtime have when it is closed: some time to end."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from typing import Final

from toolgen.calls.call_names import CALL
from toolgen.contract.errors import ToolgenError
from toolgen.runs import DrainingEngine, RunStatus

from .wait_registry import WaitRegistry, log

CLOSING_S: Final = 10.0
"""Seconds for direct calls to end that are executed when their runtime is closed."""


async def let_calls_end(waits: WaitRegistry) -> None:
    """Wait until the direct calls that this process executes have ended or wait, for at most `CLOSING_S`.

    What is cut off of a call that may not run twice is of unknown outcome. Those that agents answer go on
    when the engine is started again; engines with many workers let their activities end by themselves.
    """
    if not waits.is_only_worker:
        return
    engine = waits.engine
    if isinstance(engine, DrainingEngine) and engine.is_draining:  # what has not begun will not
        await engine.drain(CLOSING_S)
        return
    try:
        running = await engine.list_runs(state="running", limit=sys.maxsize)
    except ToolgenError as error:  # such as a file that cannot be used, which is to be closed all the same
        log.warning("it is not known which calls are executed, and none is waited for: %s", error)
        return
    runs = [run.run_id for run in running if _is_call(run)]
    if runs:
        log.info("%d calls are executed, and have %g seconds to end", len(runs), CLOSING_S)
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_S):
                await asyncio.gather(*map(engine.settled, runs), return_exceptions=True)


def _is_call(run: RunStatus) -> bool:
    """Return whether a run is one of a direct call that no agent answers."""
    is_direct = run.run_id.startswith(CALL) and "/" not in run.run_id
    return is_direct and isinstance(run.input, dict) and "child" not in run.input
