"""A small OpenAPI document, and each keyword that may stand in it, by the address where it is added."""

from __future__ import annotations

from typing import Any, Final

TEXT: Final[dict[str, Any]] = {"type": "string"}
BOOK: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "title": TEXT,
        "tags": {"type": "array", "items": TEXT},
        "more": {"type": "object", "additionalProperties": TEXT},
        "size": {"type": "integer"},
    },
}
SHELF: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "label": TEXT,
        "rows": {"type": "array", "items": TEXT},
        "where": {"anyOf": [{"$ref": "#/components/schemas/Row"}, {"$ref": "#/components/schemas/Column"}]},
    },
}
ID: Final[dict[str, Any]] = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}


def _place(key: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"kind": TEXT, key: {"type": "integer"}},
        "required": ["kind", key],
    }


def _content(schema: Any, kind: str = "application/json") -> dict[str, Any]:
    return {"content": {kind: {"schema": schema}}}


def document(version: str) -> dict[str, Any]:
    put = {
        "operationId": "put_book",
        "summary": "Put it.",
        "tags": ["books"],
        "parameters": [ID, {"name": "q", "in": "query", "schema": {"type": "array", "items": TEXT}}],
        "requestBody": _content({"$ref": "#/components/schemas/Book"}),
        "responses": {
            "200": {"description": "It.", **_content({"$ref": "#/components/schemas/Shelf"})},
            "404": {"description": "None.", **_content({"type": "object", "properties": {"why": TEXT}})},
        },
    }
    form = {"type": "object", "properties": {"a": {"type": "array", "items": TEXT}}}
    send = {
        "operationId": "send_form",
        "summary": "Send it.",
        "parameters": [ID],
        "requestBody": _content(form, "application/x-www-form-urlencoded"),
        "responses": {"204": {"description": "Done."}},
    }
    schemas = {"Book": BOOK, "Shelf": SHELF, "Row": _place("row"), "Column": _place("column")}
    return {
        "openapi": version,
        "info": {"title": "Desk", "version": "1"},
        "servers": [{"url": "https://{r}.desk.example", "variables": {"r": {"default": "eu"}}}],
        "security": [{"key": []}],
        "tags": [{"name": "books"}],
        "paths": {"/books/{id}": {"post": put, "put": send}},
        "components": {
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
            "schemas": schemas,
        },
    }


_OPERATION: Final = "/paths/~1books~1{id}/post"
_BODY: Final = f"{_OPERATION}/requestBody"
_FORM: Final = "/paths/~1books~1{id}/put/requestBody/content/application~1x-www-form-urlencoded"
_SCHEMAS: Final = "/components/schemas/"
_NOTE: Final = {"x-note": "Mark."}
_DOCS: Final = {"externalDocs": {"url": "https://docs.example"}}
_OTHER: Final = {"servers": [{"url": "https://other.example"}]}
_EXAMPLES: Final[dict[str, Any]] = {"example": {"title": "a"}, "examples": {"a": {"value": {"title": "a"}}}}
_NO_ANSWER: Final[dict[str, Any]] = {"responses": {}}
_ABOUT: Final[dict[str, Any]] = {
    "title": "Some Mark",
    "description": "D.",
    "deprecated": True,
    "xml": {"name": "x"},
    "unknownWord": "W",
    **_DOCS,
    **_NOTE,
}
_OF_TEXTS: Final[dict[str, Any]] = {
    **_ABOUT,
    "default": "a",
    "example": "a",
    "examples": ["a"],
    "format": "odd",
    "pattern": "^a",
    "minLength": 1,
    "maxLength": 9,
    "enum": ["a", "b"],
    "const": "a",
    "nullable": True,
    "contentEncoding": "base64",
    "contentMediaType": "image/png",
    "contentSchema": {"type": "object"},
    "$comment": "C.",
    "not": {"const": "z"},
    "anyOf": [{"minLength": 2}, {"pattern": "b"}],
    "oneOf": [{"minLength": 2}, {"pattern": "b"}],
    "allOf": [{"minLength": 2}],
}
_OF_OBJECTS: Final[dict[str, Any]] = {
    **_ABOUT,
    "default": {"size": 1},
    "example": {"title": "a"},
    "examples": [{"title": "a"}],
    "additionalProperties": False,
    "required": ["title"],
    "minProperties": 1,
    "maxProperties": 5,
    "patternProperties": {"^x": TEXT},
    "propertyNames": {"maxLength": 9},
    "dependentRequired": {"title": ["size"]},
    "dependentSchemas": {"title": {"required": ["size"]}},
    "discriminator": {"propertyName": "title"},
    "nullable": True,
    "not": {"required": ["zz"]},
    "anyOf": [{"required": ["title"]}, {"required": ["size"]}],
}
_OF_LISTS: Final[dict[str, Any]] = {
    "items": {"minLength": 1},
    "minItems": 1,
    "maxItems": 3,
    "uniqueItems": True,
    "contains": {"const": "a"},
    "prefixItems": [TEXT],
    "unevaluatedItems": False,
    "description": "D.",
    "default": ["a"],
    "title": "Some Mark",
    "example": ["a"],
}
_OF_NUMBERS: Final[dict[str, Any]] = {
    "minimum": 1,
    "maximum": 9,
    "exclusiveMinimum": 0,
    "exclusiveMaximum": 10,
    "multipleOf": 2,
    "format": "int32",
    "default": 3,
}
KEYWORDS: Final[dict[str, dict[str, Any]]] = {
    "": {"webhooks": {"n": {"post": _NO_ANSWER}}, **_DOCS, **_NOTE},
    "/info": {
        "summary": "S.",
        "description": "D.",
        "termsOfService": "https://terms.example",
        "contact": {"name": "A"},
        "license": {"name": "MIT"},
        **_NOTE,
    },
    "/servers/0": {"description": "Main.", "name": "main", **_NOTE},
    "/servers/0/variables/r": {"enum": ["eu", "us"], "description": "Region.", **_NOTE},
    "/tags/0": {"description": "All.", "summary": "B", "parent": "p", "kind": "nav", **_DOCS, **_NOTE},
    "/paths/~1books~1{id}": {
        "summary": "S.",
        "description": "D.",
        "parameters": [{"name": "z", "in": "query", "schema": TEXT}],
        "trace": _NO_ANSWER,
        "query": _NO_ANSWER,
        "additionalOperations": {"COPY": _NO_ANSWER},
        **_OTHER,
        **_NOTE,
    },
    _OPERATION: {
        "description": "D.",
        "callbacks": {"c": {}},
        "deprecated": True,
        "security": [],
        **_DOCS,
        **_OTHER,
        **_NOTE,
    },
    f"{_OPERATION}/parameters/1": {
        "description": "D.",
        "required": True,
        "deprecated": True,
        "allowEmptyValue": True,
        "style": "pipeDelimited",
        "explode": False,
        "allowReserved": True,
        "example": ["a"],
        "examples": {"a": {"value": ["a"]}},
        **_NOTE,
    },
    _BODY: {"description": "D.", "required": True, **_NOTE},
    f"{_BODY}/content": {"application/xml": {"schema": {}}, "text/plain": {"schema": TEXT}},
    f"{_BODY}/content/application~1json": {
        "encoding": {"title": {"contentType": "text/plain"}},
        "itemSchema": TEXT,
        "prefixEncoding": [{}],
        "itemEncoding": {"contentType": "text/plain"},
        **_EXAMPLES,
        **_NOTE,
    },
    _FORM: {"encoding": {"a": {"style": "pipeDelimited"}}, "prefixEncoding": [{}]},
    f"{_OPERATION}/responses/200": {
        "summary": "S.",
        "headers": {"X-A": {"schema": TEXT}},
        "links": {"l": {"operationId": "put_book"}},
        **_NOTE,
    },
    f"{_OPERATION}/responses": {
        "201": {"description": "Made.", **_content(TEXT)},
        "204": {"description": "Nothing."},
        "100": {"description": "Go on."},
        "302": {"description": "Elsewhere."},
        "304": {"description": "As before."},
        "500": {"description": "Broken."},
        "default": {"description": "Error."},
        **_NOTE,
    },
    f"{_OPERATION}/responses/200/content": {
        "application/xml": {"schema": {"type": "object"}},
        "text/plain": {"schema": TEXT},
    },
    f"{_OPERATION}/responses/200/content/application~1json": {
        "encoding": {"label": {}},
        "itemSchema": TEXT,
        **_EXAMPLES,
        **_NOTE,
    },
    "/components/securitySchemes/key": {
        "description": "D.",
        "deprecated": True,
        "bearerFormat": "JWT",
        **_NOTE,
    },
    f"{_SCHEMAS}Book": {**_OF_OBJECTS, "unevaluatedProperties": False},
    f"{_SCHEMAS}Shelf": {**_OF_OBJECTS, "unevaluatedProperties": False},
    f"{_SCHEMAS}Book/properties/title": {**_OF_TEXTS, "readOnly": True},
    f"{_SCHEMAS}Book/properties/tags": _OF_LISTS,
    f"{_SCHEMAS}Book/properties/tags/items": _OF_TEXTS,
    f"{_SCHEMAS}Book/properties/more": _OF_OBJECTS,
    f"{_SCHEMAS}Book/properties/more/additionalProperties": _OF_TEXTS,
    f"{_SCHEMAS}Book/properties/size": _OF_NUMBERS,
    f"{_SCHEMAS}Shelf/properties/label": {**_OF_TEXTS, "writeOnly": True},
    f"{_SCHEMAS}Shelf/properties/rows": _OF_LISTS,
    f"{_SCHEMAS}Shelf/properties/rows/items": _OF_TEXTS,
    f"{_SCHEMAS}Shelf/properties/where": {
        "title": "Some Mark",
        "description": "D.",
        "default": {},
        "nullable": True,
        "discriminator": {"propertyName": "kind"},
        **_NOTE,
    },
    f"{_SCHEMAS}Shelf/properties/where/anyOf/0": {
        "description": "D.",
        "title": "Some Mark",
        "required": ["zz"],
        "deprecated": True,
        **_NOTE,
    },
    f"{_OPERATION}/parameters/0/schema": _OF_NUMBERS,
    f"{_OPERATION}/parameters/1/schema": _OF_LISTS,
    f"{_OPERATION}/parameters/1/schema/items": _OF_TEXTS,
}
"""Keywords with their values; without those that say nothing by themselves, such as `$anchor`, `$defs`."""
ENCODINGS: Final[tuple[dict[str, Any], ...]] = (
    {"style": "pipeDelimited"},
    {"explode": False},
    {"contentType": "application/json"},
    {"headers": {"X-A": {"schema": TEXT}}},
    {"allowReserved": True},
)
"""What may be said of a part of the form."""
FORM: Final = _FORM
