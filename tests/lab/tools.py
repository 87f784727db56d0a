"""The tools of the laboratory: each writes into the ledger before its effect and after it.

Their effect is the time they take. A call is known by the id of its run and its own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.results import Pending
from toolgen.runtime import (
    ConfirmSpec,
    StaticToolset,
    SyncToolContext,
    ToolContext,
    ToolError,
    ToolOutcome,
    Unfinished,
)
from toolgen.runtime.functions import LongRunningSpec

from .ledger import Ledger

TOOLSET: Final = "lab.tools"
DELEGATE: Final = "delegate"
"""The tool that another agent answers; it has no effect of its own."""
REPEATABLE: Final = frozenset({"look_up", "put"})
"""Those that may run twice: one only reads, one is idempotent."""
LIMIT_S: Final = 0.08
"""The time limit of `hurry` and of `hurry_in_thread`."""


class Tools:
    """The executors of one process."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def toolset(self) -> StaticToolset:
        """Return all of them, as a design would declare them."""
        late = LongRunningSpec(ack=func_tool(self.pay, toolset=TOOLSET).spec.result)

        def of(function: Any, **facts: Any) -> Any:
            return func_tool(function, toolset=TOOLSET, **facts)

        return function_toolset(
            TOOLSET,
            [
                of(self.look_up, annotations={"read_only": True}),
                of(self.put, annotations={"idempotent": True}),
                of(self.pay),
                of(self.pay_in_thread),
                of(self.pay_in_turn, is_sequential=True),
                of(self.hurry, timeout=LIMIT_S),
                of(self.hurry_in_thread, timeout=LIMIT_S),
                of(self.reject),
                of(self.wipe, confirm=ConfirmSpec(hint="Wipe {name}?")),
                of(self.ask),
                of(self.order, long_running=late),
                of(self.await_delivery, long_running=LongRunningSpec()),
            ],
        )

    async def look_up(self, name: str, ms: int, ctx: ToolContext) -> str:
        """Read something."""
        return await self._executed(name, ms, ctx)

    async def put(self, name: str, ms: int, ctx: ToolContext) -> str:
        """Put something where it belongs, once or twice alike."""
        return await self._executed(name, ms, ctx)

    async def pay(self, name: str, ms: int, ctx: ToolContext) -> str:
        """Pay, which must not happen twice."""
        return await self._executed(name, ms, ctx)

    def pay_in_thread(self, name: str, ms: int, ctx: SyncToolContext) -> str:
        """Pay, by code that blocks."""
        return self._executed_in_thread(name, ms, ctx)

    async def pay_in_turn(self, name: str, ms: int, ctx: ToolContext) -> str:
        """Pay, one after the other."""
        return await self._executed(name, ms, ctx)

    async def hurry(self, name: str, ms: int, ctx: ToolContext) -> str:
        """Pay within a time limit, or not."""
        return await self._executed(name, ms, ctx)

    def hurry_in_thread(self, name: str, ms: int, ctx: SyncToolContext) -> str:
        """Pay within a time limit, or not, by code that nothing stops."""
        return self._executed_in_thread(name, ms, ctx)

    async def reject(self, name: str, ms: int, ctx: ToolContext) -> str:
        """Fail, and say so."""
        with self._effect(name, ms, ctx):
            await asyncio.sleep(ms / 1000)
            raise ToolError(f"{name} was rejected")

    async def wipe(self, name: str, ms: int, ctx: ToolContext) -> str:
        """Wipe, which a person approves."""
        return await self._executed(name, ms, ctx)

    async def ask(self, name: str, ms: int, ctx: ToolContext) -> str | Unfinished:
        """Ask a person, and pay."""
        if ctx.answer is None:
            return ToolOutcome.ask(f"Who is {name}?")
        return await self._executed(name, ms, ctx, answer=ctx.answer)

    async def order(self, name: str, ms: int, ctx: ToolContext) -> str | Pending[str]:
        """Order what is delivered after the run."""
        return ToolOutcome.pending(f"job {name}", await self._executed(name, ms, ctx))

    async def await_delivery(self, name: str, ms: int, ctx: ToolContext) -> str | Pending[None]:
        """Order what the run waits for."""
        await self._executed(name, ms, ctx)
        return ToolOutcome.pending(f"job {name}")

    async def _executed(self, name: str, ms: int, ctx: ToolContext, **facts: Any) -> str:
        with self._effect(name, ms, ctx, **facts):
            await asyncio.sleep(ms / 1000)
        return f"{name} is done"

    def _executed_in_thread(self, name: str, ms: int, ctx: SyncToolContext) -> str:
        with self._effect(name, ms, ctx):
            time.sleep(ms / 1000)
        return f"{name} is done"

    @contextmanager
    def _effect(self, name: str, ms: int, ctx: ToolContext | SyncToolContext, **facts: Any) -> Iterator[None]:
        """Write that an effect begins, and that it ended or failed; of one that is cut only that it began."""
        meta = ctx.meta
        where: dict[str, Any] = {
            "run": meta.run_id,
            "session": meta.session_id,
            "call": meta.tool_call_id,
            "tool": ctx.tool.rpartition(".")[2],
        }
        self._ledger.write("begin", **where, arguments={"name": name, "ms": ms}, **facts)
        try:
            yield
        except ToolError:
            self._ledger.write("failed", **where)
            raise
        self._ledger.write("end", **where)
