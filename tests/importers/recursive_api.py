"""An API whose components all lead to each other, in unions of a text and an object, which no clause has."""

from __future__ import annotations


def recursive_api(number: int) -> dict[str, object]:
    """Return the document with so many components, and an operation that answers with each."""
    schemas = {f"C{n}": _component((n + 1) % number) for n in range(number)}
    paths = {f"/c{n}": {"get": _operation(n)} for n in range(number)}
    return {
        "openapi": "3.1.0",
        "servers": [{"url": "https://api.example.com"}],
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _component(following: int) -> dict[str, object]:
    texts = {f"text{n}": {"type": "string", "description": "Text."} for n in range(5)}
    link = {"anyOf": [{"type": "string"}, {"$ref": f"#/components/schemas/C{following}"}]}
    return {"type": "object", "properties": {**texts, "next": link}}


def _operation(number: int) -> dict[str, object]:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/C{number}"}}}
    responses = {"200": {"description": "One.", "content": content}}
    return {"operationId": f"get_c{number}", "description": "Get one.", "responses": responses}
