"""A change that breaks callers, and is refused: `python -m examples.home.breaking_demo`.

What the tools promised is the generated catalog, in which `list_devices` gave up to twice as many devices.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
CATALOG = ROOT / "gen" / "tool_schemas.json"


def promised_before() -> str:
    """Return the catalog as it would be if the limit of `list_devices` had been lowered since."""
    document = json.loads(CATALOG.read_text("utf-8"))
    (tool,) = [tool for tool in document["tools"] if tool["name"] == "list_devices"]
    tool["payload"]["schema"]["properties"]["limit"]["maximum"] *= 2
    return json.dumps(document)


def main() -> int:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "released.json"
        file.write_text(promised_before(), "utf-8")
        print("\n$ toolgen breaking --against released.json", file=sys.stderr)
        command = [sys.executable, "-m", "toolgen", "breaking", "--against", file.name]
        config = ["--config", str(ROOT / "pyproject.toml")]
        done = subprocess.run([*command, *config], cwd=folder, check=False)
    return 0 if done.returncode == 1 else 1


if __name__ == "__main__":
    raise SystemExit(main())
