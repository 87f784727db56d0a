"""The end of a process that was a command."""

from __future__ import annotations

import shelve
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from typer.main import get_command

from toolgen.cli.app import app, run

from .conftest import in_a_process

PROGRAM = """
import atexit, sys, threading
{imports}
atexit.register(print, "the last spans")
threading.Thread(target=threading.Event().wait, daemon={daemon}).start()
sys.argv = ["toolgen", "--version"]
from toolgen.cli import {door}
sys.exit({door}())
"""
LAST = "class Last:\n    def __del__(self):\n        print('finalized')\nlast = Last()"
APP = """
import atexit, gc, json, sys, threading
from typing import Optional
from toolgen.runtime import Runtime

class Log:
    file = open("log.txt", "w")

Optional[Log]  # which typing remembers
Log.file.write("not closed")

class Ring:
    def __init__(self):
        self.ring = self

    def __del__(self):
        import colorsys
        print("collected", colorsys.rgb_to_hsv(0, 0, 0), file=sys.stderr)

{further}

def runtime():
    Ring()
    print(gc.get_threshold(), gc.isenabled(), gc.get_freeze_count() > 10_000, file=sys.stderr)
    return Runtime()
"""

PROXY = """
class Proxy:
    __class__ = property(lambda self: 1 / 0)

json.JSONDecoder.own = Proxy()
"""
ASKED = """
class Asked({base}):
    def __getattribute__(self, name):
        print("asked for", name, file=sys.stderr)
        return super().__getattribute__(name)

json.JSONDecoder.own = Asked({arguments})
"""
IMPORT = """
import contextlib, pathlib
pathlib.Path("once").touch(exist_ok=False)

class Last:
    def __del__(self):
        with contextlib.suppress(ImportError):
            import app

Last.own = Last()
"""
SHELF = """
import dbm.dumb, shelve, toolgen.cli.app
toolgen.cli.app.run.shelf = shelf = shelve.Shelf(dbm.dumb.open("shelf"), writeback=True)
shelf["numbers"] = [1]
shelf["numbers"].append(2)
"""


def called(folder: Path, further: str) -> CompletedProcess[str]:
    """Return `toolgen call` in a project whose runtime is that of `APP`."""
    folder.joinpath("pyproject.toml").write_text('[tool.toolgen]\ndesign = "none"\nruntime = "app:runtime"\n')
    folder.joinpath("app.py").write_text(APP.replace("{further}", further))
    return in_a_process(folder, "-m", "toolgen", "call", "none")


def test_the_list_of_commands_is_that_of_commands_with_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    listed = capsys.readouterr()
    with pytest.raises(SystemExit):
        get_command(app)(["--help"], prog_name="toolgen")
    assert capsys.readouterr() == listed


@pytest.mark.exhaustive
@pytest.mark.parametrize("door", ["main", "command"])
def test_a_command_that_used_temporal_leaves_before_the_interpreter_ends(tmp_path: Path, door: str) -> None:
    """The interpreter would wait for the thread, for ever."""
    done = in_a_process(tmp_path, "-c", PROGRAM.format(imports="import temporalio", daemon=False, door=door))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith("toolgen ")
    assert done.stdout.splitlines()[1:] == ["the last spans"]


@pytest.mark.exhaustive
def test_another_command_ends_with_its_interpreter(tmp_path: Path) -> None:
    done = in_a_process(tmp_path, "-c", PROGRAM.format(imports=LAST, daemon=True, door="main"))
    assert (done.returncode, done.stdout.splitlines()[1:]) == (0, ["the last spans", "finalized"])


@pytest.mark.exhaustive
def test_a_process_without_code_of_the_author_is_left_as_it_is(tmp_path: Path) -> None:
    """To look for cycles three times in what the command imported takes a tenth of its time."""
    done = in_a_process(tmp_path, "-c", PROGRAM.format(imports=LAST, daemon=True, door="command"))
    assert (done.returncode, done.stdout.splitlines()[1:]) == (0, ["the last spans"])


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "further",
    [
        "",
        "json.JSONDecoder.own = lambda: Log",
        "json.JSONDecoder.own = (Log.file.write(str(n)) for n in [''])",
        "json.JSONDecoder.own, Log.file = Log.file, None",
        "json.JSONDecoder.own = Log\natexit.register(lambda: (gc.collect(), gc.disable()))",
        "json.JSONDecoder.own = Log\natexit.register(gc.unfreeze)",
        "json.JSONDecoder.own = Log\natexit.register(gc.freeze)",
        "threading.Thread(target=threading.Event().wait, daemon=True).start()",
        PROXY,
        ASKED.format(base="type(sys)", arguments="'app'"),
        ASKED.format(base="type", arguments="'Class', (), {}"),
        IMPORT,
    ],
    ids=[
        "no more",
        "a function",
        "a generator",
        "a file",
        "no collections",
        "unfrozen",
        "frozen",
        "a thread",
        "a proxy of nothing",
        "a module that is loaded later",
        "a class of classes",
        "an import at the end",
    ],
)
def test_what_the_code_of_the_author_leaves_is_collected_and_written(tmp_path: Path, further: str) -> None:
    """Also where a class holds it that was imported before."""
    done = called(tmp_path, further)
    ours = in_a_process(tmp_path, "-c", "import gc; print(gc.get_threshold())")
    lines = [f"{ours.stdout.strip()} True True", "collected (0.0, 0.0, 0)"]
    assert (done.returncode, done.stderr.splitlines()) == (1, lines)
    assert tmp_path.joinpath("log.txt").read_text() == "not closed"


@pytest.mark.exhaustive
def test_what_the_standard_library_writes_when_it_is_freed_is_written(tmp_path: Path) -> None:
    called(tmp_path, SHELF)
    with shelve.open(str(tmp_path / "shelf")) as shelf:
        assert shelf["numbers"] == [1, 2]


@pytest.mark.exhaustive
def test_what_a_module_leaves_that_fails_may_import(tmp_path: Path) -> None:
    assert "collected (0.0, 0.0, 0)" in called(tmp_path, "own = Ring()\n1 / 0").stderr


@pytest.mark.exhaustive
def test_a_warning_about_what_the_code_of_the_author_leaves_names_no_file_of_toolgen(tmp_path: Path) -> None:
    lines = called(tmp_path, "async def late():\n    pass\n\nown = late()").stderr.splitlines()
    assert "sys:1: RuntimeWarning: coroutine 'late' was never awaited" in lines


@pytest.mark.exhaustive
def test_what_a_design_leaves_is_written(tmp_path: Path) -> None:
    tmp_path.joinpath("pyproject.toml").write_text('[tool.toolgen]\ndesign = "app"\n')
    tmp_path.joinpath("app.py").write_text(APP.replace("{further}", "json.JSONDecoder.own = lambda: Log"))
    done = in_a_process(tmp_path, "-m", "toolgen", "gen")
    assert (done.returncode, done.stderr.count("has no name 'design'")) == (2, 1)
    assert tmp_path.joinpath("log.txt").read_text() == "not closed"
