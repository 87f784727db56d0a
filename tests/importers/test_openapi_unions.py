"""`oneOf` in answers: kept where branches exclude each other, and `anyOf` where one value may fit two."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.importers.operations import answer, body, design, operation
from toolgen.importers.design import DesignFiles

NAMED = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
OPEN = {"type": "object", "properties": {"pages": {"type": "integer"}}}


def constant(kind: str) -> dict[str, object]:
    return {"type": "object", "required": ["kind"], "properties": {"kind": {"const": kind}}}


def answered(schema: object, **options: Any) -> DesignFiles:
    held = {"type": "object", "properties": {"payload": schema}}
    return operation({"responses": {"200": answer(held)}}, **options)


def kept(files: DesignFiles) -> str:
    """Return the design with the schemas beside it."""
    return "\n".join(files.files.values())


@pytest.mark.parametrize(
    "branches",
    [
        [NAMED, OPEN],
        [NAMED, {"$ref": "#/components/schemas/Anything"}],
        [{"type": ["string", "null"]}, {"type": "null"}],
        [{"type": "integer"}, {"type": "number"}],
        [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}],
        [{"required": ["name"]}, {"required": ["pages"]}],
        [{"allOf": [NAMED], "nullable": True}, constant("a"), constant("b")],
    ],
)
def test_branches_that_one_value_fits_are_any_of_in_answers(branches: list[object]) -> None:
    files = answered({"oneOf": branches}, schemas={"Anything": {"type": "object"}})
    assert files.imported == 1
    [finding] = [each for each in files.findings if "nullable" not in each.message]
    assert finding.code == "import-repaired-schema"
    assert "a value can match two branches of this oneOf" in finding.message
    assert finding.place.pointer == (
        "/paths/~1x/post/responses/200/content/application~1json/schema/properties/payload/oneOf"
    )
    assert "oneOf" not in kept(files)


@pytest.mark.parametrize(
    "branches",
    [
        [constant("a"), constant("b")],
        [constant("a"), {"allOf": [NAMED, constant("b")]}],
        [{"type": "string"}, {"type": "array", "items": {"type": "string"}}, {"type": "null"}],
        [{"enum": ["a"]}, {"enum": ["b", 1]}, {"type": "boolean"}],
        [NAMED, {**OPEN, "additionalProperties": False}],
        [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}],
        [
            {"type": "object", "required": ["error"], "properties": {"error": constant("a")}},
            {"type": "object", "required": ["error"], "properties": {"error": constant("b")}},
        ],
    ],
)
def test_branches_that_exclude_each_other_stay(branches: list[object]) -> None:
    files = answered({"oneOf": branches})
    assert (files.imported, [each for each in files.findings if "branches" in each.message]) == (1, [])


def test_a_discriminator_tells_branches_apart() -> None:
    names = [f"#/components/schemas/{name}" for name in ("Named", "Open")]
    union = {"oneOf": [{"$ref": name} for name in names], "discriminator": {"propertyName": "kind"}}
    files = answered(union, schemas={"Named": NAMED, "Open": OPEN})
    assert not files.findings
    assert 'd.OneOf("kind", ' in design(files)


def test_requests_stay_strict_where_answers_are_loose() -> None:
    union = {"oneOf": [NAMED, OPEN]}
    event = {"type": "object", "required": ["payload"], "properties": {"payload": union}}
    reference = {"$ref": "#/components/schemas/Event"}
    files = operation(body(reference) | {"responses": {"200": answer(reference)}}, schemas={"Event": event})
    assert [finding.place.pointer for finding in files.findings] == [
        "/components/schemas/Event/properties/payload/oneOf"
    ]
    schemas = {path: json.loads(text) for path, text in files.files.items() if path.endswith(".json")}
    text = design(files)
    assert "d.Result(Event)" in text
    assert 'd.Attribute("body", EventInput, ' in text
    assert sorted(word for held in schemas.values() for word in held if word in ("anyOf", "oneOf")) == [
        "anyOf",
        "oneOf",
    ]


def test_equal_findings_are_one() -> None:
    files = answered(
        {"anyOf": [{"oneOf": [NAMED, OPEN]}, {"type": "array", "items": {"oneOf": [OPEN, NAMED]}}]}
    )
    [finding] = files.findings
    assert "(2 places; also at /paths/~1x/post/" in finding.message


def test_a_union_whose_place_has_a_long_name_stays_a_union() -> None:
    names = ("invalid_request", "invalid_claim")
    branches = [
        {"type": "object", "required": ["code"], "properties": {"code": {"const": name}}} for name in names
    ]
    described = {
        "operationId": "AgentAdminController_linkClaimAttemptToExternalUser",
        **body({"type": "object", "properties": {"problem_of_the_attempt": {"oneOf": branches}}}),
        "responses": {
            "200": answer({"type": "object", "properties": {"problem_of_the_attempt": {"oneOf": branches}}}),
            "400": answer({"oneOf": branches}),
        },
    }
    files = operation(described)
    assert not files.findings
    assert design(files).count("d.OneOf(") == 3
