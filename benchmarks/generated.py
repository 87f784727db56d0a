"""Tools that only the benchmarks need, generated from a design in a folder of its own.

A schema of others with rules that types cannot hold, and arrays of numbers: `dispatch` calls the one and
decodes and encodes the other.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

DESIGN: Final = '''
"""Schemas of others and numbers."""

from toolgen.dsl import (
    Args, ArrayOf, Attribute, Design, Float, JSONSchema, Return, Service, Tool, Toolset,
)

STATE = {"type": "string", "enum": ["online", "offline", "unknown"]}
KIND = {"type": "string", "enum": ["light", "plug", "thermostat", "sensor", "blind", "lock"]}
TEXT = {"type": "string"}
FILTER = {
    "type": "object",
    "properties": {
        "site_id": TEXT,
        "status": STATE,
        "kind": KIND,
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        "cursor": TEXT,
    },
    "required": ["site_id"],
    "dependentRequired": {"cursor": ["limit"]},
    "additionalProperties": False,
}
DEVICE = {
    "type": "object",
    "properties": {
        "id": TEXT,
        "name": TEXT,
        "kind": KIND,
        "room": TEXT,
        "manual": TEXT,
        "status": STATE,
        "last_seen": TEXT,
    },
    "required": ["id", "name", "kind", "room", "manual", "status"],
    "additionalProperties": False,
}
PAGE = {
    "type": "object",
    "properties": {
        "devices": {"type": "array", "items": DEVICE},
        "next_cursor": TEXT,
        "returned": {"type": "integer"},
        "truncated": {"type": "boolean"},
        "total": {"type": "integer"},
    },
    "required": ["devices", "returned", "truncated"],
    "dependentRequired": {"next_cursor": ["truncated"]},
    "additionalProperties": False,
}
design = Design(
    "bench",
    "Measured.",
    Service(
        "bench",
        "Measured.",
        Toolset(
            "others",
            "Schemas of others.",
            Tool("list_devices", "List devices.", Args(JSONSchema(FILTER)), Return(JSONSchema(PAGE))),
        ),
        Toolset(
            "numbers",
            "Numbers.",
            Tool(
                "smooth",
                "Smooth values.",
                Args(Attribute("values", ArrayOf(Float), "Values.", required=True)),
                Return(Attribute("values", ArrayOf(Float), "Values.", required=True)),
            ),
        ),
    ),
)
'''
TOOLSETS: Final = ("others", "numbers")
SETTINGS: Final = '[tool.toolgen]\ndesign = "bench_design"\nout = "bench_gen"\n'


@contextmanager
def generated() -> Iterator[tuple[Any, Any]]:
    """Yield the packages of the toolset of a foreign schema, and of that of numbers."""
    with TemporaryDirectory() as folder:
        Path(folder, "bench_design.py").write_text(DESIGN)
        Path(folder, "pyproject.toml").write_text(SETTINGS)
        subprocess.run([sys.executable, "-m", "toolgen", "gen"], cwd=folder, check=True, capture_output=True)
        sys.path.insert(0, folder)
        try:
            others, numbers = (import_module(f"bench_gen.bench.toolsets.{name}") for name in TOOLSETS)
            yield others, numbers
        finally:
            sys.path.remove(folder)
