"""A runtime whose approvals may count for further calls, and its tool that remembers each of them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from toolgen.contract.names import Hint
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime, Suspended
from toolgen.runtime.functions import func_tool, function_toolset
from toolgen.waiting import Grant, WaitOptions

META = CallMeta(session_id="s", requested_by="mira", labels={"tenant": "a"})
TOOL = "write"
ANYWHERE: dict[str, Any] = {"expires_s": 60, "uses": 2}
BELOW = {"pattern": {"/path": {"path_prefix": "/srv"}}}
SAFE: dict[Hint, bool] = {"destructive": False}
GRANTABLE = ConfirmSpec(hint="Write {path}?", grantable=True)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Disk:
    """Writes files, and remembers each."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.hold: asyncio.Event | None = None
        """What is written waits for it."""
        self.holding = asyncio.Event()

    async def write(self, path: str) -> str:
        """Write a file."""
        self.written.append(path)
        if self.hold is not None:
            self.holding.set()
            await self.hold.wait()
        return path


class Host:
    """A runtime with the tool, and what a test changes of it."""

    def __init__(self, path: Path | None = None, **options: Any) -> None:
        self.disk, self.clock = Disk(), Clock()
        self.path = path
        self.options = options
        self.facts: dict[str, Any] = {"annotations": SAFE, "confirm": GRANTABLE}
        self.policy: Any = None
        self.how: dict[str, Any] = {}

    def runtime(self, **how: Any) -> Runtime:
        engine = InProcessEngine(self.path, clock=self.clock, **how)
        waiting = WaitOptions(clock=self.clock, **self.options)
        made = Runtime(engine=engine, waiting=waiting, policy=self.policy, **self.how)
        tool = func_tool(self.disk.write, toolset="x.disk", **self.facts)
        made.tools.register(function_toolset("x.disk", [tool]))
        return made


async def asked(runtime: Runtime, path: str = "/srv/a", meta: CallMeta = META) -> Suspended:
    result = await runtime.call(TOOL, {"path": path}, meta)
    assert result.suspension is not None, (result.status, result.json)
    return result.suspension


async def granted(runtime: Runtime, terms: Any = ANYWHERE, path: str = "/srv/a") -> Grant:
    """Grant by the answer to a call, and return the grant."""
    waiting = await asked(runtime, path)
    answer = {"approved": True, "grant": terms}
    assert (await runtime.suspensions.answer(waiting.token, answer, by="jo")).status == "ok"
    return (await runtime.suspensions.grants("s"))[0]


async def status(runtime: Runtime, path: str = "/srv/b", meta: CallMeta = META) -> str:
    return (await runtime.call(TOOL, {"path": path}, meta)).status


def policy(decision: Any) -> Any:
    class Policy:
        async def decide(self, call: Any, spec: Any, preview: str) -> Any:
            return decision

    return Policy()
