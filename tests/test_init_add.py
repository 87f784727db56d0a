"""`toolgen init --add`: an app for a design of each kind and for each setting, or a project as it was."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.selection import first
from toolgen.cli import main
from toolgen.cli.config import EXAMPLES
from toolgen.cli.generation_record import CACHE
from toolgen.codegen.write import STAGING, Edit
from toolgen.codegen.write.output import replace_files
from toolgen.contract.errors import ToolgenError

ROOT = Path(__file__).parents[1]
FUNCTIONS = """\
def stock() -> int:
    return 1
"""
DESIGN = """\
from toolgen.dsl import (
    Agent, Args, Attribute, BindTo, Design, Export, Functions, Int, Method, NativeTool, Result, Return,
    Service, String, Tool, Toolset, Use,
)
from toolgen.dsl.http import GET, HTTP, Server

COUNT = Attribute("result", Int, "How many.", required=True)
STOCK = Method("stock", "How much.", Result(COUNT))
ABOUT, ANSWER = (Attribute(name, String, "A text.", required=True) for name in ("about", "answer"))


def bound(name, service):
    return Toolset(name, "Tools.", Tool("stock", "How much.", Return(COUNT), BindTo(service, "stock")))


of_functions = bound("of_functions", "Functional")
of_http = bound("of_http", "Remote")
of_service = bound("of_service", "Own")
of_executor = Toolset("of_executor", "Tools.", Tool("stock", "How much.", Return(COUNT)))
of_provider = Toolset("of_provider", "Tools.", NativeTool("openai", "web_search"))
of_agent = Toolset("of_agent", "Tools.", Tool("ask", "Ask.", Args(ABOUT), Return(ANSWER)))
design = Design(
    "shop",
    "A shop.",
    Service("Functional", "A store of functions.", Functions("shop.store"), STOCK),
    Service(
        "Remote",
        "A store over HTTP.",
        Server("https://store.example"),
        Method("stock", "How much.", Result(COUNT), HTTP(GET("/stock"))),
    ),
    Service("Own", "A store that its user writes.", Method("stock", "How much.", Result(COUNT))),
    Service(
        "desk",
        "A desk.",
        Agent("expert", "Answers.", Export(of_agent)),
        Agent("first", "First.", USED),
        Agent("second", "Second.", USED),
    ),
)
"""
SETTINGS = """\
[tool.toolgen]
design = "shop.design"
out = "shop/gen"
stubs = "shop/executors"
"""
KINDS = ("of_functions", "of_http", "of_service", "of_executor", "of_provider", "of_agent")


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    before = set(sys.modules)
    yield tmp_path
    forget(before)


def forget(before: set[str]) -> None:
    """Unload what commands have imported of a project, as the end of a process does."""
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in (
            "app",
            "design",
            "executors",
            "gen",
            "services",
            "shop",
            "store",
            "tools",
        ):
            del sys.modules[name]


def command(*arguments: str) -> int:
    before = set(sys.modules)
    code = main(list(arguments))
    forget(before)
    return code


def files(folder: Path) -> dict[str, bytes | None]:
    """Return what is in a folder, without what Python and toolgen remember there."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if not {"__pycache__", CACHE} & set(path.relative_to(folder).parts)
    }


@pytest.fixture
def project(empty: Path) -> Path:
    """Return a project with a design of two agents that use a toolset of functions, without a runtime."""
    (empty / "shop").mkdir()
    (empty / "shop/store.py").write_text(FUNCTIONS)
    (empty / "shop/design.py").write_text(DESIGN.replace("USED", "Use(of_functions)"))
    (empty / "pyproject.toml").write_text(SETTINGS)
    return empty


@pytest.mark.parametrize("kind", first(KINDS, 3))
def test_two_agents_use_one_toolset(project: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    (project / "shop/design.py").write_text(DESIGN.replace("USED", f"Use({kind})"))
    assert command("init", "--add") == 0
    capsys.readouterr()
    assert command("tools", "list") == 0
    assert kind == "of_provider" or f"desk.{kind}." in capsys.readouterr().out


def test_the_shared_executor_answers(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("init", "--add") == 0
    capsys.readouterr()
    assert command("call", "stock") == 0
    assert capsys.readouterr().out == '{"result":1}\n'


REFUSED = {
    "runs": 'runs = "runs.db"',
    "functions": 'functions = ["shop.store"]',
    "mcp": 'mcp = { git = { command = ["mcp-server-git"] } }',
    "runtime": 'runtime = "shop.other:runtime"',
    "design": 'functions = ["shop.store"]',
}
"""A line of each setting that a project with a runtime or without a design has."""
OF_EACH = {
    **REFUSED,
    "out": 'out = "shop/made"',
    "typescript": 'typescript = "web"',
    "package": 'package = "shop.gen"',
    "stubs": 'stubs = "shop/own"',
    "test_runtime": 'test_runtime = "shop.checks:runtime"',
    "agents": 'agents = { first = "demo" }',
    "lint": "lint = { many-arguments = 20 }",
}
"""A line for each setting, in the place of its own."""


def test_stubs_may_be_outside_of_the_source_folder(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.move(project / "shop", project / "src/shop")
    settings = '[tool.toolgen]\ndesign = "shop.design"\nout = "src/shop/gen"\npackage = "shop.gen"\n'
    settings += 'stubs = "shop_stubs"\n'
    (project / "pyproject.toml").write_text(settings)
    (project / "src/shop/design.py").write_text(DESIGN.replace("USED", "Use(of_executor)"))
    assert command("init", "--add") == 0
    capsys.readouterr()
    assert command("tools", "list") == 0
    assert "desk.of_executor.stock" in capsys.readouterr().out


def test_each_setting_is_tried() -> None:
    assert OF_EACH.keys() == EXAMPLES.keys()


def with_line(key: str) -> str:
    """Return the settings with the line of a key in the place of its own."""
    lines = [line for line in SETTINGS.splitlines() if not line.startswith(f"{key} ")]
    return "\n".join([*lines, OF_EACH[key], ""])


@pytest.mark.parametrize("key", first(OF_EACH, 7))
def test_an_app_fits_the_settings_or_nothing_changes(
    project: Path, capsys: pytest.CaptureFixture[str], key: str
) -> None:
    (project / "pyproject.toml").write_text(with_line(key))
    before = files(project)
    code = command("init", "--add")
    captured = capsys.readouterr()
    assert code == (2 if key in REFUSED else 0), captured.err
    if code == 0:
        assert command("tools", "list") == 0
        assert "desk.of_functions.stock" in capsys.readouterr().out
        assert command("gen", "--check") == 0
    else:
        assert key in captured.err
        assert "  hint: " in captured.err
        assert files(project) == before


def test_the_function_of_the_tests_is_not_that_of_live_data(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "pyproject.toml").write_text(f'{SETTINGS}test_runtime = "shop.app:runtime"\n')
    before = files(project)
    assert command("init", "--add") == 2
    assert "test_runtime 'shop.app:runtime'" in capsys.readouterr().err
    assert files(project) == before


def folder_for_stub(folder: Path) -> None:
    (folder / "shop/executors/desk/of_functions.py").mkdir(parents=True)


def file_for_folder(folder: Path) -> None:
    (folder / "shop/gen").write_text("mine")


def foreign_file(folder: Path) -> None:
    (folder / "shop/gen/desk").mkdir(parents=True)
    (folder / "shop/gen/types.py").write_text("mine")


@pytest.mark.parametrize("damage", [folder_for_stub, file_for_folder, foreign_file])
def test_an_app_is_not_left_behind_if_the_generator_stops(
    project: Path, capsys: pytest.CaptureFixture[str], damage: Callable[[Path], None]
) -> None:
    damage(project)
    before = files(project)
    assert command("init", "--add") != 0
    assert "error: " in capsys.readouterr().err
    assert files(project) == before


@pytest.mark.parametrize("text", ["tool = { ruff = {} }\n", "[tool]\ntoolgen = 3\n"])
def test_new_tools_are_not_left_behind_if_the_settings_cannot_be_written(
    empty: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (empty / "pyproject.toml").write_text(text)
    assert command("init", "shop", "--add") == 2
    assert "cannot be added to pyproject.toml" in capsys.readouterr().err
    assert files(empty) == {"pyproject.toml": text.encode()}


def test_files_are_replaced_together_or_not_at_all(empty: Path) -> None:
    first, second, third = empty / "design.py", empty / "new/folder/lock.json", empty / "design.py/lock.json"
    first.write_bytes(b"before")
    edits = {first: Edit(old=b"before", new=b"after"), second: Edit(new=b"after"), third: Edit(new=b"after")}
    with pytest.raises(ToolgenError, match=r"cannot write .*design\.py"):
        replace_files(edits)
    assert files(empty) == {"design.py": b"before"}
    replace_files({first: Edit(old=b"before"), second: Edit(new=b"after")})
    assert files(empty) == {"new": None, "new/folder": None, "new/folder/lock.json": b"after"}


def test_a_file_that_changed_meanwhile_is_left_with_all_others(empty: Path) -> None:
    first, second = empty / "design.py", empty / "lock.json"
    second.write_bytes(b"of somebody")
    with pytest.raises(ToolgenError, match=r"lock\.json was changed by another program; nothing was written"):
        replace_files({first: Edit(new=b"after"), second: Edit(old=b"before", new=b"after")})
    assert files(empty) == {"lock.json": b"of somebody"}


def test_a_link_stays_one_and_a_link_of_somebody_beside_the_file_is_not_followed(empty: Path) -> None:
    design, other = empty / "design.py", empty / "other"
    (empty / "real.py").write_bytes(b"before")
    design.symlink_to("real.py")
    other.write_bytes(b"of somebody")
    for name in (".toolgen-import-real.py", f"{STAGING}real.py"):
        (empty / name).symlink_to(other)
    replace_files({design: Edit(old=b"before", new=b"after")})
    assert design.is_symlink()
    assert (design.read_bytes(), other.read_bytes()) == (b"after", b"of somebody")


STARTS: dict[str, tuple[str, ...]] = {
    "tools of functions": ("init", "shop", "--add", "--from", "functions", "parts"),
    "an app": ("init", "--add"),
    "tools": ("init", "shop", "--add"),
    "a project": ("init", "shop", "--agent"),
    "a design": ("import", "python", "parts", "--out", "new/folder"),
}


@pytest.mark.parametrize(
    ("start", "limit"),
    first([(start, limit) for limit in (4500, 2000, 600, 200) for start in STARTS], 2),
)
def test_a_disk_that_is_full_leaves_the_folder_as_it_was(project: Path, start: str, limit: int) -> None:
    """No file of more bytes than the limit can be written, which is another one for each limit."""
    (project / "parts.py").write_text(FUNCTIONS)
    if start != "an app":
        shutil.rmtree(project / "shop")
        (project / "pyproject.toml").write_text("# mine\n")
    before = files(project)
    done = subprocess.run(
        ["prlimit", f"--fsize={limit}", sys.executable, "-m", "toolgen", *STARTS[start]],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert (files(project) == before) == (done.returncode != 0)
    assert done.returncode == 0 or "error: " in done.stderr
