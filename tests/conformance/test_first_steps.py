"""docs/first-steps.md followed to the letter, offline, in the project that `toolgen init` makes."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.test_docs import BLOCK, FOLLOWED

pytestmark = pytest.mark.costly(whole=True)


def environment() -> dict[str, str]:
    """Return variables with which pip needs no network: what toolgen needs is taken from this environment.

    The new project still makes its own `.venv`, and builds and installs toolgen there.
    """
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return ours | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": sysconfig.get_path("purelib"),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it as --no-build-isolation
        "PIP_NO_COMPILE": "0",  # likewise
    }


@dataclass(slots=True)
class Reader:
    """Somebody who does what the document says, and finds what it shows."""

    folder: Path
    printed: dict[str, subprocess.CompletedProcess[str]] = field(default_factory=dict)
    """By command line."""

    def follow(self, document: str) -> None:
        blocks = [(block[1], block[2]) for block in BLOCK.finditer(document)]
        for (language, text), (next_language, shown) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
            match language:
                case "sh":
                    expected = json.loads(shown) if next_language == "json" else None
                    self.run(text.splitlines(), expected)
                case "python":
                    self.write(text)
                case _:
                    assert language == "json"

    def run(self, lines: list[str], shown: dict[str, object] | None) -> None:
        for line in lines:
            if line.startswith("cd "):
                self.folder /= line.removeprefix("cd ")
            elif not line.startswith("pip install "):
                self.printed[line] = done = self.shell(line)
                failed = done.returncode != 0
                assert failed == ("error" in (shown or {})), f"{line}\n{done.stdout}{done.stderr}"
        if shown is not None:
            assert json.loads(self.printed[lines[-1]].stdout) == shown

    def write(self, text: str) -> None:
        """Put a tool at the end of the toolset, or a method in the place of its stub at the file's end."""
        if text.startswith("    d.Tool("):
            file = self.folder / "notes/design.py"
            toolset, end, rest = file.read_text("utf-8").partition("\n)\n\ndesign = ")
            assert end
            file.write_text(f"{toolset}\n{text.rstrip()}{end}{rest}", "utf-8")
        else:
            file = self.folder / "notes/executors/notebook/notes.py"
            code, stub, rest = file.read_text("utf-8").partition(text.splitlines()[0])
            assert "raise NotImplementedError(" in rest
            assert "async def" not in rest
            file.write_text(code + text, "utf-8")
            assert stub

    def shell(self, line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", line], cwd=self.folder, env=environment(), capture_output=True, text=True
        )


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    reader = Reader(tmp_path_factory.mktemp("first-steps"))
    reader.follow(FOLLOWED.read_text("utf-8"))
    return reader


def test_the_project_passes_its_own_demo_and_test(reader: Reader) -> None:
    demo, test = reader.printed["make demo"], reader.printed["make test"]
    assert '{"notes":[{"id":2,"title":"Milk"},{"id":1,"title":"Welcome"}],' in demo.stdout
    assert "notebook.notes.read_note" in demo.stderr
    assert "notes/gen: up to date" in test.stderr
    assert "4 examples passed" in test.stderr
    assert "Ran 4 tests in " in test.stderr


@pytest.mark.parametrize(
    ("removed", "said"),
    [("nothing", "4 examples passed\n"), ("test_runtime", "4 examples: 2 passed, 2 not run\n")],
)
def test_the_notes_of_its_user_survive_the_examples(reader: Reader, removed: str, said: str) -> None:
    """One of the examples deletes the first note, one adds another; the user has both that are there."""
    settings = (reader.folder / "pyproject.toml").read_text("utf-8").splitlines(keepends=True)
    kept = "".join(line for line in settings if not line.startswith(removed))
    (reader.folder / "other.toml").write_text(kept, "utf-8")
    precious = '{"title":"Precious","text":"mine"}'
    added = reader.shell(f"rm -f notes.db; .venv/bin/toolgen call add_note '{precious}'")
    assert added.stdout == '{"id":2}\n'
    for _ in range(2):
        done = reader.shell(".venv/bin/toolgen test --config other.toml")
        assert (done.returncode, done.stdout) == (0, "")
        assert said in done.stderr
    assert reader.shell(".venv/bin/toolgen call read_note '{\"id\": 2}'").stdout == f"{precious}\n"
    listed = json.loads(reader.shell(".venv/bin/toolgen call list_notes '{}'").stdout)
    assert [note["title"] for note in listed["notes"]] == ["Precious", "Welcome"]


def test_it_uses_an_environment_of_its_own(reader: Reader) -> None:
    installed = reader.shell(".venv/bin/python -c 'import toolgen; print(toolgen.__file__)'").stdout
    assert Path(installed).is_relative_to(reader.folder / ".venv")


def test_toolgen_may_come_from_elsewhere(reader: Reader) -> None:
    done = reader.shell("make --dry-run --always-make .venv/ready TOOLGEN_SOURCE=/elsewhere")
    assert "'/elsewhere[gen]'" in done.stdout
    assert "requirements.txt" not in done.stdout


def test_its_code_is_clean(reader: Reader) -> None:
    check = "ruff check --isolated --ignore-noqa --select E4,E7,E9,F,B,I,UP,SIM,RUF notes tests"
    checked = reader.shell(check)
    assert checked.returncode == 0, checked.stdout
    form = "ruff format --isolated --no-cache --diff --line-length 100 notes tests"
    assert reader.shell(form).returncode == 0
    types = reader.shell(f"mypy --strict --python-executable {shlex.quote(sys.executable)} notes tests")
    assert types.returncode == 0, types.stdout
