"""`toolgen worker` as a process of a project, and the lines that it writes as they come."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from .conftest import ProjectFolder, surroundings
from .process_output import PATIENCE_S, Output


class WorkerProcess:
    """A worker that executes the runs of a project."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        self.process = process
        self._output = Output(process.stderr)

    @property
    def log(self) -> str:
        return self._output.text

    def has_logged(self, text: str, times: int = 1) -> None:
        """Return once the worker, or a tool in it, has written the text so often."""
        self._output.has(text, times)

    def end(self, by: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(by)

    def code(self) -> int:
        """Return the exit code, once the process has ended and all that it wrote is in the log."""
        code = self.process.wait(PATIENCE_S)
        self._output.to_its_end()
        return code

    def health(self, path: str) -> tuple[int, str]:
        """Return the status and the state that the endpoint answers."""
        found = re.search(r"health: (http://\S+)/live", self.log)
        assert found, self.log
        try:
            with urllib.request.urlopen(f"{found[1]}{path}", timeout=10) as response:
                return response.status, json.load(response)["status"]
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)["status"]


@contextmanager
def working(
    project: ProjectFolder, *options: str, until: str = "the worker: ready"
) -> Iterator[WorkerProcess]:
    """Have a worker process that has logged a text, by default that it is ready, and kill it at last."""
    process = subprocess.Popen(
        [sys.executable, "-m", "toolgen", "worker", *options],
        cwd=project.path,
        env=surroundings(),
        stderr=subprocess.PIPE,
        text=True,
    )
    worker = WorkerProcess(process)
    try:
        worker.has_logged(until)
        yield worker
    finally:
        process.kill()
        worker.code()
        assert process.stderr is not None
        process.stderr.close()
