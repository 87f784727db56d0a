"""Calls of `toolgen call`, answered by `toolgen approve`: to the runtime each is a process of its own."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, redirect_stderr, redirect_stdout
from contextvars import ContextVar
from io import StringIO
from pathlib import Path

from toolgen.cli import main
from toolgen.cli.call import PENDING_WORK
from toolgen.contract.json_value import Json
from toolgen.runtime import Runtime

from ..ledger import ARGUMENTS
from ..world import FACTS, World
from .door import Door, Seen

SETTINGS = '[tool.toolgen]\ndesign = "app.design"\nruntime = "tests.matrix.doors.command_line:runtime"\n'
_WORLD: ContextVar[World] = ContextVar("the world whose runtime the commands make")
_WAITS = re.compile(r"waits until .*: (\w+)$", re.MULTILINE)
_NAMED = re.compile(r"toolgen approve (\w+)")


def runtime() -> Runtime:
    """Return a new runtime; what the settings of the project name."""
    return _WORLD.get().runtime()


@asynccontextmanager
async def command_line(world: World) -> AsyncIterator[Door]:
    """Write the project of the commands."""
    settings = world.folder / "pyproject.toml"
    settings.write_text(SETTINGS, "utf-8")
    set_before = _WORLD.set(world)
    try:
        yield Commands(world, settings)
    finally:
        _WORLD.reset(set_before)


class Commands:
    """`toolgen call` and `toolgen approve`."""

    agent = ""

    def __init__(self, world: World, settings: Path) -> None:
        self._world = world
        self._settings = settings
        self._asked = ""

    async def call(self) -> Seen:
        labels = [f"--label={name}={value}" for name, value in FACTS.labels.items()]
        facts = [f"--session={FACTS.session_id}", f"--requested-by={FACTS.requested_by}", *labels]
        return await self._seen("call", f"m.tools.{self._world.tool}", json.dumps(ARGUMENTS), *facts)

    async def answer(self, answer: Json) -> Seen:
        given = [] if self._world.cell.outcome == "confirm" else ["--answer", json.dumps(answer)]
        return await self._seen("approve", self._asked, "--yes", "--by=bob", *given)

    async def _seen(self, *arguments: str) -> Seen:
        """Run a command in a thread, which has a loop of its own, and read what it prints."""
        out, told = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(told):
            code = await asyncio.to_thread(main, [*arguments, f"--config={self._settings}"])
        text, waits = out.getvalue().strip(), _WAITS.findall(told.getvalue())
        if (named := _NAMED.search(told.getvalue())) is not None:
            self._asked = named[1]
        if PENDING_WORK in told.getvalue():
            return Seen(status="ok", text=text, question=told.getvalue())
        if waits and arguments[0] == "call":
            status = "pending" if waits[-1] == "pending" else "suspended"
            assert code in ((0, 3) if status == "pending" else (3,))  # 0 after an acknowledgement
            return Seen(status=status, text=text, question=told.getvalue())
        if code == 0:
            return Seen(status="ok", text=text)
        return Seen(status="unknown" if "unknown" in json.loads(text or "{}") else "error", text=text)

    @asynccontextmanager
    async def process(self) -> AsyncIterator[Runtime]:
        async with self._world.runtime() as runtime:
            yield runtime
