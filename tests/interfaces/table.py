"""The table of the interfaces: read, compared with the interfaces of the sources, and told in a document."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

SUMMARY: Final = re.compile(r"(?<=<!-- from tests/interfaces/table.toml -->\n).*?(?=<!-- to here -->)", re.S)
"""The place in the document that `summary` fills."""


@cache
def read_table() -> dict[str, Any]:
    """Return the table: `classes` with what each means, and `rows`."""
    return tomllib.loads(Path(__file__).with_name("table.toml").read_text("utf-8"))


def cells(table: dict[str, Any]) -> Iterator[tuple[str, str, list[str] | str]]:
    """Yield the row, the class, and the tests or the reason of each cell."""
    for row in table["rows"]:
        for name in table["classes"]:
            yield row["name"], name, row.get(name, "")


def faults(table: dict[str, Any], interfaces: Sequence[str]) -> list[str]:
    """Return what the table lacks, or has too much of."""
    rows = Counter(name for row in table["rows"] for name in row["interfaces"])
    known = {"name", "interfaces", *table["classes"]}
    return [
        *(f"{name} has no row" for name in interfaces if name not in rows),
        *(f"{name} is no interface" for name in rows if name not in interfaces),
        *(f"{name} has {number} rows" for name, number in rows.items() if number > 1),
        *(f"{row['name']}: {key!r} is no class" for row in table["rows"] for key in row if key not in known),
        *(f"{row}: {name} has neither a test nor a reason" for row, name, cell in cells(table) if not cell),
    ]


def summary(table: dict[str, Any]) -> str:
    """Return the table by classes, in Markdown: what holds, how many tests show it, where it cannot fail."""
    number = sum(len(row["interfaces"]) for row in table["rows"])
    lines = [
        f"toolgen has {number} interfaces: commands, HTTP routes, MCP handlers, adapters and stores.",
        "Tests show that each promise holds at every interface, except where the last column says that it",
        "does not apply.",
        "",
        "| Class | Promise | Tests | Not applicable to |",
        "|---|---|---|---|",
    ]
    for name, what in table["classes"].items():
        held = {
            test for _, of, cell in cells(table) if of == name and isinstance(cell, list) for test in cell
        }
        never = [row for row, of, cell in cells(table) if of == name and isinstance(cell, str)]
        lines.append(f"| {name} | {what} | {len(held)} | {', '.join(never) or '–'} |")
    return "\n".join([*lines, ""])
