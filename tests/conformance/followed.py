"""A reader who does what a document says in an empty folder, and finds what it shows.

A block under "Save this as `FILE`" is that file, a block of `sh` is a command, and `text` or `json` next to
it are lines that the command prints, to either stream. A command may fail only where an error is shown. Any
other block of Python is run in the folder.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.async_api import expect

from tests.conformance.explorer.browser import browsing
from tests.conftest import surroundings
from tests.test_docs import BLOCK

SAVED = re.compile(r"Save\s+(?:this|it)\s+as\s+`([\w./]+)`")
PORT = re.compile(r"\b81\d\d\b")
"""Of a server in a document; here it is one that is free."""


@dataclass(slots=True)
class Reader:
    """Where the reader is, and what was done."""

    folder: Path
    commands: int = 0
    outputs: int = 0
    """How many of the commands had an output to compare."""
    serving: list[subprocess.Popen[str]] = field(default_factory=list)

    def do(self, document: str) -> None:
        blocks = list(BLOCK.finditer(document))
        printed, previous, before = "", "", 0
        for block, following in zip(blocks, [*blocks[1:], None], strict=True):
            language, text = block[1], block[2]
            between = document[before : block.start()]
            saved = SAVED.findall(between)
            is_output = previous == "sh" and not between.strip()
            before = block.end()
            match language:
                case _ if saved:
                    file = self.folder / saved[-1]
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text, "utf-8")
                case "sh":
                    printed = self.run(text, may_fail=following is not None and shows_an_error(following))
                case "text" if is_output:
                    self.outputs += 1
                    lines = iter(printed.splitlines())
                    assert all(line in lines for line in text.splitlines()), printed  # in this order
                case "json" if is_output:
                    self.outputs += 1
                    (line,) = (line for line in printed.splitlines() if line.startswith("{"))
                    assert json.loads(line) == json.loads(text)
                case "python":
                    self.run(f"python - <<'END_OF_BLOCK'\n{text}END_OF_BLOCK\n", may_fail=False)
                case "json" | "toml":
                    pass  # to be put into a file of the reader's; test_docs.py parses it
                case "text":
                    assert any(text in file.read_text("utf-8") for file in self.folder.glob("*/*.py"))
                case _:
                    raise AssertionError(f"nothing is done with:\n{text}")
            previous = language

    def run(self, text: str, *, may_fail: bool) -> str:
        """Return what a command prints, to either stream."""
        if text.startswith("cd "):
            self.folder /= text.removeprefix("cd ").strip()
            return ""
        if text.startswith(("pip install ", "make demo")):  # test_wheel.py and .ci/run do it
            return ""
        if text.endswith(" &\n"):
            self.serving.append(served(text.removesuffix(" &\n"), self.folder))
            return ""
        self.commands += 1
        if text.startswith("toolgen serve"):
            approve_in_browser(text, self.folder)
            return ""
        done = bash(text, self.folder)
        assert done.returncode == 0 or may_fail, f"{text}\n{done.stdout}"
        return done.stdout


def shows_an_error(block: re.Match[str]) -> bool:
    """Return whether a block below a command is what a command prints that failed."""
    return (block[1] == "json" and '"error"' in block[2]) or (block[1] == "text" and "error" in block[2])


@contextmanager
def reader_of(file: Path, folder: Path) -> Iterator[Reader]:
    """Follow a document from beginning to end; the servers that it starts live as long."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    reader = Reader(folder)
    try:
        reader.do(PORT.sub(port, file.read_text("utf-8")))
        yield reader
    finally:
        for process in reader.serving:
            process.kill()
            process.communicate()


def approve_in_browser(command: str, folder: Path) -> None:
    """Serve a project, and approve what waits as its reader does."""
    serve = [sys.executable, "-m", *command.split()]
    with subprocess.Popen(serve, cwd=folder, env=surroundings(), stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            lines = iter(server.stderr.readline, "")
            address = next(line.removeprefix("serving ") for line in lines if line.startswith("serving "))
            asyncio.run(approve(*address.strip().split("/#token=")))
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate()


async def approve(url: str, token: str) -> None:
    async with browsing(url, token) as shown:
        await (
            shown.page.get_by_role("navigation", name="Places")
            .get_by_role("link", name="Suspended calls")
            .click()
        )
        await shown.page.get_by_role("main").get_by_role("link", name='Allow "Add note"?').click()
        await shown.page.get_by_role("button", name="Approve exactly this").click()
        await expect(shown.page.get_by_text("Approved at")).to_be_visible()


def shell(line: str, folder: Path) -> str:
    """Return what a command prints that must succeed."""
    done = bash(line, folder)
    assert done.returncode == 0, done.stdout
    return done.stdout


def bash(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = surroundings()
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def served(line: str, folder: Path) -> subprocess.Popen[str]:
    """Start a server, and return it when it serves."""
    command = line.split()
    assert command[0] == "python"
    process = subprocess.Popen(
        [sys.executable, *command[1:]], cwd=folder, env=surroundings(), stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "serving\n"
    return process
