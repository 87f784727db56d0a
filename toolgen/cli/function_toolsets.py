"""Toolsets for the functions in the setting `functions`."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Iterable

from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.contract.errors import ToolgenError
from toolgen.contract.printable import visible
from toolgen.runtime import BoundTool, RegistrationError, StaticToolset
from toolgen.shapes.naming import snake

from .config import Project
from .functions import FoundFunctions, find_functions

_SERVICE = "local"
"""The service of all functions that have no design."""


def function_toolsets(project: Project) -> tuple[StaticToolset, ...]:
    """Return a toolset for each module, and each object, whose functions the settings name.

    If the settings name a whole module or object, functions that cannot be tools are left out with a warning.

    Raises:
        ToolgenError: a module cannot be imported, no function in it can be a tool, a named function cannot,
            or two functions have the same name.
    """
    groups: dict[str, list[tuple[str, FoundFunctions]]] = {}
    for source in project.functions:
        functions = find_functions(source, project.directory)
        place = f"{functions.module.__name__}.{functions.owner}".rstrip(".")
        groups.setdefault(place, []).append((source, functions))
    names = Counter(place.rpartition(".")[2] for place in groups)
    toolsets = []
    for place, members in groups.items():
        last = place.rpartition(".")[2]
        name = f"{_SERVICE}.{snake(last if names[last] == 1 else place)}"
        bound = [tool for source, functions in members for tool in _tools(name, source, functions)]
        text = inspect.getdoc(members[0][1].described) or ""
        toolsets.append((place, function_toolset(name, bound, instructions=text)))
    _require_unique(toolsets)
    return tuple(toolset for _, toolset in toolsets)


def _tools(toolset: str, source: str, named: FoundFunctions) -> list[BoundTool]:
    tools, problems = list[BoundTool](), list[str]()
    for name, function in named.functions.items():
        try:
            tools.append(func_tool(function, name=snake(name), toolset=toolset))
        except RegistrationError as error:
            problems.append(str(error))
    if not tools:
        listed = "".join(f"\n  {line}" for problem in problems for line in problem.splitlines())
        raise ToolgenError(
            f"{source} has no function that can be a tool:{listed}",
            hint="annotate its parameters and its return value",
        )
    for problem in problems:
        line = " ".join(problem.split())
        print(visible(f"warning: {source} is served without one of its functions: {line}"), file=sys.stderr)
    return tools


def _require_unique(toolsets: Iterable[tuple[str, StaticToolset]]) -> None:
    """Check that each tool has a unique name.

    Raises:
        ToolgenError: two tools have the same name.
    """
    places: dict[str, str] = {}
    for place, toolset in toolsets:
        for tool in toolset.bound:
            if first := places.get(tool.spec.name):
                raise ToolgenError(
                    f"'functions' has two tools {tool.spec.name!r}: in {first} and in {place}",
                    hint="name the functions one by one, as module:function, or rename one of the two",
                )
            places[tool.spec.name] = place
