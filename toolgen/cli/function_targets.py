"""Finds missing functions of services; their modules are read, but not imported."""

from __future__ import annotations

import ast
import difflib
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from toolgen.contract.findings import Finding
from toolgen.contract.transport import Function as FunctionTarget
from toolgen.dsl import Function, Functions
from toolgen.dsl.clause import Clause
from toolgen.dsl.expr.tree import Design

from .problem_codes import FUNCTION_MISSING


def missing_functions(design: Design, clauses: Iterable[Clause]) -> Iterator[Finding]:
    """Yield a warning for each method whose module or function is missing; `clauses` are the design's.

    A function that the module might define dynamically counts as present.
    """
    places = {
        each.module if isinstance(each, Functions) else each.target: each.source
        for each in clauses
        if isinstance(each, Function | Functions)
    }
    targets = {
        method.transport.target: method.name
        for service in design.services
        for method in service.methods
        if isinstance(method.transport, FunctionTarget)
    }
    for target, method in targets.items():
        module, _, path = target.partition(":")
        source = places.get(target) or places.get(module)
        if (fault := _fault(module, path.partition(".")[0])) and source is not None:
            problem, hint = fault
            yield FUNCTION_MISSING.finding(
                f"the method {method!r} calls {target}, but {problem}", place=source.located(), hint=hint
            )


def _fault(module: str, name: str) -> tuple[str, str] | None:
    """Return why a module does not define a name, with a hint; None if it might define it."""
    spec = _spec(module)
    if spec is None:
        return (
            f"the module {module!r} was not found",
            "install it, or put it below the folder of pyproject.toml",
        )
    if spec.origin is None or not spec.origin.endswith(".py"):
        return None
    names = _names(Path(spec.origin))
    if name in names or names & {"*", "__getattr__", "globals", "setattr"}:
        return None
    near = difflib.get_close_matches(name, sorted(names), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"add it to {spec.origin}, or correct the design"
    return f"the module {module!r} has no {name!r}", hint


def _spec(module: str) -> ModuleSpec | None:
    """Return the spec of a module without importing its packages."""
    if module in sys.modules:
        return sys.modules[module].__spec__ or ModuleSpec(module, None)
    name, *parts = module.split(".")
    spec = importlib.util.find_spec(name)
    for part in parts:
        if spec is None:
            return None
        name = f"{name}.{part}"
        spec = PathFinder.find_spec(name, spec.submodule_search_locations or [])
    return spec


def _names(file: Path) -> set[str]:
    """Return all names that a module binds or uses; `*` if they cannot be determined."""
    try:
        module = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {"*"}
    names = set[str]()
    for node in ast.walk(module):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Name(id=name):
                names.add(name)
            case ast.alias(name=name, asname=other):
                names.add(other or name.partition(".")[0])
            case _:
                pass
    return names
