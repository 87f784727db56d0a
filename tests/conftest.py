"""A project in a temporary folder, and the toolgen command run in it."""

from __future__ import annotations

import gc
import io
import linecache
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import find, settings
from hypothesis.strategies import booleans

import toolgen
from tests import selection
from tests.parts import is_elsewhere
from toolgen.agents import SqliteSessionStore
from toolgen.cli import main
from toolgen.cli.generation_record import CACHE
from toolgen.engines import InProcessEngine
from toolgen.stores.sqlite_batches import SqliteBatches
from toolgen.stores.sqlite_file import SqliteFile

os.environ.pop("TOOLGEN_CONFIG", None)  # no test depends on the project that somebody works on
settings.register_profile("same each time", derandomize=True, database=None, deadline=None, max_examples=40)
settings.load_profile("same each time")  # no test depends on chance or on the speed of a machine
# The default visits what a test process keeps so often that it takes a tenth of it.
gc.set_threshold(50_000, 20, 20)
# No test but those of a loss of power needs files that are synced at each commit; they say so.
for _opened in InProcessEngine, SqliteSessionStore, SqliteFile, SqliteBatches:
    _defaults = _opened.__init__.__kwdefaults__ or {}
    assert _defaults["synchronous"] == "FULL"
    _defaults["synchronous"] = "NORMAL"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--lab", action="store_true", help="try as many inputs as `make lab` does")
    parser.addoption("--every", type=int, default=1, help="run every n-th exhaustive value of a test")
    parser.addoption("--seed", type=int, default=0, help="where --every and strides over large inputs begin")
    parser.addoption("--part", help="run one part of the files: 0/2 or 1/2 (python -m tests.parts)")


def pytest_configure(config: pytest.Config) -> None:
    selection.IS_LAB = config.getoption("lab")
    selection.SEED = config.getoption("seed")


def pytest_report_header(config: pytest.Config) -> str:
    return f"seed: {selection.SEED}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left = selection.left_out(items, int(config.getoption("every") or 1))
    if left:
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = [item for item in items if item not in left]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    part = config.getoption("part")
    return (part and collection_path.is_file() and is_elsewhere(collection_path, part)) or None


def pytest_collection_finish() -> None:
    """Keep what exists before the tests out of collections of garbage; else each visits the whole suite."""
    # Makes hypothesis's source of random numbers, whose referrers it would not find later.
    find(booleans(), bool)
    gc.collect()
    gc.freeze()


PACKAGE = str(Path(toolgen.__file__).parent)
"""The folder of toolgen, whose frames no author is shown."""

DESIGN = '''\
"""Greetings, for a test."""

from toolgen.dsl import Args, Attribute, Design, Inject, Return, Service, String, Tool, Toolset

people = Toolset(
    "people",
    "Talk to people.",
    Tool(
        "greet",
        "Greet a person.",
        Args(
            Attribute("name", String, "Whom to greet.", required=True, max_length=40),
            Attribute("session_id", String, "Session of the call.", required=True),
        ),
        Return(Attribute("text", String, "The greeting.", required=True)),
        Inject("session_id"),
    ),
)
design = Design("app", "A small application.", Service("hall", "Where people meet.", people))
'''

SECOND_TOOL = """\
    Tool(
        "leave",
        "Say goodbye.",
        Args(Attribute("name", String, "Who leaves.", required=True)),
        Return(Attribute("text", String, "The farewell.", required=True)),
    ),
)
design = Design("""


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str


@dataclass(slots=True)
class ProjectFolder:
    """A folder with a design in `app/design.py`; its code goes to `app/gen` and `executors`."""

    path: Path
    capsys: pytest.CaptureFixture[str]

    def write(self, name: str, text: str) -> Path:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return file

    def add_tool(self) -> None:
        self.write("app/design.py", DESIGN.replace(")\ndesign = Design(", SECOND_TOOL))

    def run(self, *args: str, piped: str = "") -> Done:
        """Run the command in this process, with the design freshly imported and `piped` at its stdin."""
        forget()
        linecache.clearcache()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(piped.encode())))
            code = main(args)
        captured = self.capsys.readouterr()
        return Done(code, captured.out, captured.err)

    def files(self) -> dict[str, tuple[bytes, int]]:
        """Return content and mtime of every file, without the record of the last run."""
        files = (file for file in sorted(self.path.rglob("*")) if file.is_file() and CACHE not in file.parts)
        return {
            str(file.relative_to(self.path)): (file.read_bytes(), file.stat().st_mtime_ns) for file in files
        }


def in_a_process(
    folder: Path, *command: str, piped: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run Python in the folder, with toolgen at hand and `piped` at its stdin."""
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**surroundings(), **environment},
        input=piped,
        capture_output=True,
        text=True,
    )


def surroundings() -> dict[str, str]:
    """Return the environment in which another process finds this toolgen."""
    paths = {"PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONDONTWRITEBYTECODE": "1"}
    return {**os.environ, **paths}


def forget() -> None:
    folders = ("app", "executors")
    named = [name for name in sys.modules if name.startswith(folders)]  # few of thousands
    for name in [name for name in named if name.partition(".")[0] in folders]:
        del sys.modules[name]


@pytest.fixture
def project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[ProjectFolder]:
    folder = ProjectFolder(tmp_path, capsys)
    folder.write(
        "pyproject.toml",
        '[tool.toolgen]\ndesign = "app.design"\nout = "app/gen"\nruntime = "app.main:runtime"\n',
    )
    folder.write("app/__init__.py", "")
    folder.write("app/design.py", DESIGN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield folder
    forget()
