"""`toolgen init --add`: an app for a design of each kind and for each setting, or a project as it was."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolgen.cli import main
from toolgen.cli.last_generation import CACHE

FUNCTIONS = """\
def stock() -> int:
    return 1
"""
DESIGN = """\
from toolgen.dsl import (
    GET, HTTP, Agent, Args, Attribute, BindTo, Design, Export, Functions, Int, Method, NativeTool, Result,
    Return, Server, Service, String, Tool, Toolset, Use,
)

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


@pytest.mark.parametrize("kind", KINDS)
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
