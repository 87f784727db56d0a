"""`toolgen gen --check`: the differences between the output and the design."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from toolgen.codegen.write import Comparison
from toolgen.findings import Code, Finding, Place

from .problem_codes import (
    OUTPUT_CHANGED,
    OUTPUT_EDITED,
    OUTPUT_KEPT,
    OUTPUT_MISSING,
    OUTPUT_STALE,
    OUTPUT_UNRECORDED,
)

GENERATE: Final = "run: toolgen gen"


def differences(out: Path, comparison: Comparison) -> list[Finding]:
    """Return a finding for each generated file that differs from the design."""
    groups: tuple[tuple[Code, str, tuple[str, ...]], ...] = (
        (OUTPUT_MISSING, "the file is missing", comparison.missing),
        (OUTPUT_CHANGED, "the file is not what the design says now", comparison.changed),
        (OUTPUT_EDITED, "the file was edited", comparison.edited),
        (OUTPUT_UNRECORDED, "the file is there, but not in the manifest", comparison.unrecorded),
        (OUTPUT_STALE, "the file is no longer generated", comparison.stale),
    )
    findings = [
        code.finding(message, place=Place(file=str(out / path)), hint=GENERATE)
        for code, message, paths in groups
        for path in paths
    ]
    return [*findings, *(kept(out / path) for path in comparison.kept)]


def kept(file: Path) -> Finding:
    return OUTPUT_KEPT.finding(
        "the file is no longer generated, but was edited",
        place=Place(file=str(file)),
        hint="delete it if you do not need it",
    )
