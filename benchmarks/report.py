"""Measure toolgen and its peers, one after the other: `make bench`, which installs what this needs.

Writes `benchmarks/results.json`, the tables of docs/performance.md and the charts in docs/images. What is not
below `.bench` is left out, which stderr says. With `--again` nothing is measured: the tables and charts are
those of the results that are there.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from statistics import median
from typing import Any, Final

from . import generate, imports, startup, turns
from .tables import PAGES, RESULTS, ROOT, write_pages

BENCH: Final = ROOT / ".bench"
NEWER: Final = "3.12"
"""A second version of Python for toolgen's calls: asyncio begins tasks at once there."""
PEERS: Final = {
    "pydantic-ai": "from pydantic_ai import Agent, FunctionToolset",
    "openai-agents": "from agents import Agent, Runner, function_tool",
    "google-adk": "from google.adk.agents import Agent; from google.adk.runners import Runner",
    "langchain": "from langchain.agents import create_agent; from langchain_core.tools import tool",
    "fastmcp": "from fastmcp import Client, FastMCP",
    "mcp": "from mcp import Client; from mcp.server import MCPServer",
}
"""The environments of peers, and what a program with tools and agents imports of each."""
PROCESSES: Final = 3
"""In which a call and a run are measured: some rows are a half larger by where the memory of one lies."""


def main() -> None:
    """Measure, and write what is measured."""
    if sys.argv[1:] != ["--again"]:
        models = json.loads(RESULTS.read_text("utf-8"))["models"]  # by `make lab-model`
        results = {**measured(), "models": models}
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
    results = json.loads(RESULTS.read_text("utf-8"))
    for tables in PAGES.values():
        for name, table in tables.items():
            print(f"## {name}\n\n{table(results)}")
    write_pages(results)
    draw()


def measured() -> dict[str, Any]:
    """Return all results."""
    began = os.getloadavg()
    results: dict[str, Any] = {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load": {"before": [round(each, 2) for each in began]},
        "versions": {name: version(name) for name in ("toolgen", "pydantic", "pydantic-core", "mcp")},
    }
    say("calls of toolgen")
    results["calls"] = json_of(sys.executable, "benchmarks.dispatch", "--json")
    say("calls of toolgen with a newer Python")
    results["newer"] = newer()
    say("runs of toolgen")
    results["runs"] = json_of(sys.executable, "benchmarks.runs", "--json")
    say("turns of a conversation")
    results["turns"] = turns.without_window()
    say("calls over MCP")
    results["mcp"] = json_of(sys.executable, "benchmarks.mcp_calls", "--json")
    say("1,000 tools")
    results["generation"] = generate.costs()
    results["sizes"] = generate.sizes()
    say("imports of OpenAPI documents")
    results["imports"] = imports.costs()
    say("start")
    results["start"] = startup.costs()
    results["peers"] = {name: peer(name) for name in PEERS if python_of(name)}
    results["load"]["after"] = [round(each, 2) for each in os.getloadavg()]
    return results


def newer() -> dict[str, Any] | None:
    """Return toolgen's calls with a newer Python, or None where it is not here."""
    python = python_of(f"python{NEWER}")
    return (
        None
        if python is None
        else {"python": NEWER, "calls": json_of(python, "benchmarks.dispatch", "--json")}
    )


def peer(name: str) -> dict[str, Any]:
    """Return what a peer's own script prints, and what its import takes."""
    say(name)
    python = python_of(name)
    assert python is not None
    found: dict[str, Any] = json_of(python, f"benchmarks.peers.{name.replace('-', '_')}")
    return found | {"import": {"statement": PEERS[name], "ms": startup.import_ms(python, PEERS[name])}}


def python_of(name: str) -> str | None:
    """Return the interpreter of an environment below `.bench`, or None where it is not installed."""
    python = BENCH / name / "bin" / "python"
    if python.exists():
        return str(python)
    print(f".bench/{name} is not installed: it is left out", file=sys.stderr)
    return None


def json_of(python: str, module: str, *arguments: str) -> Any:
    """Run a module from the root of the repository, and return the JSON of the last line that it prints.

    Each number is the median of those of `PROCESSES` processes, one after the other.
    """
    command = [python, "-m", module, *arguments]
    found = list[Any]()
    for _ in range(PROCESSES):
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if run.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{run.stderr[-4000:]}")
        found.append(json.loads(run.stdout.splitlines()[-1]))
    return medians(found)


def medians(found: list[Any]) -> Any:
    """Return the median of numbers, of objects and lists that of each value, of anything else the first."""
    first = found[0]
    if isinstance(first, dict):
        return {key: medians([each[key] for each in found]) for key in first}
    if isinstance(first, list):
        return [medians(list(each)) for each in zip(*found, strict=True)]
    return median(found) if isinstance(first, int | float) else first


def say(what: str) -> None:
    print(f"measuring {what}", file=sys.stderr, flush=True)


def draw() -> None:
    """Draw the charts, where matplotlib is installed for them."""
    if python := python_of("charts"):
        subprocess.run([python, "-m", "benchmarks.charts"], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
