"""How long the tools of others take, and how that grows: to generate, to import, to call first.

Run: `python -m benchmarks.corpora [FOLDER]` with a folder of `tools_*.jsonl` files (default: the corpora
beside the repository). Each schema is a `JSONSchema`, so that none becomes clauses.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CORPORA = Path(__file__).parents[2] / "shared" / "corpora"

DESIGN = """
import json
from pathlib import Path

from toolgen.dsl import Args, Design, JSONSchema, Return, Service, Tool, Toolset

files = sorted(Path({folder!r}).glob("tools_*.jsonl"))
lines = [line for file in files for line in file.read_text("utf-8").splitlines() if line]
records = [json.loads(line) for line in lines[::{step}]]
tools = [
    Tool(
        f"t{{number}}",
        record["id"],
        Args(JSONSchema(record["input_schema"])),
        *([Return(JSONSchema(record["output_schema"]))] if "output_schema" in record else []),
    )
    for number, record in enumerate(records)
    if not (record.get("schema_error") or record.get("output_schema_error"))
]
toolset = Toolset("tools", "Tools.", *tools)
design = Design("corpora", "Tools of others.", Service("others", "Theirs.", toolset))
"""

IMPORT = """
import sys, time
import pydantic
from pydantic import BaseModel
class Warm(BaseModel):
    x: int = 1
import toolgen.runtime
start = time.perf_counter()
from gen.others.toolsets.tools import SPECS
imported = time.perf_counter()
for data in ("{}", "{}"):
    before = time.perf_counter()
    try:
        SPECS[0].payload.decode(data)
    except toolgen.runtime.ToolValidationError:
        pass
    print(f"  decode of one tool          {(time.perf_counter() - before) * 1e3:8.1f} ms")
print(f"  import of {len(SPECS)} specs        {(imported - start) * 1e3:8.1f} ms")
loaded = "jsonschema_rs" in sys.modules
print(f"  loaded with them            {'jsonschema_rs' if loaded else 'no validator'}")
"""


def measured(command: list[str], folder: Path) -> tuple[float, float]:
    """Return the seconds of a command and the most memory that any process so far had, in MB."""
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    seconds = time.perf_counter() - start
    unit = 1_000_000 if sys.platform == "darwin" else 1_000
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit


def main(corpora: Path = CORPORA) -> None:
    for step in (8, 4, 2, 1):  # memory is the largest so far, so the smallest comes first
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "pyproject.toml").write_text('[tool.toolgen]\ndesign = "design"\n')
            (folder / "design.py").write_text(DESIGN.format(folder=str(corpora), step=step))
            seconds, memory = measured([sys.executable, "-m", "toolgen", "gen"], folder)
            again, _ = measured([sys.executable, "-m", "toolgen", "gen"], folder)
            code = sum(len(file.read_bytes()) for file in (folder / "gen").rglob("*.py")) / 1e6
            share = f"one tool of {step}" if step > 1 else "all tools"
            print(
                f"{share:16} {seconds:6.1f} s, again {again:6.1f} s, {memory:5.0f} MB, {code:4.1f} MB of code"
            )
            if step == 1:
                environment = {
                    key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"
                }
                for label in ("without bytecode:", "with bytecode:"):
                    print(label, flush=True)
                    subprocess.run([sys.executable, "-c", IMPORT], cwd=folder, env=environment, check=True)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
