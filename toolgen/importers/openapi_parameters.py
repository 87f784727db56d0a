"""Parameters of an operation that are sent, their possible values, and their styles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from toolgen.contract.record import frozen_record
from toolgen.dsl.evaluation.transports.headers import header_fault, is_token
from toolgen.shapes.constraints import lengths_of
from toolgen.shapes.foreign.reader.keywords import CONSTRAINTS

from . import codes
from .clauses_layout import Named, literal
from .clauses_values import REQUEST_FORMATS
from .openapi_bodies import FORMS
from .openapi_document import API, UnreadableError, mapping, schema_of, text
from .openapi_operations import OpenAPIOperation
from .pointers import joined
from .records import a_kind

STYLES: Final[Mapping[str, tuple[str, ...]]] = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
    "querystring": ("form",),
}
"""Styles of each place, default first."""
_LEGAL: Final = r"^[^\x00-\x1F\x7F]*$"
"""Pattern of a header value (RFC 9110, section 5.5)."""
_NEVER_EMPTY: Final = REQUEST_FORMATS - {"byte"}
"""Formats whose texts are never empty, and contain no control characters."""
_SHORTEST, _ = lengths_of("string")
_FEWEST, _ = lengths_of("array")
_FEWEST_KEYS, _ = lengths_of("map")
_SENT: Final[Mapping[str, dict[str, object]]] = {"path": {_SHORTEST: 1}, "header": {"pattern": _LEGAL}}
"""Constraints for strings by place."""
_UNSENT_IF_EMPTY: Final = ("query", "cookie")
"""Places where an empty list or map counts as absent (RFC 6570, section 3.2.1)."""


@frozen_record
class ParameterPart:
    """One parameter of the document."""

    name: str
    place: str
    value: dict[str, object]
    pointer: str

    @property
    def key(self) -> tuple[str, str]:
        """Unique key of the parameter; header names are case-insensitive (RFC 9110, 5.1)."""
        return (self.name.lower() if self.place == "header" else self.name), self.place

    @property
    def content(self) -> dict[str, object]:
        return mapping(self.value.get("content")) if self.value.get("schema") is None else {}

    @property
    def json_media(self) -> str:
        """Media type of a value that is sent as JSON text; "" for other values."""
        for kind in self.content:
            plain = kind.partition(";")[0].strip().lower()
            if self.place != "querystring" and (plain == "application/json" or plain.endswith("+json")):
                return kind
        return ""


def listed_parameters(operation: OpenAPIOperation) -> list[ParameterPart]:
    """Return the parameters in the document; the operation's own override those of its path.

    Raises:
        UnreadableError: A parameter cannot be read.
    """
    result: dict[tuple[str, str], ParameterPart] = {}
    for holder, pointer in ((operation.item, operation.item_pointer), (operation.value, operation.pointer)):
        place = joined(pointer, "parameters")
        parameters = holder.get("parameters") or []
        if not isinstance(parameters, list):
            raise UnreadableError(place, f"the parameters are {a_kind(parameters)}, not a list")
        for index, value in enumerate(parameters):
            parameter, found_at = operation.api.followed(value, joined(place, index))
            name, where = parameter.get("name"), parameter.get("in")
            if not isinstance(name, str) or not isinstance(where, str) or where not in STYLES:
                hint = f"'in' is one of {', '.join(STYLES)}"
                raise UnreadableError(found_at, "a parameter needs 'name' and 'in'", hint)
            part = ParameterPart(name=name, place=where, value=parameter, pointer=found_at)
            result[part.key] = part
    return list(result.values())


def sent_parameters(operation: OpenAPIOperation, find: Callable[..., None]) -> Iterator[ParameterPart]:
    """Yield the listed parameters except those that the client sends itself, or that cannot be sent."""
    for part in listed_parameters(operation):
        if part.place in ("header", "cookie") and not is_token(part.name):
            message = (
                f"the parameter {part.name!r} has characters that a {part.place} cannot have; it is left out"
            )
            find(codes.LEFT_OUT, part.pointer, message, "correct its name")
        elif not is_of_client(part.value):
            yield part


def is_of_client(parameter: Mapping[str, object]) -> bool:
    """Return whether a parameter is a header that the client always sends itself."""
    name = parameter.get("name")
    if parameter.get("in") != "header" or not isinstance(name, str) or not is_token(name):
        return False
    return name.lower() == "accept" or bool(header_fault(name))


def schema_and_place(parameter: ParameterPart, api: API, find: Callable[..., None]) -> tuple[object, str]:
    """Return the schema of the sent value, with its address.

    Raises:
        UnreadableError: The parameter is the whole query, and not a form.
    """
    pointer, name = parameter.pointer, parameter.name
    content = mapping(parameter.value.get("content"))
    if kind := FORMS[0] if parameter.place == "querystring" else parameter.json_media:
        media = mapping(content.get(kind))
        if not media:
            message = (
                f"the parameter {name!r} is the whole query with the content {', '.join(content) or 'none'}"
            )
            raise UnreadableError(pointer, message, f"describe its content as {FORMS[0]}")
        return schema_of(media), joined(pointer, "content", kind, "schema")
    if content := parameter.content:
        kind = next(iter(content))
        message = f"the parameter {name!r} is {kind}; its argument is plain text"
        find(codes.ASSUMED, pointer, message, "describe the format of the text in the design")
        return {"type": "string"}, pointer
    at = joined(pointer, "schema")
    schema = api.schema(schema_of(parameter.value), at)
    needed = parameter.value.get("required") is True and parameter.place in _UNSENT_IF_EMPTY
    return sendable(schema, at, parameter.place, api, needed=needed), at


def sendable(schema: object, at: str, place: str, api: API, *, needed: bool = False) -> object:
    """Return a schema for values that can be sent in this place: strings, and lists of strings.

    If `needed`, a value must not be empty, because it would count as absent.
    """
    limits = _SENT.get(place, {})
    if not (limits or needed) or not isinstance(schema, dict | bool):
        return schema
    resolved: dict[str, Any] = {}
    if isinstance(schema, dict):
        try:
            resolved, at = api.followed(schema, at)
        except UnreadableError:
            return schema
    kinds = resolved.get("type")
    types = {str(each) for each in (kinds if isinstance(kinds, list) else [kinds])} - {"null", "None"}
    more: dict[str, object] = {}
    if CONSTRAINTS.isdisjoint(resolved) and schema is not False:  # accepts any value, including null
        more = {"type": "string", **limits}
        schema = schema if isinstance(schema, dict) else {}
    elif types == {"array"}:
        if limits:
            more["items"] = sendable(resolved.get("items", True), joined(at, "items"), place, api)
        if needed or place == "path":
            more[_FEWEST] = resolved.get(_FEWEST) or 1
    elif types == {"object"} and needed and not {"properties", "allOf", "anyOf", "oneOf"} & resolved.keys():
        more[_FEWEST_KEYS] = resolved.get(_FEWEST_KEYS) or 1
    elif not types and resolved is schema:
        branches = {
            word: resolved[word] for word in ("anyOf", "oneOf") if isinstance(resolved.get(word), list)
        }
        more = {
            word: [sendable(each, joined(at, word, number), place, api) for number, each in enumerate(parts)]
            for word, parts in branches.items()
        }
    elif (
        "string" in types
        and not {"enum", "const"} & resolved.keys()
        and text(resolved.get("format")) not in _NEVER_EMPTY
    ):
        more = {word: limit for word, limit in limits.items() if not resolved.get(word)}
    if not more or not isinstance(schema, dict):
        return schema
    return {"allOf": [schema], **more} if "$ref" in schema else {**schema, **more}


def style_of(parameter: ParameterPart, find: Callable[..., None]) -> list[Named]:
    """Return style and explode if they differ from the defaults of the place (OAS 3.1.1, 4.8.12.2)."""
    if parameter.json_media:
        return [Named("style", literal("json"))]
    styles, style = STYLES[parameter.place], parameter.value.get("style")
    if style is not None and style not in styles:
        message = f"the parameter {parameter.name!r} has the style {style!r}, but is sent as {styles[0]!r}"
        find(codes.ASSUMED, parameter.pointer, message, f"use one of {', '.join(styles)}")
    named = []
    if style in styles and style != styles[0]:
        named.append(Named("style", literal(style)))
    explode = parameter.value.get("explode")
    effective = style if style in styles else styles[0]
    if isinstance(explode, bool) and explode != (effective in ("form", "deepObject")):
        named.append(Named("explode", literal(explode)))
    return named
