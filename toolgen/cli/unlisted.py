"""Clauses of a design module that its design does not hold, such as an agent that no service lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Final, TypeAlias

from toolgen.dsl import Agent, Completion, Design, Method, Service, Tool, Toolset
from toolgen.dsl.evaluation.clause_lookup import walk
from toolgen.findings import Finding

from .problem_codes import CLAUSE_UNLISTED

_Listed: TypeAlias = Service | Agent | Completion | Method | Toolset | Tool
_OWNERS: Final[Mapping[type[_Listed], str]] = {
    Service: "Design",
    Agent: "Service",
    Completion: "Service",
    Method: "Service",
    Toolset: "Service, Use or Export",
    Tool: "Toolset",
}
"""What is generated for itself, and the clause that lists it."""


def unlisted(module: ModuleType, design: Design) -> Iterator[Finding]:
    """Yield a warning for each clause that has a name in the module and does not stand in the design.

    One whose name begins with an underscore is not meant to, nor one of another file, nor one within another
    that is not listed.
    """
    listed = {id(clause) for clause in walk(design, set())}
    named = {
        id(value): (name, value)
        for name, value in vars(module).items()
        if isinstance(value, _Listed) and not name.startswith("_") and id(value) not in listed
    }
    within = {id(inner) for _, value in named.values() for inner in walk(value, set()) if inner is not value}
    for key, (name, value) in named.items():
        if key in within or value.source.file != module.__file__:
            continue
        kind = type(value).__name__
        yield CLAUSE_UNLISTED.finding(
            f"{kind.lower()} {value.name!r} does not stand in the design; nothing is generated for it",
            place=value.source.located(),
            hint=f"list {name} in its {_OWNERS[type(value)]}, or remove it",
        )
