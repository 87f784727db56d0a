"""Projects of `toolgen init`, made by real commands: they test themselves, answer, and type-check."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.costly

FUNCTIONS = '''\
"""Rooms of the house."""


def book_room(room: str, seats: int = 4) -> str:
    """Book a room for a day."""
    return f"{room} for {seats}"
'''
TOOLS = {
    "tools": [
        {
            "name": "find-issues",
            "description": "Find issues.",
            "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
            "annotations": {"readOnlyHint": True},
        }
    ]
}
API = {
    "openapi": "3.1.0",
    "info": {"title": "Library", "version": "1"},
    "servers": [{"url": "http://127.0.0.1:9"}],
    "security": [{"key": []}],
    "components": {"securitySchemes": {"key": {"type": "apiKey", "name": "X-Key", "in": "header"}}},
    "paths": {
        "/books": {
            "get": {
                "operationId": "find_books",
                "summary": "Find books.",
                "parameters": [{"name": "word", "in": "query", "schema": {"type": "string"}}],
                "responses": {
                    "200": {"description": "Found.", "content": {"application/json": {"schema": {}}}}
                },
            }
        }
    },
}


@dataclass(frozen=True, slots=True)
class Shell:
    """Runs commands in a folder, as somebody at a terminal does."""

    folder: Path

    def run(self, *command: str, code: int = 0) -> str:
        ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            command, cwd=self.folder, env=ours | {"PATH": path}, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def checks_itself(self, *packages: str) -> None:
        self.run("toolgen", "gen", "--check")
        self.run("python", "-m", "unittest", "discover", "tests")
        self.run("mypy", "--strict", *packages, "tests")
        self.run(
            "ruff",
            "check",
            "--isolated",
            "--ignore-noqa",
            "--select",
            "E4,E7,E9,F,B,I,UP,SIM,RUF",
            *packages,
            "tests",
        )


def test_an_agent_of_notes(tmp_path: Path) -> None:
    Shell(tmp_path).run("toolgen", "init", "notes", "--agent")
    project = Shell(tmp_path / "notes")
    project.checks_itself("notes")
    assert "3 examples passed" in project.run("toolgen", "test")
    assert "Welcome" in project.run("toolgen", "run", "clerk", "List the notes.")
    assert "chat clerk" in project.run("make", "--dry-run", "--always-make", "chat")
    assert "[gen,chat]" in (tmp_path / "notes/requirements.txt").read_text()


@pytest.mark.parametrize("agent", [True, False], ids=["agent", "tools"])
def test_functions(tmp_path: Path, agent: bool) -> None:
    (tmp_path / "rooms.py").write_text(FUNCTIONS)
    Shell(tmp_path).run("toolgen", "init", "desk", *(["--agent"] * agent), "--from", "functions", "rooms.py")
    project = Shell(tmp_path / "desk")
    project.checks_itself("desk")
    assert '{"result":"hall for 4"}' in project.run("toolgen", "call", "book_room", '{"room": "hall"}')
    if agent:
        asked = project.run("toolgen", "run", "clerk", 'book_room {"room": "hall"}', code=3)
        call = asked.split("toolgen approve ")[1].split()[0]
        assert "hall for 4" in project.run("toolgen", "approve", call, "--yes")


def test_an_api_with_a_key(tmp_path: Path) -> None:
    (tmp_path / "library.json").write_text(json.dumps(API))
    Shell(tmp_path).run("toolgen", "init", "library", "--agent", "--from", "openapi", "library.json")
    project = Shell(tmp_path / "library")
    project.checks_itself("library")
    assert "library.library.find_books" in project.run("toolgen", "tools", "list")


def test_a_list_of_tools_has_stubs(tmp_path: Path) -> None:
    (tmp_path / "issues.json").write_text(json.dumps(TOOLS))
    Shell(tmp_path).run("toolgen", "init", "issues", "--agent", "--from", "mcp", "issues.json")
    project = Shell(tmp_path / "issues")
    project.checks_itself("issues")
    assert "find_issues is not implemented" in project.run("toolgen", "call", "find_issues", code=1)


def test_a_server(tmp_path: Path) -> None:
    server = shlex.join([sys.executable, "-m", "mcp_server_git"])
    Shell(tmp_path).run("toolgen", "init", "desk", "--agent", "--from", "mcp", server)
    project = Shell(tmp_path / "desk")
    project.checks_itself("desk")
    subprocess.run(["git", "init", "--quiet", tmp_path / "repository"], check=True)
    call = json.dumps({"repo_path": str(tmp_path / "repository")})
    assert "No commits yet" in project.run("toolgen", "call", "git_status", call)


@pytest.mark.parametrize("layout", ["src", "flat"])
def test_a_project_that_exists(tmp_path: Path, layout: str) -> None:
    package = tmp_path / ("src/shop" if layout == "src" else "shop")
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop" # ours\n')
    project = Shell(tmp_path)
    project.run("toolgen", "init", "--add", "--agent")
    assert "Welcome" in project.run("toolgen", "run", "clerk", "List the notes.")
    assert "3 examples passed" in project.run("toolgen", "test")
    path = {"PYTHONPATH": str(package.parent), "MYPYPATH": str(package.parent)}
    run = ["env", *(f"{name}={value}" for name, value in path.items())]
    project.run(*run, "python", "-m", "unittest", "discover", "tests")
    project.run(*run, "mypy", "--strict", "--explicit-package-bases", str(package), "tests")
