"""The body of a request: its media type, and its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from toolgen.contract.transport import Media
from toolgen.dsl.evaluation.checks.names import key_fault
from toolgen.shapes import naming

from . import codes
from .clauses_layout import Part, call
from .openapi_document import API, UnreadableError, listed, mapping, schema_of
from .openapi_operations import OpenAPIOperation
from .pointers import joined

_DEEPEST: Final = 10
FORMS: Final = ("application/x-www-form-urlencoded", "multipart/form-data")


@dataclass(slots=True, kw_only=True)
class RequestBody:
    schema: object
    place: str
    media: Media
    content_type: str
    is_required: bool
    facts: dict[str, object]
    is_deep: bool = False
    """Whether objects and lists of a form are written with brackets."""
    files: dict[str, Part] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    """Places of the parts of a multipart body."""

    @property
    def is_spread(self) -> bool:
        return self.media == "multipart"


def body_of(operation: OpenAPIOperation, find: Callable[..., None]) -> RequestBody | None:
    """Return the body; None if there is none.

    Raises:
        UnreadableError: The body is required and cannot be sent.
    """
    if operation.value.get("requestBody") is None:
        return None
    place = joined(operation.pointer, "requestBody")
    body, pointer = operation.api.followed(operation.value["requestBody"], place)
    content = mapping(body.get("content"))
    if operation.verb in ("GET", "HEAD"):
        if body.get("required") is True or not all(map(_is_empty, content.values())):
            message = f"a {operation.verb} request has no body; it is left out"
            find(codes.LEFT_OUT, pointer, message, "use POST")
        return None
    chosen = chosen_media(content)
    if chosen is None:
        if content:
            find(
                codes.LEFT_OUT, pointer, "the body has no media type that the client can send", "describe one"
            )
        return None
    media_type, media = chosen
    value, at = operation.api.followed(content[media_type] or {}, joined(pointer, "content", media_type))
    schema = schema_of(value)
    plain = media_type.partition(";")[0].strip().lower()
    result = RequestBody(
        schema=schema,
        place=joined(at, "schema"),
        media=media,
        content_type=plain if plain not in _OWN_TYPES[media] and "*" not in plain else "",
        is_required=body.get("required") is True,
        facts={**value, "description": body.get("description")},
    )
    if media == "text":
        result.schema = {"type": "string"}
        if plain.endswith("xml"):
            find(
                codes.LEFT_OUT,
                pointer,
                f"the body is {plain}; its argument is plain text",
                "describe its format",
            )
    if media == "multipart":
        _spread(operation, result, find)
        _leave_unnameable_out(result, find)
    if media in ("form", "multipart"):
        _settle_style(operation.api, result, joined(at, "encoding"), find)
    return result


def _settle_style(api: API, body: RequestBody, place: str, find: Callable[..., None]) -> None:
    """Use brackets for objects and lists of a form if the document does so for one; report other styles.

    OpenAPI 3.0 has styles only in URL-encoded forms; for other forms, 3.0 documents are read like 3.1.
    """
    encoding = mapping(body.facts.get("encoding"))
    deep = {name for name, facts in encoding.items() if mapping(facts).get("style") == "deepObject"}
    body.is_deep = bool(deep)
    others = [name for name, facts in encoding.items() if name not in deep and _is_styled(mapping(facts))]
    if deep:
        properties = mapping(_known(api, body.schema, body.place)[0].get("properties"))
        unsaid = [name for name, part in properties.items() if name not in deep and name not in body.files]
        others += [name for name in unsaid if name not in others and _has_parts(api, properties[name])]
    if others:
        written = "lists and objects in brackets" if deep else "repeated lists and objects as JSON"
        message = f"the form has {written}, also for {', '.join(others)}"
        find(codes.LEFT_OUT, place, message, "send JSON if the API accepts it")


def _is_styled(encoding: dict[str, object]) -> bool:
    """Return whether the lists of a part are sent as one text."""
    return encoding.get("style") in ("spaceDelimited", "pipeDelimited") or encoding.get("explode") is False


def _has_parts(api: API, schema: object, depth: int = 0) -> bool:
    """Return whether a value of a schema can be an object or a list."""
    if depth > _DEEPEST:
        return True
    resolved, _ = _known(api, schema, "")
    types = listed(resolved.get("type")) or [resolved.get("type")]
    unions = [part for word in ("allOf", "oneOf", "anyOf") for part in listed(resolved.get(word))]
    return not {"object", "array"}.isdisjoint(map(str, types)) or any(
        _has_parts(api, part, depth + 1) for part in unions
    )


def _is_empty(media: object) -> bool:
    """Return whether a media type describes an object without properties."""
    schema = mapping(mapping(media).get("schema"))
    return schema.get("type") == "object" and not schema.get("properties")


_OWN_TYPES: Final[Mapping[Media, tuple[str, ...]]] = {
    "json": ("application/json",),
    "form": (FORMS[0],),
    "multipart": (FORMS[1],),
    "text": ("text/plain",),
    "bytes": ("application/octet-stream",),
}


def chosen_media(content: dict[str, object]) -> tuple[str, Media] | None:
    """Return the media type to send: JSON, then types based on it (RFC 6839), forms, text, bytes."""
    plain = {key: key.partition(";")[0].strip().lower() for key in content}
    for fits, media in _KINDS:
        for key, kind in plain.items():
            if fits(kind):
                return key, media
    return None


_KINDS: Final[tuple[tuple[Callable[[str], bool], Media], ...]] = (
    (lambda kind: kind == "application/json", "json"),
    (lambda kind: kind.endswith("+json"), "json"),
    (lambda kind: kind in ("*/*", "application/*"), "json"),
    (lambda kind: kind == FORMS[1] or kind.startswith("multipart/"), "multipart"),
    (lambda kind: kind == FORMS[0], "form"),
    (
        lambda kind: (
            kind.startswith("text/") or kind.endswith(("xml", "yaml", "ndjson", "jsonl", "x-json-stream"))
        ),
        "text",
    ),
    (lambda kind: True, "bytes"),
)


def _spread(operation: OpenAPIOperation, body: RequestBody, find: Callable[..., None]) -> None:
    """Split a multipart body into its parts, including those of `allOf` and of each alternative.

    Raises:
        UnreadableError: The schema is not an object with properties.
    """
    root, place = operation.api.followed(body.schema, body.place)
    properties: dict[str, object] = {}
    required: dict[str, None] = {}
    visited, alternatives = set[str](), ""
    waiting: list[tuple[object, str, bool]] = [(root, place, True)]
    while waiting:
        value, at, is_certain = waiting.pop(0)
        schema, at = _known(operation.api, value, at)
        if at in visited:
            continue
        visited.add(at)
        for name, part in mapping(schema.get("properties")).items():
            properties.setdefault(name, part)
            body.places.setdefault(name, joined(at, "properties", name))
        required |= dict.fromkeys(map(str, listed(schema.get("required")) if is_certain else ()))
        for word in ("allOf", "oneOf", "anyOf"):
            parts = listed(schema.get(word))
            is_sure = is_certain and (word == "allOf" or len(parts) == 1)
            alternatives = alternatives or ("" if is_sure or not parts else joined(at, word))
            waiting += [(part, joined(at, word, n), is_sure) for n, part in enumerate(parts)]
    if not properties:
        raise UnreadableError(place, "the body has no properties", "describe its parts as properties")
    if alternatives:
        message = "the form has alternatives; the parts of each are optional arguments"
        find(codes.LEFT_OUT, alternatives, message, "say in the design which parts go together")
    notes = {key: value for key, value in root.items() if key not in ("allOf", "oneOf", "anyOf", "$ref")}
    needed = [name for name in required if name in properties]
    body.schema, body.place = {**notes, "properties": properties, "required": needed}, place
    for name, part in properties.items():
        part_schema, at = _known(operation.api, part, body.places[name])
        if _is_file(part_schema):
            body.files[name] = "Bytes"
        elif part_schema.get("type") == "array" and isinstance(part_schema.get("items"), dict):
            items, _ = _known(operation.api, part_schema["items"], joined(at, "items"))
            if _is_file(items):
                body.files[name] = call("ArrayOf", "Bytes")


def _known(api: API, schema: object, place: str) -> tuple[dict[str, object], str]:
    """Return the resolved schema with its place; an empty one if the reference is dangling."""
    try:
        return api.followed(schema, place)
    except UnreadableError as error:
        if isinstance(schema, dict):
            api.dangling.setdefault(error.pointer, error)
        return {}, place


def _leave_unnameable_out(body: RequestBody, find: Callable[..., None]) -> None:
    """Leave out parts whose names cannot be arguments of a tool, because they are invalid or taken in Python.

    Raises:
        UnreadableError: A required part is one of them.
    """
    schema = mapping(body.schema)
    properties, taken = dict(mapping(schema.get("properties"))), set[str]()
    for name in list(properties):
        fault = key_fault(name)
        if not fault and naming.field_name(name) in taken:
            fault = "has the Python name of another part"
        taken.add(naming.field_name(name))
        if not fault:
            continue
        place, message = body.places[name], f"the part {name!r} of the form {fault}"
        if name in listed(schema.get("required")):
            raise UnreadableError(place, message, "rename it if the API allows it")
        find(codes.LEFT_OUT, place, f"{message}; it is left out", "rename it if the API allows it")
        del properties[name]
        body.files.pop(name, None)
    body.schema = {**schema, "properties": properties}


def _is_file(schema: dict[str, object]) -> bool:
    kind = schema.get("type")
    is_text = kind == "string" or kind is None or kind == ["string", "null"]
    return is_text and (schema.get("format") == "binary" or "contentMediaType" in schema)
