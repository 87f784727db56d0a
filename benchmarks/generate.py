"""What 1,000 tools cost: processor time to generate, to import and to call first; lines and bytes.

Run: `python -m benchmarks.generate [TOOLSETS] [TOOLS]` (default 50 toolsets of 20 tools).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from typing import Final

DESIGN = '''
"""A large catalog of tools of a realistic size: eight arguments, shared types, a union, an artifact."""

from toolgen.dsl import (
    Args, ArrayOf, Artifact, Attribute, BoundedResult, DateTime, Design, Enum, Float, Int, Object, OneOf,
    Return, Service, String, Tool, Toolset, Type,
)

State = Enum("State", "State of a device.", "online", "offline", "unknown")
Device = Type(
    "Device",
    "A device on a site.",
    Attribute("id", String, "Stable identifier.", required=True),
    Attribute("name", String, "Name shown to people.", required=True),
    Attribute("room", String, "Room of the device.", required=True),
    Attribute("status", State, "Last known state.", required=True),
    Attribute("last_seen", DateTime, "Time of its newest reading; absent if there is none."),
)
Reading = Type(
    "Reading",
    "One measured value.",
    Attribute("at", DateTime, "Time of the measurement.", required=True),
    Attribute("value", Float, "Measured value, in the unit of the series.", required=True),
)
TimeSeries = Type(
    "TimeSeries",
    "The readings of one device over a period.",
    Attribute("unit", String, "Unit of the values.", required=True),
    Attribute("readings", ArrayOf(Reading), "Readings, oldest first.", required=True),
)
Order = OneOf(
    "by",
    name=Object(Attribute("reverse", State, "Which of them come first.")),
    room=Object(Attribute("first", String, "The room that comes first.", required=True)),
)


def tool(number):
    return Tool(
        f"list_devices_{number}",
        "List the devices of a site that match, page by page, with what they measured.",
        Args(
            Attribute("site_id", String, "ID of the site; get_user_data returns the sites.", required=True),
            Attribute("status", State, "Only devices in this state."),
            Attribute("rooms", ArrayOf(String(min_length=1)), "Only devices in these rooms."),
            Attribute("start", DateTime, "First instant of the readings, inclusive."),
            Attribute("end", DateTime, "Last instant of the readings, exclusive."),
            Attribute("order", Order, "What comes first."),
            Attribute("cursor", String, "The next_cursor of the previous page."),
            Attribute("limit", Int, "Maximum number of devices.", minimum=1, maximum=500, default=50),
        ),
        Return(
            Attribute("next_cursor", String, "Cursor of the next page; absent on the last page."),
            Attribute("devices", ArrayOf(Device), "Matching devices, by name.", required=True),
            Attribute("summary", String, "Summary of the readings in one sentence.", required=True),
        ),
        Artifact("time_series", TimeSeries, "Every reading, for a chart."),
        BoundedResult(cursor="cursor", next_cursor="next_cursor"),
    )


toolsets = [
    Toolset(f"set_{index}", "Some tools.", *(tool(index * TOOLS + n) for n in range(TOOLS)))
    for index in range(TOOLSETS)
]
design = Design("large", "A large catalog.", Service("big", "All of it.", *toolsets))
'''

WITH_AGENT = """
from toolgen.dsl import Agent, Use
agent = Agent("chat", "Answers questions.", *map(Use, toolsets))
design = Design("large", "A large catalog.", Service("big", "All of it.", *toolsets, agent))
"""

FOREIGN = '''
"""A large catalog of tools with the schemas of somebody else, each with its own."""

from toolgen.dsl import Args, Design, JSONSchema, Return, Service, Tool, Toolset

TEXT, FLAG, TIME = ({"type": kind} for kind in ("string", "boolean", "string"))
TIME["format"] = "date-time"
STATES = {"enum": ["online", "offline"]}


def closed(required, **properties):
    shape = {"type": "object", "properties": properties, "required": list(required)}
    return shape | {"additionalProperties": False}


def tool(number):
    device = closed(["id", "name"], id=TEXT, name=TEXT, room=TEXT, status=STATES, last_seen=TIME)
    order = {"oneOf": [
        closed(["by"], by={"const": "name"}, reverse=FLAG),
        closed(["by", "first"], by={"const": "room"}, first=TEXT),
    ]}
    return Tool(
        f"list_devices_{number}",
        "List the devices of a site that match, page by page.",
        Args(JSONSchema(closed(
            ["site_id"], site_id=TEXT, status=STATES, rooms={"type": "array", "items": TEXT}, start=TIME,
            order=order, cursor=TEXT, limit={"type": "integer", "minimum": 1, "maximum": 500},
            **{f"extra_{number}": TEXT},
        ))),
        Return(JSONSchema(closed(
            ["devices"], next_cursor=TEXT, devices={"type": "array", "items": device}, summary=TEXT,
            **{f"more_{number}": TEXT},
        ))),
    )


toolsets = [
    Toolset(f"set_{index}", "Some tools.", *(tool(index * TOOLS + n) for n in range(TOOLS)))
    for index in range(TOOLSETS)
]
design = Design("large", "A large catalog.", Service("big", "All of it.", *toolsets))
'''

IMPORT = """
import importlib, sys, time
import pydantic
from pydantic import BaseModel, Field
class Warm(BaseModel):
    x: int = Field(default=1)
import toolgen.runtime
start = time.process_time()
modules = [importlib.import_module(f"gen.big.toolsets.set_{n}") for n in range(TOOLSETS)]
specs = [spec for module in modules for spec in module.SPECS]
imported = time.process_time()
specs[0].payload.decode(b'{"site_id": "s"}')
first = time.process_time()
specs[1].payload.decode(b'{"site_id": "s"}')
second = time.process_time()
schemas = [codec.schema_json for spec in specs for codec in (spec.payload, spec.result)]
listed = time.process_time()
print(f"import of {len(specs)} specs     {(imported - start) * 1e3:7.1f} ms")
print(f"first call's decode      {(first - imported) * 1e3:7.1f} ms")
print(f"second tool's decode     {(second - first) * 1e3:7.1f} ms")
print(f"schemas of all tools     {(listed - second) * 1e3:7.1f} ms, {sum(map(len, schemas)) / 1e6:.1f} MB")
"""


REPEATS: Final = 3


def main(toolsets: int = 50, tools: int = 20) -> None:
    """Print the costs of generation, what is written, and the costs of an import."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        for label, seconds in generations(project, toolsets, tools).items():
            print(f"toolgen gen, {label:11} {seconds:7.2f} s", flush=True)
        for suffix in (".py", ".json"):
            texts = [file.read_text("utf-8") for file in (project / "gen").rglob(f"*{suffix}")]
            lines = [line for text in texts for line in text.splitlines() if line.strip()]
            size = sum(map(len, texts)) / 1e6
            print(
                f"{suffix:6} {len(lines)} non-blank lines, the longest {max(map(len, lines))}, {size:.1f} MB"
            )
        for label in ("without bytecode:", "with bytecode:"):
            print(label, flush=True)
            code = f"TOOLSETS = {toolsets}\n{IMPORT}"
            subprocess.run([sys.executable, "-c", code], cwd=project, env=environment, check=True)


def costs() -> dict[str, float]:
    """Return the median seconds of the processor of each generation; that of 10,000 tools is made once."""
    rounds = []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            own = {f"1,000 tools, {label}": cost for label, cost in generations(Path(folder), 50, 20).items()}
        with tempfile.TemporaryDirectory() as folder:
            new = _generated(Path(folder), f"TOOLSETS, TOOLS = 50, 20\n{FOREIGN}")
            again = seconds_of(Path(folder), "gen")
        rounds.append({**own, "1,000 imported tools, first": new, "1,000 imported tools, unchanged": again})
    return {label: round(median(each[label] for each in rounds), 3) for label in rounds[0]}


def sizes() -> dict[str, float]:
    """Return what the largest generation takes, and how large catalogs are where an agent has all tools."""
    with tempfile.TemporaryDirectory() as folder:
        seconds = _generated(Path(folder), f"TOOLSETS, TOOLS = 500, 20\n{DESIGN}")
        peak = getrusage(RUSAGE_CHILDREN).ru_maxrss / 1024  # of all commands of this process
    with tempfile.TemporaryDirectory() as folder:
        _generated(Path(folder), f"TOOLSETS, TOOLS = 50, 20\n{DESIGN}{WITH_AGENT}")
        written = sum(file.stat().st_size for file in (Path(folder) / "gen").rglob("*.json"))
    return {
        "10,000 tools, first, s": round(seconds, 2),
        "10,000 tools, memory, MB": round(peak),
        "catalogs of 1,000 tools and an agent, MB": round(written / 1e6, 2),
    }


def generations(project: Path, toolsets: int, tools: int) -> dict[str, float]:
    """Generate in an empty folder, and return the seconds of the processor that each command takes."""
    text = f"TOOLSETS, TOOLS = {toolsets}, {tools}\n{DESIGN}"
    found = {"first": _generated(project, text), "unchanged": seconds_of(project, "gen")}
    found["--check"] = seconds_of(project, "gen", "--check")
    (project / "design.py").write_text(text.replace("maximum=500", "maximum=500 if number else 400"))
    found["one changed"] = seconds_of(project, "gen")
    return found


def _generated(project: Path, design: str) -> float:
    """Generate the code of a design for the first time, and return the seconds of the processor."""
    (project / "design.py").write_text(design)
    (project / "pyproject.toml").write_text('[tool.toolgen]\ndesign = "design"\n')
    return seconds_of(project, "gen")


def seconds_of(folder: Path, *arguments: str) -> float:
    """Run the command of this environment, and return the seconds that it and its children take."""
    command = [str(Path(sys.executable).with_name("toolgen")), *arguments]
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = getrusage(RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
