"""What `toolgen gen --check` finds in the output, for people, programs and GitHub."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from toolgen.codegen.write import Comparison
from toolgen.contract.printable import printable
from toolgen.expr import Format
from toolgen.expr.rendering import workflow_command

_GENERATE: Final = "run: toolgen gen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A generated file that is not as the design wants it."""

    code: str
    message: str
    """What is said of the file, which is its subject."""
    file: str
    hint: str = _GENERATE

    @property
    def is_repaired_by_gen(self) -> bool:
        return self.hint == _GENERATE


def findings(out: Path, comparison: Comparison) -> list[Finding]:
    groups = (
        ("output-missing", "is missing", comparison.missing),
        ("output-changed", "is not what the design says now", comparison.changed),
        ("output-edited", "was edited", comparison.edited),
        ("output-unrecorded", "is there, but not in the manifest", comparison.unrecorded),
        ("output-stale", "is no longer generated", comparison.stale),
    )
    found = [
        Finding(code=code, message=message, file=str(out / path))
        for code, message, paths in groups
        for path in paths
    ]
    return [*found, *(kept(out / path) for path in comparison.kept)]


def kept(file: Path) -> Finding:
    return Finding(
        code="output-kept",
        message="is no longer generated, but was edited",
        file=str(file),
        hint="delete it if you do not need it",
    )


def render_findings(found: Iterable[Finding], format: Format) -> str:
    """Return one line a finding; JSON has the keys of a diagnostic, but no place inside the file."""
    render = {"text": _text, "json": _json, "github": _github}[format]
    return "\n".join(map(render, found))


def _text(finding: Finding) -> str:
    hint = "" if finding.is_repaired_by_gen else f"; {finding.hint}"
    return f"{finding.file}: {finding.message}{hint}"


def _json(finding: Finding) -> str:
    return printable(json.dumps({"severity": "error", **asdict(finding)}, ensure_ascii=False))


def _github(finding: Finding) -> str:
    message = f"{finding.file} {finding.message}\nhint: {finding.hint}"
    return workflow_command(message, {"file": finding.file, "title": finding.code})
