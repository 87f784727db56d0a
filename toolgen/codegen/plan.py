"""The table of contents of the generated tree: path ← view."""

from __future__ import annotations

from collections.abc import Iterator

from toolgen.expr.tree import Design, Toolset

from . import catalog
from .foreign import foreign_types
from .layout import (
    Module,
    Scope,
    all_objects,
    is_large,
    service_module,
    service_package,
    service_scope,
    shared_scope,
    toolset_package,
    toolset_scope,
)
from .render import View, render
from .views.calls import calls_view
from .views.codecs import codecs_view
from .views.executor import executor_view
from .views.package import package_view, toolset_view
from .views.service import service_view
from .views.specs import specs_view
from .views.stub import stub_view
from .views.transforms import transforms_view
from .views.types import shared_types_view, types_package_view, types_views

CATALOG = "tool_schemas.json"


def generate(design: Design, *, module: str) -> dict[str, str]:
    """Return the unformatted text of every file of the tree by its path, in the design's order.

    `module` is the dotted name of the design's module, for the headers.
    """
    return {
        path: content if isinstance(content, str) else render(content, design=module)
        for path, content in _files(design)
    }


def stub(design: Design, toolset: Toolset, package: str) -> str:
    """Return the text of the executor stub of a toolset; `package` is the import path of the tree."""
    return render(stub_view(design, toolset, package), design="")


def _files(design: Design) -> Iterator[tuple[str, View | str]]:
    foreign = [(object_.name, object_.foreign) for object_ in all_objects(design) if object_.foreign]
    shared = shared_scope(design, foreign_types(foreign))
    services = {service.name: service_scope(service, shared) for service in design.services}
    entries: list[catalog.Printed] = []
    yield "__init__.py", package_view(design.description)
    yield "py.typed", ""
    yield "types.py", shared_types_view(design, shared)
    for service in design.services:
        folder = service_package(service.name)
        yield _path(folder, "__init__.py"), package_view(service.description)
        if service.methods:
            yield _path(service_module(service.name)), service_view(service, services[service.name])
        if service.toolsets:
            text = f"The toolsets of {service.name}."
            yield _path((*folder, "toolsets"), "__init__.py"), package_view(text)
        for toolset in service.toolsets:
            scope = toolset_scope(toolset, shared)
            own = tuple(catalog.entry(toolset, tool, scope.objects) for tool in toolset.tools)
            printed = [entry.printed for entry in own]
            printed += [catalog.native_entry(toolset, tool) for tool in toolset.native]
            entries += printed
            yield from _toolset(toolset, scope, services, own)
            yield _path(toolset_package(toolset), CATALOG), catalog.document(design.name, printed)
    yield CATALOG, catalog.document(design.name, entries)


def _toolset(
    toolset: Toolset, scope: Scope, services: dict[str, Scope], entries: tuple[catalog.Entry, ...]
) -> Iterator[tuple[str, View]]:
    folder = toolset_package(toolset)
    yield _path(folder, "__init__.py"), toolset_view(toolset)
    yield _path(folder, "specs.py"), specs_view(toolset, scope)
    if not toolset.tools:
        return
    if is_large(toolset):
        yield _path((*folder, "types"), "__init__.py"), types_package_view(toolset)
    for module, view in types_views(toolset, scope):
        yield _path(module), view
    yield _path(folder, "codecs.py"), codecs_view(toolset, scope, entries)
    if any(tool.binding for tool in toolset.tools):
        yield _path(folder, "transforms.py"), transforms_view(toolset, scope, services)
    yield _path(folder, "executor.py"), executor_view(toolset)
    yield _path(folder, "calls.py"), calls_view(toolset)


def _path(module: Module, file: str = "") -> str:
    """Return the path of a module, or of a file in a package."""
    return "/".join((*module, file)) if file else f"{'/'.join(module)}.py"
