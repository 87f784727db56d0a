"""Operations of OpenAPI documents as tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolgen.contract.errors import ToolgenError
from toolgen.importers.openapi import read_openapi
from toolgen.importers.text import Document, read_document
from toolgen.importers.tool import ImportedTool, Source

LIBRARY = """\
openapi: 3.0.3
info: {title: City Library, description: Books to borrow., version: "1"}
paths:
  /books/{id}:
    parameters:
      - {name: id, in: path, required: true, description: Number of the book., schema: {type: integer}}
      - {name: lang, in: query, schema: {type: string, example: no}}
    get:
      operationId: getBook
      summary: Get a book.
      description: Return one book with its copies.
      parameters:
        - $ref: '#/components/parameters/Trace'
        - {name: lang, in: query, description: The language., schema: {type: string, enum: [no, en]}}
        - {name: id, in: header, schema: {type: string}}
        - {name: Authorization, in: header, schema: {type: string}}
      responses:
        200:
          $ref: '#/components/responses/Book'
        default: {description: Error., content: {application/json: {schema: {type: object}}}}
    delete:
      deprecated: true
      summary: Remove a book.
      responses: {204: {description: Gone.}}
    put:
      operationId: putBook
      requestBody:
        required: true
        content:
          application/json; charset=utf-8: {schema: {$ref: '#/components/schemas/Book'}}
          text/plain: {schema: {type: string}}
      responses: {default: {description: "", content: {application/json: {schema: {type: string}}}}}
components:
  parameters:
    Trace: {name: X-Trace, in: header, schema: {type: string, nullable: true}}
  responses:
    Book: {description: A book., content: {application/json: {schema: {$ref: '#/components/schemas/Book'}}}}
  schemas:
    Book:
      type: object
      required: [title]
      properties:
        title: {type: string, example: Emma}
        example: {type: string}
        pages: {type: integer, minimum: 0, exclusiveMinimum: true}
        state: {type: string, enum: [in, out], nullable: true}
        series: {nullable: true, allOf: [{$ref: '#/components/schemas/Series'}]}
        sequel: {$ref: '#/components/schemas/Book', nullable: true, description: The next one.}
      discriminator: {propertyName: title}
    Series: {type: object, properties: {name: {type: string}}, xml: {name: s}}
"""


SCHEMA = "/requestBody/content/application~1json/schema"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Source:
    return yaml_source(tmp_path_factory.mktemp("openapi"), LIBRARY)


def yaml_source(folder: Path, text: str) -> Source:
    file = folder / "api.yaml"
    file.write_text(text, "utf-8")
    return read_openapi(read_document(file, yaml=True))


def of(source: Source, name: str) -> ImportedTool:
    return next(tool for tool in source.tools if tool.name == name)


def arguments(source: Source, name: str) -> dict[str, Any]:
    found = of(source, name).arguments
    assert isinstance(found, dict)
    return found


def operation(value: dict[str, object], *, version: str = "3.1.0", **components: object) -> Source:
    document = {"openapi": version, "info": {}, "paths": {"/x": {"post": {"operationId": "x", **value}}}}
    return read_openapi(Document(name="api", value={**document, "components": components}))


def body(schema: object, media_type: str = "application/json", *, required: bool = True) -> dict[str, object]:
    return {"requestBody": {"required": required, "content": {media_type: {"schema": schema}}}}


def translated(schema: object, version: str) -> object:
    found = operation(body(schema), version=version).tools[0].arguments
    assert isinstance(found, dict)
    return found["properties"]["body"]


def test_every_operation_is_a_tool(library: Source) -> None:
    assert (library.name, library.description) == ("api", "Books to borrow.")
    assert [tool.name for tool in library.tools] == ["getBook", "delete_books_id", "putBook"]
    assert library.findings == ()
    assert of(library, "getBook").pointer == "/paths/~1books~1{id}/get"


def test_texts_come_from_summary_and_description(library: Source) -> None:
    book, delete = of(library, "getBook"), of(library, "delete_books_id")
    assert (book.title, book.description) == ("Get a book", "Return one book with its copies.")
    assert (delete.title, delete.description) == ("", "Remove a book.")
    assert delete.deprecated == "The API marks this operation as deprecated."


def test_parameters_become_properties(library: Source) -> None:
    assert arguments(library, "getBook") == {
        "type": "object",
        "properties": {
            "id": {"type": "integer", "description": "Number of the book."},
            "lang": {"type": "string", "enum": ["no", "en"], "description": "The language."},
            "X-Trace": {"type": ["string", "null"]},
            "id_header": {"type": "string"},
        },
        "required": ["id"],
        "additionalProperties": False,
    }


def test_methods_say_what_they_do(library: Source) -> None:
    assert of(library, "getBook").annotations == {"read_only": True}
    assert of(library, "delete_books_id").annotations == {"destructive": True, "idempotent": True}
    assert of(library, "putBook").annotations == {"idempotent": True}


def test_the_body_is_a_property_with_its_components(library: Source) -> None:
    found = arguments(library, "putBook")
    assert found["properties"]["body"] == {"$ref": "#/$defs/Book"}
    assert found["required"] == ["id", "body"]
    assert list(found["$defs"]) == ["Book", "Series"]


def test_the_dialect_of_3_0_is_translated(library: Source) -> None:
    definitions = arguments(library, "putBook")["$defs"]
    assert definitions["Series"] == {"type": "object", "properties": {"name": {"type": "string"}}}
    assert definitions["Book"]["properties"] == {
        "title": {"type": "string", "examples": ["Emma"]},
        "example": {"type": "string"},
        "pages": {"type": "integer", "exclusiveMinimum": 0},
        "state": {"type": ["string", "null"], "enum": ["in", "out", None]},
        "series": {"anyOf": [{"allOf": [{"$ref": "#/$defs/Series"}]}, {"type": "null"}]},
        "sequel": {"$ref": "#/$defs/Book", "description": "The next one."},
    }


def test_the_first_good_response_is_the_result(library: Source) -> None:
    book = of(library, "getBook").result
    assert isinstance(book, dict)
    assert book["$ref"] == "#/$defs/Book"
    assert of(library, "delete_books_id").result is None
    assert of(library, "putBook").result == {"type": "string"}


def test_schemas_of_3_1_stay_as_they_are() -> None:
    schema = {"type": ["string", "null"], "exclusiveMinimum": 3, "$comment": "x", "const": {"example": 1}}
    assert translated(schema, "3.1.0") == schema


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"minimum": 1, "exclusiveMinimum": False}, {"minimum": 1}),
        ({"maximum": 1, "exclusiveMaximum": True}, {"exclusiveMaximum": 1}),
        ({"exclusiveMaximum": True}, {}),
        ({"nullable": True}, {}),
        (
            {"nullable": True, "description": "d", "oneOf": [{"type": "string"}]},
            {"description": "d", "anyOf": [{"oneOf": [{"type": "string"}]}, {"type": "null"}]},
        ),
        ({"items": {"nullable": True, "type": "string"}}, {"items": {"type": ["string", "null"]}}),
        ({"nullable": False, "type": "string"}, {"type": "string"}),
    ],
)
def test_a_schema_of_3_0_means_the_same_afterwards(schema: object, expected: object) -> None:
    assert translated(schema, "3.0.4") == expected


def test_references_elsewhere_and_names_with_spaces_are_followed() -> None:
    schemas = {"My Model": {"properties": {"a/b": {"type": "string"}}}}
    source = operation(
        body({"items": {"$ref": "#/components/schemas/My%20Model"}, "contains": {"$ref": "#/info"}})
        | {
            "parameters": [
                {
                    "name": "p",
                    "in": "query",
                    "schema": {"$ref": "#/components/schemas/My%20Model/properties/a~1b"},
                }
            ]
        },
        schemas=schemas,
    )
    assert source.findings == ()
    found = arguments(source, "x")
    assert found["properties"]["body"] == {
        "items": {"$ref": "#/$defs/My%20Model"},
        "contains": {"$ref": "#/$defs/info"},
    }
    assert found["properties"]["p"] == {"$ref": "#/$defs/My%20Model_properties_a~1b"}
    assert list(found["$defs"]) == ["My Model_properties_a/b", "My Model", "info"]


@pytest.mark.parametrize(
    ("value", "pointer", "message"),
    [
        (body({"$ref": "other.yaml#/A"}), f"{SCHEMA}/$ref", "leads out of the document"),
        (body({"$ref": "#/components/schemas/No"}), f"{SCHEMA}/$ref", "leads to nothing"),
        (body({"type": "string"}, "text/csv"), "/requestBody", "the body is text/csv; only JSON"),
        ({"parameters": [{"name": "a"}]}, "/parameters/0", "a parameter needs 'name' and 'in'"),
        ({"parameters": {"a": 1}}, "/parameters", "the parameters are an object, not a list"),
        ({"requestBody": 3}, "/requestBody", "an object belongs here, not a number"),
    ],
)
def test_what_cannot_be_read_costs_its_operation_only(
    value: dict[str, object], pointer: str, message: str
) -> None:
    source = operation(value)
    assert source.tools == ()
    [finding] = source.findings
    assert (finding.tool, finding.place.pointer) == ("x", f"/paths/~1x/post{pointer}")
    assert message in finding.message


def test_references_in_a_circle_end() -> None:
    source = operation(
        {"parameters": [{"$ref": "#/components/parameters/A"}]},
        parameters={"A": {"$ref": "#/components/parameters/A"}},
    )
    [finding] = source.findings
    assert finding.message == "the reference leads back to itself"


def test_an_optional_body_of_another_kind_is_left_out_with_a_warning() -> None:
    source = operation(body({}, "image/png", required=False))
    assert arguments(source, "x")["properties"] == {}
    assert [finding.is_warning for finding in source.findings] == [True]


@pytest.mark.parametrize("media_type", ["multipart/form-data", "application/merge-patch+json"])
def test_forms_and_kinds_of_json_are_bodies(media_type: str) -> None:
    source = operation(body({"type": "object"}, media_type))
    assert arguments(source, "x")["properties"] == {"body": {"type": "object"}}


def test_a_parameter_called_body_keeps_its_name() -> None:
    source = operation({"parameters": [{"name": "body", "in": "query"}]} | body({"type": "object"}))
    assert arguments(source, "x")["properties"] == {"body": {}, "request_body": {"type": "object"}}


def test_a_parameter_may_have_its_schema_in_content() -> None:
    content = {"application/json": {"schema": {"type": "object"}}}
    source = operation({"parameters": [{"name": "filter", "in": "query", "content": content}]})
    assert arguments(source, "x")["properties"] == {"filter": {"type": "object"}}


def test_a_bad_result_costs_the_result_only() -> None:
    response = {"content": {"application/json": {"schema": {"$ref": "#/no"}}}}
    source = operation({"responses": {"200": response}})
    assert source.tools[0].result is None
    assert [finding.is_warning for finding in source.findings] == [True]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"swagger": "2.0"}, r"OpenAPI '2.0' \(Swagger\); 3.0 and later are read"),
        ({"openapi": 3.1}, "says openapi 3.1"),
        ({"paths": {}}, "has no 'openapi'"),
        ([], "is a list, not an OpenAPI document"),
    ],
)
def test_other_documents_are_refused(document: object, message: str) -> None:
    with pytest.raises(ToolgenError, match=message):
        read_openapi(Document(name="api", value=document))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "is not YAML: did not find expected node content at line 2"),
        ("a: 1\nb: 2\na: 3", "the key 'a' stands twice at line 3, column 1"),
        ("a: *b", "is not YAML: found undefined alias 'b' at line 1, column 4"),
        ("a: &a [*a]", "an alias stands in what it stands for at line 1, column 4"),
        ("--- 1\n--- 2\n", "found another document at line 2, column 1"),
        ("[" * 200_000, "nested more than 100 levels deep"),
        ("? [a]\n: 1", "a key is no text"),
        ("a: \x01", "is not YAML"),
    ],
)
def test_yaml_that_cannot_be_read_is_refused_with_the_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ToolgenError, match=message):
        yaml_source(tmp_path, text)


def test_aliases_that_multiply_are_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(ToolgenError, match="its aliases stand for more than 2,000,000 values"):
        yaml_source(tmp_path, "\n".join(lines))


def test_aliases_do_not_hide_depth(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 200))]
    with pytest.raises(ToolgenError, match="nested more than 100 levels deep"):
        yaml_source(tmp_path, "\n".join(lines))


def test_yaml_has_the_values_of_json(tmp_path: Path) -> None:
    file = tmp_path / "values.yml"
    file.write_text("[no, 2020-01-01, 0x1F, 1e3, 'true', true, ~, '', !!str 1, 012, 1_000, .5]", "utf-8")
    assert read_document(file, yaml=True).value == [
        "no", "2020-01-01", 31, 1000.0, "true", True, None, "", "1", 12, "1_000", 0.5
    ]  # fmt: skip


def test_an_anchor_may_be_used_again(tmp_path: Path) -> None:
    file = tmp_path / "anchors.yaml"
    file.write_text("[&a 1, *a, &a [2], *a]", "utf-8")
    assert read_document(file, yaml=True).value == [1, 1, [2], [2]]


def test_merge_keys_bring_in_what_they_name(tmp_path: Path) -> None:
    file = tmp_path / "merged.yaml"
    file.write_text(
        "base: &base {a: 1, b: 1}\nmore: &more {b: 2, c: 2}\nx: {<<: [*base, *more], a: 3}", "utf-8"
    )
    value = read_document(file, yaml=True).value
    assert isinstance(value, dict)
    assert value["x"] == {"a": 3, "b": 1, "c": 2}
