"""Artifacts as text at the terminal, by their view: sparklines, tables and Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from toolgen.contract.json_value import Json
from toolgen.contract.printable import printable, visible

_BARS: Final = "▁▂▃▄▅▆▇█"
_WIDTH: Final = 60
"""Columns of a sparkline."""
_MOST_ROWS: Final = 10
_MOST_COLUMNS: Final = 6
_MOST_SERIES: Final = 3
_LONGEST_CELL: Final = 24


def artifact_text(kind: str, view: str, document: str, size: int) -> str:
    """Return the artifact as lines for a terminal; without data, only its name and size."""
    head = f"{printable(kind)}, {size:,} bytes"
    if not document:
        return head
    data: Any = json.loads(document)
    match view:
        case "chart.line" | "chart.bar":
            lines = list(_sparklines(data))
        case "table":
            lines = list(_table(_rows(data)))
        case "markdown" if isinstance(text := _text(data), str):
            lines = [printable(line) for line in text.splitlines()]
        case _:
            lines = []
    return "\n".join([head, *lines])


def _rows(data: Any) -> list[dict[str, Any]]:
    """Return the longest list of objects in a document or in its nested fields."""
    if isinstance(data, list):
        return [row for row in data if isinstance(row, dict)]
    if isinstance(data, dict):
        return max((_rows(value) for value in data.values()), key=len, default=[])
    return []


def _text(data: Any) -> str | None:
    """Return the longest text of a document."""
    if isinstance(data, str):
        return data
    if isinstance(data, dict):
        texts = [value for value in data.values() if isinstance(value, str)]
        return max(texts, key=len, default=None)
    return None


def _sparklines(data: object) -> Iterator[str]:
    rows = _rows(data)
    names = dict.fromkeys(name for row in rows for name in row)
    series = {name: [row.get(name) for row in rows] for name in names}
    numbers = {
        name: [
            float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool)
        ]
        for name, values in series.items()
    }
    shown = [name for name, values in numbers.items() if len(values) > 1][:_MOST_SERIES]
    labels = {name: printable(name) for name in shown}
    width = max(map(len, labels.values()), default=0)
    for name in shown:
        values = numbers[name]
        low, high = min(values), max(values)
        yield f"{labels[name]:{width}}  {_sparkline(values, low, high)}  {low:g} to {high:g}"


def _sparkline(values: Sequence[float], low: float, high: float) -> str:
    """Return a bar for each value, or for the mean of adjacent values if there are many."""
    step = max(len(values) / _WIDTH, 1)
    means = list[float]()
    at = 0.0
    while round(at) < len(values):
        part = values[round(at) : max(round(at + step), round(at) + 1)]
        means.append(sum(part) / len(part))
        at += step
    span = (high - low) or 1
    return "".join(_BARS[min(int((value - low) / span * len(_BARS)), len(_BARS) - 1)] for value in means)


def _table(rows: Sequence[dict[str, Json]]) -> Iterator[str]:
    names = list(dict.fromkeys(name for row in rows for name in row))[:_MOST_COLUMNS]
    cells = [[_cell(row.get(name)) for name in names] for row in rows[:_MOST_ROWS]]
    table = [[_cell(name) for name in names], *cells]
    widths = [max(len(row[at]) for row in table) for at in range(len(names))]
    for row in table:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    if len(rows) > _MOST_ROWS:
        yield f"… {len(rows) - _MOST_ROWS} more rows"


def _cell(value: Any) -> str:
    is_text = isinstance(value, str)
    text = value if is_text else "" if value is None else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    text = text if len(text) <= _LONGEST_CELL else f"{text[: _LONGEST_CELL - 1]}…"
    return printable(text) if is_text else visible(text)
