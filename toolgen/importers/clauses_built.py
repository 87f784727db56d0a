"""Asks `build` whether a design may hold clauses, before they are written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolgen import dsl

from .clauses_layout import Call, Items, Named, Part, Text, call, literal


class NotExpressibleError(ValueError):
    """Clauses cannot say what the schema says; the text says why."""


def check_type(type_: Part) -> None:
    """Check that an attribute may have a type that refers to no other.

    Raises:
        NotExpressibleError: it may not.
    """
    attribute = call("Attribute", literal("x"), type_, Text("X."))
    check_tool("tools", call("Tool", literal("find"), Text("Find."), call("Args", attribute)))


def check_tool(toolset: str, tool: Call, types: Iterable[tuple[str, Call]] = ()) -> None:
    """Check that a toolset may hold a tool beside the named types that it uses, in order.

    Raises:
        NotExpressibleError: it may not.
    """
    group = call("Toolset", literal(toolset), Text("T."), tool)
    check_service(call("Service", literal("tools"), Text("S."), group), types)


def check_service(service: Call, types: Iterable[tuple[str, Call]] = ()) -> None:
    """Check that a design may hold a service beside the named types that it uses, in order.

    Raises:
        NotExpressibleError: it may not.
    """
    named: dict[str, Any] = {}
    for name, type_ in types:
        named[name] = _built(type_, named)
    design = dsl.Design("tools", "Tools.", *named.values(), _built(service, named))
    for finding in dsl.build(design).diagnostics:
        if not finding.is_warning:
            raise NotExpressibleError(finding.message)


def _built(part: Part | Named, types: dict[str, Any]) -> Any:
    """Return the clause or the value that an expression makes; a name is that of a type or of a clause."""
    match part:
        case str():
            return types[part] if part in types else getattr(dsl, part)
        case Call():
            keywords = {
                item.keyword: _built(item.value, types) for item in part.parts if isinstance(item, Named)
            }
            values = (_built(item, types) for item in part.parts if not isinstance(item, Named))
            return getattr(dsl, part.clause)(*values, **keywords)
        case Items():
            return tuple(_built(item, types) for item in part.parts)
        case _:
            return part.value
