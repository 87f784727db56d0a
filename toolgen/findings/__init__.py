"""What is wrong with a design, an output or a source: findings, as text, JSON and workflow commands."""

from .code import Code
from .finding import NOWHERE, Finding, Place, Related, Severity
from .format import format_schema
from .rendering import Format, render, shown

__all__ = [
    "NOWHERE",
    "Code",
    "Finding",
    "Format",
    "Place",
    "Related",
    "Severity",
    "format_schema",
    "render",
    "shown",
]
