"""Findings and their codes, rendered as text, JSON and workflow commands.

Every command reports its problems as findings.
"""

from __future__ import annotations

import json
import os.path
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias, assert_never

from .printable import printable, visible, visible_lines
from .record import frozen_record

Severity: TypeAlias = Literal["error", "warning"]
Format: TypeAlias = Literal["text", "json", "github"]

_BOLD, _RED, _YELLOW, _CYAN, _DIM = "1", "1;31", "1;33", "36", "2"
_IN_MESSAGES: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTIES: Final = _IN_MESSAGES | str.maketrans({":": "%3A", ",": "%2C"})
_LONGEST_SHOWN: Final = 200
"""Maximum characters of a name or a pointer from an imported document, in text."""


@frozen_record
class Place:
    """The place of a problem; lines and columns count from 1, and 0 means unknown."""

    file: str = ""
    """Path as Python or the command line names it; empty if there is none."""
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    """Column after the last character."""
    pointer: str | None = None
    """JSON Pointer (RFC 6901) into a document or a schema; "" for the whole, None for other files."""
    excerpt: str = ""
    """The line of the file, followed by a line of carets that mark the problem; only for text output."""


NOWHERE: Final = Place()


@frozen_record
class Related:
    """Another place that is related to a finding."""

    message: str
    place: Place


@frozen_record
class Finding:
    """One problem: an error, or a warning about something that works nevertheless."""

    code: str
    """Stable code, which `toolgen explain` explains."""
    message: str
    severity: Severity = "error"
    place: Place = NOWHERE
    tool: str = ""
    """The tool of an imported document, as written there; "" if the finding is not about a tool."""
    hint: str = ""
    """Action to take; may be empty."""
    related: tuple[Related, ...] = ()
    is_suppressible: bool = False
    """Whether the author can decide that it is correct as it is, so that tools can hide it."""

    @property
    def is_warning(self) -> bool:
        return self.severity == "warning"


@frozen_record(kw_only=False)
class Code:
    """A code with its meaning and the action to take."""

    name: str
    """Stable name in kebab-case."""
    explanation: str
    severity: Severity = "error"
    is_suppressible: bool = False

    def finding(self, message: str, *, place: Place = NOWHERE, hint: str = "", tool: str = "") -> Finding:
        """Return a finding with this code."""
        return Finding(
            code=self.name,
            message=message,
            severity=self.severity,
            place=place,
            tool=tool,
            hint=hint,
            is_suppressible=self.is_suppressible,
        )


def render(findings: Iterable[Finding], format: Format, root: str, colour: bool = False) -> str:
    """Return the findings without a final newline; empty if there are none.

    `text` has an empty line around a finding that shows its line of code. A hint that several consecutive
    findings share is shown once, after the last of them. `json` has one object per line, in the format of
    `finding-1.schema.json`. `github` has one workflow command per line (GitHub Actions, "Workflow commands":
    error, warning). Paths below the root are relative to it. Only text has colors.
    """
    match format:
        case "text":
            return _texts(list(findings), root, colour)
        case "json":
            return "\n".join(_json(finding, root) for finding in findings)
        case "github":
            return "\n".join(_github(finding, root) for finding in findings)
        case _:
            assert_never(format)


def shown(file: str, root: str) -> str:
    """Return the path, relative to the root if it is below the root."""
    path = os.path.relpath(file, root) if os.path.isabs(file) else file
    return file if path.startswith(os.pardir) else path


def _texts(findings: list[Finding], root: str, colour: bool) -> str:
    lines: list[str] = []
    for finding, following in pairwise([*findings, None]):
        assert finding is not None
        shares_hint = following is not None and following.hint == finding.hint and not finding.place.excerpt
        lines += _text(finding, root, colour, with_hint=not shares_hint)
        if following is not None and (finding.place.excerpt or following.place.excerpt):
            lines.append("")
    return "\n".join(lines)


def _text(finding: Finding, root: str, colour: bool, *, with_hint: bool) -> list[str]:
    def painted(text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if colour and text else text

    place = _position(finding.place, root)
    style = _YELLOW if finding.is_warning else _RED
    first, *others = visible_lines(_subject(finding) + finding.message).split("\n")
    title = f"{painted(f'{finding.severity}:', style)} {painted(first, _BOLD)}"
    tagged = f"{title} {painted(f'[{finding.code}]', _DIM)}"
    lines = [f"{painted(place, _BOLD)}: {tagged}" if place else tagged]
    lines += [f"  {line}" for line in others]
    code, *carets = finding.place.excerpt.split("\n")
    lines += [code] if code else []
    lines += [painted(line, style) for line in carets]
    lines += [
        f"  {painted(_position(related.place, root), _BOLD)}: {visible(related.message)}"
        for related in finding.related
    ]
    lines += [f"  {painted('hint:', _CYAN)} {visible(finding.hint)}"] if finding.hint and with_hint else []
    return lines


def _json(finding: Finding, root: str) -> str:
    document: dict[str, object] = {
        "severity": finding.severity,
        "code": finding.code,
        "message": finding.message,
        **({"tool": finding.tool} if finding.tool else {}),
        **_place(finding.place, root),
        "hint": finding.hint,
        "suppressible": finding.is_suppressible,
        "related": [
            {"message": related.message, **_place(related.place, root)} for related in finding.related
        ],
    }
    return visible(json.dumps(document, ensure_ascii=False))


def _place(place: Place, root: str) -> Mapping[str, object]:
    """Return the keys for the place of a finding, without unknown ones."""
    document: dict[str, object] = {"file": shown(place.file, root)} if place.file else {}
    if place.line:
        document |= {"line": place.line, "column": place.column}
        document["end"] = {"line": place.end_line, "column": place.end_column}
    return document if place.pointer is None else {**document, "pointer": place.pointer}


def _github(finding: Finding, root: str) -> str:
    place = finding.place
    properties: dict[str, object] = {"file": shown(place.file, root)} if place.file else {}
    properties |= {"line": place.line, "col": place.column} if place.line else {}
    listed = ",".join(
        f"{name}={printable(str(value)).translate(_IN_PROPERTIES)}"
        for name, value in {**properties, "title": finding.code}.items()
    )
    lines = [visible_lines(_subject(finding) + finding.message)]
    lines += [f"{_position(note.place, root)}: {visible(note.message)}" for note in finding.related]
    lines += [f"hint: {visible(finding.hint)}"] if finding.hint else []
    message = "\n".join(lines)
    return f"::{finding.severity} {listed}::{message.translate(_IN_MESSAGES)}"


def _position(place: Place, root: str) -> str:
    """Return file, line and column as compilers print them; empty if there is no file."""
    file = printable(shown(place.file, root))
    return f"{file}:{place.line}:{place.column}" if place.line else file


def _subject(finding: Finding) -> str:
    """Return the text before the message: the tool, and the pointer in a document without lines."""
    tool = f"tool {_short(finding.tool)!r}" if finding.tool else ""
    place = f"at {_short(finding.place.pointer)}" if finding.place.pointer and not finding.place.line else ""
    where = " ".join(part for part in (tool, place) if part)
    return f"{printable(where)}: " if where else ""


def _short(text: str) -> str:
    """Return the text, with its middle left out if it is too long."""
    if len(text) <= _LONGEST_SHOWN:
        return text
    half = _LONGEST_SHOWN // 2
    return f"{text[:half]}…{text[-half:]}"


def format_schema() -> dict[str, object]:
    """Return the JSON Schema 2020-12 of one line of `--format json`, format 1."""
    from importlib.resources import files  # import late: it takes a fortieth of `--help`

    text = files("toolgen.contract").joinpath("finding-1.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
