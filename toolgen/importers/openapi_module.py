"""The text of a design module for an API: its types, credentials, services and toolsets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from toolgen.shapes import naming

from .clauses_layout import ClauseCall, CodeValue, Named, Part, Text, call, literal, parts_in
from .design import json_text, module_text
from .names import DesignNames, content, identifier
from .openapi_types import TypeBook

MethodParts = tuple[Part, Part, list[ClauseCall]]
"""Name, description and clauses of a method."""


@dataclass(slots=True, kw_only=True)
class ServiceParts:
    """A service with one list of servers, while it is being written."""

    name: str
    servers: tuple[ClauseCall, ...]
    security: tuple[ClauseCall, ...]
    methods: dict[str, MethodParts] = field(default_factory=dict)
    tools: dict[str, list[ClauseCall]] = field(default_factory=dict)
    """Tools by the tag of their operation; "" for none."""


class OpenAPIModule:
    """One design module."""

    def __init__(self, name: str, names: DesignNames, description: str, tags: Mapping[str, str]) -> None:
        self._name = name
        self._names = names
        self._tags = tags
        """Descriptions of tags by name."""
        self._description = description
        self._toolsets: dict[tuple[str, str], str] = {}
        """Names of toolsets by service and tag."""

    def name_toolsets(self, tags: Iterable[tuple[str, str]]) -> None:
        """Name the toolsets for tags of services; a toolset without a tag has the name of the module."""
        wanted = {key: self._toolset(key[1]) for key in tags}
        identities = {key: f"toolset {' '.join(key)}" for key in wanted}
        names = self._names.assign_all({identities[key]: [name] for key, name in wanted.items()})
        self._toolsets = {key: names[identity] for key, identity in identities.items()}

    def statements(
        self, services: list[ServiceParts], types: TypeBook, security: dict[str, ClauseCall]
    ) -> list[tuple[str, ClauseCall]]:
        """Return the variables that the design needs, in order; `design` is the last one."""
        parts = [part for each in services for clause in _security_in(each) for part in clause.parts]
        used = {part for part in parts if isinstance(part, str)}
        schemes = {name: clause for name, clause in security.items() if name in used}
        statements = [*types.statements(), *schemes.items()]
        errors = self._errors(services)
        statements += [(name, error) for error, name in errors.items()]
        written: list[str] = []
        for each in services:
            statements += self._statements(each, errors, written)
        reached = _reached(statements, written)
        types.untyped.read(name for name, _ in statements if name in reached)
        statements = [(n, types.untyped.clauses.get(n, part)) for n, part in statements if n in reached]
        about = literal(self._name), Text(self._description)
        quoted = [name for name in types.quoted if name in reached]
        return [*statements, ("design", call("Design", *about, *quoted, *written))]

    def files(self, statements: list[tuple[str, ClauseCall]], types: TypeBook) -> dict[str, str]:
        """Return the design module with these variables, and its schema files, by path."""
        about = f"The API {self._name}: `toolgen gen` reads `design` and writes its client and types."
        schema_files = types.untyped.files
        schemas = [part for _, part in statements if part.clause == "JSONSchema"]
        paths = [text for part in schemas for text in _mentioned(part) if text in schema_files]
        return {
            f"{self._name}.py": module_text(about, statements),
            **{path: json_text(schema_files[path]) for path in paths},
        }

    def _errors(self, services: list[ServiceParts]) -> dict[ClauseCall, str]:
        """Return the errors that several methods share, with their variables."""
        errors = [clause for each in services for _, _, method in each.methods.values() for clause in method]
        errors = [clause for clause in errors if clause.clause == "Error"]
        times = Counter(error.flat for error in errors)
        shared: dict[str, ClauseCall] = {}
        for error in errors:
            if times[error.flat] > 1:
                shared.setdefault(error.flat, error)
        wanted = {
            f"variable {content(flat)}": [naming.constant(str(getattr(error.parts[0], "value", "error")))]
            for flat, error in shared.items()
        }
        return dict(zip(shared.values(), self._names.assign_all(wanted).values(), strict=True))

    def _statements(
        self, service: ServiceParts, errors: dict[ClauseCall, str], written: list[str]
    ) -> Iterator[tuple[str, ClauseCall]]:
        """Yield the toolsets and the service, and add the service to `written`."""
        by_text = {error.flat: name for error, name in errors.items()}
        common = self._common(service, by_text)
        methods = [
            call("Method", name, text, *(_named(part, by_text) for part in parts if part.flat not in common))
            for name, text, parts in service.methods.values()
        ]
        toolsets: list[str] = []
        for tag, tools in service.tools.items():
            name = self._toolsets[service.name, tag]
            variable = self._names.assign(f"variable {name}", name)
            toolsets.append(variable)
            text = (self._tags.get(tag) or f"{naming.title(tag)}.") if tag else self._description
            yield variable, call("Toolset", literal(name), Text(text), *tools)
        variable = naming.snake(service.name).removesuffix("_service")
        variable = self._names.assign(f"variable of {service.name}", f"{identifier(variable, 'a')}_service")
        written.append(variable)
        yield (
            variable,
            call(
                "Service",
                literal(service.name),
                Text(self._description),
                *service.servers,
                *service.security,
                *(by_text[each] for each in common),
                *methods,
                *toolsets,
                Named("answers", literal("lenient")),
            ),
        )

    def _common(self, service: ServiceParts, by_text: dict[str, str]) -> list[str]:
        """Return the errors that all methods of a service share."""
        if len(service.methods) < 2:
            return []
        error_texts = [{part.flat for part in parts} for _, _, parts in service.methods.values()]
        return [text for text in by_text if all(text in each for each in error_texts)]

    def _toolset(self, tag: str) -> str:
        return identifier(tag, "tools")[: naming.LONGEST_NAME - 3].rstrip("_") if tag else self._name


def _reached(statements: list[tuple[str, ClauseCall]], names: Iterable[str]) -> set[str]:
    """Return these variables and all variables that they need, directly or indirectly."""
    parts = dict(statements)
    reached: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in parts and name not in reached:
            reached.add(name)
            waiting += _mentioned(parts[name])
    return reached


def _mentioned(part: ClauseCall) -> Iterator[str]:
    """Yield the names of types and variables in an expression, including quoted ones, and other texts."""
    for each in parts_in(part):
        name = each.value if isinstance(each, CodeValue) else each
        if isinstance(name, str):
            yield name


def _named(part: ClauseCall, by_text: dict[str, str]) -> Part:
    return by_text.get(part.flat, part)


def _security_in(service: ServiceParts) -> Iterator[ClauseCall]:
    yield from service.security
    for _, _, parts in service.methods.values():
        yield from (part for part in parts if part.clause == "Security")
