"""What it costs to start: `python -m benchmarks.startup`.

An import is a statement in a fresh process with compiled files, in time of the processor beyond pydantic, a
model and asyncio; commands run in the project that `toolgen init` makes.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from .generate import seconds_of

REPEATS: Final = 9
IMPORTS: Final = (
    "import toolgen.runtime",
    "from toolgen.runtime import Runtime; from toolgen.runtime.functions import func_tool; "
    "from toolgen.agents import Agents, AgentSpec",
)
"""A program that calls tools, and one with functions that are tools and agents, as the peers' have them."""
IMPORT: Final = """
import asyncio, sys, time
from pydantic import BaseModel, Field
class Warm(BaseModel):
    x: int = Field(default=1)
start = time.process_time()
exec(sys.argv[1])
print((time.process_time() - start) * 1e3)
"""


def main() -> None:
    """Print what is measured."""
    for name, milliseconds in costs().items():
        print(f"{milliseconds:7.1f} ms  {name}")


def costs() -> dict[str, float]:
    """Return milliseconds of the processor."""
    found = {statement: import_ms(sys.executable, statement) for statement in IMPORTS}
    with TemporaryDirectory() as folder:
        seconds_of(Path(folder), "init", "notes")
        project = Path(folder, "notes")
        seconds_of(project, "gen")
        commands = {"toolgen call": ("call", "read_note", '{"id": 1}'), "toolgen --help": ("--help",)}
        for name, arguments in commands.items():
            seconds = [seconds_of(project, *arguments) for _ in range(REPEATS)]
            found[name] = round(median(seconds) * 1e3, 1)
    return found


def import_ms(python: str, statement: str) -> float:
    """Return the milliseconds of the processor that an import takes beyond pydantic; the first compiles."""
    command = [python, "-c", IMPORT, statement]
    runs = [subprocess.run(command, capture_output=True, check=True, text=True) for _ in range(REPEATS + 1)]
    return round(median(float(run.stdout.split()[-1]) for run in runs[1:]), 1)


if __name__ == "__main__":
    main()
