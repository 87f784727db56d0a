"""docs/long-running.md, followed to the letter in an empty folder: files, commands, and what they print."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import surroundings
from tests.test_docs import BLOCK, LATER

SAVED = re.compile(r"Save this as\s+`([\w./]+)`")


def test_the_document_can_be_followed(tmp_path: Path) -> None:
    document = LATER.read_text("utf-8")
    printed, before, commands = "", 0, 0
    for block in BLOCK.finditer(document):
        saved = SAVED.findall(document[before : block.start()])
        before = block.end()
        match block[1]:
            case "sh":
                printed = shell(block[2], tmp_path)
                commands += 1
            case "text":
                assert printed == block[2]
            case _:
                (tmp_path / saved[-1]).write_text(block[2], "utf-8")
    assert commands == 3
    checked = shell("python -m mypy --strict --config-file= executors", tmp_path)
    assert checked.startswith("Success"), checked


def shell(line: str, folder: Path) -> str:
    """Return what a command prints, to either stream."""
    environment = surroundings()
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout
