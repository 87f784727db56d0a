"""A folder with a document of a library and the design that is imported from it, again and again."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.importers.evolving_api import document
from toolgen.cli import main
from toolgen.dsl import build

from ..conftest import Done

DESIGN = "library_design.py"
LOCK = "library_design.import.json"


class Library:
    """A folder with a document and the design of it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capsys = capsys

    def publish(self, version: int) -> None:
        self.publish_document(document(version))

    def publish_document(self, value: dict[str, Any]) -> None:
        (self._folder / "library.json").write_text(json.dumps(value), "utf-8")

    def run(self, *options: str) -> Done:
        return self.command("openapi", "library.json", *options)

    def command(self, *args: str) -> Done:
        code = main(("import", *args))
        captured = self._capsys.readouterr()
        return Done(code, captured.out, captured.err)

    @property
    def design(self) -> str:
        return (self._folder / DESIGN).read_text("utf-8")

    def edit(self, *pairs: tuple[str, str]) -> None:
        text = self.design
        for old, new in pairs:
            assert text.count(old) == 1, (old, text)
            text = text.replace(old, new)
        (self._folder / DESIGN).write_text(text, "utf-8")

    def write(self, text: str) -> None:
        (self._folder / DESIGN).write_text(text, "utf-8")

    def built(self) -> Any:
        evaluation = build(runpy.run_path(str(self._folder / DESIGN))["design"])
        assert evaluation.design is not None, evaluation.diagnostics
        return evaluation.design

    def state(self) -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in sorted(self._folder.iterdir()) if file.is_file()}

    def imported(self, version: int, *options: str) -> Done:
        """Import a first version."""
        self.publish(version)
        return self.run("--server", "https://books.example", *options)


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Library:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return Library(tmp_path, capsys)
