"""Each command of toolgen, in a project whose texts are a model's, a tool's or a stranger's."""

from __future__ import annotations

import json
from typing import Final

from tests.conftest import ProjectFolder
from tests.runs_project import MAIN, start, write_runs

HOSTILE: Final = "x\x1b[2J\x1b[H\r\nall is well\u202e\u200b"
"""Clears a terminal, forges a line of its own, and turns around and hides what comes."""
_OWN: Final = "x\x1b[2J all is well\u202e"
"""An argument of the person at the terminal, such as a name that was pasted; it forges no line."""
_IMPORTS: Final = """\
from toolgen.capabilities import ArtifactsCapability, DisabledTools, FileArtifactStore, SqliteStateStore
from toolgen.runtime import ToolError
"""
_TOOLS: Final = '''

async def echo(text: str) -> str:
    """Say a text again."""
    return text


async def fail(text: str) -> str:
    """Fail."""
    raise ToolError(text)


def runtime_for_tests() -> Runtime:
    artifacts = ArtifactsCapability(FileArtifactStore("artifacts"))
    disabled = DisabledTools(SqliteStateStore("state.db"))
    made = Runtime(engine=engine(), disabled=disabled, capabilities=[artifacts])
    asks = func_tool(echo, toolset="x.echoes", confirm=ConfirmSpec(hint="Say {text}?"))
    made.tools.register(function_toolset("x.echoes", [asks, fail]))
    return made
'''
_TEXT: Final = json.dumps({"text": HOSTILE})
_KEYS: Final = json.dumps({HOSTILE: HOSTILE})
_OTHER: Final = ("--config", "other.toml")
"""The project whose runtime has tools, and no agent."""
LINES: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "approve": (("approve",), ("approve", "--format", "json"), ("approve", _OWN, "--yes")),
    "artifacts save": (("artifacts", "save", f"artifact:session/{_OWN}/a", _OWN, *_OTHER),),
    "artifacts show": (("artifacts", "show", f"artifact:session/{_OWN}/a", *_OTHER),),
    "breaking": (("breaking", "--against", "other.json"), ("breaking", "--against", _OWN)),
    "call": (
        ("call", "fail", _TEXT, *_OTHER),
        ("call", "echo", _TEXT, *_OTHER),
        ("call", "echo", _KEYS, "--trace", *_OTHER),
        ("call", _OWN, "{}"),
    ),
    "chat": (("chat", "x.agent", "--session", "s-1"), ("chat", _OWN)),
    "diff": (("diff", "--against", "other.json"), ("diff", "--against", _OWN)),
    "explain": (("explain",), ("explain", _OWN)),
    "gen": (("gen",), ("gen", "--diff"), ("gen", "--config", _OWN)),
    "grants list": (("grants", "list"), ("grants", "list", "--session", _OWN)),
    "grants revoke": (("grants", "revoke", _OWN),),
    "import": (
        ("import", "python", "functions.py"),
        ("import", "mcp", "list.json", "--force"),
        ("import", "openapi", _OWN),
    ),
    "init": (
        ("init", "some", "--from", "functions", "functions.py"),
        ("init", "other", "--from", "mcp", "list.json"),
        ("init", _OWN),
    ),
    "lint": (("lint",), ("lint", "other.json"), ("lint", _OWN)),
    "mcp serve": (
        ("mcp", "serve", "--print-config", "--session", _OWN),
        ("mcp", "serve", "--agent", _OWN),
    ),
    "run": (
        ("run", "x.agent", f"ask {HOSTILE}", "--session", "s-4"),
        ("run", "x.agent", f"fail {HOSTILE}"),
        ("run", _OWN, "a"),
    ),
    "runs cancel": (("runs", "cancel", "run_2", "--reason", HOSTILE), ("runs", "cancel", _OWN)),
    "runs check": (("runs", "check"), ("runs", "check", _OWN)),
    "runs erase": (("runs", "erase", "--session", "s-2"), ("runs", "erase", "--session", _OWN)),
    "runs list": (("runs", "list"), ("runs", "list", "--json"), ("runs", "list", "--status", _OWN)),
    "runs release": (("runs", "release"), ("runs", "release", "--session", _OWN)),
    "runs release-clock": (("runs", "release-clock"), ("runs", "release-clock", "--config", _OWN)),
    "runs resolve": (("runs", "resolve", _OWN, _OWN, "--failed", _OWN),),
    "runs restore": (("runs", "restore"), ("runs", "restore", "--config", _OWN)),
    "runs resume": (("runs", "resume", "run_1"), ("runs", "resume", _OWN)),
    "runs show": (("runs", "show", "run_1"), ("runs", "show", "run_1", "--timeline"), ("runs", "show", _OWN)),
    "schema": (("schema", "other.json", "--for", "openai"), ("schema", "--for", _OWN)),
    "serve": (("serve", "--host", _OWN), ("serve", "--config", _OWN)),
    "stubs": (("stubs",), ("stubs", "--config", _OWN)),
    "test": (("test", *_OTHER), ("test", "--config", _OWN)),
    "tools disable": (("tools", "disable", "echo", "--reason", HOSTILE, "--by", HOSTILE, *_OTHER),),
    "tools enable": (("tools", "enable", _OWN, *_OTHER),),
    "tools list": (("tools", "list"), ("tools", "list", *_OTHER), ("tools", "list", "--json")),
    "worker": (("worker", "--queue", _OWN), ("worker", "--health", _OWN)),
}
"""What each command is called with: first a line that has the code of the project loaded."""
ENDS_BEFORE: Final = {"mcp serve": ("mcp", "serve"), "serve": ("serve",)}
"""Lines in the place of a first one that does not load it."""
TYPED: Final = {"chat": "/tools\n/events\nno\n"}
"""What is typed into commands that read it."""


def write_files(project: ProjectFolder) -> None:
    """Write a project with hostile texts."""
    write_runs(project)
    main = MAIN.replace("from toolgen.engines", f"{_IMPORTS}from toolgen.engines")
    project.write("app/main.py", main + _TOOLS)
    project.write("functions.py", f"def size(hall: str) -> int:\n    {HOSTILE!r}\n    return 1\n")
    settings = (project.path / "pyproject.toml").read_text("utf-8")
    project.write("other.toml", settings.replace(":runtime", ":runtime_for_tests"))
    schema = {"type": "object", "description": HOSTILE, "properties": {"a": {}}}
    entry = {"id": "a.b.go", "name": "go", "description": HOSTILE, "payload": {"name": "P", "schema": schema}}
    catalog = {"catalog": {"format": 3, "design": HOSTILE}, "tools": [entry]}
    project.write("other.json", json.dumps(catalog))
    listed = [
        {"name": f"a{HOSTILE}", "description": HOSTILE, "inputSchema": {"type": HOSTILE}},
        {"name": "b", "description": HOSTILE, "inputSchema": {"type": "object"}},
    ]
    project.write("list.json", json.dumps(listed))


def start_runs(project: ProjectFolder) -> None:
    """Start two runs that wait with hostile texts."""
    start(project, f"run_1:s-1:ask {HOSTILE}", f"run_2:s-2:wipe {HOSTILE}")
