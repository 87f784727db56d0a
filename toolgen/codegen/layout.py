"""The layout of the generated tree, as module paths from its root."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final, TypeAlias

from toolgen.contract.record import frozen_record
from toolgen.dsl.expr.tree import Agent, ClientKind, Design, Service, Tool, Toolset
from toolgen.shapes.fields import Foreign, Objects, ObjectType, RefType, parts
from toolgen.shapes.naming import method_name, module_name
from toolgen.shapes.sensitive import sensitive_places

Module: TypeAlias = tuple[str, ...]

SHARED: Final[Module] = ("types",)


MOST_TOOLS: Final = 20
"""Maximum number of tools whose types share one module, because the first call loads the whole module."""


def service_package(service: str) -> Module:
    return (module_name(service),)


def service_module(service: str) -> Module:
    return (*service_package(service), "service")


def client_module(service: str, kind: ClientKind) -> Module:
    """Return the module of a generated client of the service."""
    return (*service_package(service), kind)


def completions_module(service: str) -> Module:
    return (*service_package(service), "completions")


def agents_package(service: str) -> Module:
    return (*service_package(service), "agents")


def agent_package(agent: Agent) -> Module:
    return (*agents_package(agent.service), module_name(agent.name))


def toolset_package(toolset: Toolset) -> Module:
    """Return the package of a toolset, below its service or below the agent that implements it."""
    if not toolset.exporter:
        return (*service_package(toolset.service), "toolsets", module_name(toolset.name))
    service, _, agent = toolset.exporter.rpartition(".")
    return (*agents_package(service), module_name(agent), "exports", module_name(toolset.name))


def toolset_path(toolset: Toolset, package: str) -> str:
    """Return the import path of the toolset's package; `package` is the path of the generated tree."""
    return ".".join([package, *toolset_package(toolset)])


def is_large(toolset: Toolset) -> bool:
    return len(toolset.tools) > MOST_TOOLS


@lru_cache
def relative(package: Module, module: Module) -> str:
    """Return the path by which a file of the package imports the module: `....types`."""
    common = 0
    while common < min(len(package), len(module)) and package[common] == module[common]:
        common += 1
    return "." * (len(package) - common + 1) + ".".join(module[common:])


@frozen_record
class ModuleScope:
    """The classes that a toolset, a service or the design itself can name."""

    objects: Objects
    modules: Mapping[str, Module]
    """Module of each class, named enum and named union."""
    has_sensitive: bool
    """Whether a field of a class is sensitive."""
    has_foreign: bool
    """Whether a class comes from a third-party schema."""

    def sensitive_places(self, of: ObjectType) -> tuple[str, ...]:
        """Return `shapes.sensitive.sensitive_places` of an object."""
        return sensitive_places(of, self.objects) if self.has_sensitive else ()


def class_names(objects: Iterable[ObjectType]) -> list[str]:
    """Return the class names that the objects define in their module, including third-party classes."""
    names = dict[str, None]()
    for object_ in objects:
        names[object_.name] = None
        names |= dict.fromkeys(object_.foreign.classes if object_.foreign else ())
    return list(names)


def shared_scope(design: Design) -> ModuleScope:
    names = class_names(design.types)
    names += [enum.name for enum in design.enums if enum.name]
    names += [union.name for union in design.unions if union.name]
    return ModuleScope(
        objects=design.shared,
        modules=dict.fromkeys(names, SHARED),
        has_sensitive=_has_sensitive(design.types),
        has_foreign=_has_foreign(design.types),
    )


def service_scope(service: Service, shared: ModuleScope) -> ModuleScope:
    return _scope({service_module(service.name): service.objects}, shared)


def completions_scope(service: Service, shared: ModuleScope) -> ModuleScope:
    return _scope({completions_module(service.name): service.completion_objects}, shared)


def toolset_scope(toolset: Toolset, shared: ModuleScope) -> ModuleScope:
    return _scope({module: objects for module, _, objects in types_modules(toolset)}, shared)


def _scope(own: Mapping[Module, tuple[ObjectType, ...]], shared: ModuleScope) -> ModuleScope:
    objects = {object_.name: object_ for members in own.values() for object_ in members}
    modules = {name: module for module, members in own.items() for name in class_names(members)}
    return ModuleScope(
        objects={**shared.objects, **objects},
        modules={**shared.modules, **modules},
        has_sensitive=shared.has_sensitive or _has_sensitive(objects.values()),
        has_foreign=shared.has_foreign or _has_foreign(objects.values()),
    )


def _has_sensitive(objects: Iterable[ObjectType]) -> bool:
    return any(field.sensitive for object_ in objects for field in object_.fields)


def _has_foreign(objects: Iterable[ObjectType]) -> bool:
    return any(object_.foreign for object_ in objects)


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
    names += [tool.result.name, *tool.classes]
    while names:
        object_ = waiting.pop(names.pop(0), None)
        if object_ is not None:
            yield object_
            inner = [part for field in object_.fields for part in parts(field.type)]
            names[:0] = [part.name for part in inner if isinstance(part, RefType)]


def foreign_parts(root: ObjectType, scope: ModuleScope) -> Iterator[Foreign]:
    """Yield the third-party schemas inside an object, including its own."""
    if not scope.has_foreign:
        return
    waiting, seen = [root.name], {root.name}
    while waiting:
        object_ = scope.objects[waiting.pop()]
        if object_.foreign:
            yield object_.foreign
        for part in (part for field in object_.fields for part in parts(field.type)):
            if isinstance(part, RefType) and part.name not in seen:
                seen.add(part.name)
                waiting.append(part.name)
