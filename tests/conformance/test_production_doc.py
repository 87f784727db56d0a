"""docs/production.md on Temporal and PostgreSQL: its host as a worker, and its client."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.conformance.followed import SAVED, shell
from tests.conftest import ProjectFolder, in_a_process
from tests.temporal_server import TemporalServer
from tests.test_docs import BLOCK, PRODUCTION, section
from tests.worker_process import working

pytestmark = pytest.mark.costly

TEMPORAL = "Run several workers on Temporal"


def test_a_client_has_its_run_executed_by_a_worker(
    temporal: TemporalServer,
    conninfo: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shell(f"{sys.executable} -m toolgen init notes --agent", tmp_path)
    project = ProjectFolder(tmp_path / "notes", capsys)
    text = PRODUCTION.read_text("utf-8")
    part = text[slice(*section(text, TEMPORAL))]
    for block in BLOCK.finditer(part):
        if saved := SAVED.findall(part[: block.start()].rpartition("```")[2]):
            project.write(saved[-1], block[2])
    settings = (project.path / "pyproject.toml").read_text("utf-8")
    named = re.search(r'`(runtime = "[^"]+")`', part)
    assert named
    project.write("pyproject.toml", re.sub(r'^runtime = "[^"]+"', named[1], settings, flags=re.MULTILINE))
    for name, value in {
        "TEMPORAL_ADDRESS": temporal.address,
        "DATABASE_URL": conninfo,
        "TOOLGEN_SECRET": "0" * 64,
        "NOTES_DB": str(project.path / "notes.db"),
    }.items():
        assert name in part
        monkeypatch.setenv(name, value)
    asked = re.search(r"python -m notes\.client '(.*)'\n```\n\n```text\n(.*?)```", part, re.DOTALL)
    assert asked
    assert json.loads(asked[1].removeprefix("add_note "))
    with working(project):
        done = in_a_process(project.path, "-m", "notes.client", asked[1])
    assert (done.returncode, done.stdout) == (0, asked[2]), done.stderr
