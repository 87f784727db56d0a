"""How much of toolgen a host loads that only makes a call."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.selection import first

ROOT = Path(__file__).parent.parent
IMPORT = "import toolgen.runtime"
CALL = """
import asyncio
from gen.assistant.toolsets.devices import registration
from toolgen.runtime import CallMeta, Runtime

class Devices:
    async def list_devices(self, payload, ctx):
        from gen.assistant.toolsets.devices import ListDevicesResult
        return ListDevicesResult(devices=[], returned=0, truncated=False)

    get_time_series = set_state = list_devices

async def main():
    runtime = Runtime()
    runtime.tools.register(registration(Devices()))
    return await runtime.call("list_devices", {"site_id": "s1"}, CallMeta(session_id="s"))

result = asyncio.run(main())
assert result.status == "ok", result.json
"""
VERSION = "from toolgen.cli.app import run; run(['--version'])"
NO_COMMAND = "from toolgen.cli.app import run; run(['none'])"
AGENTS = "import toolgen.agents"
WORKER = "import toolgen.cli.worker"
COUNT = """
import json, sys
print(json.dumps(sorted(name for name in sys.modules if name.partition(".")[0] == "toolgen")))
"""
COMPILED = """
import asyncio, pydantic, sys
pydantic.BaseModel, pydantic.Field
statement, part, texts = compile(sys.argv[1], "", "exec"), sys.argv[2], []

def hook(event, args):
    if event == "compile" and args[1] == "<string>" and part in str(args[0]):
        texts.append(args)

sys.addaudithook(hook)
exec(statement)
print(len(texts))
"""
"""Counts the texts with this part that an import compiles, and that stand in no file."""


@pytest.mark.parametrize(
    ("code", "most"),
    first([(IMPORT, 65), (CALL, 68), (VERSION, 26), (WORKER, 117), (AGENTS, 222)]),
    ids=["the import", "one call", "the version", "a worker", "agents"],
)
def test_a_program_loads_few_modules(code: str, most: int) -> None:
    """More is a decision: what a call does not need is imported where it is first used."""
    printed = subprocess.check_output([sys.executable, "-c", code + COUNT], cwd=ROOT, text=True)
    loaded = json.loads(printed.splitlines()[-1])
    rooms = Counter(name.split(".")[1] for name in loaded if "." in name)
    assert len(loaded) <= most, (rooms, loaded)


@pytest.mark.parametrize(
    ("code", "part", "most"),
    [
        (IMPORT, "def __init__", 8),
        (AGENTS, "def __init__", 15),
        (NO_COMMAND, "typer.", 0),
    ],
    ids=["the import", "agents", "no command"],
)
def test_an_import_compiles_few_texts(code: str, part: str, most: int) -> None:
    """A class whose methods are compiled with it takes 0.3 ms, and records compile what is used.

    All commands are made to name those there are: typer compiles each annotation that is a text four times.
    """
    command = [sys.executable, "-c", COMPILED, code, part]
    assert int(subprocess.check_output(command, cwd=ROOT).split()[-1]) <= most


@pytest.mark.exhaustive
def test_an_import_of_the_agents_loads_no_package_of_a_provider() -> None:
    code = "import sys, toolgen.agents; print(*sorted({n.partition('.')[0] for n in sys.modules}))"
    loaded = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True).split()
    assert {"pydantic_ai", "openai", "anthropic", "google", "httpx"}.isdisjoint(loaded)
