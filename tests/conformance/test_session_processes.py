"""Processes that share a file of sessions, and one that dies in the middle of a step."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from pathlib import Path

from tests.conftest import surroundings
from tests.runtime.test_sessions import HELLO, ODD
from tests.runtime.test_sessions_file import of_file


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
            print((await store.create("s", name)).agent)
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
