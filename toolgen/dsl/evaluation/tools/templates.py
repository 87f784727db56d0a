"""Texts for people with names in braces, as `toolgen.calls.steps.result_encoding` fills them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterator
from typing import Final

from toolgen.contract.record import frozen_record
from toolgen.shapes.fields import Foreign, ObjectType
from toolgen.shapes.foreign.nodes import target

from ...expr import codes
from ...expr.source import Source
from ..report import Report, suggestion

_PART: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@frozen_record
class TemplateNames:
    """The names that a template of a tool can use."""

    otherwise: str
    """Description of an unknown name for messages: `not one of its arguments`."""
    names: Collection[str] | None
    """Names that can be used; None if unknown."""
    hidden: Collection[str] = ()
    """Injected fields or artifacts, which are never shown."""
    sensitive: Collection[str] = ()
    """Attributes whose values are replaced by a marker for people."""


def names_of(object_: ObjectType) -> list[str] | None:
    """Return the names of an object's properties; None if a foreign schema does not list them."""
    if object_.foreign:
        return _foreign_names(object_.foreign)
    return [field.name for field in object_.fields]


def sensitive_names_of(object_: ObjectType) -> list[str]:
    """Return the names of an object's sensitive attributes."""
    return [field.name for field in object_.fields if field.sensitive]


def _foreign_names(foreign: Foreign) -> list[str] | None:
    class_ = foreign.classes.get(target(foreign.root) or "", {})
    names: dict[str, None] = {}
    for properties in (class_.get("properties"), foreign.schema.get("properties")):
        names |= dict.fromkeys(properties if isinstance(properties, dict) else ())
    return list(names) or None


def template(text: str, clause: str, tool: str, of: TemplateNames, source: Source, report: Report) -> str:
    """Return the text without indentation; report unknown and sensitive names, and single braces."""
    text = inspect.cleandoc(text).strip()
    for fault, hint in _faults(text, of):
        report.add(codes.UNKNOWN_HINT_NAME, source, clause=clause, tool=tool, fault=fault, hint=hint)
    for name in dict.fromkeys(match[1] for match in _PART.finditer(text)):
        if name in of.sensitive:
            report.add(codes.SENSITIVE_HINT_NAME, source, clause=clause, tool=tool, name=name)
    return text


def _faults(text: str, of: TemplateNames) -> Iterator[tuple[str, str]]:
    for match in _PART.finditer(text):
        name = match[1]
        if name is None:
            if match[0] in ("{", "}"):
                yield (
                    f"has an unpaired {match[0]!r}",
                    f"write {match[0] * 2!r} for a literal brace, or complete the pair",
                )
        elif not name.strip():
            yield f"has {match[0]!r} without a name", "write a name between the braces, or double them"
        elif of.names is not None and name not in of.names:
            yield f"names {name!r}, which is {of.otherwise}", _hint(name, of)


def _hint(name: str, of: TemplateNames) -> str:
    if name in of.hidden:
        return f"remove it: {name!r} is not shown to people"
    bare = re.split(r"[:!.\[]", name.strip())[0].strip()
    if of.names and bare in of.names:
        return f"write {{{bare}}}: only a name is allowed in the braces"
    return suggestion(name, of.names or (), "remove it, or add the attribute")
