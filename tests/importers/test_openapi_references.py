"""A `$ref` of a schema that leads nowhere costs its own value, and one in an extension nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.importers.operations import answer, body, design, operation

TEXT = {"type": "string", "description": "T."}
DANGLING = {"$ref": "#/components/schemas/Missing"}
OUTSIDE = {"$ref": "https://x.example/schemas.json#/Missing"}

GOOD = {"$ref": "#/components/schemas/Good"}
PLACES: dict[str, tuple[str, Callable[[object], object]]] = {
    "property": ("", lambda to: to),
    "items": ("/items", lambda to: {"type": "array", "items": to}),
    "anyOf": ("/anyOf/0", lambda to: {"anyOf": [to, {"type": "string"}]}),
    "oneOf": ("/oneOf/0", lambda to: {"oneOf": [to, {"type": "string"}]}),
    "allOf": ("/allOf/1", lambda to: {"allOf": [{"type": "object", "properties": {"a": TEXT}}, to]}),
    "map": ("/additionalProperties", lambda to: {"type": "object", "additionalProperties": to}),
    "inner": ("/properties/a", lambda to: {"type": "object", "required": ["a"], "properties": {"a": to}}),
    "tagged": ("/oneOf/0", lambda to: {"oneOf": [to, GOOD], "discriminator": {"propertyName": "k"}}),
}


@pytest.mark.parametrize("name", ["x-policy-list", "x-policy"])
def test_a_reference_inside_an_extension_is_not_followed(name: str) -> None:
    reference = {"$ref": "#/components/x-policies/Preview"}
    track = {"type": "object", "properties": {"id": TEXT, "url": {**TEXT, name: [reference]}}}
    result: dict[str, object] = {"responses": {"200": answer({"$ref": "#/components/schemas/Track"})}}
    files = operation(result, schemas={"Track": {**track, name: reference}})
    assert files.imported == 1
    assert {finding.code for finding in files.findings} == {"import-note-left-out"}
    assert 'd.Attribute("url", d.String, "T.")' in design(files)


@pytest.mark.parametrize("dangling", [DANGLING, OUTSIDE])
@pytest.mark.parametrize("word", PLACES)
@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_a_reference_of_a_schema_that_leads_nowhere_costs_its_own_value(
    word: str, dangling: dict[str, object], version: str
) -> None:
    place, schema = PLACES[word]
    held = {"type": "object", "properties": {"good": TEXT, "odd": schema(dangling)}}
    good = {"type": "object", "required": ["k"], "properties": {"k": {"type": "string", "enum": ["Good"]}}}
    value = {**body({"$ref": "#/components/schemas/Held"}), "responses": {"200": answer(held)}}
    files = operation(value, version=version, schemas={"Held": held, "Good": good})
    lost = {finding.place.pointer for finding in files.findings if finding.code == "import-left-out"}
    assert files.imported == 1
    assert lost == {
        f"/components/schemas/Held/properties/odd{place}/$ref",
        f"/paths/~1x/post/responses/200/content/application~1json/schema/properties/odd{place}/$ref",
    }
    assert design(files).count('d.Attribute("good", d.String, "T.")') == 2


def test_a_body_whose_schema_leads_nowhere_is_any_json() -> None:
    files = operation(body(DANGLING))
    [finding] = files.findings
    assert files.imported == 1
    assert finding.message == (
        "the reference '#/components/schemas/Missing' points to nothing; any JSON is accepted in its place"
    )
