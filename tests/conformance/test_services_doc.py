"""docs/services.md, followed to the letter in an empty folder, with the API that it starts."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

from tests.conformance.test_long_running_doc import SAVED, shell
from tests.conftest import surroundings
from tests.test_docs import BLOCK, SERVICES

PORT = "8123"
"""Of the API in the document; here it is one that is free."""


def test_the_document_can_be_followed(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    document = SERVICES.read_text("utf-8").replace(PORT, port)
    printed, before, commands = "", 0, 0
    serving: list[subprocess.Popen[str]] = []
    try:
        for block in BLOCK.finditer(document):
            saved = SAVED.findall(document[before : block.start()])
            before = block.end()
            match block[1]:
                case "sh" if block[2].endswith(" &\n"):
                    serving.append(served(block[2].removesuffix(" &\n"), tmp_path))
                case "sh":
                    printed = shell(block[2], tmp_path)
                    commands += 1
                case "text":
                    assert printed == block[2]
                case _:
                    (tmp_path / saved[-1]).write_text(block[2], "utf-8")
    finally:
        for process in serving:
            process.kill()
            process.communicate()
    assert (len(serving), commands) == (1, 6)


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
