"""`[tool.toolgen]`: what it says, and what each mistake in it gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolgen.cli.config import Project, find_project
from toolgen.contract.errors import ToolgenError


def write(folder: Path, table: str) -> Path:
    file = folder / "pyproject.toml"
    file.write_text(f"[tool.toolgen]\n{table}\n")
    return file


def test_only_the_design_must_be_said(tmp_path: Path) -> None:
    file = write(tmp_path, 'design = "app.design"')
    assert find_project(file) == Project(file=file, design="app.design", package="gen")


def test_the_package_follows_from_the_folder(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        'design = "d"\nout = "app/gen"\nstubs = "app/executors"\nruntime = "app.main:make"\n'
        'test_runtime = "app.main:make_for_tests"',
    )
    assert find_project(file) == Project(
        file=file,
        design="d",
        out="app/gen",
        package="app.gen",
        stubs="app/executors",
        runtime="app.main:make",
        test_runtime="app.main:make_for_tests",
    )
    assert find_project(write(tmp_path, 'design = "d"\nout = "my-gen"\npackage = "x.y"')).package == "x.y"


def test_functions_stand_in_the_place_of_a_design(tmp_path: Path) -> None:
    file = write(tmp_path, 'functions = ["app.rooms", "app.shop:till.pay"]')
    assert find_project(file) == Project(
        file=file, package="gen", functions=("app.rooms", "app.shop:till.pay")
    )


def test_the_nearest_file_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path, 'design = "d"')
    (tmp_path / "a/b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a/b")
    assert find_project(None).file == file
    (tmp_path / "a/pyproject.toml").write_text("")
    with pytest.raises(ToolgenError, match=r"a/pyproject\.toml has no table \[tool\.toolgen\]"):
        find_project(None)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("", "has no design\n  hint: add design ="),
        ('desing = "d"', "has no key 'desing'\n  hint: did you mean 'design'\\?"),
        ('x = "d"', "has no key 'x'\n  hint: remove it; the keys are design, out"),
        ("design = 3", "design 3 is not a non-empty string\n  hint: write design ="),
        ('design = ""', "is not a non-empty string"),
        ('design = "app/design.py"', "is not a dotted module name"),
        ('design = "d"\nout = "/gen"', "out '/gen' is not a folder inside the project"),
        ('design = "d"\nout = "../x"', "is not a folder inside the project"),
        ('design = "d"\nout = "."', "is not a folder inside the project"),
        ('design = "d"\nout = "my-gen"', "out 'my-gen' has no import path\n  hint: set its import path"),
        (
            'design = "d"\nout = "json"',
            "out 'json' hides Python's own module 'json'\n  hint: choose another name",
        ),
        ('design = "d"\npackage = "email.gen"', "package 'email.gen' hides Python's own module 'email'"),
        ('design = "d"\nstubs = "gen/executors"', "overlap"),
        ('design = "d"\nruntime = "app.main.make"', "is not module:callable"),
        ('design = "d"\ntest_runtime = "app.main.make"', "test_runtime 'app.main.make' is not module:call"),
        (
            'design = "d"\nruntime = "app.main:make"\ntest_runtime = "app.main:make"',
            "test_runtime 'app.main:make' is also the function of 'runtime', so tests would run on live data"
            "\n  hint: write test_runtime = ",
        ),
        (
            'design = "d"\nruntime = "app.main:make"\nruns = "runs.db"',
            "runs 'runs.db' is for projects without 'runtime'\n  hint: remove it, and give your runtime",
        ),
        ('design = "d"\ncatalog_format = 2', "has no key 'catalog_format'"),
        ("functions = []", r"functions \[\] is not a list of modules, module:function or module:object"),
        ('functions = ["app.rooms", 3]', "is not a list of modules"),
        ('functions = ["app/rooms.py"]', "is not a list of modules"),
        ('functions = ["app.rooms", "app.rooms"]', "lists one of them twice\n  hint: remove one"),
        (
            'functions = ["app.rooms"]\nruntime = "app.main:make"',
            "is for projects without 'runtime'\n  hint: remove it, and let your runtime register",
        ),
        ("design = ", "is not TOML"),
    ],
)
def test_a_mistake_is_named_with_its_fix(tmp_path: Path, table: str, message: str) -> None:
    with pytest.raises(ToolgenError, match=message):
        find_project(write(tmp_path, table))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ToolgenError, match="cannot read"):
        find_project(tmp_path / "other.toml")
