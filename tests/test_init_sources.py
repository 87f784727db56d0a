"""`toolgen init` with a source, with an agent, and into projects that exist: what is written, and where."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolgen.cli import main
from toolgen.cli.init_design import with_agent
from toolgen.cli.project_place import find_place, install_command, with_settings
from toolgen.contract.errors import ToolgenError

from .conftest import in_a_process

FUNCTIONS = '''\
"""Rooms of the house."""


def book_room(room: str, seats: int = 4) -> str:
    """Book a room for a day."""
    return f"{room} for {seats}"
'''
BLOCK = '[tool.toolgen]\ndesign = "shop.design"\n'


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("desk", "rooms", "shop", "tools"):
            del sys.modules[name]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# mine",
        '[project] # ours\nname = "shop"\n',
        '[project]\r\nname = "shop"\r\n',
        '[project]\nname = "shop"',
    ],
    ids=["empty", "comment", "table", "crlf", "no end"],
)
def test_settings_leave_everything_else_as_it_is(text: str) -> None:
    new = with_settings(text, BLOCK)
    assert new.startswith(text)
    assert tomllib.loads(new) == {**tomllib.loads(text), "tool": {"toolgen": {"design": "shop.design"}}}
    assert "\r\n" not in text or "\n" not in new.replace("\r\n", "")


def test_a_key_comes_into_the_table_with_its_comments() -> None:
    text = '[tool.ruff]\nline-length = 9 # short\n\n[tool.toolgen] # ours\n# which\ndesign = "d"\n'
    new = with_settings(text, "", into={"runtime": "app:runtime"})
    assert new == text.replace("# ours\n", '# ours\nruntime = "app:runtime"\n')
    crlf = with_settings(text.replace("\n", "\r\n"), "", into={"runtime": "app:runtime"})
    assert crlf == new.replace("\n", "\r\n")


@pytest.mark.parametrize("text", ["tool = { ruff = {} }\n", '[tool]\ntoolgen = { design = "d" }\n'])
def test_settings_that_cannot_be_added_are_shown(text: str) -> None:
    with pytest.raises(ToolgenError, match="automatically\n  hint: add: "):
        with_settings(text, BLOCK)


@pytest.mark.parametrize(
    ("files", "package", "path"),
    [
        (["src/shop/__init__.py"], "shop.tools", "src/shop/tools"),
        (["shop/__init__.py", "tests/__init__.py"], "shop.tools", "shop/tools"),
        (["shop/__init__.py", "other/__init__.py"], "shop.tools", "shop/tools"),
        (["one/__init__.py", "other/__init__.py"], "tools", "tools"),
        (["src/one.py"], "tools", "src/tools"),
        ([], "tools", "tools"),
    ],
)
def test_a_package_is_put_where_the_project_has_its_own(
    tmp_path: Path, files: list[str], package: str, path: str
) -> None:
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "Shop"\n')
    place = find_place(tmp_path, "tools")
    assert (place.package, place.path) == (package, path)


@pytest.mark.parametrize(
    ("text", "lock", "command"),
    [
        ("[tool.uv]\n", "", "uv add 'toolgen'"),
        ("", "uv.lock", "uv add 'toolgen'"),
        ("[tool.poetry]\n", "", "poetry add 'toolgen'"),
        ("", "poetry.lock", "poetry add 'toolgen'"),
        ("", "requirements.txt", "pip install 'toolgen'"),
    ],
)
def test_a_project_is_told_how_it_gets_toolgen(tmp_path: Path, text: str, lock: str, command: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    if lock:
        (tmp_path / lock).touch()
    assert install_command(tmp_path, "toolgen") == command


def test_an_agent_comes_into_a_design_that_was_imported() -> None:
    text = (
        "from toolgen import dsl as d\n\n"
        'rooms = d.Toolset("the-rooms", "Räume.")\n\n'
        'design = d.Design("é", "Räume.", d.Service("rooms", "é", rooms), version="1")\n'
    )
    made = with_agent(text, {"the-rooms": ["book"]})
    assert made.startswith("from toolgen import dsl as d\n\nrooms = ")
    assert "d.Use(rooms, confirm=['book']))\n" in made
    assert 'rooms), d.Service("desk", "Talks with people.", clerk), version="1")\n' in made


@pytest.mark.exhaustive
def test_functions_become_a_project_that_answers(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (empty / "rooms.py").write_text(FUNCTIONS)
    assert main(["init", "desk", "--agent", "--from", "functions", "rooms.py"]) == 0
    checked = in_a_process(empty / "desk", "-m", "toolgen", "gen", "--check")
    assert checked.returncode == 0, checked.stderr
    printed = capsys.readouterr().out
    assert "desk/rooms.py " in printed
    assert "  make chat\n" in printed
    settings = ["--config", "desk/pyproject.toml"]
    assert main(["call", "book_room", '{"room": "hall"}', *settings]) == 0
    assert json.loads(capsys.readouterr().out) == {"result": "hall for 4"}
    assert main(["run", "clerk", 'book_room {"room": "hall"}', *settings]) == 3
    assert "it waits for a confirmation" in capsys.readouterr().err


def test_what_an_import_leaves_out_is_said_without_its_next_steps(
    empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (empty / "rooms.py").write_text(f"{FUNCTIONS}\n\ndef any_number(*rooms: str) -> None: ...\n")
    assert main(["init", "desk", "--from", "functions", "rooms.py"]) == 0
    told = capsys.readouterr().err
    assert "rooms.py: error: tool 'any_number'" in told
    assert "imported 1 tool; 1 error" in told
    assert "next: set design" not in told  # the settings have it already
    assert main(["import"]) == 2
    assert "hint: pass the folder of the design with --out, or KIND and SOURCE" in capsys.readouterr().err


def test_tools_come_into_a_project_and_nothing_of_it_changes(
    empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (empty / "src/shop").mkdir(parents=True)
    (empty / "src/shop/__init__.py").write_text("# mine\n")
    (empty / "src/shop/rooms.py").write_text(FUNCTIONS)
    (empty / "pyproject.toml").write_text('[project]\nname = "shop" # ours\n')
    assert main(["init", "--add", "--from", "functions", "shop.missing"]) == 2
    assert "the module 'shop.missing' was not found" in capsys.readouterr().err
    assert not (empty / "src/shop/tools").exists()
    assert main(["init", "--add", "--from", "functions", "shop.rooms"]) == 0
    assert "pip install 'toolgen[gen] @ " in capsys.readouterr().out
    assert (empty / "src/shop/__init__.py").read_text() == "# mine\n"
    text = (empty / "pyproject.toml").read_text()
    assert text.startswith(
        '[project]\nname = "shop" # ours\n\n[tool.toolgen]\ndesign = "shop.tools.design"\n'
    )
    assert 'out = "src/shop/tools/gen"\npackage = "shop.tools.gen"\n' in text
    assert main(["call", "book_room", '{"room": "hall"}']) == 0
    assert json.loads(capsys.readouterr().out) == {"result": "hall for 4"}
    assert main(["init", "more", "--add"]) == 2
    assert "already has a table [tool.toolgen]" in capsys.readouterr().err


BOUND = """\
from toolgen.dsl import (
    Args, Attribute, BindTo, Design, Int, Method, Payload, Result, Return, Service, String, Tool, Toolset,
)

NAME = Attribute("name", String, "Whose.", required=True)
COUNT = Attribute("count", Int, "How many.", required=True)
people = Toolset(
    "people",
    "People.",
    Tool("count_visits", "Count visits.", Args(NAME), Return(COUNT), BindTo("Visits", "count")),
    Tool("greet", "Greet.", Args(NAME), Return(Attribute("text", String, "The greeting.", required=True))),
)
design = Design(
    "hall",
    "A hall.",
    Service("hall", "A hall.", people),
    Service("Visits", "Visits.", Method("count", "Count visits.", Payload(NAME), Result(COUNT))),
)
"""


def test_a_design_gets_an_app_and_stubs_of_its_services(
    empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (empty / "shop").mkdir()
    (empty / "shop/design.py").write_text(BOUND)
    (empty / "pyproject.toml").write_text(
        '[tool.toolgen] # ours\ndesign = "shop.design"\nout = "shop/gen"\nstubs = "shop/executors"\n'
    )
    assert main(["init", "--add"]) == 0
    assert '# ours\nruntime = "shop.app:runtime"\ndesign' in (empty / "pyproject.toml").read_text()
    capsys.readouterr()
    assert main(["call", "count_visits", '{"name": "Ada"}']) == 1
    capsys.readouterr()
    file = empty / "shop/services.py"
    file.write_text(
        file.read_text().replace(
            'raise NotImplementedError("count returns CountResult")', "return visits.CountResult(count=3)"
        )
    )
    for name in [name for name in sys.modules if name.startswith("shop")]:
        del sys.modules[name]
    assert main(["call", "count_visits", '{"name": "Ada"}']) == 0
    assert json.loads(capsys.readouterr().out) == {"count": 3}


@pytest.mark.parametrize(
    ("there", "command", "message"),
    [
        (["rooms.py"], ["rooms", "--from", "functions", "rooms.py"], "would hide the module rooms.py"),
        (["shop/__init__.py", "shop/tools.py"], ["--add"], "would hide the module shop/tools.py"),
        (["src/tools.py"], ["--add"], "would hide the module src/tools.py"),
    ],
)
def test_a_package_does_not_hide_a_module(
    empty: Path, capsys: pytest.CaptureFixture[str], there: list[str], command: list[str], message: str
) -> None:
    for path in there:
        (empty / path).parent.mkdir(exist_ok=True)
        (empty / path).write_text(FUNCTIONS)
    before = sorted(empty.rglob("*"))
    assert main(["init", *command]) == 2
    assert message in capsys.readouterr().err
    assert sorted(empty.rglob("*")) == before


@pytest.mark.parametrize("place", ["tests/test_tools.py", "pyproject.toml"])
def test_a_link_to_nothing_is_in_the_way_of_tools(
    empty: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    """What it leads to would be written, wherever that is."""
    home = empty / "home"
    (home / place).parent.mkdir(parents=True)
    (home / place).symlink_to(empty / "elsewhere")
    monkeypatch.chdir(home)
    assert main(["init", "--add"]) == 2
    err = capsys.readouterr().err
    assert "already exists" in err or "is a link to nothing" in err
    assert not (empty / "elsewhere").exists()
    assert [path.name for path in home.rglob("*") if path.is_file()] == []


def test_an_address_is_named_as_it_was_written(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind, name in ("openapi", "a.json"), ("functions", "a.py"):
        assert main(["init", "shop", "--from", kind, f"http://api.example/{name}"]) == 2
        assert capsys.readouterr().err == (
            f"error: http://api.example/{name} is a URL, but only toolgen import openapi reads a URL\n"
            f"  hint: download it first: curl --output {name} http://api.example/{name}\n"
        )
        assert not (empty / "shop").exists()


def test_an_app_does_not_stand_beside_a_package_of_its_name(
    empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (empty / "shop/services").mkdir(parents=True)
    (empty / "shop/services/__init__.py").touch()
    (empty / "shop/design.py").write_text(BOUND)
    (empty / "pyproject.toml").write_text('[tool.toolgen]\ndesign = "shop.design"\nout = "shop/gen"\n')
    assert main(["init", "--add"]) == 2
    assert "shop/services already exists" in capsys.readouterr().err
    assert not (empty / "shop/app.py").exists()


def test_the_lock_of_a_server_does_not_say_how_it_is_reached(
    empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = Path(__file__).parent / "cases/mcp/git.mcp.json"
    newer = empty / "newer.mcp.json"
    newer.write_text(lock.read_text("utf-8").replace('"lock": 1', '"lock": 2'), "utf-8")
    for file in (lock, newer):
        assert main(["init", "desk", "--from", "mcp", str(file)]) == 2
        assert "hint: pass the command or the URL of the server" in capsys.readouterr().err
    assert main(["init", "desk", "--from", "mcp", "none.json"]) == 2
    assert "the file none.json does not exist" in capsys.readouterr().err
    assert main(["init", "desk", "--from", "goa", "none.json"]) == 2
    assert "'goa' is not one of openapi, mcp, functions" in capsys.readouterr().err
    assert not (empty / "desk").exists()
