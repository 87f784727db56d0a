"""What a design is known by, so that an unchanged one is not evaluated again, and which are not known."""

from __future__ import annotations

import pytest

from tests.conftest import DESIGN, ProjectFolder, in_a_process
from tests.test_last_generation import CURRENT, STUBS, generate
from toolgen.cli.last_generation import nothing_to_do


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "line",
    [
        "import random",
        "import time as clock",
        "from importlib import import_module",
        "import yaml",
        "from datetime import date; TODAY = date.today()",
        "import uuid; ID = uuid.uuid4()",
        "from pathlib import Path; IS_THERE = Path('x').exists()",
        "import os; FILES = os.listdir('.')",
        "from pathlib import Path; FILES = [*Path('.').glob('*.json')]",
        "X = __import__('random').random()",
        "import os; IS_THERE = os.path.isfile('x')",
        "from os.path import getmtime; X = getmtime(__file__)",
        "from pathlib import Path; HERE = Path(__file__).resolve()",
        "import os; X = os.environb.get(b'X')",
        "import os; X = [name for name in os.environ if name.startswith('APP_')]",
        "import os; X = repr(os.environ)",
        "X = ' '.join({'a', 'b'})",
        "X = [letter for letter in {'a', 'b'}]",
        "X = set('ab')",
        "X = [*({'a': 1, 'b': 2}.keys() & {'a': 1, 'b': 2})]",
        "X = [*({'a': 1}.items() ^ {'b': 1}.items())]",
        "X = {'a': 1}.keys()\nX |= {'b': 1}.keys()",
        "import dataclasses; X = dataclasses.sys.argv",
        "from datetime import datetime; X = datetime(2020, 1, 1).astimezone()",
        "with open('x', 'w') as file: file.writelines('x')",
        "X = hash('a')",
        "print('imported')",
        "from app.executors import X",
        "import app.chance",
    ],
)
def test_a_design_that_may_say_something_else_is_evaluated_each_time(
    project: ProjectFolder, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write(
        "app/chance.py", "def number():\n    import random\n    return random.random()\nX = number()\n"
    )
    project.write("pyproject.toml", f"{project.path.joinpath('pyproject.toml').read_text()}{STUBS}")
    project.write("app/executors/__init__.py", "import random\nX = random.random()\n")
    project.write("app/design.py", f"{line}\n{DESIGN}")
    assert generate() == 0
    assert nothing_to_do(["gen"]) == ""


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("with open(b'data.txt') as file: X = file.read()", "data.txt"),
        ("with open('data.txt', 'r+') as file: X = file.read()", "data.txt"),
        ("with open('executors/data.txt') as file: X = file.read()", "executors/data.txt"),
        ("X = 'a' in {'a', 'b'}", "app/design.py"),
        ("with open(__file__[:-9] + 'data.txt') as file: X = file.read()", "app/data.txt"),
    ],
)
def test_what_was_read_is_known(project: ProjectFolder, line: str, file: str) -> None:
    for name in ("data.txt", "app/data.txt", "executors/data.txt"):
        project.write(name, "")
    project.write("app/design.py", f"{line}\n{DESIGN}")
    assert generate() == 0
    assert nothing_to_do(["gen"]) == CURRENT
    with (project.path / file).open("a") as opened:
        opened.write("\n")
    assert nothing_to_do(["gen"]) == ""


def test_a_variable_counts_as_it_was_before_the_design_set_it(
    project: ProjectFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APP_LANGUAGE", "")  # so that it is gone after the test
    monkeypatch.delenv("APP_LANGUAGE")
    lines = "import os\nX = os.getenv('APP_LANGUAGE')\nos.environ['APP_LANGUAGE'] = 'de'\n"
    project.write("app/design.py", lines + DESIGN)
    assert generate() == 0
    monkeypatch.setenv("APP_LANGUAGE", "de")
    assert nothing_to_do(["gen"]) == ""


@pytest.mark.parametrize("line", ["__name__ = 'other'", "del __cached__", "del __spec__"])
def test_a_design_may_set_the_names_that_python_gives_it(project: ProjectFolder, line: str) -> None:
    project.write("app/design.py", f"{line}\n{DESIGN}")
    assert generate() == 0


def test_a_design_has_the_whole_environment(project: ProjectFolder) -> None:
    project.write("app/design.py", f"import os\nX = os.environ | {{}}\n{DESIGN}")
    assert generate() == 0


TEXT = """\
END = "."
class Text(str):
    def __format__(self, spec):
        return self + END
"""


def test_a_text_of_an_own_class_has_its_module_while_code_is_made(project: ProjectFolder) -> None:
    words = 'Attribute("words", ArrayOf(String), "What to say.", default=[Text("Hello")]),'
    design = DESIGN.replace("        Args(", f"        Args({words}").replace("Args,", "Args, ArrayOf,")
    project.write("app/design.py", f"{TEXT}{design}")
    done = in_a_process(project.path, "-m", "toolgen", "gen")
    assert done.returncode == 0, done.stderr
