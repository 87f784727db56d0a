"""How long 1,000 tools take: to build and generate, to write and format, to import, to call first.

Run: `python -m benchmarks.generate [TOOLSETS] [TOOLS]` (default 50 toolsets of 20 tools).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

DESIGN = '''
"""A large catalogue."""

from toolgen.dsl import (
    Args, Attribute, BoundedResult, Design, Enum, Int, Return, Service, String, Tool, Toolset, ArrayOf,
)

State = Enum("State", "Whether it answers.", "on", "off")


def tool(number):
    return Tool(
        f"tool_{{number}}",
        f"Does number {{number}}.",
        Args(
            Attribute("site_id", String, "Site.", required=True),
            Attribute("status", State, "Keep this state."),
            Attribute("limit", Int, "Most to return.", minimum=1, maximum=500, default=50),
        ),
        Return(Attribute("names", ArrayOf(String), "What was found.", required=True)),
        BoundedResult(),
    )


toolsets = [
    Toolset(f"set_{{index}}", "Some tools.", *(tool(index * {tools} + n) for n in range({tools})))
    for index in range({toolsets})
]
design = Design("large", "A large catalogue.", Service("big", "All of it.", *toolsets))
'''

IMPORT = """
import importlib, sys, time
import pydantic
from pydantic import BaseModel, Field
class Warm(BaseModel):
    x: int = Field(default=1)
import toolgen.runtime
start = time.perf_counter()
modules = [importlib.import_module(f"gen.big.toolsets.set_{n}") for n in range(TOOLSETS)]
specs = [spec for module in modules for spec in module.SPECS]
imported = time.perf_counter()
specs[0].payload.decode(b'{"site_id": "s"}')
first = time.perf_counter()
specs[1].payload.decode(b'{"site_id": "s"}')
second = time.perf_counter()
print(f"import of {len(specs)} specs     {(imported - start) * 1e3:7.1f} ms")
print(f"first call's decode      {(first - imported) * 1e3:7.1f} ms")
print(f"second tool's decode     {(second - first) * 1e3:7.1f} ms")
"""


def main(toolsets: int = 50, tools: int = 20) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        (project / "design.py").write_text(textwrap.dedent(DESIGN).format(toolsets=toolsets, tools=tools))
        (project / "pyproject.toml").write_text('[tool.toolgen]\ndesign = "design"\n')
        for label in ("toolgen gen, all new", "toolgen gen, no change"):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-m", "toolgen", "gen"], cwd=project, check=True)
            print(f"{label:24} {time.perf_counter() - start:7.2f} s", flush=True)
        code = f"TOOLSETS = {toolsets}\n{IMPORT}"
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        for label in ("without bytecode:", "with bytecode:"):
            print(label, flush=True)
            subprocess.run([sys.executable, "-c", code], cwd=project, env=environment, check=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
