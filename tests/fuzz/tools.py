"""Tools, an interceptor and a policy at their worst; what they do is drawn from the chance of the input."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from random import Random
from typing import Any, Final

from gen.assistant.toolsets import devices, maintenance
from tests.runtime.raising import STANDARD, made
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.runtime import (
    Allow,
    Ask,
    Deny,
    RetryHint,
    StaticToolset,
    TextContent,
    ToolCall,
    ToolContext,
    ToolError,
    ToolOutcome,
    ToolsetRegistration,
)

SECRET: Final = "secret"
"""Stands in every exception, injected field and artifact, and nowhere else; no model is to read it."""
FOREVER_S: Final = 1e6
TEXTS: Final = ("", "done", "\ud800 half", "\x1b[2J", "{", "x" * 3_000)


class Tools:
    """The tools of the agents, made once: their codecs cost more than a run."""

    def __init__(self) -> None:
        self.chance = Random(0)
        """Of the input that is tried; set before each."""
        self.ran: Counter[str] = Counter()
        """How often calls were executed that must not be executed twice, by idempotency key."""
        self.toolsets = self._toolsets()

    def _toolsets(self) -> tuple[StaticToolset | ToolsetRegistration, ...]:
        own = "x.tools"
        functions: list[Any] = [
            self.add, self.fail, self.refuse, self.wrong, self.work, self.ask, self.twice, self.approve,
            self.sign_in, self.finish, self.go, self.back, self.keep, self.tell,
            func_tool(self.one_by_one, toolset=own, is_sequential=True, timeout=0.5),
            func_tool(self.idempotent, toolset=own, annotations={"idempotent": True}),
            func_tool(self.long, toolset=own, max_result_bytes=200),
        ]  # fmt: skip
        home: list[Any] = [maintenance.FACTORY_RESET, maintenance.UPDATE_FIRMWARE]
        return (
            function_toolset(own, functions),
            ToolsetRegistration(name="assistant.maintenance", specs=home, executor=self),
            ToolsetRegistration(name="assistant.devices", specs=[devices.GET_TIME_SERIES], executor=self),
        )

    async def add(self, a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    async def fail(self) -> str:
        """Raise anything."""
        await self._some_time()
        raise made(self.chance.choice(STANDARD))

    async def refuse(self) -> str:
        """Raise on purpose."""
        odd: Any = self.chance.choice((None, None, "", "half \udcff", 5, {}))
        hint = RetryHint(reason="rate_limited", tool="refuse", message=odd, retry_after=odd)
        raise ToolError(
            "not now",
            retry_hint=self.chance.choice((hint, None, odd)),
            is_retryable=self.chance.random() < 0.5,
        )

    async def wrong(self) -> str:
        """Return anything."""
        chance = self.chance
        odd: list[Any] = [None, 5, [SECRET], {SECRET: object()}, b"x", "\ud800", math.nan, made, {}]
        one = chance.choice(odd)
        results = [
            one, ToolOutcome.of(one), ToolOutcome.of("x", display=one), ToolOutcome.of("x", content=[one]),
            ToolOutcome.of("x", artifacts=[one]), ToolOutcome.ask(one), ToolOutcome.ask("Which?", one),
            ToolOutcome.pending(one), ToolOutcome.need_credential(one, one), ToolOutcome.approval(one),
        ]  # fmt: skip
        return chance.choice(results)  # type: ignore[no-any-return]  # on purpose

    async def work(self, seconds: float) -> str:
        """Take some time."""
        await asyncio.sleep(min(seconds, FOREVER_S))
        return "worked"

    async def ask(self, ctx: ToolContext) -> Any:
        """Ask a person."""
        await self._some_time()
        question = self.chance.choice(("Which name?", "Which \udcff?"))
        return f"hello {ctx.answer}" if ctx.answer else ToolOutcome.ask(question)

    async def twice(self, ctx: ToolContext) -> Any:
        """Ask until the answer is yes."""
        schema: Any = {"type": "object", "properties": {"yes": {"type": "boolean"}}, "required": ["yes"]}
        answer: Any = ctx.answer
        return "yes" if answer and answer["yes"] else ToolOutcome.ask("Yes?", schema)

    async def approve(self, ctx: ToolContext) -> Any:
        """Ask for permission."""
        return "approved" if ctx.approved("Really?") else ToolOutcome.approval("Really?")

    async def sign_in(self, ctx: ToolContext) -> Any:
        """Need a credential."""
        return "in" if ctx.answer else ToolOutcome.need_credential({"provider": "x"}, "Sign in?")

    async def finish(self, text: str) -> ToolOutcome[str]:
        """End the turn."""
        return ToolOutcome.final(text, display=self.chance.choice(TEXTS))

    async def go(self, agent: str, ctx: ToolContext) -> str:
        """Hand the conversation over."""
        targets: list[Any] = [agent, "x.low", "\udcff", 5, []]
        ctx.actions.transfer(self.chance.choice(targets))
        return "going"

    async def back(self, ctx: ToolContext) -> str:
        """Give the conversation back."""
        ctx.actions.escalate()
        return "giving back"

    async def keep(self, name: str, ctx: ToolContext) -> str:
        """Change shared state."""
        self.ran[ctx.idempotency_key] += 1
        state: Any = ctx.state
        state.append("names", name)
        await self._some_time()
        return str(len(await state.get("names", [])))

    async def tell(self, ctx: ToolContext) -> ToolOutcome[str]:
        """Say how far it is."""
        fraction: Any = self.chance.choice((0.5, -1.0, math.nan, None, "half", {}))
        ctx.progress(fraction, self.chance.choice(TEXTS))
        ctx.stream(self.chance.choice(TEXTS))
        return ToolOutcome.of("told", content=[TextContent(text=self.chance.choice(TEXTS))])

    async def one_by_one(self) -> str:
        """Run alone."""
        await self._some_time()
        return "alone"

    async def idempotent(self) -> str:
        """Work at the second or third attempt."""
        if self.chance.random() < 0.5:
            raise ToolError("busy", is_retryable=True)
        return "worked"

    async def long(self, length: int) -> list[str]:
        """Return a long list."""
        return ["x" * 20] * min(abs(length), 1_000)

    async def factory_reset(self, payload: Any, ctx: ToolContext) -> Any:
        assert SECRET in payload.user_id
        self.ran[ctx.idempotency_key] += 1
        if self.chance.random() < 0.3:
            raise LookupError(payload.user_id)
        return maintenance.FACTORY_RESET.result.decode({"name": payload.device_id, "lost": {}})

    async def update_firmware(self, payload: Any, ctx: ToolContext) -> Any:
        self.ran[ctx.idempotency_key] += 1
        if self.chance.random() < 0.3:
            return maintenance.UPDATE_FIRMWARE.result.decode({"version": payload.version})
        ack = maintenance.UpdateFirmwareAck(minutes=5)
        return ToolOutcome.pending(f"w-{self.chance.random()}", ack)

    async def get_time_series(self, payload: Any, ctx: ToolContext) -> Any:
        spec = devices.GET_TIME_SERIES_TIME_SERIES
        device = {"id": "d", "name": SECRET, "kind": "light", "room": "r", "manual": "m", "status": "online"}
        series = {"device": device, "quantity": SECRET, "unit": "K", "readings": []}
        result = devices.GET_TIME_SERIES.result.decode({"summary": "none", "count": 0})
        return ToolOutcome.of(result, artifacts=[spec.of(spec.codec.decode(series))])

    async def _some_time(self) -> None:
        await asyncio.sleep(self.chance.choice((0, 0, 0.001, 0.4, 2, 1_000)))


class Users:
    """Fills the injected field, but for some calls."""

    fills = frozenset({"user_id"})

    def __init__(self, chance: Random) -> None:
        self._chance = chance

    async def intercept(self, call: ToolCall, payload: Any) -> None:
        if self._chance.random() < 0.1:
            raise LookupError(SECRET)
        if self._chance.random() < 0.95:
            payload.set_user_id(f"u-{SECRET}")


class Moody:
    """A policy that decides anything, or nothing."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance

    async def decide(self, call: ToolCall, spec: Any, preview: str) -> Any:
        chance = self._chance.random()
        if chance < 0.05:
            raise LookupError(SECRET)
        odd: Any = self._chance.choice(("not today", "half \udcff", 5))
        decisions = [None, Deny(message=odd), Ask(question=odd), Ask()]
        return Allow() if chance < 0.7 else self._chance.choice(decisions)
