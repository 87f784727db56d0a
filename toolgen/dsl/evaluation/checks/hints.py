"""Hints that replace a misplaced clause or type."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from types import NoneType, UnionType
from typing import Final, Literal, Union, get_args, get_origin

from ...agents import Agent, AgentToolset, Completion, Export, History, Use
from ...attributes import Attribute, Required
from ...clause import Clause
from ...composites import Enum, Type
from ...datatypes import DataType
from ...http import HTTP, Request
from ...services import Service
from ...structure import Args, Attributes, MCPToolset, Method, Payload, Result, Return, Tool, Toolset
from ..report import source_text
from ..types.spelling import clause_text
from .argument_types import class_name, parents_of

_PYTHON_TYPES: Final[dict[object, str]] = {
    str: "String",
    int: "Int",
    float: "Float",
    bool: "Boolean",
    bytes: "Bytes",
    dt.date: "Date",
    dt.datetime: "DateTime",
    dt.timedelta: "Duration",
    uuid.UUID: "Uuid",
    decimal.Decimal: "Decimal",
    object: "Any",
    list: "ArrayOf(…)",
    tuple: "ArrayOf(…)",
    dict: "MapOf(String, …)",
}

_WRITTEN: Final[dict[tuple[type[Clause], type[Clause]], str]] = {
    (Payload, Tool): "write Args(…) instead",
    (Result, Tool): "write Return(…) instead",
    (Args, Method): "write Payload(…) instead",
    (Return, Method): "write Result(…) instead",
    (Result, Completion): "write Return(…) instead",
    (Args, Completion): "remove it: a completion receives its message when it is called",
    (Payload, Completion): "remove it: a completion receives its message when it is called",
    (Tool, Agent): "put it into a Toolset that the agent uses: Use(toolset)",
    (Toolset, Agent): "write Use(Toolset(…))",
    (MCPToolset, Agent): "list it in the service, and write Use(…) here",
    (AgentToolset, Agent): "write Use(AgentToolset(…))",
    (History, Agent): "write RunPolicy(history=History(…))",
}
"""Hint for the first clause written in the second."""


def place_hint(child: Clause, parent: type[Clause], allowed_classes: tuple[type[Clause], ...]) -> str:
    """Return the hint for a clause that does not belong in a parent with these `allowed_classes`."""
    if written := _WRITTEN.get((type(child), parent)):
        return written
    if isinstance(child, Type) and parent is Completion:
        return f"write Return({child.name})"
    if isinstance(child, (Attribute, Required)) and parent in (Tool, Method, Completion):
        objects = (each.__name__ for each in allowed_classes if issubclass(each, Attributes))
        return f"write {' or '.join(f'{name}({clause_text(child)}(…))' for name in objects)}"
    if isinstance(child, Toolset):
        return "list it in the service that owns it"
    if isinstance(child, Request) and parent is not HTTP:
        return f"write HTTP({type(child).__name__}(…))"
    if isinstance(child, DataType) and not isinstance(child, (Type, Enum)):
        return "a type is the second argument of an Attribute"
    if isinstance(child, Attribute):
        return "put it into Args, Return, Payload, Result, Type or Object"
    parents = [class_name(parent) for parent in parents_of(type(child))]
    return f"put it into {' or '.join(parents)}" if parents else "remove it"


def argument_hint(value: Clause | str, holder: type[Clause], label: str) -> str:
    """Return the hint for a clause, or its name, that is an argument instead of another clause."""
    if isinstance(value, MCPToolset):
        return "put it into Service, and use it in agents with Use(…): its server executes the tools"
    if isinstance(value, Agent):
        return (
            f"to call {label}, let it export a toolset, Agent(…, Export(Toolset(…))), and use that; to "
            "hand the conversation over, write Transfer(…)"
        )
    if isinstance(value, Tool):
        only = f", only=[{source_text(value.name)}]" if holder is Use else ""
        return f"pass the toolset that contains it: {holder.__name__}(toolset{only})"
    if isinstance(value, Service):
        return f"pass one of its toolsets: {holder.__name__}(toolset)"
    if isinstance(value, str) and holder is HTTP:
        return 'write the verb as a clause, with its path: HTTP(GET("/…"))'
    if isinstance(value, str) and holder in (Use, Export):
        other = "; for an agent in another module: AgentToolset(service, agent, toolset)" * (holder is Use)
        return f"pass the toolset itself, the value of Toolset({source_text(value)}, …){other}"
    return ""


def type_hint(value: object) -> str:
    """Return the hint for a value that is not a type."""
    if value is decimal.Decimal:  # an import that shadows the clause
        return "write Decimal; for values, import decimal and write decimal.Decimal"
    if isinstance(value, type) and issubclass(value, Clause):
        return f"write {value.__name__}(…)"
    if isinstance(value, (list, tuple)) and len(value) == 1 and isinstance(value[0], DataType):
        return f"write ArrayOf({clause_text(value[0])})"
    if isinstance(value, dict):
        fields = [
            f'Attribute({source_text(name)}, {_type_clause_for(type_) or "…"}, "…")'
            for name, type_ in value.items()
        ]
        return f"write Object({', '.join(fields) or 'Attribute(…)'})"
    origin = get_origin(value)
    if isinstance(origin, type) and issubclass(origin, Clause):
        types_in = ", ".join(_type_clause_for(each) or "…" for each in get_args(value))
        return f"write {origin.__name__}({types_in})"
    if origin is Literal and (values := get_args(value)):
        return f"write {'Int' if isinstance(values[0], int) else 'String'}, and enum={source_text(values)}"
    if origin in (Union, UnionType):
        inner = [each for each in get_args(value) if each is not NoneType]
        return f"{type_hint(inner[0])}; an attribute without required=True may be absent"
    proposal = _type_clause_for(value) or "a type such as d.String, d.ArrayOf(d.String) or the name of a Type"
    return f"write {proposal}"


def _type_clause_for(value: object) -> str | None:
    """Return the type clause that corresponds to a Python type."""
    if isinstance(value, DataType):
        return clause_text(value)
    inner = [_type_clause_for(each) or "…" for each in get_args(value)]
    try:
        clause = _PYTHON_TYPES.get(get_origin(value) or value)
    except TypeError:  # unhashable, so it is none of them
        return None
    return clause.replace("…", inner[-1]) if clause and inner else clause
