"""A bank that pays in several ways, for calls that are made again."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

from tests.bound_tools import bound_to
from toolgen.calls.functions.tools import func_tool
from toolgen.runtime import (
    BoundTool,
    CallMeta,
    ConfirmSpec,
    StaticToolset,
    ToolContext,
    ToolOutcome,
    Unfinished,
)

META: Final = CallMeta(session_id="s", requested_by="mira")
ACCOUNTS: Final = "bank.accounts"
CONFIRM: Final = ConfirmSpec(hint="Pay {amount}?")


@dataclass(slots=True)
class Bank:
    """Pays in four ways, and remembers each execution."""

    paid: list[tuple[str, int]] = field(default_factory=list)
    hold: asyncio.Event | None = None
    """Executors that may not run twice wait for it."""
    holding: asyncio.Event = field(default_factory=asyncio.Event)
    turns: int = 0
    """Of the event loop that each payment takes."""

    async def _pay(self, how: str, amount: int) -> str:
        self.paid.append((how, amount))
        for _ in range(self.turns):
            await asyncio.sleep(0)
        if self.hold is not None:
            self.holding.set()
            await self.hold.wait()
        return f"{how} {amount}"

    async def pay(self, amount: int) -> str:
        """Pay at once."""
        return await self._pay("pay", amount)

    async def pay_approved(self, amount: int) -> str:
        """Pay after an approval."""
        return await self._pay("pay_approved", amount)

    async def pay_asking(self, amount: int, ctx: ToolContext) -> str | Unfinished:
        """Pay after two questions."""
        for question in ("From where?", "When?"):
            if ctx.answered(str, question) is None:
                return ToolOutcome.ask(question, str)
        return await self._pay("pay_asking", amount)

    async def look(self, amount: int) -> str:
        """Look, after an approval; it may be done twice."""
        self.paid.append(("look", amount))
        return f"look {amount}"

    async def read(self, amount: int) -> str:
        """Read; it may be done twice."""
        self.paid.append(("read", amount))
        return f"read {amount}"

    def toolset(self) -> StaticToolset:
        """Return the tools as a toolset."""
        return StaticToolset(name=ACCOUNTS, bound=bound_to(self, _tools()))


@cache
def _tools() -> tuple[BoundTool, ...]:
    """Return the tools of a bank that nobody uses."""
    bank = Bank()
    return (
        func_tool(bank.pay, toolset=ACCOUNTS),
        func_tool(bank.pay_approved, toolset=ACCOUNTS, confirm=CONFIRM),
        func_tool(bank.pay_asking, toolset=ACCOUNTS),
        _repeatable(func_tool(bank.look, toolset=ACCOUNTS, confirm=CONFIRM)),
        _repeatable(func_tool(bank.read, toolset=ACCOUNTS)),
    )


def _repeatable(tool: BoundTool) -> BoundTool:
    return replace(tool, spec=replace(tool.spec, annotations={"read_only": True}))
