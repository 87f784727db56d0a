"""What documents of OpenAPI become, side by side: `python -m benchmarks.imports FILE…`.

toolgen writes a design and generates its code; FastMCP makes a server (`FastMCP.from_openapi`), and
openapi-python-client a client. Each runs in processes of its own; counted are the operations that it takes,
the processor time and the peak memory of its largest process, reading the document included. Nothing is
installed: `--fastmcp PYTHON` and `--client COMMAND` say where the other two are; what is not there is "–".
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

SERVER: Final = "https://api.example"
COUNT: Final = """
import sys, yaml
value = yaml.load(open(sys.argv[1], encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
verbs = frozenset("get put post delete options head patch trace query".split())
print(sum(len(verbs & item.keys()) for item in value.get("paths", {}).values() if isinstance(item, dict)))
"""
SERVE: Final = """
import asyncio, sys, fastmcp, httpx, yaml
loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
value = yaml.load(open(sys.argv[1], encoding="utf-8"), loader)
server = fastmcp.FastMCP.from_openapi(value, client=httpx.AsyncClient(base_url="https://api.example"))
print("taken", len(asyncio.run(server.list_tools())))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One command: what it printed, its processor time in seconds, and its peak memory in MB."""

    code: int
    text: str
    seconds: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.seconds:.0f} s, {self.megabytes:.0f} MB"


def main() -> None:
    """Print a table of the documents in Markdown, after a line of versions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--fastmcp", default=sys.executable, metavar="PYTHON", help="Python that has FastMCP")
    parser.add_argument("--client", default="openapi-python-client", metavar="COMMAND")
    options = parser.parse_args()
    client = shutil.which(options.client) or ""
    fastmcp = options.fastmcp if _version(options.fastmcp) else ""
    print(f"toolgen {version('toolgen')}, FastMCP {_version(fastmcp) or 'is missing'}, ", end="")
    print(_run([client, "--version"]).text.strip() if client else f"{options.client} is missing", end="\n\n")
    print("| document | operations | toolgen | import | gen | FastMCP | | openapi-python-client | |")
    print("|---|---|---|---|---|---|---|---|---|")
    for document in options.documents:
        cells = [*_toolgen(document), *_served(document, fastmcp), *_client(document, client)]
        print(f"| {document.stem} | {_operations(document):,} | {' | '.join(cells)} |", flush=True)


def _operations(document: Path) -> int:
    """Return the operations of a document, those of methods that nobody sends included.

    Another process reads it: the peak of a process begins with what the one has that starts it.
    """
    return int(_run([sys.executable, "-c", COUNT, str(document)]).text)


def _toolgen(document: Path) -> list[str]:
    """Return the tools of the design, what its import costs, and what its code costs."""
    command = [sys.executable, "-m", "toolgen"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "pyproject.toml").write_text('[tool.toolgen]\ndesign = "api_design"\n')
        options = ["--name", "api", "--server", SERVER, "--allow-losses", "--out", "api_design.py"]
        imported = _run([*command, "import", "openapi", str(document.resolve()), *options], folder)
        match = re.search(r"imported ([\d,]+) tools?", imported.text)
        if match is None:
            return ["fails", str(imported), "–"]
        made = _run([*command, "gen"], folder)
        return [match[1], str(imported), str(made) if made.code == 0 else "fails"]


def _served(document: Path, python: str) -> list[str]:
    if not python:
        return ["–", ""]
    run = _run([python, "-c", SERVE, str(document)])
    match = re.search(r"taken (\d+)", run.text)
    return [f"{int(match[1]):,}" if match else "refuses", str(run)]


def _client(document: Path, client: str) -> list[str]:
    if not client:
        return ["–", ""]
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "made")
        run = _run(
            [client, "generate", "--path", str(document), "--meta", "none", "--output-path", str(made)]
        )
        modules = [file for file in made.glob("**/api/**/*.py") if file.name != "__init__.py"]
        return [f"{len(modules):,}" if modules else "fails", str(run)]


def _version(python: str) -> str:
    """Return the version of FastMCP that a Python has; "" for none."""
    if not python:
        return ""
    run = _run([python, "-c", "import fastmcp; print(fastmcp.__version__)"])
    return run.text.split()[-1] if run.code == 0 else ""


def _run(command: list[str], folder: str | None = None) -> Run:
    """Run a command to its end, and return what it printed and what it took."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    seconds = usage.ru_utime + usage.ru_stime
    return Run(code=process.returncode, text=text, seconds=seconds, megabytes=usage.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
