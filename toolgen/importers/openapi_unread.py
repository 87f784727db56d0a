"""Keywords outside schemas: those that the import reads, and the places of all others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from .openapi_answers import media_read
from .openapi_bodies import FORMS, chosen_media
from .openapi_document import API, UnreadableError, listed, mapping
from .openapi_operations import OpenAPIOperation
from .pointers import joined

READ: Final[Mapping[str, frozenset[str]]] = {
    kind: frozenset(words.split())
    for kind, words in {
        "the document": (
            "openapi swagger $self info servers paths webhooks components security tags jsonSchemaDialect"
        ),
        "info": "title description version",
        "servers": "url variables",
        "variables of servers": "default enum",
        "tags": "name description",
        "security schemes": "type description name in scheme flows openIdConnectUrl",
        "paths": (
            "$ref servers parameters get head options put delete post patch trace query additionalOperations"
        ),
        "operations": (
            "tags summary description externalDocs operationId parameters requestBody responses callbacks "
            "deprecated security servers"
        ),
        "parameters": (
            "name in description required deprecated style explode allowReserved schema content example "
            "examples"
        ),
        "request bodies": "description required content",
        "media types of requests": "schema example examples encoding",
        "parts of forms": "style explode",
        "answers": "description headers links content",
        "media types of responses": "schema example examples itemSchema",
    }.items()
}
"""Keywords that the import reads or reports separately, by the kind of object that has them."""
_IGNORED: Final = ("", False, None)


def unread_keywords(api: API, operations: Iterable[OpenAPIOperation]) -> Iterator[tuple[str, str, str]]:
    """Yield kind, keyword and place of each unread keyword of a document, except in schemas.

    Parts that no operation refers to are ignored.
    """
    document = api.document
    yield from _unread("the document", document, "")
    yield from _unread("info", document.get("info"), "/info")
    yield from _of_servers(document.get("servers"), "/servers")
    for n, tag in enumerate(listed(document.get("tags"))):
        yield from _unread("tags", tag, joined("/tags", n))
    place = "/components/securitySchemes"
    for name, scheme in mapping(mapping(document.get("components")).get("securitySchemes")).items():
        yield from _unread("security schemes", scheme, joined(place, name))
    for operation in operations:
        yield from _unread("paths", operation.item, operation.item_pointer)
        yield from _of_servers(operation.item.get("servers"), joined(operation.item_pointer, "servers"))
        yield from _of_operation(operation)


def _of_operation(operation: OpenAPIOperation) -> Iterator[tuple[str, str, str]]:
    api, value, pointer = operation.api, operation.value, operation.pointer
    yield from _unread("operations", value, pointer)
    yield from _of_servers(value.get("servers"), joined(pointer, "servers"))
    for holder, at in ((operation.item, operation.item_pointer), (value, pointer)):
        for n, parameter in enumerate(listed(holder.get("parameters"))):
            yield from _unread("parameters", *_target(api, parameter, joined(at, "parameters", n)))
    body, at = _target(api, value.get("requestBody"), joined(pointer, "requestBody"))
    yield from _unread("request bodies", body, at)
    chosen = chosen_media(mapping(body.get("content")))
    for kind, media in mapping(body.get("content")).items():
        place = joined(at, "content", kind)
        yield from _unread("media types of requests", media, place)
        if chosen is not None and kind != chosen[0]:
            yield "request bodies", kind, place
        is_form = kind.partition(";")[0].strip().lower() in FORMS
        for name, part in mapping(mapping(media).get("encoding")).items():
            found = _unread("parts of forms", part, joined(place, "encoding", name))
            yield from found if is_form else [("media types of requests", "encoding", place)]
    responses = mapping(value.get("responses"))
    has_success = any(status[:1] == "2" for status in responses)
    for status, response in responses.items():
        place = joined(pointer, "responses", status)
        if status.lower().startswith("x-"):
            yield "operations", status, place
            continue
        answer, at = _target(api, response, place)
        yield from _unread("answers", answer, at)
        content = mapping(answer.get("content"))
        media_kind, read = media_read(content)
        is_failure = status[:1] in ("4", "5") or (status == "default" and has_success)
        if status[:1] in ("1", "3"):
            yield "answers", f"status {status}", place
        elif is_failure and media_kind != "json":
            yield "answers", f"status {status} without JSON", place
        for kind, media in content.items():
            yield from _unread("media types of responses", media, joined(at, "content", kind))
            if kind not in read:
                yield "answers", kind, joined(at, "content", kind)


def _of_servers(servers: object, place: str) -> Iterator[tuple[str, str, str]]:
    for n, server in enumerate(listed(servers)):
        at = joined(place, n)
        yield from _unread("servers", server, at)
        for name, variable in mapping(mapping(server).get("variables")).items():
            yield from _unread("variables of servers", variable, joined(at, "variables", name))


def _target(api: API, value: object, place: str) -> tuple[dict[str, object], str]:
    """Return the resolved object with its address; an empty one if it is not an object."""
    if value is None:
        return {}, place
    try:
        return api.followed(value, place)
    except UnreadableError:  # reported where it is read
        return {}, place


def _unread(kind: str, part: object, place: str) -> Iterator[tuple[str, str, str]]:
    for keyword, value in mapping(part).items():
        if keyword not in READ[kind] and value not in _IGNORED:
            yield kind, keyword, joined(place, keyword)
