"""Designs of OpenAPI documents: of one operation, and of a library in YAML."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from toolgen.importers.design import DesignFiles
from toolgen.importers.openapi import OpenAPIOptions, openapi_files
from toolgen.importers.text import SourceDocument, read_document

LIBRARY = """\
openapi: 3.0.3
info: {title: City Library, description: Books to borrow., version: "1"}
servers: [{url: "https://{city}.books.example/v1/", variables: {city: {default: bonn, enum: [bonn, ulm]}}}]
security: [{key: []}]
paths:
  /books/{id}:
    parameters:
      - {name: id, in: path, required: true, description: Number of the book., schema: {type: integer}}
      - {name: lang, in: query, schema: {type: string, example: no}}
    get:
      operationId: getBook
      tags: [Read books]
      summary: Get a book.
      description: Return one book with its copies.
      parameters:
        - $ref: '#/components/parameters/Trace'
        - {name: lang, in: query, description: The language., schema: {type: string, enum: [no, en]}}
        - {name: id, in: header, schema: {type: string}}
        - {name: Authorization, in: header, schema: {type: string}}
        - {name: X-Key, in: header, schema: {type: string}}
        - {name: tags, in: query, explode: false, schema: {type: array, items: {type: string}}}
      responses:
        200: {$ref: '#/components/responses/Book'}
        404: {$ref: '#/components/responses/Gone'}
        default: {description: Error., content: {application/json: {schema: {type: object}}}}
    delete:
      deprecated: true
      summary: Remove a book.
      security: []
      responses:
        204: {description: Gone.}
        404: {$ref: '#/components/responses/Gone'}
    put:
      operationId: putBook
      summary: Keep a book.
      requestBody:
        required: true
        content:
          application/json; charset=utf-8: {schema: {$ref: '#/components/schemas/Book'}}
          text/plain: {schema: {type: string}}
      responses: {default: {description: "", content: {application/json: {schema: {type: string}}}}}
components:
  securitySchemes: {key: {type: apiKey, in: header, name: X-Key, description: Key of the library.}}
  parameters:
    Trace: {name: X-Trace, in: header, schema: {type: string, nullable: true}}
  responses:
    Book: {description: A book., content: {application/json: {schema: {$ref: '#/components/schemas/Book'}}}}
    Gone:
      description: No such book.
      content: {application/json: {schema: {$ref: '#/components/schemas/Problem'}}}
  schemas:
    Problem: {type: object, properties: {detail: {type: string}}}
    Book:
      type: object
      required: [id, title]
      properties:
        id: {type: integer, readOnly: true}
        secret: {type: string, writeOnly: true}
        title: {type: string, example: Emma}
        pages: {type: integer, minimum: 0, exclusiveMinimum: true}
        state: {type: string, enum: [in, out], nullable: true}
        series: {nullable: true, allOf: [{$ref: '#/components/schemas/Series'}]}
        sequel: {$ref: '#/components/schemas/Book', nullable: true, description: The next one.}
    Series: {type: object, properties: {name: {type: string}}, xml: {name: s}}
"""


def yaml_files(folder: Path, text: str, options: OpenAPIOptions | None = None) -> DesignFiles:
    file = folder / "api.yaml"
    file.write_text(text, "utf-8")
    return openapi_files(read_document(file, yaml=True), name="api", service="api", options=options)


def design(files: DesignFiles) -> str:
    return files.files["api.py"]


def operation(
    value: dict[str, object],
    *,
    version: str = "3.1.0",
    path: str = "/x",
    read: Callable[[str], object] | None = None,
    **others: object,
) -> DesignFiles:
    """Return the design of a POST, beside other methods of its path and components."""
    methods = ("get", "trace", "query", "additionalOperations")
    components = {name: held for name, held in others.items() if name not in methods}
    further = {name: others[name] for name in others if name in methods}
    item = {"post": {"operationId": "x", "summary": "Do x.", **value}, **further}
    document = {
        "openapi": version,
        "info": {},
        "servers": [{"url": "https://x.example"}],
        "paths": {path: item},
        "components": components,
    }
    return openapi_files(SourceDocument(name="api", value=document), read, name="api", service="api")


def body(schema: object, media_type: str = "application/json", *, required: bool = True) -> dict[str, object]:
    return {"requestBody": {"required": required, "content": {media_type: {"schema": schema}}}}


def answer(schema: object, media_type: str = "application/json") -> dict[str, object]:
    return {"description": "It.", "content": {media_type: {"schema": schema}}}
