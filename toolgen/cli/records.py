"""Problems for programs: one JSON object or one workflow command of GitHub a line.

The keys are those of a diagnostic; what is not known of a problem is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, assert_never

from toolgen.contract.errors import ToolgenError
from toolgen.contract.printable import printable, printable_lines
from toolgen.expr.rendering import Severity, shown, workflow_command
from toolgen.expr.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One problem; lines and columns count from 1, and 0 stands for one that is not known."""

    code: str
    message: str
    severity: Severity = "error"
    file: str = ""
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    hint: str = ""

    @property
    def place(self) -> dict[str, object]:
        """The keys that say where it is."""
        place: dict[str, object] = {"file": self.file} if self.file else {}
        if self.line:
            place |= {"line": self.line, "column": self.column}
            place["end"] = {"line": self.end_line, "column": self.end_column}
        return place


def record_at(
    source: Source, *, root: str, code: str, message: str, hint: str, severity: Severity = "error"
) -> Record:
    """Return the record of a problem with what was written there; the file is named from the root."""
    file, line, column = source.place
    end_line, end_column = source.end
    return Record(
        code=code,
        message=message,
        severity=severity,
        file=shown(file, root),
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        hint=hint,
    )


class RecordedError(ToolgenError):
    """An error of which programs get a record of its own; its text is for people."""

    def __init__(self, message: str, *, record: Record) -> None:
        super().__init__(message, hint=record.hint)
        self.record = record


def record_of(error: ToolgenError) -> Record:
    """Return the record of an error of the environment."""
    if isinstance(error, RecordedError):
        return error.record
    return Record(code="environment", message=error.message, hint=error.hint)


def render_records(records: Iterable[Record], format: Literal["json", "github"]) -> str:
    """Return a line for each, without a final newline."""
    match format:
        case "json":
            return "\n".join(map(_json, records))
        case "github":
            return "\n".join(map(_github, records))
        case _:
            assert_never(format)


def _json(record: Record) -> str:
    document = {
        "severity": record.severity,
        "code": record.code,
        "message": record.message,
        **record.place,
        "hint": record.hint,
    }
    return printable(json.dumps(document, ensure_ascii=False))


def _github(record: Record) -> str:
    properties: dict[str, object] = {"file": record.file} if record.file else {}
    if record.line:
        properties |= {"line": record.line, "col": record.column}
    message = f"{record.message}\nhint: {record.hint}" if record.hint else record.message
    return workflow_command(printable_lines(message), {**properties, "title": record.code}, record.severity)
