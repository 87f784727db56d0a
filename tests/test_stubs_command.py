"""`toolgen stubs`, and what `toolgen gen` does to stubs: made once, then followed, never rewritten."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ruff import find_ruff_bin

from .conftest import DESIGN, ProjectFolder
from .findings import findings_in

STUB = "executors/hall/people.py"
LEAVE = '''
    async def leave(self, payload: people.LeavePayload, ctx: ToolContext) -> people.LeaveResult:
        """Say goodbye."""
        raise NotImplementedError("leave returns LeaveResult with text")
'''
GREET_ERROR = (
    f"{STUB}:13:1: error: People.greet is not implemented (tool hall.people.greet) [stub-unimplemented]"
)
GREET_IS_OPEN = f"{STUB}:13: People.greet is not implemented (tool hall.people.greet)"


def python(folder: Path, program: str) -> str:
    paths = f"{Path(__file__).parents[1]}{os.pathsep}{folder}"
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def implement(project: ProjectFolder) -> None:
    """Write what the first tool does."""
    text = (project.path / STUB).read_text()
    body = 'return people.GreetResult(text=f"Hello {payload.name}")'
    project.write(
        STUB, text.replace('raise NotImplementedError("greet returns GreetResult with text")', body)
    )


@pytest.mark.exhaustive
def test_a_new_tool_brings_its_method_and_nothing_else(project: ProjectFolder) -> None:
    project.run("gen")
    implement(project)
    before = f"# mine\r\n{(project.path / STUB).read_text()}# the end"
    (project.path / STUB).write_bytes(before.encode())
    project.add_tool()
    done = project.run("gen")
    assert done.code == 0
    assert f"{STUB}:18: added: People.leave is not implemented (tool hall.people.leave)\n" in done.err
    assert (project.path / STUB).read_bytes() == before.replace("# the end", f"{LEAVE}# the end").encode()
    files = project.files()
    assert project.run("gen").err == "app/gen: up to date\n"
    assert project.files() == files
    assert "LeavePayload" in python(
        project.path,
        "from typing import get_type_hints as hints; import executors.hall.people as m;"
        "print(hints(m.People.leave, vars(m) | {'LeaveResult': 1}))",
    )


def test_what_cannot_be_inserted_is_named_on_every_run(project: ProjectFolder) -> None:
    project.run("gen")
    text = "from app.gen.hall.toolsets import people\nclass People(people.PeopleExecutor): greet = None\n"
    project.write(STUB, text)
    project.add_tool()
    line = f"{STUB}:2: class People has no method 'leave' (tool hall.people.leave); put the body of the class"
    assert line in project.run("gen").err
    assert line in project.run("gen").err
    assert (project.path / STUB).read_text() == text


def test_a_link_stays_a_link_and_the_mode_stays(project: ProjectFolder) -> None:
    project.run("gen")
    (project.path / STUB).rename(project.path / "real.py")
    (project.path / "real.py").chmod(0o640)
    (project.path / STUB).symlink_to(project.path / "real.py")
    project.add_tool()
    project.run("gen")
    assert (project.path / STUB).is_symlink()
    assert (project.path / "real.py").read_text().endswith(LEAVE)
    assert (project.path / "real.py").stat().st_mode & 0o777 == 0o640


def test_missing_imports_are_named_once(project: ProjectFolder) -> None:
    project.run("gen")
    project.write(
        STUB, "from app.gen.hall.toolsets import people\nclass P(people.PeopleExecutor):\n    greet = 1"
    )
    project.add_tool()
    line = f"{STUB}:1: the added code needs an import: from toolgen.runtime import ToolContext\n"
    assert line in project.run("gen").err
    assert line not in project.run("gen").err
    assert 'ctx: "ToolContext"' in (project.path / STUB).read_text()


def test_a_stub_that_cannot_be_read_changes_nothing(project: ProjectFolder) -> None:
    project.run("gen")
    (project.path / STUB).unlink()
    (project.path / STUB).mkdir()
    project.add_tool()
    before = project.files()
    done = project.run("gen")
    assert (done.code, done.err) == (
        2,
        f"error: cannot read {STUB}: Is a directory\n  hint: make it a readable file\n",
    )
    assert project.files() == before


def test_the_state_is_shown(project: ProjectFolder) -> None:
    project.run("gen")
    done = project.run("stubs")
    assert (done.code, done.out) == (0, f"hall.people: 1 unimplemented\n{GREET_IS_OPEN}\n")
    assert done.err == "executors: 1 unimplemented\n"
    implement(project)
    project.write(
        STUB, (project.path / STUB).read_text() + "\n    async def gone(self, payload, ctx): return 1\n"
    )
    project.add_tool()
    assert project.run("stubs").out.splitlines() == [
        "hall.people: 1 implemented, 1 missing, 1 orphaned",
        f"{STUB}:10: class People has no method 'leave' (tool hall.people.leave); run: toolgen gen",
        f"{STUB}:13: People.greet is implemented (tool hall.people.greet)",
        f"{STUB}:17: People.gone belongs to no tool: the design has no tool 'gone'; if you renamed the tool, "
        "move the body to its new method, otherwise delete it, or start its "
        "name with '_'",
    ]


def test_check_fails_on_what_is_open(project: ProjectFolder) -> None:
    done = project.run("stubs", "--check")
    assert (done.code, done.out) == (1, "")
    assert (
        done.err
        == f"{STUB}:1:1: error: the file is missing; run: toolgen gen [stub-missing]\nexecutors: 1 missing\n"
    )
    project.run("gen")
    done = project.run("stubs", "--check")
    assert (done.code, done.err) == (1, f"{GREET_ERROR}\nexecutors: 1 unimplemented\n")
    assert [one["code"] for one in findings_in(project.run("stubs", "--json").out)] == ["stub-unimplemented"]
    implement(project)
    done = project.run("stubs", "--check")
    assert (done.code, done.out, done.err) == (0, "", "executors: 1 implemented\n")


def test_stubs_of_a_wrong_design_shows_its_mistakes(project: ProjectFolder) -> None:
    project.write("app/design.py", DESIGN.replace("max_length=40", "default=3"))
    done = project.run("stubs")
    assert (done.code, done.out) == (1, "")
    assert "app/design.py:12:13: error: " in done.err


@pytest.mark.exhaustive
def test_a_fresh_stub_is_clean_in_its_project_and_loads_no_types(project: ProjectFolder) -> None:
    project.run("gen")
    options = ["--isolated", "--no-cache", "--select=E,F,I,UP,RUF,B,SIM,D2", "--line-length=100"]
    subprocess.run([find_ruff_bin(), "check", *options, "executors"], cwd=project.path, check=True)
    program = "import sys, executors.hall.people; print([name for name in sys.modules if 'types' in name])"
    assert "app.gen" not in python(project.path, program)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("there", "made"),
    [
        ((), ["server/__init__.py", "server/tools/__init__.py"]),
        (("server/app.py",), ["server/tools/__init__.py"]),
        (("server/tools/executors/__init__.py",), []),
    ],
)
def test_folders_of_stubs_that_are_made_are_packages(
    project: ProjectFolder, there: tuple[str, ...], made: list[str]
) -> None:
    for name in there:
        project.write(name, "")
    text = (project.path / "pyproject.toml").read_text()
    project.write("pyproject.toml", f'{text}stubs = "server/tools/executors"\n')
    project.run("gen")
    own = {f"server/tools/executors/{name}__init__.py" for name in ("", "hall/")}
    found = {name for name in project.files() if name.endswith("__init__.py") and name.startswith("server")}
    assert found == {*own, *made}
    assert project.run("gen").err == "app/gen: up to date\n"


@pytest.mark.exhaustive
def test_a_tool_called_as_its_toolset_does_not_hide_it(project: ProjectFolder) -> None:
    project.write("app/design.py", DESIGN.replace('"greet"', '"people"'))
    project.run("gen")
    text = (project.path / STUB).read_text()
    assert "from app.gen.hall.toolsets import people as people_toolset\n" in text
    assert "class People(people_toolset.PeopleExecutor):" in text
    assert "payload: people_toolset.PeoplePayload" in text
    hints = "from typing import get_type_hints as h; from executors.hall.people import People; "
    assert "PeopleResult" in python(project.path, f"{hints}print(h(People.people))")


def test_an_executor_of_a_toolset_that_is_gone_is_named(project: ProjectFolder) -> None:
    project.run("gen")
    implement(project)
    mine = (project.path / STUB).read_bytes()
    project.write("executors/hall/own.py", "from app.gen.hall.toolsets import people\n\nx = people\n")
    project.write("executors/hall/broken.py", "class (")
    project.write("app/design.py", DESIGN.replace('"people"', '"folk"'))
    line = (
        f"{STUB}:10: class People derives from people.PeopleExecutor, which the design does not have; "
        "move what you need, and delete the file"
    )
    for _ in range(2):
        assert line in project.run("gen").err.splitlines()
    assert (project.path / STUB).read_bytes() == mine
    done = project.run("stubs")
    assert done.out.splitlines()[-1] == line
    assert done.err == "executors: 1 unimplemented, 1 orphaned\n"
    _, record = findings_in(project.run("stubs", "--format", "json").out)
    assert (record["severity"], record["code"], record["file"]) == ("warning", "stub-orphaned", STUB)
    (project.path / STUB).unlink()
    assert project.run("gen").err == "app/gen: up to date\n"
