"""Defaults and examples of attributes with a format type: which of them a design can hold.

A design holds values of Python; what is written as a date there cannot stand as a string.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from toolgen.shapes.design.validator import Validator
from toolgen.shapes.fields import ScalarType, StringType
from toolgen.shapes.lexical import STRING_FORMATS

from .clauses_nodes import Node, inner

TYPED_FORMATS: Final = {
    "date-time": "DateTime",
    "date": "Date",
    "duration": "Duration",
    "uuid": "Uuid",
    "uri": "Url",
}
"""Words by the format that means them."""


def holds(node: Node, value: Any) -> bool:
    """Return whether a JSON value that fits a node can be written beside its type in a design.

    Formats of the node are types here: the value of an address has its form, and a date is no string.
    """
    formats = set(_formats(node))
    if not formats or value is None or value in ([], {}):
        return True
    if len(formats) > 1 or not isinstance(value, str):
        return False
    (format_,) = formats
    if format_ in STRING_FORMATS:
        return not Validator(StringType(format=format_), {}).issues(value)
    return format_ == "uri" and not Validator(ScalarType(kind="url"), {}).issues(value)


def _formats(node: Node) -> Iterator[str]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        format_ = node.get("format")
        if format_ in TYPED_FORMATS or format_ in STRING_FORMATS:
            yield format_
        waiting += inner(node)
