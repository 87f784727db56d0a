"""What the schemas of a document say that no clause carries is named once, with what is odd or repaired."""

from __future__ import annotations

from typing import Any

from tests.importers.operations import answer, body, design, operation

BOOK = {
    "type": "object",
    "title": "A volume",
    "description": "A book.",
    "required": ["pages"],
    "x-shelf": 3,
    "properties": {
        "pages": {"type": "integer", "format": "int32", "description": "How many."},
        "words": {"type": "array", "items": {"type": "string", "description": "A word."}},
        "notes": {"anyOf": [{"type": "string", "description": "What readers say."}, {"type": "null"}]},
        "form": {"type": "string", "enum": ["h", "p"], "x-enum-varnames": ["Hardcover", "Paperback"]},
    },
}
REFERENCE = {"$ref": "#/components/schemas/Book"}


def found(schemas: dict[str, Any], value: dict[str, Any]) -> list[tuple[str, str, str]]:
    files = operation(value, schemas=schemas)
    assert files.imported == 1
    return [(each.code, each.place.pointer or "", each.message) for each in files.findings]


def test_each_keyword_is_named_once_for_a_component() -> None:
    at, note = "/components/schemas/Book", "import-note-left-out"
    both = body(REFERENCE) | {"responses": {"200": answer(REFERENCE)}}
    carries = "the design leaves out"
    assert found({"Book": BOOK}, both) == [
        (note, f"{at}/x-shelf", f"{carries} the extensions x-shelf (1) of schemas (1 place, in Book)"),
        (note, f"{at}/properties/pages/format", f"{carries} 'format' of schemas (1 place, in Book)"),
        (
            note,
            f"{at}/properties/words/items/description",
            f"{carries} 'description' of schemas (1 place, in Book)",
        ),
    ]


def test_what_is_said_beside_null_and_of_values_is_carried() -> None:
    text = design(operation(body(REFERENCE), schemas={"Book": BOOK}))
    assert 'd.Attribute("notes", d.Nullable(d.String), "What readers say.")' in text
    assert 'enum=(d.Value("h", "Hardcover"), d.Value("p", "Paperback"))' in text


def test_equal_losses_of_components_are_one_finding() -> None:
    parts = {name: {"type": "string", "format": "uri", "x-a": 1} for name in ("One", "Two")}
    properties = {name: {"$ref": f"#/components/schemas/{name}"} for name in parts}
    [finding] = found(parts, body({"type": "object", "properties": properties}))
    assert finding[2] == ("the design leaves out the extensions x-a (2) of schemas (2 places, in One, Two)")


def test_repaired_places_and_defaults_of_components_are_named() -> None:
    odd = {
        "type": "object",
        "required": ["a", "a"],
        "properties": {
            "a": {"type": "string"},
            "b": {"type": "integer", "default": "many"},
            "c": {"type": "integer", "enum": [1, "two"]},
        },
    }
    at = "/components/schemas/Odd"
    assert sorted(found({"Odd": odd}, body({"$ref": f"#{at}"})))[:3] == [
        (
            "import-odd-schema",
            f"{at}/properties/b/default",
            'is a string ("many"), which does not match its own schema',
        ),
        ("import-odd-schema", f"{at}/properties/c/enum", 'contains "two", which the type next to it refuses'),
        ("import-repaired-schema", f"{at}/required", "has 'a' twice and is read as if once"),
    ]


def test_what_nothing_sends_or_reads_is_a_loss() -> None:
    reserved = {"name": "q", "in": "query", "allowReserved": True, "schema": {"type": "string"}}
    rows = {"200": answer({"type": "object", "properties": {"a": {}}}, "text/csv")}
    messages = [each[2] for each in found({}, {"parameters": [reserved], "responses": rows})]
    assert messages == [
        "the design leaves out allowReserved of parameters, whose values are always escaped (1 place)",
        "the design leaves out the schemas of responses that are not JSON (1 place)",
    ]


def test_the_default_of_a_discriminator_is_a_loss_that_sets_the_exit_code() -> None:
    parts = {
        kind: {"type": "object", "required": ["kind"], "properties": {"kind": {"const": kind}}}
        for kind in ("a", "b")
    }
    union = {
        "oneOf": [{"$ref": f"#/components/schemas/{kind}"} for kind in parts],
        "discriminator": {"propertyName": "kind", "defaultMapping": "a"},
    }
    [finding] = found({**parts, "Any": union}, body({"$ref": "#/components/schemas/Any"}))
    assert finding == (
        "import-left-out",
        "/components/schemas/Any/discriminator/defaultMapping",
        "the design leaves out 'discriminator.defaultMapping' of schemas (1 place, in Any)",
    )
