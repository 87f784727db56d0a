"""docs/import.md, followed to the letter in an empty folder: files, commands, and what they print."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.followed import served
from tests.conftest import surroundings
from tests.test_docs import BLOCK, IMPORT

pytestmark = pytest.mark.costly

PORT = "8124"
"""Of the API in the document; here it is one that is free."""
PARTS = {"Import Python functions": 2, "Import a list of tools": 2}
"""Sections that begin in an empty folder, and the number of their commands."""
SAVED = re.compile(r"Save [^`]*`([\w.]+)`")


def test_an_api_answers(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    serving: list[subprocess.Popen[str]] = []
    try:
        assert followed(parts()[0].replace(PORT, port), tmp_path / "api", serving) == 9
    finally:
        for process in serving:
            process.kill()
            process.communicate()
    assert len(serving) == 1


@pytest.mark.parametrize("heading", PARTS)
def test_the_rest_can_be_followed(heading: str, tmp_path: Path) -> None:
    part = parts()[list(PARTS).index(heading) + 1]
    assert followed(part, tmp_path / "folder", []) == PARTS[heading]


def parts() -> list[str]:
    """Return the part about an API, and the parts of `PARTS`."""
    headings = "|".join(map(re.escape, PARTS))
    found = re.split(rf"^## (?:{headings})\n", IMPORT.read_text("utf-8"), flags=re.MULTILINE)
    assert len(found) == len(PARTS) + 1
    return found


def followed(document: str, folder: Path, serving: list[subprocess.Popen[str]]) -> int:
    """Do what a part of the document says, and return how many commands it has."""
    folder.mkdir()
    printed = ""
    commands = 0
    before = 0
    for block in BLOCK.finditer(document):
        language, text = block[1], block[2]
        saved = SAVED.findall(document[before : block.start()])
        before = block.end()
        match language:
            case "sh" if text.endswith(" &\n"):
                serving.append(served(text.removesuffix(" &\n"), folder))
            case "sh":
                printed = shell(text, folder)
                commands += 1
            case "text":
                lines = iter(printed.splitlines())
                assert all(line in lines for line in text.splitlines()), printed  # in this order
            case "toml":
                (folder / "pyproject.toml").write_text(text, "utf-8")
            case _ if saved:
                (folder / saved[-1]).write_text(text, "utf-8")
            case _:
                assert any(text in file.read_text("utf-8") for file in folder.glob("*_design.py")), text
    return commands


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
    told = "(--allow-losses exits 0)", " has changed: ", "resolve the conflicts"
    is_told = any(each in done.stdout for each in told)
    assert done.returncode == is_told, done.stdout
    return done.stdout
