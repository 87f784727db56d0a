"""The ledger of an OpenAPI document: facts about operations that no clause expresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from toolgen.contract.findings import Finding

from . import codes
from .codes import finding_at
from .openapi_document import API, UnreadableError, component_name, listed, mapping
from .openapi_operations import OpenAPIOperation
from .openapi_parameters import is_of_client
from .openapi_texts import first_of, place_count, tally
from .openapi_unread import unread_keywords
from .pointers import joined

_DISTINGUISH: Final = "give each branch a required property with a constant, or use anyOf"
_SPLIT: Final = "add a JSONSchema with the parts that you need to the design"
_OF_CLIENT: Final = ", which the client sends itself"
_MOST_NAMED: Final = 20
"""Maximum number of further places that a finding names."""
_HINT: Final = "add it to a description if models should read it"


def lost_parts(api: API, operations: Iterable[OpenAPIOperation]) -> Iterator[Finding]:
    """Yield a finding for each kind of fact that the design leaves out, at its first place."""
    operations = list(operations)
    places: dict[str, list[str]] = {}
    for what, place in _lost(api, operations):
        places.setdefault(what, []).append(place)
    for what, found_at in places.items():
        message = f"the design leaves out {what} ({place_count(found_at)})"
        hint = "no change is needed" if what.endswith(_OF_CLIENT) else _HINT
        yield finding_at(codes.NOTE_LEFT_OUT, found_at[0], message, hint=hint)
    unread: dict[str, dict[str, str]] = {}
    for kind, keyword, place in unread_keywords(api, operations):
        unread.setdefault(kind, {}).setdefault(place, keyword)
    for kind, keywords in unread.items():
        message = f"the design leaves out keywords of {kind}: {tally(keywords.values())}"
        yield finding_at(codes.NOTE_LEFT_OUT, next(iter(keywords)), message, hint=_HINT)


def loosened_unions(places: Iterable[str]) -> Iterator[Finding]:
    """Yield the finding about `oneOf` in responses that is read as `anyOf`, if there is any."""
    found_at = list(places)
    if found_at:
        rest = found_at[1 : _MOST_NAMED + 1]
        also = f"; also at {', '.join(rest)}{', and so on' if len(found_at) > len(rest) + 1 else ''}"
        message = (
            "a value can match two branches of this oneOf; it is read as anyOf in responses, so that "
            f"no response is refused for that ({place_count(found_at)}{also if rest else ''})"
        )
        yield finding_at(codes.REPAIRED_SCHEMA, found_at[0], message, hint=_DISTINGUISH)


def shortened_schemas(addresses: Iterable[str]) -> Iterator[Finding]:
    """Yield the finding about components that are only outlines in the design, if there are any."""
    found_at = list(addresses)
    if found_at:
        named = first_of([*map(component_name, found_at)])
        message = (
            "schemas that clauses cannot express have too many references; any object is accepted in "
            f"them for {named}"
        )
        yield finding_at(codes.LEFT_OUT, found_at[0], message, hint=_SPLIT)


def _lost(api: API, operations: Iterable[OpenAPIOperation]) -> Iterator[tuple[str, str]]:
    if api.document.get("webhooks"):
        yield "webhooks", "/webhooks"
    for operation in operations:
        for key in ("callbacks", "externalDocs"):
            if operation.value.get(key):
                yield key, joined(operation.pointer, key)
        yield from _lost_of_parameters(api, operation)
        for status, response in mapping(operation.value.get("responses")).items():
            place = joined(operation.pointer, "responses", status)
            try:
                response_object, at = api.followed(response, place)
            except UnreadableError:
                continue
            yield from (
                (f"{key} of responses", joined(at, key))
                for key in ("headers", "links")
                if response_object.get(key)
            )
            content = mapping(response_object.get("content"))
            has_json = any("json" in kind or "*" in kind for kind in content)
            for kind, media in content.items():
                if not has_json and (schema := mapping(media).get("schema")) and not _is_text(schema):
                    yield "the schemas of responses that are not JSON", joined(at, "content", kind, "schema")
                if {"example", "examples"} & mapping(media).keys():
                    yield "examples of responses", joined(at, "content", kind)
                if "itemSchema" in mapping(media):
                    yield "the item schemas of streams", joined(at, "content", kind, "itemSchema")


def _lost_of_parameters(api: API, operation: OpenAPIOperation) -> Iterator[tuple[str, str]]:
    holders = (operation.item, operation.item_pointer), (operation.value, operation.pointer)
    for holder, pointer in holders:
        for n, parameter in enumerate(listed(holder.get("parameters"))):
            try:
                parameter_object, at = api.followed(parameter, joined(pointer, "parameters", n))
            except UnreadableError:
                continue
            if is_of_client(parameter_object):
                yield f"the header {parameter_object['name']!r}{_OF_CLIENT}", at
            if parameter_object.get("allowReserved") is True:
                yield (
                    "allowReserved of parameters, whose values are always escaped",
                    joined(at, "allowReserved"),
                )


def _is_text(schema: object) -> bool:
    """Return whether a schema allows any text or bytes, which the design expresses for such an answer."""
    return isinstance(schema, dict) and set(schema) <= {"type", "format"} and schema.get("type") == "string"
