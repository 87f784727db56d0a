"""A process that leads the example's conversation to its end, and may kill itself before.

`python -m tests.conformance.home_process DATABASE STEPS`: at that step of its event loop it is gone, as by
`kill -9`; 0 is never. Started again it goes on, as every turn has an id of its own. It prints its steps.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import closing
from contextvars import Context
from pathlib import Path
from typing import Any, Final, TypeVarTuple

from examples.home.app import assistant
from examples.home.conversation import SESSION
from examples.home.database import connect
from examples.home.scripts import LAMP, LIGHTS, UPDATE
from gen.assistant.agents import chat
from toolgen.agents import RunHandle, RunOutput, agents_of
from toolgen.runtime import Runtime
from toolgen.runtime.engine import UnknownRunError
from toolgen.runtime.events.hub import Events

Args = TypeVarTuple("Args")
TURNS: Final = {"turn-0": LIGHTS, "turn-1": LAMP, "turn-2": UPDATE}


class MortalLoop(asyncio.SelectorEventLoop):
    """An event loop whose process is killed at one of its steps."""

    def __init__(self, last_step: int) -> None:
        self.step, self._last_step = 0, last_step
        super().__init__()

    def call_soon(
        self, callback: Callable[[*Args], object], *args: *Args, context: Context | None = None
    ) -> asyncio.Handle:
        self.step += 1
        if self.step == self._last_step:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().call_soon(callback, *args, context=context)


async def lead(path: Path) -> None:
    """Lead the conversation, deliver what it began, and return when the turn of that is over."""
    events = Events()
    told = events.subscribe(types=["run_completed"])
    with closing(connect(path)) as database:
        async with assistant(database, path, events=events) as runtime:
            client = chat.client(runtime)
            for run_id, said in TURNS.items():
                await _ended(await client.start(said, session_id=SESSION, run_id=run_id))
            output = await client.handle("turn-2", session_id=SESSION).result()
            for work in output.pending:
                await runtime.deliver(work.token, {"version": "2.4.0"})
                await _until_done(runtime, f"turn-2/done:{work.tool_call_id}", told)


async def _ended(handle: RunHandle) -> RunOutput:
    while (output := await handle.settled()).status == "waiting":
        for awaiting in output.awaiting:
            await handle.answer(awaiting, {"approved": True})
    return output


async def _until_done(runtime: Runtime, run_id: str, told: Any) -> None:
    """Return when a run that another one starts is over, before or after this process began."""
    try:
        if (await agents_of(runtime).snapshot(run_id)).status == "completed":
            return
    except UnknownRunError:
        pass
    async for event in told:
        if event.run_id == run_id:
            return


def main(path: Path, last_step: int) -> None:
    """Be that process."""
    with asyncio.Runner(loop_factory=lambda: MortalLoop(last_step)) as runner:
        runner.run(lead(path))
        loop = runner.get_loop()
        assert isinstance(loop, MortalLoop)
        print(loop.step)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
