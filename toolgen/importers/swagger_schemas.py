"""Schemas, references and security schemes of Swagger 2.0 in the form of OpenAPI 3.0."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Final

from .openapi_document import text

COMPONENTS: Final = {
    "/components/schemas": "/definitions",
    "/components/responses": "/responses",
    "/components/securitySchemes": "/securityDefinitions",
}
"""Swagger 2.0 places by OpenAPI 3 places."""
_FACTS: Final = frozenset("name in description required allowEmptyValue".split())
"""Keys of a parameter that do not belong to its schema."""
_SINGLE: Final = ("additionalProperties", "not", "items")
_LISTS: Final = ("allOf", "anyOf", "oneOf", "items")
_MAPS: Final = ("properties", "patternProperties", "definitions")
_FLOWS: Final = {"accessCode": "authorizationCode", "application": "clientCredentials"}


def parts_of(parameter: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """Return the facts about a parameter or a header, and its schema."""
    facts: dict[str, object] = {}
    schema: dict[str, object] = {}
    for key, value in parameter.items():
        if key not in ("collectionFormat", "schema"):
            is_fact = key in _FACTS or (key.startswith("x-") and key != "x-nullable")
            (facts if is_fact else schema)[key] = value
    return facts, schema


def schema_3(value: object, file: str | None = "") -> object:
    """Return a schema in the form of OpenAPI 3.0.

    References in another file become relative to the document; with None, they are unchanged.
    """
    if not isinstance(value, dict):
        return value
    result = dict(value)
    for key in _MAPS:
        if isinstance(parts := value.get(key), dict):
            result[key] = {name: schema_3(part, file) for name, part in parts.items()}
    for key in _LISTS:
        if isinstance(parts := value.get(key), list):
            result[key] = [schema_3(part, file) for part in parts]
    for key in _SINGLE:
        if isinstance(value.get(key), dict):
            result[key] = schema_3(value[key], file)
    if isinstance(reference := value.get("$ref"), str) and file is not None:
        result["$ref"] = _seen(reference, file)
    if isinstance(value.get("x-nullable"), bool):
        result["nullable"] = result.pop("x-nullable")
    if isinstance(tag := value.get("discriminator"), str):
        result["discriminator"] = {"propertyName": tag}
    if value.get("type") == "file":
        result |= {"type": "string", "format": "binary"}
    return result


def _seen(reference: str, file: str) -> str:
    """Return a reference in a file relative to the document."""
    if not file:
        return moved(reference)
    url, _, fragment = reference.partition("#")
    return f"{posixpath.join(posixpath.dirname(file), url) if url else file}#{fragment}"


def moved(reference: str) -> str:
    """Return a reference to a component with its place in OpenAPI 3."""
    for new, old in COMPONENTS.items():
        if reference.startswith(f"#{old}/"):
            return f"#{new}{reference.removeprefix(f'#{old}')}"
    return reference


def security_scheme(value: dict[str, object]) -> dict[str, object]:
    """Return a security scheme in the form of OpenAPI 3.0."""
    match value.get("type"):
        case "basic":
            return {**value, "type": "http", "scheme": "basic"}
        case "oauth2":
            words = ("flow", "authorizationUrl", "tokenUrl", "scopes")
            kind = text(value.get("flow"))
            flow = {word: value[word] for word in words[1:] if word in value}
            rest = {word: part for word, part in value.items() if word not in words}
            return {**rest, "flows": {_FLOWS.get(kind, kind): flow}}
        case _:
            return value
