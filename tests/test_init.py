"""`toolgen init`: the names that it takes, the files that it writes, and what they ask for."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.selection import first
from toolgen.cli import main
from toolgen.cli.generation_record import CACHE

from .golden import read


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "shop"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("name", "message"),
    first(
        [
            ("My-Shop", "'My-Shop' cannot be the name of a package: write a lowercase letter, "),
            ("class", "hint: toolgen init class_"),
            ("1st", "hint: toolgen init my_tools"),
            ("json", "the name 'json' is taken by the standard library\n  hint: toolgen init my_json"),
            ("pydantic", "the name 'pydantic' is taken by pydantic\n"),
            ("toolgen", "the name 'toolgen' is taken by toolgen itself\n"),
            ("tests", "the name 'tests' is taken by the folder of the tests\n"),
            ("full", "the folder 'full' is not empty\n"),
            ("file", "cannot write file/file: Not a directory\n"),
        ],
        3,
    ),
)
def test_a_name_of_no_use(
    elsewhere: Path, capsys: pytest.CaptureFixture[str], name: str, message: str
) -> None:
    (elsewhere / "full").mkdir()
    (elsewhere / "full/mine.txt").write_text("mine")
    (elsewhere / "file").write_text("mine")
    assert main(["init", name]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert sorted(path.name for path in elsewhere.rglob("*")) == ["file", "full", "mine.txt"]


def test_each_file_is_explained(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "shop"]) == 0
    *lines, nothing, next_, first, second = capsys.readouterr().out.splitlines()
    assert (nothing, next_, first, second) == ("", "Next:", "  cd shop && make demo", "  make test")
    explained = {place: what.strip() for place, _, what in (line.partition(" ") for line in lines)}
    assert all(explained.values())
    assert all((elsewhere / place).exists() for place in explained)
    for file in elsewhere.rglob("*"):
        place = str(file.relative_to(elsewhere))
        if file.is_file() and file.stat().st_size and not {"__pycache__", CACHE} & set(file.parts):
            assert place in explained or place.startswith("shop/shop/gen/")


def test_make_installs_toolgen_from_elsewhere_with_all_extras(elsewhere: Path) -> None:
    assert main(["init", "shop", "--agent"]) == 0
    line = ["make", "--dry-run", "--always-make", ".venv/ready", "TOOLGEN_SOURCE=/elsewhere"]
    made = subprocess.run(line, cwd=elsewhere / "shop", capture_output=True, text=True, check=True)
    assert "'/elsewhere[gen,chat]'" in made.stdout


@pytest.mark.parametrize(
    ("origin", "requirement"),
    [
        (None, "toolgen[gen]==9.8"),
        ({"url": "file:///clone", "dir_info": {"editable": True}}, "toolgen[gen] @ file:///clone"),
        (
            {"url": "https://host/toolgen", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
            "toolgen[gen] @ git+https://host/toolgen@c0ffee",
        ),
    ],
)
def test_the_project_asks_for_the_toolgen_that_made_it(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, origin: object, requirement: str
) -> None:
    """An empty folder is as good as none."""
    metadata = elsewhere / "site/toolgen-9.8.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: toolgen\nVersion: 9.8\n")
    if origin:
        (metadata / "direct_url.json").write_text(json.dumps(origin))
    monkeypatch.syspath_prepend(metadata.parent)
    (elsewhere / "shop").mkdir()
    assert main(["init", "shop"]) == 0
    assert (elsewhere / "shop/requirements.txt").read_text() == f"{requirement}\n"
    project = tomllib.loads((elsewhere / "shop/pyproject.toml").read_text())["project"]
    assert (project["name"], project["dependencies"]) == ("shop", [requirement])
    assert (elsewhere / "shop/shop/gen/tool_schemas.json").exists()
    written = read(elsewhere)
    assert "shop/shop/app.py" in written
    assert not [name for name, text in written.items() if "@NAME@" in text or "@SETTING@" in text]
