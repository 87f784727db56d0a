"""Diagnostics as text for people, as JSON for programs, as workflow commands for GitHub."""

from __future__ import annotations

import json
import os.path
from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeAlias, assert_never

from toolgen.contract.printable import printable

from .diagnostics import Diagnostic
from .source import Source

Format: TypeAlias = Literal["text", "json", "github"]
Severity: TypeAlias = Literal["error", "warning"]

_BOLD, _RED, _YELLOW, _CYAN, _DIM = "1", "1;31", "1;33", "36", "2"
_IN_MESSAGES: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTIES: Final = _IN_MESSAGES | str.maketrans({":": "%3A", ",": "%2C"})


def render(diagnostics: Iterable[Diagnostic], format: Format, root: str, colour: bool = False) -> str:
    """Return the diagnostics without a final newline; empty for none.

    `text` has an empty line between two; `json` has one object per line; `github` has one workflow
    command per line (GitHub Actions, "Workflow commands": error, warning). Paths below the root are
    relative to it. Only text has colours.
    """
    match format:
        case "text":
            return "\n\n".join(_text(diagnostic, root, colour) for diagnostic in diagnostics)
        case "json":
            return "\n".join(_json(diagnostic, root) for diagnostic in diagnostics)
        case "github":
            return "\n".join(_github(diagnostic, root) for diagnostic in diagnostics)
        case _:
            assert_never(format)


def _text(diagnostic: Diagnostic, root: str, colour: bool) -> str:
    def painted(text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if colour else text

    place = painted(_place(diagnostic.source, root), _BOLD)
    style = _YELLOW if diagnostic.is_warning else _RED
    title = f"{painted(f'{_severity(diagnostic)}:', style)} {painted(printable(diagnostic.message), _BOLD)}"
    lines = [f"{place}: {title} {painted(f'[{diagnostic.code}]', _DIM)}"]
    code, *carets = diagnostic.source.excerpt().split("\n")
    lines += [code] if code else []
    lines += [painted(line, style) for line in carets]
    lines += [
        f"  {painted(_place(related.source, root), _BOLD)}: {printable(related.message)}"
        for related in diagnostic.related
    ]
    lines += [f"  {painted('hint:', _CYAN)} {printable(diagnostic.hint)}"] if diagnostic.hint else []
    return "\n".join(lines)


def _json(diagnostic: Diagnostic, root: str) -> str:
    related = [{"message": related.message, **_span(related.source, root)} for related in diagnostic.related]
    document = {
        "severity": _severity(diagnostic),
        "code": diagnostic.code,
        "message": diagnostic.message,
        **_span(diagnostic.source, root),
        "hint": diagnostic.hint,
        "related": related,
    }
    return printable(json.dumps(document, ensure_ascii=False))


def _span(source: Source, root: str) -> dict[str, object]:
    file, line, column = source.place
    end_line, end_column = source.end
    return {
        "file": shown(file, root),
        "line": line,
        "column": column,
        "end": {"line": end_line, "column": end_column},
    }


def _github(diagnostic: Diagnostic, root: str) -> str:
    file, line, column = diagnostic.source.place
    properties = {"file": shown(file, root), "line": line, "col": column, "title": diagnostic.code}
    lines = [diagnostic.message]
    lines += [f"{_place(related.source, root)}: {related.message}" for related in diagnostic.related]
    lines += [f"hint: {diagnostic.hint}"] if diagnostic.hint else []
    return workflow_command("\n".join(map(printable, lines)), properties, _severity(diagnostic))


def workflow_command(message: str, properties: Mapping[str, object], severity: Severity = "error") -> str:
    """Return the line that makes GitHub Actions show an error or a warning."""
    listed = ",".join(f"{name}={str(value).translate(_IN_PROPERTIES)}" for name, value in properties.items())
    return f"::{severity} {listed}::{message.translate(_IN_MESSAGES)}"


def _severity(diagnostic: Diagnostic) -> Severity:
    return "warning" if diagnostic.is_warning else "error"


def _place(source: Source, root: str) -> str:
    file, line, column = source.place
    return f"{shown(file, root)}:{line}:{column}"


def shown(file: str, root: str) -> str:
    """Return the path relative to the root where the file stands below it."""
    path = os.path.relpath(file, root) if os.path.isabs(file) else file
    return file if path.startswith(os.pardir) else path
