"""Where everything stands in the generated tree, as module paths from its root."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from toolgen.contract.fields import (
    ArrayType,
    DataType,
    MapType,
    NullableType,
    Objects,
    ObjectType,
    RefType,
    UnionType,
)
from toolgen.contract.naming import method_name, module_name
from toolgen.expr.tree import Design, Service, Tool, Toolset

Module: TypeAlias = tuple[str, ...]

SHARED: Final[Module] = ("types",)

MOST_TOOLS: Final = 20
"""Tools of a toolset whose types share one module; above, the first call would pay for all the others."""


def service_package(service: str) -> Module:
    return (module_name(service),)


def service_module(service: str) -> Module:
    return (*service_package(service), "service")


def toolset_package(toolset: Toolset) -> Module:
    return (*service_package(toolset.service), "toolsets", module_name(toolset.name))


def toolset_path(toolset: Toolset, package: str) -> str:
    """Return the import path of the toolset's package; `package` is that of the generated tree."""
    return ".".join([package, *toolset_package(toolset)])


def is_large(toolset: Toolset) -> bool:
    return len(toolset.tools) > MOST_TOOLS


def relative(package: Module, module: Module) -> str:
    """Return the module as a file of the package imports it: `....types`."""
    common = 0
    while common < min(len(package), len(module)) and package[common] == module[common]:
        common += 1
    return "." * (len(package) - common + 1) + ".".join(module[common:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The classes that a toolset, a service or the design itself may name."""

    objects: Objects
    modules: Mapping[str, Module]
    """Where each class and each named enum stands."""


def shared_scope(design: Design) -> Scope:
    names = [object_.name for object_ in design.types] + [enum.name for enum in design.enums if enum.name]
    return Scope(objects=design.shared, modules=dict.fromkeys(names, SHARED))


def service_scope(service: Service, shared: Scope) -> Scope:
    return _scope({service_module(service.name): service.objects}, shared)


def toolset_scope(toolset: Toolset, shared: Scope) -> Scope:
    return _scope({module: objects for module, _, objects in types_modules(toolset)}, shared)


def _scope(own: Mapping[Module, tuple[ObjectType, ...]], shared: Scope) -> Scope:
    objects = {object_.name: object_ for found in own.values() for object_ in found}
    modules = {object_.name: module for module, found in own.items() for object_ in found}
    return Scope(objects={**shared.objects, **objects}, modules={**shared.modules, **modules})


def types_modules(toolset: Toolset) -> list[tuple[Module, tuple[Tool, ...], tuple[ObjectType, ...]]]:
    """Return the modules of the toolset's classes, each with its tools and its objects."""
    module = (*toolset_package(toolset), "types")
    if not is_large(toolset):
        return [(module, toolset.tools, toolset.objects)]
    waiting = {object_.name: object_ for object_ in toolset.objects}
    return [
        ((*module, method_name(tool.name)), (tool,), tuple(_reached(tool, waiting))) for tool in toolset.tools
    ]


def _reached(tool: Tool, waiting: dict[str, ObjectType]) -> Iterator[ObjectType]:
    injected = [part for field in tool.injected for part in parts(field.type)]
    names = [tool.payload.name, *(part.name for part in injected if isinstance(part, RefType))]
    names += [tool.result.name, *(artifact.type for artifact in tool.artifacts)]
    while names:
        found = waiting.pop(names.pop(0), None)
        if found is not None:
            yield found
            inner = [part for field in found.fields for part in parts(field.type)]
            names[:0] = [part.name for part in inner if isinstance(part, RefType)]


def parts(type_: DataType) -> Iterator[DataType]:
    """Return the type and everything written inside it; objects are not entered."""
    yield type_
    match type_:
        case ArrayType():
            yield from parts(type_.items)
        case MapType():
            yield from parts(type_.values)
        case NullableType():
            yield from parts(type_.inner)
        case UnionType():
            yield from (branch for _, branch in type_.branches)
        case _:
            pass
