"""`completions.py`: typed final answers of a model, with the types of their results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from toolgen.contract.names import COMPLETION_SCHEMAS
from toolgen.expr.tree import Completion, Service

from .. import names
from ..imports import Imports
from ..layout import Scope, completions_module
from ..spelling import GENERATED
from ..text import docstring, quote
from .classes import AliasView, ClassPrinter, ClassView, Role
from .codecs import arguments

_AGENTS = "toolgen.agents"


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionsView:
    template: ClassVar[str] = "completions.py.jinja"
    docstring: str
    imports: str
    classes: tuple[ClassView, ...]
    aliases: tuple[AliasView, ...]
    iterator: str
    maker: str
    """Name of the function that makes the codecs."""
    schemas: str
    """The file of their schemas, as a literal."""
    spec: str
    planner: str
    complete: str
    stream: str
    """What the module imports, as it names it."""
    completions: tuple[CompletionView, ...]


def completions_view(of: Service, scope: Scope) -> CompletionsView:
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


def _completion(of: Completion, scope: Scope) -> CompletionView:
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
        stream_docstring=docstring(f"Yield the text as it comes, and at last what `{complete}` returns.", 4),
    )


def _own(of: Service) -> Iterator[str]:
    """Yield the names that the module defines beside its classes."""
    for completion in of.completions:
        yield from names.offered(completion)
