"""docs/import.md, followed to the letter in an empty folder: files, commands, and what they print."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import surroundings
from tests.test_docs import BLOCK, IMPORT

SAVED = re.compile(r"Save [^`]*`([\w.]+)`")


def test_the_document_can_be_followed(tmp_path: Path) -> None:
    document = IMPORT.read_text("utf-8")
    printed = ""
    commands = 0
    before = 0
    for block in BLOCK.finditer(document):
        language, text = block[1], block[2]
        saved = SAVED.findall(document[before : block.start()])
        before = block.end()
        match language:
            case "sh":
                printed = shell(text, tmp_path)
                commands += 1
            case "text":
                assert printed == text
            case "toml":
                (tmp_path / "pyproject.toml").write_text(text, "utf-8")
            case _ if saved:
                (tmp_path / saved[-1]).write_text(text, "utf-8")
            case _:
                assert any(text in file.read_text("utf-8") for file in tmp_path.glob("*_design.py")), text
    assert commands == 5


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
    assert done.returncode == ("the design lacks something" in done.stdout), done.stdout
    return done.stdout
