"""`service.py` and `completions.py`: the Protocol of a service, its typed final answers, and their types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from toolgen.contract.names import COMPLETION_SCHEMAS
from toolgen.contract.record import frozen_record
from toolgen.dsl.expr.tree import Completion, Service
from toolgen.shapes.naming import class_name

from .. import names
from ..imports import Imports
from ..layout import ModuleScope, completions_module, service_module
from ..spelling import GENERATED
from ..text import docstring, quote
from .codecs import arguments
from .specs import ConstantView, error_constant, with_errors
from .types import AliasView, ClassPrinter, ClassView, Role

_AGENTS = "toolgen.agents"


@frozen_record
class MethodView:
    name: str
    payload: str
    result: str
    docstring: str


@frozen_record
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


def service_view(of: Service, scope: ModuleScope) -> ServiceView:
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
                name=names.service_method(of, method),
                payload=method.payload.name,
                result=method.result.name,
                docstring=docstring(with_errors(method.description, method), 8),
            )
            for method in of.methods
        ),
        errors=errors,
    )


@frozen_record
class CompletionView:
    name: str
    """Name of the constant."""
    id: str
    """Literal of the id."""
    description: str
    """Literal of the description."""
    result: str
    codec: str
    """Expression."""
    complete: str
    complete_docstring: str
    stream: str
    stream_docstring: str


@frozen_record
class CompletionsView:
    template: ClassVar[str] = "completions.py.jinja"
    docstring: str
    imports: str
    classes: tuple[ClassView, ...]
    aliases: tuple[AliasView, ...]
    iterator: str
    maker: str
    """Name of the function that creates the codecs."""
    schemas: str
    """The file of their schemas, as a literal."""
    spec: str
    planner: str
    complete: str
    stream: str
    """Imported name of the streaming function."""
    completions: tuple[CompletionView, ...]


def completions_view(of: Service, scope: ModuleScope) -> CompletionsView:
    imports = Imports({*scope.modules, *_own(of)})
    roles = {
        completion.result.name: Role(description=f"Result of {completion.name}.")
        for completion in of.completions
    }
    printer = ClassPrinter(completions_module(of.name), scope, imports)
    objects = of.completion_objects
    classes, aliases = printer.classes(objects, roles), printer.aliases(objects, roles)
    iterator, maker = imports.name("collections.abc", "AsyncIterator"), imports.name(GENERATED, "CodecModule")
    spec, planner, complete, stream = (
        imports.name(_AGENTS, name) for name in ("CompletionSpec", "Planner", "complete", "stream_completion")
    )
    return CompletionsView(
        docstring=docstring(f"The completions of {of.name}, and their types."),
        imports=imports.text(),
        classes=classes,
        aliases=aliases,
        iterator=iterator,
        maker=maker,
        schemas=quote(COMPLETION_SCHEMAS),
        spec=spec,
        planner=planner,
        complete=complete,
        stream=stream,
        completions=tuple(_completion(completion, scope) for completion in of.completions),
    )


def _completion(of: Completion, scope: ModuleScope) -> CompletionView:
    make = "codec.foreign" if of.result.foreign else "codec"
    complete = names.completing(of)
    return CompletionView(
        name=names.completion(of),
        id=quote(of.id),
        description=quote(of.description),
        result=of.result.name,
        codec=f"{make}({', '.join(arguments(of.result, scope))})",
        complete=complete,
        complete_docstring=docstring(of.description or f"Return the result of {of.id}.", 4),
        stream=names.streaming(of),
        stream_docstring=docstring(
            f"Yield the text as it arrives, and finally the result of `{complete}`.", 4
        ),
    )


def _own(of: Service) -> Iterator[str]:
    """Yield the names that the module defines in addition to its classes."""
    for completion in of.completions:
        yield from names.offered(completion)
