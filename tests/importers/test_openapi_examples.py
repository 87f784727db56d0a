"""Examples of an OpenAPI document: clauses where they fit, and findings where they do not."""

from __future__ import annotations

from tests.importers.operations import answer, design, operation
from toolgen.importers.openapi import openapi_files
from toolgen.importers.text import SourceDocument

BOOK: dict[str, object] = {
    "type": "object",
    "required": ["title"],
    "properties": {"title": {"type": "string"}, "pages": {"type": "integer"}},
}
REFERENCE = {"$ref": "#/components/schemas/Book"}
NUMBER = {"name": "number", "in": "query", "required": True, "schema": {"type": "integer"}}


def body(**media: object) -> dict[str, object]:
    return {"requestBody": {"content": {"application/json": {"schema": REFERENCE, **media}}}}


def test_examples_of_a_call_are_one_of_its_tool() -> None:
    value = body(example={"title": "Emma"}) | {"parameters": [{**NUMBER, "example": 3}]}
    files = operation(value, schemas={"Book": BOOK})
    assert files.findings == ()
    assert 'd.Example({"number": 3, "body": {"title": "Emma"}})' in design(files)


def test_named_examples_count_and_those_elsewhere_do_not() -> None:
    examples = {"far": {"externalValue": "https://x.example/a.json"}, "near": {"value": {"title": "Emma"}}}
    text = design(operation(body(examples=examples), schemas={"Book": BOOK}))
    assert 'd.Example({"body": {"title": "Emma"}})' in text


def test_an_example_without_a_required_argument_is_none_of_the_tool() -> None:
    value = body(example={"title": "Emma"}) | {"parameters": [NUMBER]}
    files = operation(value, schemas={"Book": BOOK})
    assert files.findings == ()
    assert "d.Example(" not in design(files)
    assert 'examples=({"title": "Emma"},)' in design(files)


def test_an_example_that_does_not_fit_is_named_and_left_out() -> None:
    parameters: dict[str, object] = {"parameters": [{**NUMBER, "example": "three"}]}
    for value in (body(example={"pages": 3}), parameters):
        files = operation(value, schemas={"Book": BOOK})
        assert files.imported == 1
        [finding] = files.findings
        assert finding.code == "import-odd-schema"
        assert finding.message == "has an example that its schema refuses; it is left out"
        assert "d.Example(" not in design(files)


def test_an_example_of_a_component_is_one_of_its_type() -> None:
    for example, written, codes in (
        ({"title": "Emma"}, ', d.Example({"title": "Emma"}), open=True)', []),
        ({"title": 3}, "", ["import-odd-schema"]),
    ):
        schemas = {"Book": {**BOOK, "example": example}}
        files = operation({"responses": {"200": answer(REFERENCE)}}, schemas=schemas)
        assert [finding.code for finding in files.findings] == codes
        assert (", d.Example(" in design(files)) == bool(written)
        assert written in design(files)


def test_what_no_clause_carries_is_named_once_for_each_kind() -> None:
    response = {**answer(REFERENCE), "headers": {"Link": {}}, "links": {"next": {}}}
    response["content"] = {"application/json": {"schema": REFERENCE, "example": {"title": "Emma"}}}
    other = {"operationId": "y", "summary": "Get y.", "responses": {"200": response}}
    value = {"responses": {"200": response}, "callbacks": {"done": {}}}
    files = operation(value, get=other, schemas={"Book": BOOK})
    assert {finding.code for finding in files.findings} == {"import-note-left-out"}
    assert [finding.message for finding in files.findings] == [
        "the design leaves out callbacks (1 place)",
        "the design leaves out headers of responses (2 places)",
        "the design leaves out links of responses (2 places)",
        "the design leaves out examples of responses (2 places)",
    ]


def test_a_toolset_has_the_description_of_its_tag() -> None:
    value = {
        "openapi": "3.1.0",
        "servers": [{"url": "https://x.example"}],
        "tags": [{"name": "books", "description": "What may be borrowed."}],
        "paths": {"/x": {"post": {"operationId": "x", "summary": "Do x.", "tags": ["books"]}}},
    }
    files = openapi_files(SourceDocument(name="api", value=value), name="api", service="api")
    assert 'd.Toolset("books", "What may be borrowed.", ' in design(files)


def test_an_example_without_the_tag_of_its_union_gets_it_where_one_branch_fits() -> None:
    def branch(kind: str, name: str) -> dict[str, object]:
        properties = {"kind": {"const": kind}, name: {"type": "integer"}}
        return {
            "type": "object",
            "required": ["kind"],
            "properties": properties,
            "additionalProperties": False,
        }

    union = {
        "oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}],
        "discriminator": {"propertyName": "kind"},
    }
    schemas: dict[str, object] = {
        "Book": union,
        "Cat": branch("cat", "lives"),
        "Dog": branch("dog", "bones"),
    }
    files = operation(body(example={"bones": 3}), schemas=schemas)
    [finding] = files.findings
    assert finding.message.startswith("has an example without the tag of its union; it gets the tag of")
    assert 'd.Example({"body": {"kind": "dog", "bones": 3}})' in design(files)
    files = operation(body(example={}), schemas=schemas)
    assert [each.message for each in files.findings] == [
        "has an example that its schema refuses; it is left out"
    ]
