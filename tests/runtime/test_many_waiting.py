"""Many calls that wait in a file: what one of them costs does not depend on the others."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from tests.selection import volume
from toolgen.calls.call import FrozenCall
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.engines import InProcessEngine, RunContext, answer_name
from toolgen.engines.in_process.journal import RunRecord
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime
from toolgen.waiting.frozen import FIRST, Sealer, seal_call
from toolgen.waiting.loop import LOOP, VERSION

MOST: Final = 2_000
"""Instructions of SQLite's virtual machine that a step may take; to read a row takes five or more."""
CHECKED: Final = 60
"""Instructions for each run of the file, which a worker checks in a thread before it begins (about 2 µs)."""
_SESSION: Final = 10
"""Calls of one session."""
_AT_ONCE: Final = 500


async def send(text: str) -> str:
    """Send.

    Args:
        text: What is sent.
    """
    return text


class Instructions:
    """Counts the instructions that SQLite executes on connections opened within `counted`."""

    def __init__(self) -> None:
        self._count = 0

    def taken(self) -> int:
        """Return how many there were since this was last asked."""
        count, self._count = self._count, 0
        return count

    @contextmanager
    def counted(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        connect = sqlite3.connect

        def count() -> int:
            self._count += 1
            return 0

        def opened(*args: Any, **how: Any) -> sqlite3.Connection:
            database: sqlite3.Connection = connect(*args, **how)
            database.set_progress_handler(count, 1)
            return database

        with monkeypatch.context() as patch:
            patch.setattr(sqlite3, "connect", opened)
            yield


@pytest.mark.exhaustive
async def test_one_of_many_is_found_and_answered_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of as many as a host may ever have, in `make lab`: the file is opened anew, and a session is listed."""
    path, count = tmp_path / "runs.db", volume(300, lab=100_000)
    await _park(path, count)
    instructions, before, session = Instructions(), _records(), f"s-{count // _SESSION // 2}"
    with instructions.counted(monkeypatch):
        async with _runtime(InProcessEngine(path)) as runtime:
            assert 0 < instructions.taken() < MOST + CHECKED * count, "to open the file"
            waiting = await runtime.suspensions.list(session)
            assert len(waiting) == _SESSION
            assert 0 < instructions.taken() < MOST, "to list a session"
            assert _records() == before
            result = await runtime.suspensions.answer(waiting[3].token, {"approved": True})
            assert (result.status, result.result) == ("ok", "x")
            assert 0 < instructions.taken() < MOST, "to answer a call"
            assert _records() <= before + 1
            assert len(await runtime.suspensions.list(session)) == _SESSION - 1


async def test_what_a_run_has_done_makes_no_look_at_its_waits_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def loop(ctx: RunContext, calls: Any) -> None:
        for number in range(calls):
            await ctx.start(f"tool:{number}", "tool", "x" * 1000)
        await ctx.wait("wait:0", answer_name("wait:0"), about="?")

    async def tool(info: object, text: Any) -> Any:
        return text

    def engine(*, worker: bool) -> InProcessEngine:
        made = InProcessEngine(tmp_path / "runs.db", worker=worker)
        made.register(loops={"loop": loop}, activities={"tool": tool})
        return made

    worker = engine(worker=True)
    await worker.start()
    for calls in (5, 500):
        await worker.start_run("loop", calls, run_id=f"r{calls}", session=f"s{calls}")
        await worker.settled(f"r{calls}")
    await worker.close()
    instructions, taken = Instructions(), dict[int, list[int]]()
    with instructions.counted(monkeypatch):
        client = engine(worker=False)
        await client.start()
        await client.status("r5")
        for calls in (5, 500):
            run_id, counts = f"r{calls}", taken.setdefault(calls, [])
            instructions.taken()
            assert len((await client.status(run_id)).awaiting) == 1
            counts.append(instructions.taken())
            assert len(await client.open_waits(session=f"s{calls}")) == 1
            counts.append(instructions.taken())
            assert (await client.wait_status(run_id, "wait:0")) is not None
            counts.append(instructions.taken())
        await client.close()
    assert taken[500] == pytest.approx(taken[5], abs=20)


async def _park(path: Path, count: int) -> None:
    """Let so many calls wait: one that was made, and copies of what was frozen of it."""
    engine = InProcessEngine(path)
    async with _runtime(engine) as runtime:
        asked = (await runtime.call("send", {"text": "x"}, CallMeta(session_id="s-0"))).suspension
        assert asked is not None
        (made,) = await runtime.suspensions.check()
        assert made.call is not None
        sealer, call = Sealer(engine.secret() or b""), made.call
        for start in range(1, count, _AT_ONCE):
            numbers = range(start, min(start + _AT_ONCE, count))
            await asyncio.gather(*(_park_one(engine, sealer, call, number) for number in numbers))


async def _park_one(engine: InProcessEngine, sealer: Sealer, call: FrozenCall, number: int) -> None:
    session, run_id = f"s-{number // _SESSION}", f"call_{uuid.uuid4().hex}"
    call = replace(call, id=f"{number:016x}", meta=replace(call.meta, session_id=session))
    record = seal_call(sealer, run_id, FIRST, call)
    await engine.start_run(
        LOOP, {"frozen": record.document, "version": VERSION}, run_id=run_id, session=session
    )
    assert (await engine.settled(run_id)).state == "waiting"


def _runtime(engine: InProcessEngine) -> Runtime:
    runtime = Runtime(engine=engine)
    tool = func_tool(send, toolset="x.tools", confirm=ConfirmSpec(hint="Send it?"))
    runtime.tools.register(function_toolset("x.tools", [tool]))
    return runtime


def _records() -> int:
    """Return how many runs are in memory."""
    gc.collect()
    return sum(isinstance(one, RunRecord) for one in gc.get_objects())
