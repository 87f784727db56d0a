"""Processes that share a file of sessions, and one that dies in the middle of a step."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.conftest import surroundings
from tests.runtime.session_stores import HELLO, ODD
from tests.runtime.test_sessions_file import of_file

pytestmark = pytest.mark.costly


def test_processes_share_a_file(tmp_path: Path) -> None:
    """They make it at once, make a session at once, and lose nothing that the others write."""
    code = textwrap.dedent(
        """
        import asyncio, sys
        from pathlib import Path
        from tests.runtime.test_sessions_file import *
        from toolgen.agents import UserMessage

        async def main(path, name):
            store = of_file(Path(path))
            print((await store.create("s", name)).created_at)
            for n in range(10):
                run_id = f"{name}-{n}"
                await store.begin(turn(run_id))
                await store.write(run_id, 1, [HELLO])
                await store.write(run_id, 0, ODD)
                await store.write("shared", ord(name) * 100 + n, [UserMessage(text=run_id)])

        asyncio.run(main(*sys.argv[1:]))
        """
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    running = [
        subprocess.Popen([*command, name], stdout=subprocess.PIPE, env=surroundings()) for name in "abc"
    ]
    printed = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len(set(printed)) == 1
    store = of_file(tmp_path)
    said = asyncio.run(store.transcript("s"))
    for name in "abc":
        ids = [one.turn.run_id for one in said if one.turn.run_id.startswith(name)]
        assert ids == [f"{name}-{n}" for n in range(10)]
    assert all(one.messages == (*ODD, HELLO) for one in said)
    assert len(asyncio.run(store.run_messages("shared"))) == 30


def test_a_process_that_died_in_the_middle_leaves_the_step_before(tmp_path: Path) -> None:
    store = of_file(tmp_path)
    asyncio.run(store.write("r", 0, [HELLO]))
    code = textwrap.dedent(
        """
        import os, sqlite3, sys
        database = sqlite3.connect(sys.argv[1], isolation_level=None)
        database.execute("BEGIN IMMEDIATE")
        database.execute("DELETE FROM message")
        os.kill(os.getpid(), 9)
        """
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "sessions.db")], env=surroundings())
    assert done.returncode == -9
    assert asyncio.run(store.run_messages("r")) == (HELLO,)


TURNS = textwrap.dedent(
    """
    import asyncio, sys, time
    from pathlib import Path
    from tests.agents.tools import agent, calling, keeping, running
    from toolgen.agents import ScriptedPlanner, SessionBusyError, agents_of
    from toolgen.agents.sessions.sqlite import SqliteSessionStore

    async def main(path, ahead):
        store = SqliteSessionStore(Path(path), clock=lambda: time.time() + float(ahead))
        one = agent("x.agent", ScriptedPlanner([calling("ask")]))
        async with running(one, sessions=store, **keeping()) as (runtime, _):
            print("ready", flush=True)
            input()
            try:
                handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
                await handle.settled()
                print("has", handle.run_id, flush=True)
            except SessionBusyError as busy:
                print("busy", busy.run_id, flush=True)
            input()

    asyncio.run(main(*sys.argv[1:]))
    """
)


def talker(path: Path, ahead_s: int = 0) -> subprocess.Popen[str]:
    """Start a process that begins a turn when it is told to; its clock is ahead by these seconds."""
    process = subprocess.Popen(
        [sys.executable, "-c", TURNS, str(path / "sessions.db"), str(ahead_s)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=surroundings(),
    )
    assert said(process) == "ready"
    return process


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    print(file=process.stdin, flush=True)


def test_of_processes_that_begin_a_turn_at_once_one_gets_it(tmp_path: Path) -> None:
    running = [talker(tmp_path) for _ in range(4)]
    try:
        for process in running:
            tell(process)
        found = [said(process).split() for process in running]
        assert sorted(what for what, _ in found) == ["busy", "busy", "busy", "has"]
        assert len({run_id for _, run_id in found}) == 1
        (said_in_it,) = asyncio.run(of_file(tmp_path).transcript("s"))
        assert said_in_it.turn.run_id == found[0][1]
    finally:
        for process in running:
            process.kill()
            process.communicate()


def test_the_turn_of_a_process_that_was_killed_is_free_when_its_time_is_over(tmp_path: Path) -> None:
    running = [talker(tmp_path), talker(tmp_path), talker(tmp_path, ahead_s=60)]
    try:
        first, second, later = running
        tell(first)
        what, run_id = said(first).split()
        assert what == "has"
        first.kill()
        first.wait()
        tell(second)
        assert said(second) == f"busy {run_id}"
        tell(later)
        assert said(later).startswith("has ")
    finally:
        for process in running:
            process.kill()
            process.communicate()


def test_the_turn_of_a_process_that_ended_well_is_free(tmp_path: Path) -> None:
    for _ in range(2):
        process = talker(tmp_path)
        try:
            tell(process)
            assert said(process).startswith("has ")
            tell(process)
            assert process.wait(30) == 0
        finally:
            process.kill()
            process.communicate()
