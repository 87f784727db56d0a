"""The service whose methods are existing functions: each tool is bound to its own method.

A tool and its method share one type for the arguments and one for the result, so nothing is converted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from toolgen.shapes import naming

from .clauses import NamedType
from .clauses_layout import ClauseCall, Part, Text, call, literal
from .names import DesignNames
from .tool import ImportedTool

_SIDES: Final = {"Args": ("Payload", "arguments"), "Return": ("Result", "return")}
"""Clause of the method for each clause of its tool, and the suffix of the type that they share."""


class BoundTools:
    """The methods of the functions, and the types that they share with their tools."""

    def __init__(self, service: str, module: str, names: DesignNames) -> None:
        self._service = service
        self._module = module
        self._names = names
        self._methods: list[ClauseCall] = []
        self.types: list[NamedType] = []
        """Types without a name in the source; they refer to types of the source."""

    def bind(self, tool: ImportedTool, name: str, description: str, clauses: list[Part]) -> Iterator[Part]:
        """Yield the clauses of a tool with shared types and `BindTo`, and store its method."""
        children: list[Part] = []
        for clause in clauses:
            assert isinstance(clause, ClauseCall), "Args or Return"
            word, last = _SIDES[clause.clause]
            if clause.clause == "Return" and tool.result is None:
                continue  # the function has no result
            shared = self._shared(naming.class_name(name, last), clause, f"object {tool.name} {word}")
            children.append(call(word, shared))
            yield call(clause.clause, shared)
        if tool.function != f"{self._module}:{name}":
            children.append(call("Function", literal(tool.function)))
        self._methods.append(call("Method", literal(name), Text(description), *children))
        yield call("BindTo", literal(self._service), literal(name))

    def parts(self) -> tuple[ClauseCall, ...]:
        """Return the parts of the service other than its toolset."""
        return (call("Functions", literal(self._module)), *self._methods) if self._methods else ()

    def _shared(self, wanted: str, clause: ClauseCall, identity: str) -> Part:
        """Return the name of the type in a clause; create the type if it has no name."""
        parts = clause.parts
        if len(parts) == 1 and isinstance(parts[0], str):
            return parts[0]
        name = self._names.assign(identity, wanted)
        text = call("Type", literal(name), literal(None), *parts)
        self.types.append(NamedType(name=name, text=text, claims=(name,)))
        return name
