"""What is published: the sdist, and the wheel that is built from it, in a fresh environment.

With pydantic the wheel runs generated code, with `gen` it generates.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import uv

from tests.conftest import ProjectFolder
from tests.test_call_command import EXECUTOR, MAIN

ROOT = Path(__file__).parents[2]
UV = (uv.find_uv_bin(), "--quiet")

CALL = """\
import asyncio, importlib.util
from app.gen.hall.toolsets import people
from executors.hall.people import People
from toolgen.runtime import CallMeta, Runtime

assert not any(map(importlib.util.find_spec, ["jinja2", "typer", "ruff"]))
runtime = Runtime()
runtime.tools.register(people.registration(People()))
result = asyncio.run(runtime.call("hall.people.greet", b'{"name": "Ada"}', CallMeta(session_id="s-9")))
print(result.json.decode())
"""


GENERATES = set(
    "annotated-doc annotated-types anyio docstring-parser idna jinja2 jsonschema-rs markdown-it-py "
    "markupsafe mdurl pydantic pydantic-core pygments pyyaml rich ruff shellingham toolgen typer "
    "typing-extensions typing-inspection watchfiles".split()
)
"""All that `toolgen[gen]` brings."""


def installed(python: Path) -> set[str]:
    """Return the names of the packages in an environment."""
    listed = run(ROOT, *UV, "pip", "list", "--format", "json", "--python", python)
    return {package["name"] for package in json.loads(listed)}


def run(folder: Path, *command: str | Path) -> str:
    """Run a command that must succeed, outside of the repository; return what it printed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sdist, and with the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("built")
    run(ROOT, *UV, *"build --no-build-isolation --out-dir".split(), folder, "--python", sys.executable)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return next(built.glob("toolgen-*.whl"))


def test_an_index_takes_the_metadata_and_renders_the_readme(built: Path, wheel: Path) -> None:
    sdist = next(built.glob("toolgen-*.tar.gz"))
    checked = run(built, sys.executable, "-m", "twine", "--no-color", "check", "--strict", wheel, sdist)
    assert checked.count("PASSED") == 2
    with tarfile.open(sdist) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    documents = {file.relative_to(ROOT).as_posix() for file in (ROOT / "docs").rglob("*.md")}
    assert names >= documents | {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml"}
    assert not any(name.startswith(("tests/", "ui/", "examples/")) for name in names)


def test_the_newest_version_of_the_changelog_is_that_of_the_package(wheel: Path) -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = re.findall(r"^## (\d+\.\d+\.\d+)", changelog, re.MULTILINE)[0]
    assert wheel.name.startswith(f"toolgen-{newest}-")


def test_it_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = [name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]
    sources = [file.relative_to(ROOT) for file in (ROOT / "toolgen").rglob("*") if file.is_file()]
    sources = [file for file in sources if not any(part.startswith((".", "__pyc")) for part in file.parts)]
    assert sorted(names) == sorted(file.as_posix() for file in sources)
    assert "toolgen/py.typed" in names
    assert any(name.startswith("toolgen/templates/") for name in names)


def test_it_runs_with_pydantic_alone_and_generates_with_the_extra(
    wheel: Path, project: ProjectFolder
) -> None:
    """The versions are those of the lock file."""
    project.run("gen")
    project.write("executors/hall/people.py", EXECUTOR)
    project.write("app/main.py", MAIN)
    project.write("use.py", CALL)
    pins = re.findall(r"^[\w.-]+==[^\s;]+", (ROOT / "requirements-dev.lock").read_text(), re.MULTILINE)
    project.write("constraints.txt", "\n".join(pins))
    run(project.path, sys.executable, "-m", "venv", "--without-pip", "venv")
    python = project.path / "venv/bin/python"
    options: list[str | Path] = ["--python", python, "--constraint", "constraints.txt"]
    install = [*UV, "pip", "install", *options]

    run(project.path, *install, wheel)
    assert run(project.path, python, "use.py") == '{"text":"Good day, Ada of s-9! ☀"}\n'

    run(project.path, *install, f"toolgen[cli] @ {wheel.as_uri()}")
    call: list[str | Path] = [
        python.parent / "toolgen",
        "call",
        "greet",
        '{"name": "Ada"}',
        "--session",
        "s-9",
    ]
    assert run(project.path, *call) == '{"text":"Good day, Ada of s-9! ☀"}\n'

    run(project.path, *install, f"toolgen[gen] @ {wheel.as_uri()}")
    assert installed(python) == GENERATES
    shutil.rmtree(project.path / "app/gen")
    run(project.path, python.parent / "toolgen", "gen")
    assert run(project.path, python, "-m", "toolgen", "gen", "--check") == ""
