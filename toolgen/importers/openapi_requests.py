"""The request of an operation: its parameters and its body, as attributes of a payload with their places."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, quote

from toolgen.contract.json_pointer import definition_of
from toolgen.dsl.evaluation.checks.names import key_fault
from toolgen.dsl.evaluation.transports.parameters import path_faults
from toolgen.shapes.foreign.reader.validator import rejected_values

from . import codes
from .clauses_layout import ClauseCall, CodeValue, Named, Part, call, literal
from .names import RENAMED_HINT, DesignNames, identifier
from .openapi_bodies import RequestBody, body_of
from .openapi_credentials import FilledCredentials
from .openapi_cuts import Cut, never_null
from .openapi_document import API, UnreadableError, listed, mapping, text
from .openapi_operations import OpenAPIOperation
from .openapi_parameters import ParameterPart, schema_and_place, sendable, sent_parameters, style_of
from .openapi_types import TypeBook
from .openapi_untyped import MISFIT, MISFIT_HINT

_VALUES: Final = frozenset(["string", "integer", "number", "boolean"])
_UNSENDABLE: Final = re.compile(r"\{[^{}]*\}|[^!-~]|\\")
"""Characters that a URL cannot contain, and names in braces, which may contain them."""
_BODY: Final = ("", "body")
"""Name and place of the whole body."""


@dataclass(slots=True)
class PayloadParts:
    """Attributes of a payload, and the clauses that place them."""

    properties: dict[str, tuple[object, str]] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    fixed: dict[str, Part] = field(default_factory=dict)
    parameters: list[str] = field(default_factory=list)
    never_null: list[str] = field(default_factory=list)
    """Required parameters that null would omit."""
    names: dict[str, str] = field(default_factory=dict)
    """Names of parameters in a request, if they differ from the names of their attributes."""
    json: set[str] = field(default_factory=set)
    """Parameters that are sent as JSON text."""
    clauses: dict[str, ClauseCall] = field(default_factory=dict)
    """Clauses by attribute; an attribute at its default place has none."""
    body: ClauseCall | None = None
    has_body_attribute: bool = False
    """Whether a single attribute is the body."""
    path: str = ""
    example: dict[str, object] = field(default_factory=dict)
    """Arguments from the first example of each attribute; empty if a required attribute has no example."""

    def cut(self, types: TypeBook, find: Callable[..., None]) -> Cut:
        """Return the payload as an object whose types are added to the book."""
        cut = types.cutter.cut_object(self.properties, self.required, "in")
        cut.fixed = self.fixed
        parts = cut.schema["properties"]
        parts.update({key: never_null(parts[key], cut.definitions) for key in self.never_null})
        for key, part in parts.items():
            if key not in self.parameters and isinstance(part, dict) and part.get("examples"):
                schema, place = self.properties[key]
                good = types.untyped.fitting(schema, place, "in", part["examples"])
                if len(good) < len(part["examples"]):
                    find(codes.ODD_SCHEMA, place, MISFIT, MISFIT_HINT)
                parts[key] = {**part, "examples": good}
        self._take_example(cut, find)
        styled = [key for key in self.parameters if key not in self.json]
        cut.separate = {key for key in styled if not _has_text(parts[key], cut.definitions)}
        for key in styled:
            self._settle_style(key, _types_of(parts[key], cut.definitions))
        return cut

    def _take_example(self, cut: Cut, find: Callable[..., None]) -> None:
        """Store the first example of each attribute, if all required attributes have one."""
        parts = cut.schema["properties"]
        examples = {
            key: part["examples"][0]
            for key, part in parts.items()
            if isinstance(part, dict) and part.get("examples") and key not in self.fixed
        }
        if examples and examples.keys() >= set(self.required):
            if rejected_values(cut.complete_schema, [("", examples)]):
                find(codes.ODD_SCHEMA, self.properties[next(iter(examples))][1], MISFIT, MISFIT_HINT)
            else:
                self.example = examples

    def _settle_style(self, key: str, types: frozenset[str]) -> None:
        """Resolve a style that OpenAPI leaves undefined for a type (OAS 3.1.1, 4.8.12.3).

        The brackets of a list become part of its name, as PHP, Rails and Stripe expect.
        """
        parts = self.clauses[key].parts if key in self.clauses and types else ()
        style = next((part.value for part in parts if isinstance(part, Named)), None)
        if not isinstance(style, CodeValue):
            return
        if style.value == "deepObject" and types == {"array"}:
            self.clauses[key] = call("Param", literal(key), literal(f"{self.names.get(key, key)}[]"))
        elif style.value in ("deepObject", "spaceDelimited", "pipeDelimited") and types <= _VALUES:
            self.clauses[key] = call("Param", *(part for part in parts if not isinstance(part, Named)))

    def add(self, key: str, schema: object, place: str, *, required: bool) -> None:
        self.properties[key] = schema, place
        if required:
            self.required.append(key)


def request_of(
    operation: OpenAPIOperation, filled: FilledCredentials, names: DesignNames, find: Callable[..., None]
) -> PayloadParts:
    """Return the attributes of an operation, without those that its credentials fill.

    Raises:
        UnreadableError: A parameter or the body cannot be sent.
    """
    parts = PayloadParts()
    path, _, query = operation.path.partition("#")[0].partition("?")
    parts.path = _sent_path(operation, path, find)
    variables = list(dict.fromkeys(re.findall(r"\{([^{}]+)\}", path)))
    body = body_of(operation, find)
    is_filled = body is not None and filled.take_from(body, operation.api)
    parameters: dict[tuple[str, str], ParameterPart] = {}
    for parameter in sent_parameters(operation, find):
        name, place, pointer = parameter.name, parameter.place, parameter.pointer
        if filled.fills(parameter):
            continue
        if place == "path" and name not in variables:
            find(codes.ASSUMED, pointer, f"the path has no variable {name!r}", "remove the parameter")
            continue
        parameters[name, place] = parameter
    undescribed = [name for name in variables if (name, "path") not in parameters]
    called = _arguments(operation, [*parameters, *((name, "path") for name in undescribed)], body, names)
    seen = {*parts.properties, *(_body_keys(body))}
    for (name, place), parameter in parameters.items():
        wanted, key = _argument_name(name), called[name, place]
        if key != wanted and wanted not in seen:
            message = f"the parameter {name!r} is the argument {key!r}, because its Python name is taken"
            find(codes.RENAMED, parameter.pointer, message, RENAMED_HINT)
        seen.add(key)
        _add_parameter(parts, key, parameter, operation.api, find)
    for name in undescribed:
        message = f"no parameter describes the path variable {name!r}; it is a required string"
        find(codes.ASSUMED, operation.pointer, message, "add the parameter")
        key = called[name, "path"]
        schema = sendable({"type": "string"}, operation.pointer, "path", operation.api)
        parts.add(key, schema, operation.pointer, required=True)
        if key != name:
            parts.clauses[key] = call("Param", literal(key), literal(name))
        parts.parameters.append(key)
    _add_query(parts, query, body, operation.pointer)
    if body and is_filled:
        parts.body = call("Body", *_named(body))
    elif body:
        _add_body(parts, body, called[_BODY])
    _drop_defaults(parts, operation)
    return parts


def _sent_path(operation: OpenAPIOperation, path: str, find: Callable[..., None]) -> str:
    """Return a path with a leading slash and without illegal characters; names in braces are unchanged.

    Raises:
        UnreadableError: Its variables are ambiguous, or it leads elsewhere.
    """
    slashed = path if path.startswith("/") else f"/{path}"
    sent = _UNSENDABLE.sub(lambda found: found[0] if found[0][0] == "{" else quote(found[0]), slashed)
    if sent != path:
        message = f"the path {path!r} is sent as {sent!r}"
        find(codes.ASSUMED, operation.pointer, message, "correct the path")
    for fault, _ in path_faults(sent):
        raise UnreadableError(operation.pointer, f"the path {path!r} {fault}", "correct the path")
    return sent


def _add_query(parts: PayloadParts, query: str, body: RequestBody | None, place: str) -> None:
    """Add the query in a path, as arguments with one value each."""
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in parts.properties and name not in _body_keys(body):
            parts.add(name, {"type": "string", "enum": [value], "default": value}, place, required=False)
            parts.parameters.append(name)
            parts.clauses[name] = call("Param", literal(name))


def _arguments(
    operation: OpenAPIOperation,
    parameters: list[tuple[str, str]],
    body: RequestBody | None,
    names: DesignNames,
) -> dict[tuple[str, str], str]:
    """Return the argument names of parameters, by name and place, and of the whole body."""
    names.claim_arguments(_body_keys(body), operation.id)
    wanted = {
        (name, place): [_argument_name(name), f"{_argument_name(name)}_{place}"] for name, place in parameters
    }
    wanted[_BODY] = ["body", "request_body"]
    identities = {each: f"argument {operation.id} {each[1]} {each[0]}" for each in wanted}
    assigned = names.assign_all({identities[each]: keys for each, keys in wanted.items()}, operation.id)
    return {each: assigned[identity] for each, identity in identities.items()}


def _argument_name(name: str) -> str:
    return identifier(name, "value") if key_fault(name) else name


def _body_keys(body: RequestBody | None) -> set[str]:
    """Return the arguments that are parts of a body."""
    return set(mapping(mapping(body.schema).get("properties"))) if body and body.is_spread else set()


def _drop_defaults(parts: PayloadParts, operation: OpenAPIOperation) -> None:
    """Remove the clauses of parameters whose default place is the query."""
    if parts.has_body_attribute or (parts.body is None and operation.verb not in ("PUT", "POST", "PATCH")):
        for key, clause in list(parts.clauses.items()):
            if clause.clause == "Param" and len(clause.parts) == 1:
                del parts.clauses[key]


def _add_parameter(
    parts: PayloadParts, key: str, parameter: ParameterPart, api: API, find: Callable[..., None]
) -> None:
    name, place = parameter.name, parameter.place
    schema, at = schema_and_place(parameter, api, find)
    is_required = parameter.value.get("required") is True or place == "path"
    parts.add(key, _with_facts(schema, parameter.value), at, required=is_required)
    parts.parameters.append(key)
    if is_required and not parameter.json_media:
        parts.never_null.append(key)
    named = style_of(parameter, find)
    own = [literal(name)] if key != name else []
    if own:
        parts.names[key] = name
    if parameter.json_media:
        parts.json.add(key)
    if place == "header":
        parts.clauses[key] = call("Header", literal(key), *own, *named)
    elif place == "cookie":
        parts.clauses[key] = call("Cookie", literal(key), *own, *named)
    elif place in ("query", "querystring") or named or own:
        parts.clauses[key] = call("Param", literal(key), *own, *named)


def _has_text(schema: object, definitions: Mapping[str, Any], depth: int = 0) -> bool:
    """Return whether values of a translated schema are scalars, or lists of scalars."""
    if not isinstance(schema, dict) or depth > 5:
        return False
    if "$ref" in schema:
        return _has_text(definitions.get(definition_of(schema["$ref"])), definitions, depth + 1)
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            rest = [part for part in listed(schema[word]) if part != {"type": "null"}]
            return len(rest) == 1 and _has_text(rest[0], definitions, depth + 1)
    kinds = schema.get("type")
    types = {kinds} if isinstance(kinds, str) else {str(each) for each in listed(kinds)} - {"null"}
    if types == {"array"}:
        items = schema.get("items")
        is_flat = isinstance(items, dict) and items.get("type") != "array"
        return is_flat and _has_text(items, definitions, depth + 1)
    return (bool(types) and types <= _VALUES) or (not types and "enum" in schema)


def _types_of(schema: Any, definitions: Mapping[str, Any], depth: int = 0) -> frozenset[str]:
    """Return the JSON types of a translated schema, without null; none if they are not declared directly."""
    if not isinstance(schema, dict) or depth > 5:
        return frozenset()
    if "$ref" in schema:
        return _types_of(definitions.get(definition_of(schema["$ref"])), definitions, depth + 1)
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            part_types = [_types_of(part, definitions, depth + 1) for part in listed(schema[word])]
            return frozenset(each for types in part_types for each in types)
    kinds = schema.get("type")
    types = [kinds] if isinstance(kinds, str) else listed(kinds)
    return frozenset(str(each) for each in types if each != "null")


def _add_body(parts: PayloadParts, body: RequestBody, key: str) -> None:
    if body.is_spread:
        schema = mapping(body.schema)
        for name, part in mapping(schema.get("properties")).items():
            place = body.places[name]
            facts = {"description": mapping(part).get("description")}
            described = _with_facts({}, facts) if name in body.files else part
            parts.add(name, described, place, required=name in listed(schema.get("required")))
        parts.fixed |= body.files
        files = [call("File", literal(name)) for name in body.files]
        media = [] if files else [Named("media", literal("multipart"))]
        parts.body = call("Body", *files, *media, *_style(body))
        return
    parts.add(key, _with_facts(body.schema, body.facts), body.place, required=body.is_required)
    if body.media == "bytes":
        parts.properties[key] = _with_facts({}, {"description": body.facts["description"]}), body.place
        parts.fixed[key] = "Bytes"
    parts.body, parts.has_body_attribute = call("Body", literal(key), *_named(body)), True


def _named(body: RequestBody) -> list[Named]:
    """Return the media type arguments of a body's clause."""
    named = [Named("media", literal(body.media))] if body.media != "json" else []
    named += [Named("content_type", literal(body.content_type))] if body.content_type else []
    return [*named, *_style(body)]


def _style(body: RequestBody) -> list[Named]:
    return [Named("style", literal("deepObject"))] if body.is_deep else []


def _with_facts(schema: object, facts: Mapping[str, object]) -> object:
    """Return the schema of a parameter or a body with its separate description and examples."""
    if schema is True:
        schema = {}
    if not isinstance(schema, dict):
        return schema
    more: dict[str, object] = {}
    if described := text(facts.get("description")):
        more["description"] = described
    examples = [facts["example"]] if "example" in facts else []
    examples += [
        mapping(each)["value"] for each in mapping(facts.get("examples")).values() if "value" in mapping(each)
    ]
    if examples and "examples" not in schema:
        more["examples"] = examples
    if facts.get("deprecated") is True:
        more["deprecated"] = True
    if not more:
        return schema
    return {"allOf": [schema], **more} if "$ref" in schema else {**schema, **more}
