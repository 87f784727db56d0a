"""`executor.py` and `export.py`: the executor of a toolset and its registration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from toolgen.contract.record import frozen_record
from toolgen.dsl.expr.tree import Binding, Design, Export, Service, Tool, Toolset
from toolgen.shapes.fields import may_be_none
from toolgen.shapes.naming import class_name, method_name, module_name, snake

from .. import names
from ..imports import Imports
from ..layout import ModuleScope, client_module, relative, service_module, toolset_package
from ..spelling import CLIENTS, GENERATED, RUNTIME
from ..text import docstring, quote
from .codecs import type_name
from .specs import with_errors


@frozen_record
class ToolView:
    name: str
    payload: str
    returns: str
    docstring: str


@frozen_record
class BoundToolView:
    name: str
    payload: str
    returns: str
    service: str
    method: str
    to_payload: str
    to_result: str
    is_called: bool
    """Whether its method has a transport, so that a generated client has to know the call."""
    is_lenient: bool
    """Whether its method can return values that do not match the schema."""
    artifacts: tuple[str, ...]
    """Items of the outcome's artifacts."""


@frozen_record
class BoundServiceView:
    name: str
    type: str
    module: str
    client: str
    """The generated client that implements the whole service, and its module; "" for none."""
    is_lazy: bool
    """Whether the client is created at its first use: an HTTP client, whose imports are slow."""

    @property
    def parameter(self) -> str:
        return f"{self.name}: {self.type}{' | None = None' if self.client else ''}"


@frozen_record
class ExecutorArgumentView:
    """The parameter of the registration."""

    parameter: str
    docstring: str
    value: str
    """Expression of the executor, followed by `is_default` if the registration has a default executor."""


@frozen_record
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
    """Imported names of the decorators of a method."""
    executor: str
    executor_docstring: str
    tools: tuple[ToolView, ...]
    bound_executor: str
    bound_docstring: str
    services: tuple[BoundServiceView, ...]
    parameters: str
    """The services with their types."""
    final: str
    """Imported name of `Final`; "" if it is not imported."""
    service_methods: str
    """Literal of the methods that hosts implement for the bound tools, by service; "" for none."""
    cached: str
    calling: str
    """Name of the context manager around calls of clients; "" without clients."""
    answered: str
    """Name of the function that reads the answers of lenient services; "" without such services."""
    bound_tools: tuple[BoundToolView, ...]
    registration: ExecutorArgumentView


def executor_view(design: Design, toolset: Toolset, scope: ModuleScope) -> ExecutorView:
    bound = [(tool, tool.binding) for tool in toolset.tools if tool.binding]
    full_name = f"{toolset.service}.{toolset.name}"
    imports, typing_imports = _imports(toolset, bound)
    views = {tool.name: _tool(toolset, tool, scope, typing_imports) for tool in toolset.tools}
    tool_method, abstract = imports.name(GENERATED, "tool_method"), imports.name("abc", "abstractmethod")
    behind = dict.fromkeys(binding.service for _, binding in bound)
    services = tuple(_service(design.by_name[name], toolset, typing_imports) for name in behind)
    tools = tuple(_bound_tool(design, tool, binding, views[tool.name]) for tool, binding in bound)
    service_methods = _service_methods(services, tools)
    final = imports.name("typing", "Final") if service_methods else ""
    return ExecutorView(
        docstring=docstring(f"The executor of the tools of {full_name}, and its registration."),
        cached=imports.name("functools", "cached_property")
        if any(service.is_lazy for service in services)
        else "",
        calling=imports.name(CLIENTS, "calling") if any(tool.is_called for tool in tools) else "",
        answered=imports.name(CLIENTS, "answered") if any(tool.is_lenient for tool in tools) else "",
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
        bound_docstring=docstring(
            f"Executes the bound tools of {full_name} with the services behind them.", 4
        ),
        services=services,
        parameters=", ".join(service.parameter for service in services),
        final=final,
        service_methods=service_methods,
        bound_tools=tools,
        registration=_registration(design, toolset),
    )


def _service_methods(services: Iterable[BoundServiceView], tools: Iterable[BoundToolView]) -> str:
    """Return the methods that tools call of services from the host, as a literal for registration checks."""
    methods: dict[str, dict[str, None]] = {service.name: {} for service in services if not service.client}
    for tool in tools:
        if tool.service in methods:
            methods[tool.service][tool.method] = None
    items = (
        f"{quote(name)}: ({', '.join(map(quote, called))}{',' if len(called) == 1 else ''})"
        for name, called in methods.items()
    )
    return f"{{{', '.join(items)}}}" if methods else ""


def _service(of: Service, toolset: Toolset, typing_imports: Imports) -> BoundServiceView:
    package = toolset_package(toolset)
    return BoundServiceView(
        name=module_name(of.name),
        type=typing_imports.name(relative(package, service_module(of.name)), class_name(of.name)),
        module=relative(package, client_module(of.name, of.client)) if of.client else "",
        client=names.client(of, of.client) if of.client else "",
        is_lazy=of.client == "client",
    )


def _registration(design: Design, toolset: Toolset) -> ExecutorArgumentView:
    type_ = f"{names.executor(toolset)} | RawExecutor"
    text = "Return the toolset for a runtime to register, executed by `executor`"
    if design.needs_executor(toolset):
        return ExecutorArgumentView(
            parameter=f"executor: {type_}", docstring=docstring(f"{text}."), value="executor"
        )
    return ExecutorArgumentView(
        parameter=f"executor: {type_} | None = None",
        docstring=docstring(f"{text}.\n\nBy default, the clients of its services execute the tools.", 4),
        value=f"{names.bound_executor(toolset)}() if executor is None else executor, "
        "is_default=executor is None",
    )


def _imports(toolset: Toolset, bound: list[tuple[Tool, Binding]]) -> tuple[Imports, Imports]:
    """Return the runtime imports and the type-checking imports; methods of the class hide none of them."""
    imports = Imports({method_name(tool.name) for tool in toolset.tools})
    imports.name("__future__", "annotations")
    for name in ("TYPE_CHECKING", "Protocol"):
        imports.name("typing", name)
    imports.name(GENERATED, "RawExecutor")
    for name in ("ToolContext", "ToolsetRegistration"):
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


def _tool(toolset: Toolset, tool: Tool, scope: ModuleScope, typing_imports: Imports) -> ToolView:
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
    """Return the description of a tool for docstrings; a replacement in the toolset is named as a method."""
    text = tool.facts.description
    if tool.facts.deprecated is None:
        return text
    own, replacement = f"{names.qualified(toolset)}.", tool.facts.deprecated.replacement
    if replacement.startswith(own):
        replacement = method_name(replacement.removeprefix(own))
    return f"{text}\n\n{tool.facts.deprecated.added_to('', replacement)}"


def _bound_tool(design: Design, tool: Tool, binding: Binding, view: ToolView) -> BoundToolView:
    service, method = design.by_name[binding.service], design.bound_method(binding)
    return BoundToolView(
        name=view.name,
        payload=view.payload,
        returns=view.returns,
        service=module_name(binding.service),
        method=names.service_method(service, method),
        to_payload=names.to_method_payload(tool),
        to_result=names.to_result(tool),
        is_called=method.transport is not None,
        is_lenient=method.transport is not None and service.is_lenient,
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


@frozen_record
class ExportView:
    template: ClassVar[str] = "export.py.jinja"
    docstring: str
    registration_docstring: str
    toolset: str
    """Literal of the toolset's name."""
    route: str
    """Arguments of the `AgentRoute`."""
    more: str
    """The last keyword arguments of the registration, after a comma; "" if there are none."""


def export_view(of: Export) -> ExportView:
    toolset = of.toolset
    full_name = names.qualified(toolset)
    return ExportView(
        docstring=docstring(f"Serves the tools of {full_name} by runs of {toolset.exporter}."),
        registration_docstring=docstring(
            f"Return the toolset for a runtime to register: each call starts a run of {toolset.exporter}.", 4
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
