"""What is wrong with a design, an output or a source: findings, as text, JSON and workflow commands."""

from .finding import NOWHERE, Code, Finding, Format, Place, Related, Severity, format_schema, render, shown

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
