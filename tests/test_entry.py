"""The end of a process that was a command."""

from __future__ import annotations

from pathlib import Path

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
from toolgen.cli import main
sys.exit(main())
"""
LAST = "class Last:\n    def __del__(self):\n        print('finalized')\nlast = Last()"


def test_the_list_of_commands_is_that_of_commands_with_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    listed = capsys.readouterr()
    with pytest.raises(SystemExit):
        get_command(app)(["--help"], prog_name="toolgen")
    assert capsys.readouterr() == listed


@pytest.mark.exhaustive
def test_a_command_that_used_temporal_leaves_before_the_interpreter_ends(tmp_path: Path) -> None:
    """The interpreter would wait for the thread, for ever."""
    done = in_a_process(tmp_path, "-c", PROGRAM.format(imports="import temporalio", daemon=False))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith("toolgen ")
    assert done.stdout.splitlines()[1:] == ["the last spans"]


@pytest.mark.exhaustive
def test_another_command_ends_with_its_interpreter(tmp_path: Path) -> None:
    done = in_a_process(tmp_path, "-c", PROGRAM.format(imports=LAST, daemon=True))
    assert (done.returncode, done.stdout.splitlines()[1:]) == (0, ["the last spans", "finalized"])
