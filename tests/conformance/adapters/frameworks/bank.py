"""Payments that a person has to approve, and greetings that nobody has to."""

from __future__ import annotations

from typing import Final

from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime, Snapshot

META: Final = CallMeta(session_id="s")
WANTED: Final = (("mallory", 9999), ("baker", 3), ("smith", 7))
"""Payments that a model makes in one message."""


class Bank:
    """Pays, and remembers what it has paid and greeted."""

    def __init__(self) -> None:
        self.paid: list[tuple[str, int]] = []
        self.greeted: list[str] = []

    async def pay(self, to: str, amount: int) -> str:
        """Pay."""
        self.paid.append((to, amount))
        return f"{amount} paid to {to}"

    async def greet(self, name: str) -> str:
        """Send a greeting."""
        self.greeted.append(name)
        return f"greeted {name}"

    async def offered(self, runtime: Runtime) -> Snapshot:
        """Return the tools, of which only paying needs an approval."""
        asks = func_tool(self.pay, toolset="bank.accounts", confirm=ConfirmSpec(hint="Pay {amount} to {to}?"))
        runtime.tools.register(function_toolset("bank.accounts", [asks, self.greet]))
        return await runtime.tools.snapshot()
