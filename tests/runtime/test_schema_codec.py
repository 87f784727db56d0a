"""Codecs of schemas that are known only at run time: what the schema accepts, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolgen.contract.limits import Limits
from toolgen.runtime import MalformedResultError, ToolgenError, ToolValidationError
from toolgen.runtime.functions import json_schema_codec

ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 1},
        "lines": {"type": "array", "items": {"type": "object", "required": ["sku"]}, "minItems": 1},
        "note": {"type": ["string", "null"]},
    },
    "required": ["id"],
}
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def issues(schema: Any, document: str) -> list[str]:
    with pytest.raises(ToolValidationError) as caught:
        json_schema_codec(schema, "Order").decode(document)
    return [str(issue) for issue in caught.value.issues]


def test_values_are_plain_json_and_come_back_as_they_were() -> None:
    codec = json_schema_codec(ORDER, "Order")
    document = '{"id":7,"note":null,"more":{"a":[1,2.5,true]}}'
    value = codec.decode(document)
    assert value == json.loads(document)
    assert codec.encode(value) == document.encode()
    assert codec.decode({"id": 7}) == {"id": 7}
    assert codec.schema == ORDER


def test_all_issues_are_told_with_their_paths() -> None:
    assert issues(ORDER, '{"id":0,"lines":[{},{"sku":1}],"note":3}') == [
        "$.id must be at least 1",
        "$.lines[0].sku is required and was left out",
        "$.note must be a string, not an integer",
    ]
    word = "$ is not JSON: expected true, false or null at line 1 column 2"
    assert issues(ORDER, "not JSON") == [word]
    assert issues(ORDER, "{") == ["$ is not JSON: EOF while parsing an object at line 1 column 1"]
    assert issues(ORDER, "[]") == ["$ must be an object, not an array"]
    assert issues({"not": {"required": ["a"]}}, '{"a":1}') == ['$ must not contain "a"']
    assert issues(False, "1") != []
    assert json_schema_codec(True, "Any").decode("null") is None


def test_a_value_that_does_not_fit_is_not_written() -> None:
    codec = json_schema_codec(ORDER, "Order")
    for value in ({"id": 0}, {"id": 1, "more": object()}, {"id": 1, "more": float("nan")}):
        with pytest.raises(MalformedResultError, match="Order does not fit its schema"):
            codec.encode(value)


def test_a_document_over_the_limits_is_refused_before_it_is_read() -> None:
    with pytest.raises(ToolValidationError, match="at most 8 arrays and objects inside one another"):
        json_schema_codec({}, "Any").decode("[" * 40 + "]" * 40, Limits(depth=8))


PAGE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "size": {"type": "integer", "minimum": 1, "default": 10},
        "sort": {"enum": ["up", "down"], "default": "left"},
    },
    "required": ["size", "sort"],
}


def test_a_default_of_an_absent_required_property_is_filled_before_the_schema_checks() -> None:
    codec = json_schema_codec(PAGE, "Page")
    assert codec.encode(codec.decode({"sort": "up"})) == b'{"sort":"up","size":10}'
    assert codec.decode({"sort": "up", "size": 3}) == {"sort": "up", "size": 3}
    assert issues(PAGE, "{}") == ["$.sort is required and was left out"]
    assert issues(PAGE, '{"sort":"up","size":null}') == ["$.size must be an integer, not null"]
    with pytest.raises(ToolValidationError, match="size is required"):
        codec.decode_as_sent({"sort": "up"})
    with pytest.raises(MalformedResultError, match="size is required"):
        codec.encode({"sort": "up"})


def test_a_document_is_within_the_limits_before_and_after_it_is_filled() -> None:
    codec = json_schema_codec({"items": PAGE}, "Pages")
    items = '[{"sort":"up"},{"sort":"up"}]'
    assert len(codec.decode(items, Limits(keys=6))) == 2
    for text, limits in (("[[[]]]", Limits(depth=2)), (items, Limits(keys=5))):
        with pytest.raises(ToolValidationError, match="must have at most"):
            codec.decode(text, limits)


def test_the_draft_is_the_one_that_the_schema_names() -> None:
    pair: dict[str, Any] = {"$schema": DRAFT_7, "items": [{"type": "string"}]}
    assert json_schema_codec(pair, "Pair").decode('["a",1]') == ["a", 1]
    assert issues(pair, "[1]") == ["$[0] must be a string, not an integer"]


@pytest.mark.parametrize(
    "schema", [{"type": "nope"}, {"$ref": "https://example.com/other.json"}, {"items": [{}]}, {"$schema": 5}]
)
def test_a_schema_that_cannot_be_used_is_told_when_the_codec_is_made(schema: Any) -> None:
    with pytest.raises(ToolgenError, match="the JSON Schema of Order cannot be used: "):
        json_schema_codec(schema, "Order")
