"""One import, measured in its own process: `python -m benchmarks.importing import|gen|serve|count FOLDER`.

`imports` runs it, for FastMCP in an environment of its own. The folder has two folders with a document each.
The work is done with `small` first, so that neither the start of the process nor imports of modules count.
The result is the processor time of the work with `large`, with that of processes which it starts.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import re
import resource
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]  # it has no types

ADDRESS = "https://api.example"
VERBS = frozenset(("get", "put", "post", "delete", "options", "head", "patch", "trace", "query"))
LEFT_OUT = "import-left-out"
Facts = Callable[[], dict[str, Any]]
Work = Callable[[str], Facts]
"""What is measured, of a folder; it returns what tells the facts, which is not."""


def main() -> None:
    """Print as JSON what the work costs, and what is known of what it made."""
    what, folder = sys.argv[1:]
    work = WORKS[what]
    os.chdir(folder)
    work("small")
    begin = seconds()
    facts = work("large")
    used = seconds() - begin
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(facts() | {"seconds": round(used, 3), "megabytes": round(megabytes)}))


def seconds() -> float:
    """Return the time of the processor that this process has used, and those that it has started."""
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def file_in(folder: str) -> Path:
    """Return the file of the document in a folder."""
    (file,) = Path(folder).glob("document.*")
    return file


def document(folder: str) -> Any:
    file = file_in(folder)
    text = file.read_text("utf-8")
    return json.loads(text) if file.suffix == ".json" else yaml.load(text, yaml.CSafeLoader)


def imported(folder: str) -> Facts:
    """Write a design of the document."""
    options = ("--name", folder, "--out", folder, "--server", ADDRESS, "--allow-losses", "--format", "json")
    printed, told = run("import", "openapi", str(file_in(folder)), *options)

    def facts() -> dict[str, Any]:
        found = [json.loads(line) for line in printed.splitlines()]
        losses = [each for each in found if each["severity"] == "error" or each["code"] == LEFT_OUT]
        tools = re.search(r"imported ([\d,]+) tool", told)
        return {"tools": int(tools[1].replace(",", "")) if tools else 0, "losses": len(losses)}

    return facts


def generated(folder: str) -> Facts:
    """Generate the code of the design."""
    with contextlib.chdir(folder):
        run("gen")
    return dict


def served(folder: str) -> Facts:
    """Make a server of FastMCP, and list its tools."""
    import httpx2
    from fastmcp import FastMCP

    server = FastMCP.from_openapi(document(folder), client=httpx2.AsyncClient(base_url=ADDRESS))
    count = len(asyncio.run(server.list_tools()))
    return lambda: {"tools": count, "version": version("fastmcp")}


def counted(folder: str) -> Facts:
    """Count the operations of the document, those of methods that nobody sends included."""
    paths = document(folder).get("paths", {}).values()
    return lambda: {"operations": sum(len(VERBS & item.keys()) for item in paths if isinstance(item, dict))}


def run(*command: str) -> tuple[str, str]:
    """Run a command of toolgen, and return what it prints to stdout and to stderr."""
    from toolgen.cli import main as toolgen

    printed, said = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
        code = toolgen(command)
    texts = [stream.buffer.getvalue().decode() for stream in (printed, said)]
    assert code == 0, texts[1][-2_000:]
    return texts[0], texts[1]


WORKS: dict[str, Work] = {"import": imported, "gen": generated, "serve": served, "count": counted}

if __name__ == "__main__":
    main()
