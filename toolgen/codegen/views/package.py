"""The `__init__.py` files: plain packages, and the public surfaces of toolsets and agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from toolgen.expr.tree import Agent, Toolset

from .. import names
from ..imports import Imports, sorted_names
from ..layout import class_names
from ..spelling import RUNTIME
from ..text import docstring, quote


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageView:
    template: ClassVar[str] = "package.py.jinja"
    docstring: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsetView:
    template: ClassVar[str] = "toolset.py.jinja"
    docstring: str
    imports: str
    typing_imports: str
    names: tuple[str, ...]
    """`__all__`, as literals."""


def package_view(text: str) -> PackageView:
    return PackageView(docstring=docstring(text))


def toolset_view(of: Toolset) -> ToolsetView:
    imports, typing_imports = Imports(), Imports()
    if not of.tools:
        imports.name(".specs", names.NATIVE_TOOLS)
        return _surface(of, imports, typing_imports, [names.NATIVE_TOOLS])
    imports.name("typing", "TYPE_CHECKING")
    imports.name(RUNTIME, "lazy_attribute")
    executors = ["registration"]
    if not of.exporter:
        executors.append(names.executor(of))
        if any(tool.binding for tool in of.tools):
            executors.append(names.bound_executor(of))
    specs = ["SPECS", "ToolId", *([names.NATIVE_TOOLS] if of.native else [])]
    for tool in of.tools:
        specs += [
            names.spec(tool),
            *(names.artifact_spec(tool, artifact.kind) for artifact in tool.artifacts),
        ]
    types = class_names(of.objects)
    imports.name(".", "calls")
    for name in executors:
        imports.name(".export" if of.exporter else ".executor", name)
    for name in specs:
        imports.name(".specs", name)
    for name in types:
        typing_imports.name(".types", name)
    return _surface(of, imports, typing_imports, ["calls", *executors, *specs, *types])


def agent_package_view(of: Agent) -> ToolsetView:
    imports = Imports()
    agent, specs = ["AGENT", "AGENT_ID", "client", "register"], ["SPECS"]
    if any(used.tools for used in of.uses):
        specs.append("ToolId")
    for name in agent:
        imports.name(".agent", name)
    for name in specs:
        imports.name(".specs", name)
    return ToolsetView(
        docstring=docstring(of.description or f"The agent {of.id}."),
        imports=imports.text(),
        typing_imports="",
        names=tuple(map(quote, sorted_names([*agent, *specs]))),
    )


def _surface(of: Toolset, imports: Imports, typing_imports: Imports, offered: list[str]) -> ToolsetView:
    return ToolsetView(
        docstring=docstring(of.description or f"The toolset {of.service}.{of.name}."),
        imports=imports.text(),
        typing_imports=typing_imports.text(4),
        names=tuple(map(quote, sorted_names(offered))),
    )
