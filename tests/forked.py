"""Scripts in forks of one process that has imported toolgen: a fork takes a quarter of a new process."""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys
from typing import Final

_CONTEXT: Final = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "toolgen.agents",
        "toolgen.agents.sessions.sqlite",
        "toolgen.engines",
        "toolgen.runtime.capabilities",
        "toolgen.runtime.toolsets.functions",
    ]
)


def run_forked(script: str, *arguments: str) -> int:
    """Run a script of the working directory in a process of its own; return its exit code.

    Its environment and its stderr are those of the first such process.
    """
    process = _CONTEXT.Process(target=_run, args=(script, *arguments))
    process.start()
    process.join()
    code = process.exitcode
    process.close()
    assert code is not None
    return code


def _run(script: str, *arguments: str) -> None:
    sys.argv[:] = [script, *arguments]
    sys.path.insert(0, os.getcwd())
    sys.dont_write_bytecode = True
    runpy.run_path(script, run_name="__main__")
