"""What stands beside `$ref`: taken as documents mean it, and named where that is not the letter of 3.0."""

from __future__ import annotations

from typing import Any

import pytest

from tests.importers.echoing_api import COMPONENTS, EchoingAPI, api, get, post
from tests.importers.operations import answer, body, design, operation
from toolgen.importers.design import DesignFiles

__all__ = ["api"]

KEY = {"type": "string", "enum": ["Default8", "Other"]}
SHELF = {"type": "object", "properties": {"floor": {"type": "integer"}}}


def referring(name: str, **beside: Any) -> dict[str, Any]:
    return {"$ref": COMPONENTS + name, **beside}


def object_(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def imported(version: str = "3.0.3", **properties: Any) -> DesignFiles:
    schema = {"type": "object", "properties": properties}
    value = body(schema) | {"responses": {"200": answer(schema)}}
    return operation(value, version=version, schemas={"Key": KEY, "Shelf": SHELF})


def test_null_beside_a_reference_passes_both_ways(api: EchoingAPI) -> None:
    held = object_(
        key=referring("Key", nullable=True),
        shelf=referring("Shelf", nullable=True, description="Where it stands."),
        key_of_alias=referring("KeyOrNull"),
        shelf_of_alias=referring("ShelfOrNull"),
    )
    schemas: dict[str, Any] = {
        "Key": KEY,
        "Shelf": SHELF,
        "KeyOrNull": referring("Key", nullable=True),
        "ShelfOrNull": referring("Shelf", nullable=True),
        "Held": held,
    }
    paths = {"/p": post("p", referring("Held")), "/q": get("q", answer=referring("Held"))}
    api.publish(paths, **schemas)
    nothing: dict[str, Any] = dict.fromkeys(held["properties"])
    something = {"key": "Other", "shelf": {}, "key_of_alias": "Other", "shelf_of_alias": {}}
    for value in (nothing, something):
        assert api.sent("p", {"body": value}).body == value
        api.answer = value
        assert api.call("q", {}) == value
    assert "nullable (2) next to $ref is used, although OpenAPI 3.0 ignores it" in api.said


@pytest.mark.parametrize(
    ("beside", "clause"),
    [
        ({"nullable": True}, "d.Nullable(Key)"),
        ({"default": "Other"}, 'default="Other"'),
        ({"deprecated": True}, "deprecated=True"),
    ],
)
def test_what_is_meant_is_taken_with_a_warning(beside: dict[str, Any], clause: str) -> None:
    files = imported(key=referring("Key", **beside))
    assert design(files).count(clause) == 2
    [finding] = files.findings
    (keyword,) = beside
    assert finding.code == "import-repaired-schema"
    assert finding.message == f"{keyword} (2) next to $ref is used, although OpenAPI 3.0 ignores it"
    assert (finding.place.pointer or "").endswith(f"/key/{keyword}")


def test_what_is_said_for_readers_is_taken_as_before() -> None:
    files = imported(key=referring("Key", description="The key.", title="Opener", example="Other"))
    assert not files.findings
    assert 'd.Attribute("key", Key, "The key.", title="Opener", examples=("Other",))' in design(files)


def test_what_is_not_read_is_named() -> None:
    files = imported(key=referring("Key", maxLength=3, pattern="a"), shelf=referring("Shelf", required=["x"]))
    [finding] = files.findings
    assert finding.code == "import-note-left-out"
    assert (
        finding.message
        == "maxLength (2), pattern (2), required (2) next to $ref is ignored, as in OpenAPI 3.0"
    )


def test_later_versions_read_all_that_stands_there() -> None:
    files = imported("3.1.0", shelf=referring("Shelf", required=["floor"]))
    assert not files.findings
    assert 'd.Attribute("floor", d.Int, None, required=True)' in design(files)
    part = {"allOf": [referring("Shelf", properties={"row": {"type": "integer"}}), {"required": ["row"]}]}
    assert 'd.Attribute("row", d.Int, None, required=True)' in design(imported("3.1.0", shelf=part))


def test_nullable_of_later_versions_counts_with_a_warning() -> None:
    files = imported("3.1.0", word={"type": "string", "nullable": True})
    assert 'd.Attribute("word", d.Nullable(d.String), None)' in design(files)
    [finding] = files.findings
    assert finding.code == "import-repaired-schema"
    assert finding.message == "nullable (2) is read as in OpenAPI 3.0; later versions do not have it"


@pytest.mark.parametrize("word", ["anyOf", "oneOf"])
def test_nullable_alone_is_the_branch_of_null(word: str) -> None:
    """By the letter it is any value; schemars of Rust means null by it."""
    files = imported(shelf={word: [referring("Shelf"), {"nullable": True}]})
    assert design(files).count('d.Attribute("shelf", d.Nullable(Shelf), None)') == 2
    assert not files.findings
