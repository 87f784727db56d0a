"""`specs.py` of an agent: the specs of its toolsets, as it calls them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from toolgen.expr.tree import Agent, Toolset, UsedTool

from .. import names
from ..agent_catalog import own_confirmation, toolsets_of
from ..imports import Imports
from ..layout import Module, agent_package, relative, toolset_package
from ..spelling import RUNTIME
from ..text import docstring, quote
from .specs import confirmed


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpecsView:
    template: ClassVar[str] = "agent_specs.py.jinja"
    docstring: str
    imports: str
    ids: tuple[str, ...]
    """Literals of the ids."""
    specs: tuple[str, ...]
    """Expressions."""


def agent_specs_view(agent: Agent) -> AgentSpecsView:
    printer = _Printer(agent)
    specs = tuple(printer.spec(used.toolset, tool) for used in agent.uses for tool in used.tools)
    ids = dict.fromkeys(quote(tool.tool.id) for used in agent.uses for tool in used.tools)
    return AgentSpecsView(
        docstring=docstring(f"Specs of every tool that {agent.id} can call, under its names."),
        imports=printer.text(bool(ids)),
        ids=tuple(ids),
        specs=specs,
    )


class _Printer:
    """Prints the specs of one agent, and collects what they import."""

    def __init__(self, agent: Agent) -> None:
        called = {names.qualified(used.toolset) for used in agent.uses if used.tools}
        toolsets = [toolset for toolset in toolsets_of(agent) if names.qualified(toolset) in called]
        modules = names.distinct(toolsets, ())
        self._package: Module = agent_package(agent)
        self._imports = Imports(modules)
        self._modules = dict(zip(map(names.qualified, toolsets), modules, strict=True))

    def spec(self, toolset: Toolset, used: UsedTool) -> str:
        *parents, module = toolset_package(toolset)
        alias = self._modules[names.qualified(toolset)]
        self._imports.name(relative(self._package, tuple(parents)), module, alias)
        spec, changes = f"{alias}.{names.spec(used.tool)}", list(self._changes(toolset, used, alias))
        if not changes:
            return spec
        return f"{self._imports.name('dataclasses', 'replace')}({', '.join([spec, *changes])})"

    def _changes(self, toolset: Toolset, used: UsedTool, alias: str) -> Iterator[str]:
        """Yield the facts in which the agent differs from the toolset."""
        if used.name != names.wire(toolset, used.tool):
            yield f"name={quote(used.name)}"
        if confirmation := own_confirmation(used):
            codecs = names.free(f"{alias}_codecs", self._modules.values())
            if confirmation.payload:
                self._imports.name(relative(self._package, toolset_package(toolset)), "codecs", codecs)
            yield confirmed(confirmation, self._imports, codecs)

    def text(self, has_tools: bool) -> str:
        self._imports.name("__future__", "annotations")
        self._imports.name("typing", "Any")
        self._imports.name(RUNTIME, "ToolSpec")
        if has_tools:
            self._imports.name("typing", "Literal")
        return self._imports.text()
