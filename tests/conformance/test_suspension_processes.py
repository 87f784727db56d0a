"""Processes that answer one call at once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from pathlib import Path

from tests.conftest import surroundings
from tests.runtime.test_suspension import CONFIRMED, ask
from tests.runtime.tools import Listing, runtime
from toolgen.runtime.waiting.sqlite import SqliteSuspensionStore


def test_one_of_many_processes_wins(tmp_path: Path) -> None:
    waiting = asyncio.run(
        ask(runtime(Listing(), CONFIRMED, suspensions=SqliteSuspensionStore(tmp_path / "s.db")))
    )
    code = textwrap.dedent(
        """
        import asyncio, sys
        from tests.runtime.test_suspension import *
        executor = Listing()
        made = runtime(executor, CONFIRMED, suspensions=SqliteSuspensionStore(sys.argv[1]))
        try:
            asyncio.run(made.deliver(sys.argv[2], YES))
        except SuspensionError:
            pass
        print(len(executor.calls))
        """
    )
    command = [sys.executable, "-c", code, str(tmp_path / "s.db"), waiting.token]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, env=surroundings()) for _ in range(3)]
    ran = [int(process.communicate()[0]) for process in running]
    assert sorted(ran) == [0, 0, 1]
