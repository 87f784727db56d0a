"""Processes that answer a call that waits in a file: at once, in contradiction, before a worker is there."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from tests.conftest import surroundings
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime

META: Final = CallMeta(session_id="s", tool_call_id="c1")
PATIENCE_S: Final = 60.0
YES: Final[dict[str, Any]] = {"approved": True}
CALLS: Final = 8

CLIENT: Final = """
import asyncio, json, sys
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime
from toolgen.waiting.errors import ConflictingAnswerError

async def main(path, answer, wait_s):
    async with Runtime(engine=InProcessEngine(path, worker=False)) as desk:
        print("ready", flush=True)
        for token in json.loads(sys.stdin.readline()):
            try:
                document = json.loads(answer)
                result = await desk.suspensions.answer(token, document, by="jo", wait_s=float(wait_s))
                print(json.dumps([result.status, result.json.decode()]), flush=True)
            except ConflictingAnswerError:
                print(json.dumps(["conflict", ""]), flush=True)

asyncio.run(main(*sys.argv[1:]))
"""
"""Answers the calls of the tokens that it reads, and prints what came of each."""


class Disk:
    """Runtimes over a file of runs, with a tool that asks, and what that has done."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.emptied: list[str] = []

    def runtime(self) -> Runtime:
        async def empty(folder: str) -> str:
            """Empty a folder."""
            self.emptied.append(folder)
            return f"{folder} is empty"

        made = Runtime(engine=InProcessEngine(self.path))
        tool = func_tool(empty, toolset="disk.files", confirm=ConfirmSpec(hint="Empty {folder}?"))
        made.tools.register(function_toolset("disk.files", [tool]))
        return made

    async def tokens(self, runtime: Runtime) -> list[str]:
        """Make some calls, and return their tokens."""
        asked = [await runtime.call("empty", {"folder": f"f{number}"}, META) for number in range(CALLS)]
        return [one.suspension.token for one in asked if one.suspension is not None]


@asynccontextmanager
async def client(path: Path, answer: Any, wait_s: float = PATIENCE_S) -> AsyncIterator[Process]:
    """Give a process that gives an answer, once it is ready."""
    program = (sys.executable, "-c", CLIENT, str(path), json.dumps(answer), str(wait_s))
    process = await asyncio.create_subprocess_exec(*program, stdin=PIPE, stdout=PIPE, env=surroundings())
    assert process.stdout is not None
    try:
        assert await process.stdout.readline() == b"ready\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def told(process: Process, tokens: list[str]) -> list[tuple[str, str]]:
    """Return what a client was told of each call."""
    out, _ = await process.communicate(f"{json.dumps(tokens)}\n".encode())
    return [(status, text) for status, text in map(json.loads, out.splitlines())]


async def test_of_two_who_contradict_each_other_one_wins_and_both_are_told(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "runs.db")
    async with asyncio.timeout(PATIENCE_S), disk.runtime() as worker:
        tokens = await disk.tokens(worker)
        async with client(disk.path, YES) as one, client(disk.path, {"approved": False}) as other:
            yes, no = await asyncio.gather(told(one, tokens), told(other, tokens[::-1]))
    outcomes = list(zip(yes, no[::-1], strict=True))
    assert len(outcomes) == CALLS
    for number, (approved, denied) in enumerate(outcomes):
        if approved[0] == "ok":
            assert (approved[1], denied) == (f'"f{number} is empty"', ("conflict", ""))
        else:
            assert (approved, denied[0]) == (("conflict", ""), "denied")
    ran = [f"f{number}" for number, (approved, _) in enumerate(outcomes) if approved[0] == "ok"]
    assert sorted(disk.emptied) == ran


async def test_of_three_who_say_the_same_all_get_the_result_of_one_execution(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "runs.db")
    async with asyncio.timeout(PATIENCE_S), disk.runtime() as worker:
        tokens = await disk.tokens(worker)
        async with (
            client(disk.path, YES) as one,
            client(disk.path, YES) as two,
            client(disk.path, YES) as three,
        ):
            said = await asyncio.gather(*(told(process, tokens) for process in (one, two, three)))
    assert said == [[("ok", f'"f{number} is empty"') for number in range(CALLS)]] * 3
    assert sorted(disk.emptied) == [f"f{number}" for number in range(CALLS)]


async def test_an_answer_is_kept_while_no_worker_is_there(tmp_path: Path) -> None:
    """The next worker executes it, and the same answer tells what came of it, to whoever gives it."""
    disk = Disk(tmp_path / "runs.db")
    async with asyncio.timeout(PATIENCE_S):
        async with disk.runtime() as worker:
            tokens = await disk.tokens(worker)
        async with client(disk.path, YES, wait_s=0) as process:
            assert await told(process, tokens) == [("running", "")] * CALLS
        async with client(disk.path, {"approved": False}, wait_s=0) as process:
            assert await told(process, tokens) == [("conflict", "")] * CALLS
        assert disk.emptied == []
        async with client(disk.path, YES) as process:
            waiting = asyncio.ensure_future(told(process, tokens))
            async with disk.runtime() as worker:
                assert await waiting == [("ok", f'"f{number} is empty"') for number in range(CALLS)]
                assert await worker.suspensions.list() == ()
    assert sorted(disk.emptied) == [f"f{number}" for number in range(CALLS)]
