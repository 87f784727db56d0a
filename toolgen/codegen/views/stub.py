"""The executor stub that an author starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from toolgen.contract.naming import class_name, method_name
from toolgen.expr.tree import Design, Tool, Toolset

from .. import names
from ..imports import Imports
from ..layout import toolset_package
from ..spelling import RUNTIME
from ..text import docstring, quote


@dataclass(frozen=True, slots=True, kw_only=True)
class StubToolView:
    name: str
    payload: str
    returns: str
    docstring: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StubView:
    template: ClassVar[str] = "stub.py.jinja"
    docstring: str
    imports: str
    parent: str
    """The package of the toolset's package."""
    module: str
    name: str
    base: str
    class_docstring: str
    tools: tuple[StubToolView, ...]


def stub_view(design: Design, toolset: Toolset, package: str) -> StubView:
    """Return the stub; `package` is the import path of the generated tree.

    Bound tools need no method: the generated executor calls the service.
    """
    *parents, module = toolset_package(toolset)
    open_tools = [tool for tool in toolset.tools if not tool.binding]
    is_bound = len(open_tools) < len(toolset.tools)
    imports = Imports()
    if open_tools:
        imports.name(RUNTIME, "ToolContext")
    if any(tool.artifacts for tool in open_tools):
        imports.name(RUNTIME, "ToolReturn")
    base = names.bound_executor(toolset) if is_bound else names.executor(toolset)
    return StubView(
        docstring=docstring(f"Executes the tools of {toolset.service}.{toolset.name} in {design.name}."),
        imports=imports.text(),
        parent=".".join([package, *parents]),
        module=module,
        name=class_name(toolset.name),
        base=f"{module}.{base}",
        class_docstring=docstring(toolset.description or f"Executes {toolset.name}.", 4),
        tools=tuple(_tool(tool, module) for tool in open_tools),
    )


def _tool(tool: Tool, module: str) -> StubToolView:
    result = f"{module}.{tool.result.name}"
    return StubToolView(
        name=method_name(tool.name),
        payload=f"{module}.{tool.payload.name}",
        returns=f"ToolReturn[{result}]" if tool.artifacts else result,
        docstring=docstring(tool.description or f"Run {tool.name}.", 8),
        error=quote(_sentence(tool)),
    )


def _sentence(tool: Tool) -> str:
    fields = [field.name for field in tool.result.fields]
    what = f"{tool.name} returns a {tool.result.name}"
    if fields:
        what += f" with {_listed(fields)}"
    if tool.artifacts:
        what += f", and {_listed([artifact.kind for artifact in tool.artifacts])} as artifact"
    return what


def _listed(words: list[str]) -> str:
    return " and ".join([*([", ".join(words[:-1])] if words[1:] else []), words[-1]])
