"""The recording in the README: `UPDATE=1` draws it again; otherwise it shows what the commands print."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Final

import pytest
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

from tests.conformance.followed import SAVED, bash
from tests.test_docs import BLOCK, ROOT

pytestmark = pytest.mark.costly

RECORDING: Final = ROOT / "docs/pictures/terminal.svg"
COLUMNS: Final = 112
SVG: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<style>
.matrix {{ font: {char_height}px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }}
{styles}
</style>
<defs>{lines}</defs>
<rect width="{width}" height="{height}" rx="8" fill="#1b1f24"/>
<g transform="translate(12, 12)">
{backgrounds}
<g class="matrix">{matrix}</g>
</g>
</svg>
"""
"""Rich's template with fonts of the reader's machine, so that the file refers to nothing outside."""


def test_the_recording_shows_what_the_commands_print(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    drawn = recording(list(session(readme, tmp_path)))
    if os.environ.get("UPDATE"):
        RECORDING.write_text(drawn, "utf-8")
    assert RECORDING.read_text("utf-8") == drawn


def session(readme: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the commands of the README with their output, first with a mistake in the design."""
    blocks = list(BLOCK.finditer(readme))
    files = {
        saved[-1]: block[2]
        for previous, block in zip([None, *blocks], blocks, strict=False)
        if (saved := SAVED.findall(readme[previous.end() if previous else 0 : block.start()]))
    }
    for name in ("design.py", "pyproject.toml"):
        (folder / name).write_text(files[name], "utf-8")
    wrong = files["design.py"].replace("default=10)", "default=100)")
    (folder / "design.py").write_text(wrong, "utf-8")
    yield "toolgen gen", bash("toolgen gen", folder).stdout
    (folder / "design.py").write_text(files["design.py"], "utf-8")
    yield "sed -i 's/default=100/default=10/' design.py", ""
    yield "toolgen gen", bash("toolgen gen", folder).stdout
    (stub,) = (name for name in files if name.startswith("executors/"))
    (folder / stub).write_text(files[stub], "utf-8")
    yield f"$EDITOR {stub}", ""
    for command in re.findall(r"^toolgen call .*$", readme, re.MULTILINE):
        yield command, bash(command, folder).stdout


def recording(commands: list[tuple[str, str]]) -> str:
    """Return a drawing of a terminal as SVG."""
    assert shutil.which("bash")
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    for command, output in commands:
        console.print(Text.assemble(("$ ", "green"), (command, "bold")))
        if output:
            console.print(Text(output.rstrip()), highlight=False)
    return console.export_svg(code_format=SVG, theme=DIMMED_MONOKAI, unique_id="terminal")
