"""`service.py`: the Protocol of a service, with the types of its methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from toolgen.expr.tree import Service
from toolgen.shapes.naming import class_name, method_name

from .. import names
from ..imports import Imports
from ..layout import Scope, service_module
from ..text import docstring
from .classes import AliasView, ClassPrinter, ClassView, Role
from .constants import ConstantView, error_constant, with_errors


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodView:
    name: str
    payload: str
    result: str
    docstring: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceView:
    template: ClassVar[str] = "service.py.jinja"
    docstring: str
    imports: str
    classes: tuple[ClassView, ...]
    aliases: tuple[AliasView, ...]
    name: str
    protocol: str
    abstract: str
    service_docstring: str
    methods: tuple[MethodView, ...]
    errors: tuple[ConstantView, ...]


def service_view(of: Service, scope: Scope) -> ServiceView:
    name = class_name(of.name)
    imports = Imports({name, *scope.modules})
    protocol, abstract = imports.name("typing", "Protocol"), imports.name("abc", "abstractmethod")
    roles = {}
    for method in of.methods:
        roles[method.payload.name] = Role(description=f"Payload of {of.name}.{method.name}.")
        roles[method.result.name] = Role(description=f"Result of {of.name}.{method.name}.")
    printer = ClassPrinter(service_module(of.name), scope, imports)
    classes, aliases = printer.classes(of.objects, roles), printer.aliases(of.objects, roles)
    errors = tuple(
        error_constant(
            names.error_spec(method, error),
            error,
            printer.reference(error.type) if error.type else "None",
            imports,
        )
        for method in of.methods
        for error in method.errors
    )
    return ServiceView(
        docstring=docstring(f"The service {of.name}: its methods and their types."),
        imports=imports.text(),
        classes=classes,
        aliases=aliases,
        name=name,
        protocol=protocol,
        abstract=abstract,
        service_docstring=docstring(of.description or f"The service {of.name}.", 4),
        methods=tuple(
            MethodView(
                name=method_name(method.name),
                payload=method.payload.name,
                result=method.result.name,
                docstring=docstring(with_errors(method.description, method), 8),
            )
            for method in of.methods
        ),
        errors=errors,
    )
