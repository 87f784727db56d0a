"""What a docstring says: of the whole, of each parameter, of the result (Google, NumPy or Sphinx style)."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field

from docstring_parser import ParseError, parse


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The texts of a docstring; sections about anything else are left out."""

    description: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    result: str = ""


def read_docstring(text: str | None) -> Said:
    """Return what the docstring says; one in no style of these is all description."""
    if not text or not text.strip():
        return Said()
    try:
        docstring = parse(text)
    except ParseError:
        return Said(description=inspect.cleandoc(text))
    parameters = {
        parameter.arg_name.lstrip("*"): _one_line(parameter.description)
        for parameter in docstring.params
        if parameter.description
    }
    result = docstring.returns.description if docstring.returns else None
    description = (docstring.description or "").strip()
    return Said(description=description, parameters=parameters, result=_one_line(result or ""))


def _one_line(text: str) -> str:
    """Return the text with its line breaks made spaces: they come from the width of the source."""
    return " ".join(text.split())
