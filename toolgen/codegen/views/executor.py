"""`executor.py` and `export.py`: what executes a toolset, and how it is registered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from toolgen.expr.tree import Binding, Export, Tool, Toolset
from toolgen.shapes.fields import may_be_none
from toolgen.shapes.naming import class_name, method_name, module_name, snake

from .. import names
from ..imports import Imports
from ..layout import Scope, relative, service_module, toolset_package
from ..spelling import GENERATED, RUNTIME
from ..text import docstring, quote
from .codecs import type_name
from .specs import with_errors


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolView:
    name: str
    payload: str
    returns: str
    docstring: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundToolView:
    name: str
    payload: str
    returns: str
    service: str
    method: str
    to_payload: str
    to_result: str
    artifacts: tuple[str, ...]
    """Items of the outcome's artifacts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorView:
    template: ClassVar[str] = "executor.py.jinja"
    docstring: str
    imports: str
    typing_imports: str
    toolset: str
    """Literal of the toolset's name."""
    more: str
    """The last keyword arguments of the registration, each after a comma: instructions and native tools."""
    tool_method: str
    abstract: str
    """The decorators of a method, as they are imported."""
    executor: str
    executor_docstring: str
    tools: tuple[ToolView, ...]
    bound_executor: str
    bound_docstring: str
    services: tuple[str, ...]
    parameters: str
    """The services with their types."""
    bound_tools: tuple[BoundToolView, ...]


def executor_view(toolset: Toolset, scope: Scope) -> ExecutorView:
    bound = [(tool, tool.binding) for tool in toolset.tools if tool.binding]
    full_name = f"{toolset.service}.{toolset.name}"
    imports, typing_imports = _imports(toolset, bound)
    views = {tool.name: _tool(toolset, tool, scope, typing_imports) for tool in toolset.tools}
    tool_method, abstract = imports.name(GENERATED, "tool_method"), imports.name("abc", "abstractmethod")
    services = {module_name(binding.service): binding.service for _, binding in bound}
    package = toolset_package(toolset)
    parameters = [
        f"{name}: {typing_imports.name(relative(package, service_module(service)), class_name(service))}"
        for name, service in services.items()
    ]
    return ExecutorView(
        docstring=docstring(f"What executes the tools of {full_name}."),
        imports=imports.text(),
        typing_imports=typing_imports.text(4),
        toolset=quote(full_name),
        more=_more(toolset),
        tool_method=tool_method,
        abstract=abstract,
        executor=names.executor(toolset),
        executor_docstring=docstring(toolset.description or f"Executes the tools of {full_name}.", 4),
        tools=tuple(views.values()),
        bound_executor=names.bound_executor(toolset),
        bound_docstring=docstring(f"Executes the bound tools of {full_name} by the services behind them.", 4),
        services=tuple(services),
        parameters=", ".join(parameters),
        bound_tools=tuple(_bound_tool(tool, binding, views[tool.name]) for tool, binding in bound),
    )


def _imports(toolset: Toolset, bound: list[tuple[Tool, Binding]]) -> tuple[Imports, Imports]:
    """Return the imports of the module and those for type checkers; no method of the class hides one."""
    imports = Imports({method_name(tool.name) for tool in toolset.tools})
    imports.name("__future__", "annotations")
    for name in ("TYPE_CHECKING", "Protocol"):
        imports.name("typing", name)
    for name in ("RawExecutor", "ToolContext", "ToolsetRegistration"):
        imports.name(RUNTIME, name)
    for tool in toolset.tools:
        imports.name(RUNTIME, "LongRunningReturn" if tool.long_running else "ToolReturn")
    imports.name(".", "specs")
    if bound:
        imports.name(GENERATED, "LazyModule")
    if any(binding.artifacts for _, binding in bound):
        imports.name(RUNTIME, "ToolOutcome")
    typing_imports = Imports({names.executor(toolset), names.bound_executor(toolset), *imports.names()})
    typing_imports.name(".", "types")
    if bound:
        typing_imports.name(".", "transforms")
    return imports, typing_imports


def _tool(toolset: Toolset, tool: Tool, scope: Scope, typing_imports: Imports) -> ToolView:
    late, returns = tool.long_running, f"ToolReturn[types.{tool.result.name}]"
    if late is not None:
        ack = "None"
        if late.ack is not None:
            ack = type_name(toolset, scope.modules[late.ack], late.ack, typing_imports)
        returns = f"LongRunningReturn[types.{tool.result.name}, {ack}]"
    return ToolView(
        name=method_name(tool.name),
        payload=f"types.{tool.payload.name}",
        returns=returns,
        docstring=docstring(with_errors(_description(toolset, tool), tool), 8),
    )


def _description(toolset: Toolset, tool: Tool) -> str:
    """Return what a docstring says of a tool; a replacement in the same toolset is named as a method."""
    text = tool.facts.description
    if tool.facts.deprecated is None:
        return text
    own, replacement = f"{names.qualified(toolset)}.", tool.facts.deprecated.replacement
    if replacement.startswith(own):
        replacement = method_name(replacement.removeprefix(own))
    return f"{text}\n\n{tool.facts.deprecated.added_to('', replacement)}"


def _bound_tool(tool: Tool, binding: Binding, view: ToolView) -> BoundToolView:
    return BoundToolView(
        name=view.name,
        payload=view.payload,
        returns=view.returns,
        service=module_name(binding.service),
        method=method_name(binding.method),
        to_payload=names.to_method_payload(tool),
        to_result=names.to_result(tool),
        artifacts=tuple(_artifacts(tool, binding)),
    )


def _artifacts(tool: Tool, binding: Binding) -> Iterator[str]:
    for artifact in binding.artifacts:
        spec, transform = names.artifact_spec(tool, artifact.kind), names.to_artifact(tool, artifact.kind)
        data = f"transforms.{transform}(result)"
        if may_be_none(artifact.source):
            name = f"{snake(artifact.kind)}_data"
            yield f"*([specs.{spec}.of({name})] if ({name} := {data}) is not None else [])"
        else:
            yield f"specs.{spec}.of({data})"


def _more(toolset: Toolset) -> str:
    return text_arguments(toolset) + (f", native=specs.{names.NATIVE_TOOLS}" if toolset.native else "")


def text_arguments(toolset: Toolset) -> str:
    """Return the texts of the toolset as keyword arguments of its registration, each after a comma."""
    texts = {"title": toolset.title, "instructions": toolset.instructions}
    return "".join(f", {name}={quote(text)}" for name, text in texts.items() if text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportView:
    template: ClassVar[str] = "export.py.jinja"
    docstring: str
    registration_docstring: str
    toolset: str
    """Literal of the toolset's name."""
    route: str
    """Arguments of the `AgentRoute`."""
    more: str
    """The last keyword arguments of the registration, after a comma; "" without."""


def export_view(of: Export) -> ExportView:
    toolset = of.toolset
    full_name = names.qualified(toolset)
    return ExportView(
        docstring=docstring(f"How {toolset.exporter} serves the tools of {full_name}."),
        registration_docstring=docstring(
            f"Return the toolset as a runtime registers it: a call becomes a run of {toolset.exporter}.", 4
        ),
        toolset=quote(full_name),
        route=", ".join(_route(of)),
        more=text_arguments(toolset),
    )


def _route(of: Export) -> Iterator[str]:
    yield f"agent={quote(of.toolset.exporter)}"
    prompts = [
        f"{quote(tool.id)}: {quote(of.prompts[tool.name])}"
        for tool in of.toolset.tools
        if tool.name in of.prompts
    ]
    if prompts:
        yield f"prompts={{{', '.join(prompts)}}}"
