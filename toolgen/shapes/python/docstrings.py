"""Docstrings of functions, of their parameters and of their results (Google, NumPy or reST style).

The package docstring-parser of the extra `docstrings` parses them.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from toolgen.contract.record import frozen_record

if TYPE_CHECKING:
    from docstring_parser import Docstring

PACKAGE: Final = "docstring_parser"
_MORE_PARAMETERS: Final = ("Keyword Args", "Keyword Arguments", "Other Parameters")
_ASIDES: Final = (
    *"Note Notes Warning Warnings Warns Todo References Reference Tip Hint Important".split(),
    "See Also",
)
"""Further sections in Google's style, which describe neither the function nor a parameter."""


@frozen_record
class DocstringTexts:
    """The texts of a docstring; sections about other subjects are omitted."""

    description: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    result: str = ""


def read_docstring(text: str | None) -> DocstringTexts:
    """Return the parsed docstring; if it has no known style, or one line, all of it is the description.

    Raises:
        ModuleNotFoundError: it has several lines, and `PACKAGE` is not installed.
    """
    text = inspect.cleandoc(text or "").strip()
    if "\n" not in text:
        return DocstringTexts(description=text)
    parsed = _parsed(text)
    if parsed is None:
        return DocstringTexts(description=text)
    parameters = {
        name.strip().lstrip("*"): _one_line(parameter.description)
        for parameter in parsed.params
        if parameter.args[0] != "attribute" and parameter.description
        for name in parameter.arg_name.split(",")
    }
    results = [result for result in (parsed.returns, *parsed.many_returns) if result is not None]
    described = next((result.description for result in results if result.description), "")
    return DocstringTexts(
        description=(parsed.description or "").strip(), parameters=parameters, result=_one_line(described)
    )


def _parsed(text: str) -> Docstring | None:
    """Return the docstring in the style that recognizes most of it; None if no style recognizes anything."""
    from docstring_parser import DocstringMeta, DocstringStyle, ParseError

    best, most = None, 0
    for parse in _styles():
        try:
            parsed = parse(text)
        except ParseError:
            continue
        is_rest = parsed.style is DocstringStyle.REST  # its other fields can be any text between colons
        count = sum(type(part) is not DocstringMeta or not is_rest for part in parsed.meta)
        if count > most:
            best, most = parsed, count
    return best


@cache
def _styles() -> tuple[Any, ...]:
    """Return the functions that parse each style."""
    from docstring_parser import epydoc, google, numpydoc, rest

    sections = [
        *google.DEFAULT_SECTIONS,
        *(google.Section(name, "param", google.SectionType.MULTIPLE) for name in _MORE_PARAMETERS),
        *(google.Section(name, name.lower(), google.SectionType.SINGULAR) for name in _ASIDES),
    ]
    return rest.parse, google.GoogleParser(sections).parse, numpydoc.parse, epydoc.parse


def _one_line(text: str | None) -> str:
    """Return the text with spaces for line breaks, which come from the width of the source."""
    return " ".join((text or "").split())
