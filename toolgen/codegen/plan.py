"""The table of contents of the generated tree, path ← view."""

from __future__ import annotations

from collections.abc import Iterator

from toolgen.catalog.entry import tool_entry
from toolgen.catalog.writer import CatalogHead, Entry, Root
from toolgen.contract.names import CATALOG, COMPLETION_SCHEMAS
from toolgen.contract.record import frozen_record
from toolgen.dsl.expr.tree import Agent, Design, Service, Toolset

from . import names
from .catalog import (
    CatalogWriter,
    agent_entries,
    agent_header,
    agents_and_completions,
    completion_facts,
    native,
    tool_record,
)
from .layout import (
    Module,
    ModuleScope,
    agent_package,
    agents_package,
    client_module,
    completions_module,
    completions_scope,
    is_large,
    service_module,
    service_package,
    service_scope,
    shared_scope,
    toolset_package,
    toolset_scope,
)
from .rendering import View, render
from .views.agent import agent_specs_view, agent_view
from .views.app import AppPlace, app_view, services_to_write, services_view
from .views.client import client_view
from .views.codecs import codecs_view
from .views.executor import executor_view, export_view
from .views.package import (
    agent_package_view,
    package_view,
    root_view,
    service_package_view,
    toolset_view,
    types_package_view,
)
from .views.service import completions_view, service_view
from .views.specs import calls_view, specs_view
from .views.stub import stub_view
from .views.transforms import transforms_view
from .views.types import shared_types_view, types_views


def generate(design: Design, *, module: str) -> dict[str, str]:
    """Return the unformatted text of every file of the tree by its path, in the design's order.

    Args:
        design: The checked design.
        module: The dotted name of the design's module, for the headers.
    """
    context = _design_context(design)
    return {
        path: content if isinstance(content, str) else render(content, design=module)
        for path, content in _files(context)
    }


def catalog_text(design: Design) -> str:
    """Return the text of the design's own catalog, which the tree has at its root."""
    return _root(_design_context(design))


def stub(design: Design, toolset: Toolset, package: str) -> str:
    """Return the text of the executor stub of a toolset; `package` is the import path of the tree."""
    return render(stub_view(design, toolset, package), design="")


def app(design: Design, place: AppPlace) -> dict[str, str]:
    """Return the unformatted texts of `app.py`, and of `services.py` if the author has to write services."""
    texts = {"app.py": render(app_view(design, place), design="")}
    if services_to_write(design):
        texts["services.py"] = render(services_view(design, place), design="")
    return texts


def _files(context: _DesignContext) -> Iterator[tuple[str, View | str]]:
    design = context.design
    yield "__init__.py", root_view(design.description)
    yield "py.typed", ""
    yield "types.py", shared_types_view(design, context.shared)
    for service in design.services:
        yield from _service(service, context)
    yield CATALOG, _root(context)


def _root(context: _DesignContext) -> str:
    design, writer = context.design, context.writer
    completions = {service.name: completions_scope(service, context.shared) for service in design.services}
    further = agents_and_completions(writer, design, context.toolsets, completions)
    return writer.catalog_json(context.entries.values(), further=further)


@frozen_record
class _DesignContext:
    """Shared data for the files of one design."""

    design: Design
    writer: CatalogWriter
    shared: ModuleScope
    services: dict[str, ModuleScope]
    toolsets: dict[str, ModuleScope]
    entries: dict[str, Entry]
    """Catalog entries by id, including native tools."""

    def catalog_json(self, toolset: Toolset) -> str:
        ids = [*(tool.id for tool in toolset.tools), *(tool.id for tool in toolset.native)]
        return self.writer.catalog_json(map(self.entries.__getitem__, ids), is_indented=True)


def _design_context(design: Design) -> _DesignContext:
    head = CatalogHead(design=design.name, version=design.version)
    writer, shared = CatalogWriter(head, design.shared), shared_scope(design)
    toolsets = [toolset for service in design.services for toolset in service.toolsets]
    scopes = {names.qualified(toolset): toolset_scope(toolset, shared) for toolset in toolsets}
    entries: dict[str, Entry] = {}
    for toolset in toolsets:
        scope = scopes[names.qualified(toolset)]
        for tool in toolset.tools:
            entries[tool.id] = tool_entry(tool_record(writer, toolset, tool, scope))
    for toolset in toolsets:
        entries |= {tool.id: native(writer, toolset, tool) for tool in toolset.native}
    return _DesignContext(
        design=design,
        writer=writer,
        shared=shared,
        services={service.name: service_scope(service, shared) for service in design.services},
        toolsets=scopes,
        entries=entries,
    )


def _service(service: Service, context: _DesignContext) -> Iterator[tuple[str, View | str]]:
    folder = service_package(service.name)
    yield _path(folder, "__init__.py"), service_package_view(service)
    if service.methods:
        yield _path(service_module(service.name)), service_view(service, context.services[service.name])
    for kind in service.clients:
        scope = context.services[service.name]
        yield _path(client_module(service.name, kind)), client_view(service, kind, scope)
    own = [toolset for toolset in service.toolsets if not toolset.exporter]
    if own:
        text = f"The toolsets of {service.name}."
        yield _path((*folder, "toolsets"), "__init__.py"), package_view(text)
    for toolset in own:
        yield from _toolset(toolset, context)
    if service.agents:
        text = f"The agents of {service.name}."
        yield _path(agents_package(service.name), "__init__.py"), package_view(text)
    for agent in service.agents:
        yield from _agent(agent, context)
    if service.completions:
        scope = completions_scope(service, context.shared)
        yield _path(completions_module(service.name)), completions_view(service, scope)
        facts = completion_facts(context.writer, service, scope)
        yield (
            _path(folder, COMPLETION_SCHEMAS),
            context.writer.catalog_json([], further=facts, is_indented=True),
        )


def _agent(agent: Agent, context: _DesignContext) -> Iterator[tuple[str, View | str]]:
    folder = agent_package(agent)
    yield _path(folder, "__init__.py"), agent_package_view(agent)
    yield _path(folder, "agent.py"), agent_view(context.design, agent)
    yield _path(folder, "specs.py"), agent_specs_view(agent)
    entries = agent_entries(context.writer, agent, context.entries, context.toolsets)
    root = Root(path=f"{'../' * len(folder)}{CATALOG}", entries=context.entries)
    yield _path(folder, CATALOG), context.writer.catalog_json(entries, agent=agent_header(agent), root=root)
    if agent.exports:
        text = f"The toolsets that {agent.id} implements."
        yield _path((*folder, "exports"), "__init__.py"), package_view(text)
    for export in agent.exports:
        yield from _toolset(export.toolset, context)
        yield _path(toolset_package(export.toolset), "export.py"), export_view(export)


def _toolset(toolset: Toolset, context: _DesignContext) -> Iterator[tuple[str, View | str]]:
    folder, scope = toolset_package(toolset), context.toolsets[names.qualified(toolset)]
    yield _path(folder, "__init__.py"), toolset_view(toolset)
    yield _path(folder, "specs.py"), specs_view(toolset, scope)
    if toolset.tools:
        if is_large(toolset):
            yield _path((*folder, "types"), "__init__.py"), types_package_view(toolset)
        for module, view in types_views(toolset, scope):
            yield _path(module), view
        yield _path(folder, "codecs.py"), codecs_view(toolset, scope)
        if not toolset.exporter:
            if any(tool.binding for tool in toolset.tools):
                yield _path(folder, "transforms.py"), transforms_view(toolset, scope, context.services)
            yield _path(folder, "executor.py"), executor_view(context.design, toolset, scope)
        yield _path(folder, "calls.py"), calls_view(toolset)
    yield _path(folder, CATALOG), context.catalog_json(toolset)


def _path(module: Module, file: str = "") -> str:
    """Return the path of a module, or of a file in a package."""
    return "/".join((*module, file)) if file else f"{'/'.join(module)}.py"
