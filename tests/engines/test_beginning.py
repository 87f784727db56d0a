"""The engine in a file: what is about to begin when its run ends does not begin."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

from toolgen.contract.json_value import Json
from toolgen.engines import ActivityInfo, CallOptions, EndedRun, InProcessEngine, RunContext


async def test_an_effect_that_was_told_as_not_begun_never_begins(tmp_path: Path) -> None:
    """Although its activity hears of the end of the run only after the record that it begins is kept."""
    effects: list[str] = []
    known: list[Set[str]] = []
    is_beginning = asyncio.Event()

    async def loop(ctx: RunContext, given: Json) -> Json:
        return await ctx.start("pay", "pay", None, CallOptions(once=True))

    async def pay(info: ActivityInfo, given: Any) -> None:
        async def begin() -> None:
            is_beginning.set()
            await info.begun()
            effects.append("paid")

        beginning = asyncio.create_task(begin())
        try:
            await asyncio.shield(beginning)
        finally:
            await asyncio.wait([beginning])

    def last(ended: EndedRun) -> list[Mapping[str, Json]]:
        known.append(ended.begun)
        return []

    engine = InProcessEngine(tmp_path / "runs.db")
    engine.register(loops={"loop": loop}, activities={"pay": pay}, last_events=last)
    await engine.start()
    await engine.start_run("loop", None, run_id="r")
    await is_beginning.wait()
    await engine.cancel("r", reason="enough")
    await engine.result("r")
    await engine.close()
    assert (known, effects) == ([set()], [])
