"""Versions of designs, as semver.org 2.0.0 has them."""

from __future__ import annotations

import re
from typing import Final

from toolgen.expr import codes

from ...services import Design
from ..report import Report, source_text

_NUMBER: Final = "0|[1-9][0-9]*"
_PART: Final = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION: Final = re.compile(
    rf"(?:{_NUMBER})\.(?:{_NUMBER})\.(?:{_NUMBER})"
    rf"(?:-{_PART}(?:\.{_PART})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
_LIKE: Final = re.compile(r"[vV]?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?")


def version_of(clause: Design, report: Report) -> str:
    """Return the version of a design; "" for none, or one that was reported."""
    if clause.version is None or _VERSION.fullmatch(clause.version):
        return clause.version or ""
    like = _LIKE.fullmatch(clause.version.strip())
    meant = ".".join(str(int(part or "0")) for part in like.groups()) if like else ""
    hint = f'write version="{meant}"' if meant else 'write three numbers, such as version="1.0.0"'
    report.add(
        codes.BAD_VERSION, clause.source, name=clause.name, value=source_text(clause.version), hint=hint
    )
    return ""
