"""Loops and activities for the suite: a loop that follows a script, a tool that does as it is told."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from toolgen.engines import (
    Activity,
    ActivityFailed,
    ActivityInfo,
    CallOptions,
    Engine,
    Loop,
    NonRetryableError,
    RunContext,
    RunStatus,
    Signal,
)
from toolgen.stores import StoreDiskError


def call(id_: str, **how: Any) -> dict[str, Any]:
    """Return a call of the tool.

    Args:
        id_: Its name within the run.
        how: A gate to wait at `before` it `tells` events and that it begins, `gate` to wait at, `sleep` in
            seconds, `emit` a number of events, `fail_until` an attempt, `is_fatal`, `exits`,
            `ignores_cancel`, `result`, how many times a store is `away`; `attempts`, `timeout` and `once` for
            the engine.
    """
    return {"id": id_, **how}


async def play(engine: Engine, steps: Any, *, run_id: str) -> None:
    """Start a run that follows a script."""
    await engine.start_run("script", steps, run_id=run_id)


async def until_listed(engine: Engine, run_id: str) -> None:
    """Return when a run is listed; a server may list it some moments after it began."""
    async with asyncio.timeout(30):
        while run_id not in [run.run_id for run in await engine.list_runs()]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def abouts(status: RunStatus) -> tuple[Any, ...]:
    """Return what a run waits for."""
    return tuple(wait.about for wait in status.awaiting)


class Toys:
    """What an engine is given, and what it did with it."""

    def __init__(self) -> None:
        self.log: list[tuple[str, str, int]] = []
        """What happened, to which call, in which attempt."""
        self.keys: dict[str, set[str]] = defaultdict(set)
        """The idempotency keys that a call has got."""
        self.is_changed = False
        """The loop `changed` does something else."""
        self._gates: dict[str, asyncio.Event] = {}
        self._news = asyncio.Event()

    def loops(self) -> dict[str, Loop]:
        return {
            "script": script,
            "twice": twice,
            "broken": broken,
            "stubborn": stubborn,
            "changed": self.changed,
            "clock": self.clock,
        }

    def activities(self) -> dict[str, Activity]:
        return {"tool": self.tool}

    def open(self, gate: str) -> None:
        self._gate(gate).set()

    def counts(self, what: str) -> Counter[str]:
        return Counter(id_ for happened, id_, _ in self.log if happened == what)

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something holds that an activity of ours brings about."""
        async with asyncio.timeout(60):
            while not is_so():
                await self._news.wait()

    async def has(self, what: str, id_: str, times: int = 1) -> None:
        """Wait until something happened to a call."""
        await self.until(lambda: self.counts(what)[id_] >= times)

    async def tool(self, info: ActivityInfo, arg: dict[str, Any]) -> Any:
        id_ = arg["id"]
        self.keys[id_].add(info.idempotency_key)
        self._happened("start", id_, info.attempt)
        try:
            for number in range(arg.get("emit", 0)):
                info.emit({"type": "tool_update", "id": id_, "number": number})
            if "before" in arg:
                await self._gate(arg["before"]).wait()
            if "tells" in arg:
                await info.begun(arg["tells"])
                self._happened("begun", id_, info.attempt)
            if "gate" in arg:
                await self._gate(arg["gate"]).wait()
            await asyncio.sleep(arg.get("sleep", 0))
        except asyncio.CancelledError:
            self._happened("cancel", id_, info.attempt)
            if not arg.get("ignores_cancel"):
                raise
            info.emit({"type": "tool_update", "id": "late"})
        if self.counts("start")[id_] <= arg.get("away", 0):
            raise StoreDiskError("cannot be read", path=Path("/host/notes.db"), hint="wait")
        if info.attempt < arg.get("fail_until", 1):
            raise ConnectionError("no line")
        if arg.get("is_fatal"):
            raise NonRetryableError("no such house")
        if arg.get("exits"):
            sys.exit(3)
        arg["id"] = "mine"  # what an activity does to its argument is its own matter
        self._happened("end", id_, info.attempt)
        return arg.get("result", {"id": id_, "ok": True})

    async def changed(self, ctx: RunContext, arg: Any) -> Any:
        """Do something; something else later."""
        id_ = "other" if self.is_changed else "same"
        result = await ctx.start("tool:1", "tool", call(id_))
        await ctx.publish("told", {"type": "told"})
        await ctx.wait("wait", "go", timeout_s=arg.get("timeout_s", 0))
        return result

    async def clock(self, ctx: RunContext, arg: Any) -> Any:
        """Return what the time is on the way."""

        async def part(name: str, sleeps: list[float]) -> list[float]:
            seen = []
            for number, sleep in enumerate(sleeps):
                await ctx.start(f"{name}:{number}", "tool", call(name, sleep=sleep))
                seen.append(ctx.now())
            return seen

        times = [ctx.now()]
        parts: Any = await ctx.gather(part("a", [0.02, 0.05]), part("b", [0.04, 0.01]))  # type: ignore[arg-type]  # JSON
        times.append(ctx.now())
        await ctx.wait("sleep", timeout_s=0.05)
        times.append(ctx.now())
        return {"times": times, "parts": parts}

    def _gate(self, name: str) -> asyncio.Event:
        return self._gates.setdefault(name, asyncio.Event())

    def _happened(self, what: str, id_: str, attempt: int) -> None:
        self.log.append((what, id_, attempt))
        news, self._news = self._news, asyncio.Event()
        news.set()


async def script(ctx: RunContext, steps: list[dict[str, Any]]) -> list[Any]:
    """Follow a script and return what its steps gave."""
    given: list[Any] = []
    for number, step in enumerate(steps):
        match step:
            case {"calls": calls}:
                given.append([_plain(got) for got in await ctx.gather(*(_tool(ctx, one) for one in calls))])
            case {"start": one}:
                given.append(await _tool(ctx, one))
            case {"leave": one}:
                _tool(ctx, one)
            case {"parts": parts}:
                branches = [_part(ctx, f"{number}.{place}", part) for place, part in enumerate(parts)]
                given.append([_plain(got) for got in await ctx.gather(*branches)])
            case {"wait": names}:
                signal = await ctx.wait(
                    f"wait:{number}", *names, timeout_s=step.get("timeout_s"), about=step.get("about")
                )
                given.append(_plain(signal))
            case {"child": steps_below}:
                try:
                    loop = step.get("loop", "script")
                    given.append(await ctx.child(f"child:{number}", loop, steps_below))
                except ActivityFailed as failure:
                    if step.get("is_needed"):
                        raise
                    given.append(_plain(failure))
            case {"detach": steps_apart}:
                given.append(await ctx.detach(f"work:{number}", "script", steps_apart))
            case {"publish": event}:
                await ctx.publish(step.get("key", f"event:{number}"), event)
            case {"raise": text}:
                raise LookupError(text)
            case {"exit": code}:
                sys.exit(code)
            case _:
                raise AssertionError(step)
    return given


async def twice(ctx: RunContext, arg: dict[str, Any]) -> Any:
    """Use a key for two operations, and make light of it."""
    await ctx.start("tool:1", "tool", call("a"))
    try:
        await ctx.start("tool:1", "tool", call("b"))
    except Exception:
        if not arg.get("is_caught"):
            raise
    return None


async def broken(ctx: RunContext, arg: dict[str, Any]) -> Any:
    """Hand over what is not JSON, or what does not exist."""
    bad: Any = {"deep": [{"set": {1, 2}}]}
    match arg["what"]:
        case "argument":
            await ctx.start("tool:1", "tool", bad)
        case "event":
            await ctx.publish("one", bad)
        case "about":
            await ctx.wait("wait:1", "go", about=bad)
        case "input":
            await ctx.child("child:1", "script", bad)
        case "output":
            return bad
        case "loop":
            await ctx.child("child:1", "hoop", None)
        case "large argument":
            await ctx.start("tool:1", "tool", "x" * arg["size"])
        case _:
            return "x" * arg["size"]
    return None


async def stubborn(ctx: RunContext, arg: Any) -> Any:
    """Take no end for an answer."""
    for number in range(3):
        try:
            await ctx.wait(f"wait:{number}", "go")
        except asyncio.CancelledError:
            try:
                await ctx.start(f"late:{number}", "tool", call("late"))
                await ctx.publish(f"late:{number}", {"type": "late"})
            except asyncio.CancelledError:
                pass
    return "not me"


async def _part(ctx: RunContext, op: str, part: dict[str, Any]) -> Any:
    """Wait, then do other parts, then do a call."""
    got: Any = None
    if "wait" in part:
        got = _plain(await ctx.wait(f"wait:{op}", *part["wait"], about=part.get("about")))
    if "child" in part:
        return await ctx.child(f"child:{op}", "script", part["child"])
    if "parts" in part:
        await ctx.gather(*(_part(ctx, f"{op}.{place}", one) for place, one in enumerate(part["parts"])))
    if "call" in part:
        got = await _tool(ctx, part["call"])
    if "raise" in part:
        raise LookupError(part["raise"])
    if "exit" in part:
        sys.exit(part["exit"])
    return got


def _tool(ctx: RunContext, one: Mapping[str, Any]) -> Any:
    arg = dict(one)
    options = CallOptions(
        attempts=one.get("attempts", 3), backoff=0.01, timeout=one.get("timeout"), once=one.get("once", False)
    )
    operation = ctx.start(f"tool:{one['id']}", "tool", arg, options)
    arg["id"] = "changed"  # it has been handed over
    return operation


def _plain(got: Any) -> Any:
    match got:
        case ActivityFailed():
            return {"failed": got.kind}
        case Signal():
            return {got.name: got.payload}
        case _:
            return got
