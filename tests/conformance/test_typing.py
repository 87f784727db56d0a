"""What mypy and pyright say about designs, right ones and wrong ones."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.costly

ROOT = Path(__file__).parents[2]
FOLDER = Path("tests/typing")
COMMANDS = {
    "mypy": ["mypy", "--strict", "--config-file=", "--output=json", str(FOLDER)],
    "pyright": ["pyright", "--outputjson", "--pythonpath", sys.executable, "--project", str(FOLDER)],
}


def refused(checker: str) -> set[tuple[str, int]]:
    """Return file name and line of everything that the checker refuses in the folder."""
    command = [sys.executable, "-m", *COMMANDS[checker]]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    if checker == "mypy":
        found = (json.loads(line) for line in output.splitlines())
        return {(Path(error["file"]).name, error["line"]) for error in found if error["severity"] == "error"}
    errors = json.loads(output)["generalDiagnostics"]
    return {(Path(error["file"]).name, error["range"]["start"]["line"] + 1) for error in errors}


def marked() -> set[tuple[str, int]]:
    """Return file name and line of everything that is marked as wrong."""
    return {
        (path.name, number)
        for path in (ROOT / FOLDER).glob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if line.endswith("# wrong")
    }


@pytest.mark.parametrize("checker", COMMANDS)
def test_checkers_refuse_exactly_the_marked_lines(checker: str) -> None:
    """A clause, a default, an enum, a constraint or a keyword in the wrong place is a type error."""
    assert len(marked()) > 80
    assert refused(checker) == marked()
