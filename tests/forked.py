"""Scripts in forks of one process that has imported toolgen: a fork takes a quarter of a new process."""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys
import tempfile
from multiprocessing.process import BaseProcess
from typing import Final

_CONTEXT: Final = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "toolgen.agents",
        "toolgen.agents.sessions.sqlite",
        "toolgen.engines.in_process.engine",
        "toolgen.capabilities",
        "toolgen.calls.functions.tools",
    ]
)


def run_forked(script: str, *arguments: str, ends_with: int = 0) -> None:
    """Run a script of the working directory in a process of its own.

    Its environment is that of the first such process.

    Raises:
        AssertionError: its exit code is another one; the message has the code and what the script wrote.
    """
    with tempfile.NamedTemporaryFile() as output:
        process = start_forked(output.name, script, *arguments)
        process.join()
        code = process.exitcode
        process.close()
        written = output.read().decode(errors="replace")
    assert code == ends_with, f"{script} ended with the exit code {code}:\n{written}"


def start_forked(output: str, script: str, *arguments: str) -> BaseProcess:
    """Start a script of the working directory that writes to a file, and return its process."""
    process = _CONTEXT.Process(target=_run, args=(output, script, *arguments))
    process.start()
    return process


def _run(output: str, script: str, *arguments: str) -> None:
    with open(output, "ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.argv[:] = [script, *arguments]
    sys.path.insert(0, os.getcwd())
    sys.dont_write_bytecode = True
    runpy.run_path(script, run_name="__main__")
