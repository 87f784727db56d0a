"""Hooks after a run: they receive its output, in the executing process, after its last event is logged."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from toolgen.calls.steps.failures import log
from toolgen.calls.steps.hooks import Hook, notify, overridden_methods
from toolgen.contract.boundary import Contained
from toolgen.contract.tasks import start_task
from toolgen.engines import Engine

from .output import output_of, status_of


class RunEnds:
    """Runs the hooks after the runs of one host. Hook failures are logged and have no other effect."""

    def __init__(self, engine: Engine, hooks: Sequence[Hook], stage_timeout: float | None) -> None:
        """Construct it for hooks, each of which has at most `stage_timeout` seconds."""
        self._engine = engine
        self._hooks = overridden_methods(hooks, "after_run")
        self._stage_timeout = stage_timeout
        self._running: set[asyncio.Task[None]] = set()

    def notify(self, run_id: str) -> None:
        """Run the hooks for a run whose last event is in its log."""
        if self._hooks:
            start_task(self._running, self._run_hooks(run_id), name=f"hooks after {run_id}")

    async def settle(self) -> None:
        """Wait until no hook is running."""
        while self._running:
            await asyncio.wait(set(self._running))

    async def _run_hooks(self, run_id: str) -> None:
        output = None
        for hook in self._hooks:
            try:
                output = output or output_of(status_of(await self._engine.result(run_id)))
                with Contained():
                    await notify(hook, hook(output), self._stage_timeout)
            except Exception:  # noqa: BLE001 - author code; logged, and the run has its result
                log.exception("a hook after run %s failed", run_id)
