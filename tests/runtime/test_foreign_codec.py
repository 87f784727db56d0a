"""Codecs of schemas that somebody else wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Annotated, Any, Literal, TypeAlias

import pytest
from pydantic import Field

from tests.selection import diagonal
from toolgen.calls.codec import CheckedCodec
from toolgen.contract.json_value import Json
from toolgen.runtime import (
    MalformedResultError,
    RegistrationError,
    Runtime,
    ToolContext,
    ToolgenError,
    ToolModel,
    ToolsetRegistration,
    ToolSpec,
    ToolValidationError,
)
from toolgen.runtime.functions import Codec, SchemaCodec
from toolgen.runtime.generated import Foreign, Nullable, SchemaModel
from toolgen.shapes.design.model import AnyJson


class Issue(SchemaModel):
    title: Annotated[str, Field(min_length=1)]
    body: Nullable[str] = None
    state: Literal["open", "closed"] = "open"
    labels: list[str] | None = None


class Search(ToolModel):
    note: str | None = None
    filter: Foreign[Issue] | None = None
    numbers: Foreign[list[int]]


class Page(SchemaModel):
    size: int
    sort: Literal["up", "down"]


Issues: TypeAlias = list[Issue]
Words: TypeAlias = Nullable[str | list[str]]
Anything: TypeAlias = AnyJson

ISSUE: dict[str, Any] = {
    "title": "An issue of somebody else",
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1},
        "body": {"type": ["string", "null"]},
        "state": {"enum": ["open", "closed"], "default": "open"},
        "labels": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["title"],
}
UNIQUE: dict[str, Any] = {**ISSUE, "properties": {**ISSUE["properties"], "labels": {"uniqueItems": True}}}
SEARCH: dict[str, Any] = {
    "title": "Search",
    "type": "object",
    "properties": {
        "note": {"type": "string"},
        "filter": UNIQUE,
        "numbers": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
    },
    "required": ["numbers"],
    "additionalProperties": False,
}


def foreign(schema: Json, name: str, *, is_exact: bool = True) -> SchemaCodec[Any]:
    return SchemaCodec(None, __name__, name, {name: json.dumps(schema)}, is_exact=is_exact)


def issues(codec: Codec[Any], document: Json) -> list[str]:
    with pytest.raises(ToolValidationError) as caught:
        codec.decode(json.dumps(document))
    return [str(issue) for issue in caught.value.issues]


@pytest.mark.parametrize("is_exact", [True, False])
@pytest.mark.parametrize(
    "document",
    [
        {"title": "a"},
        {"title": "a", "body": None, "state": "open", "more": [None]},
        {"title": "a", "body": "b", "labels": []},
    ],
)
def test_a_class_is_written_as_it_was_read(document: Json, *, is_exact: bool) -> None:
    codec = foreign(ISSUE, "Issue", is_exact=is_exact)
    value = codec.decode(json.dumps(document))
    assert type(value) is Issue
    assert json.loads(codec.encode(value)) == document


@pytest.mark.parametrize("is_exact", [True, False])
def test_a_default_of_an_absent_required_property_is_filled_before_the_types_check(*, is_exact: bool) -> None:
    properties = {"size": {"type": "integer", "default": 10}, "sort": {"enum": ["up", "down"], "default": 1}}
    schema: Json = {"type": "object", "properties": properties, "required": ["size", "sort"]}  # type: ignore[dict-item]
    codec = foreign(schema, "Page", is_exact=is_exact)
    value = codec.decode(b'{"sort": "up"}')
    assert value == Page(size=10, sort="up")
    assert codec.encode(value) == b'{"size":10,"sort":"up"}'
    assert issues(codec, {}) == ["$.sort is required and was left out"]


def test_a_mapping_is_read_as_a_document() -> None:
    assert foreign(ISSUE, "Issue").decode({"title": "a", "new": None}).model_extra == {"new": None}


def test_a_codec_is_named_after_its_type_and_not_after_the_title_of_its_schema() -> None:
    codec = foreign(ISSUE, "Issue")
    assert (codec.name, codec.type, codec.schema) == ("Issue", Issue, ISSUE)
    assert repr(codec) == "SchemaCodec(Issue)"


@pytest.mark.parametrize(
    ("name", "schema", "good", "bad"),
    [
        ("Issues", {"type": "array", "items": ISSUE}, [{"title": "a", "body": None}], [{"title": ""}]),
        ("Words", {"type": ["string", "array", "null"]}, None, 3),
        ("Words", {"type": ["string", "array", "null"]}, ["a"], [3]),
    ],
)
def test_an_alias_has_a_codec(name: str, schema: Json, good: Json, bad: Json) -> None:
    codec = foreign(schema, name)
    assert json.loads(codec.encode(codec.decode(json.dumps(good)))) == good
    assert len(issues(codec, bad)) == 1


def test_any_json_has_a_codec() -> None:
    codec = foreign({}, "Anything")
    assert codec.encode(codec.decode(b'[null, {"a": null}]')) == b'[null,{"a":null}]'


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("Issue", {"title": "a"}, "expected Issue, got dict"),
        ("Issues", [{"title": ""}], "must have at least 1 character"),
        ("Issues", "a", "must be an array, not a string"),
        ("Words", 3, "must be a string or an array, not an integer"),
        ("Anything", object(), "must be a JSON value"),
    ],
)
def test_a_result_of_another_type_is_malformed(name: str, value: object, message: str) -> None:
    with pytest.raises(MalformedResultError, match=message):
        foreign(ISSUE, name).encode(value)


def test_rules_that_no_type_holds_are_held() -> None:
    codec = foreign(UNIQUE, "Issue", is_exact=False)
    assert issues(codec, {"title": "a", "labels": ["a", "a"]}) == [
        "$.labels must not contain the same item twice"
    ]
    with pytest.raises(MalformedResultError, match=r"\$\.labels must not contain the same item twice"):
        codec.encode(Issue(title="a", labels=["a", "a"]))


def test_the_schema_says_what_is_wrong_when_it_is_asked() -> None:
    codec = foreign(UNIQUE, "Issue", is_exact=False)
    assert issues(codec, {"labels": ["a", "a"]}) == [
        "$.title is required and was left out",
        "$.labels must not contain the same item twice",
    ]


@pytest.mark.parametrize(
    ("text", "is_exact"),
    diagonal(["", "{", '{"title": "\\ud800"}', '"\ud800"', '{"title": NaN}', "[" * 1000], [True, False]),
)
def test_what_is_no_json_is_one_issue(text: str, *, is_exact: bool) -> None:
    codec = foreign(UNIQUE, "Issue", is_exact=is_exact)
    with pytest.raises(ToolValidationError) as caught:
        codec.decode(text)
    (issue,) = caught.value.issues
    assert issue.constraint in ("invalid_json", "invalid_type")


def test_a_designed_class_holds_foreign_values() -> None:
    codec = Codec[Any](None, __name__, "Search", {"Search": json.dumps(SEARCH)})
    document = {"filter": {"title": "a", "body": None, "new": None}, "numbers": [1]}
    value = codec.decode_null_as_absent(json.dumps({**document, "note": None}))
    assert json.loads(codec.encode(value)) == document
    assert issues(codec, {"filter": {"title": "", "state": 3}, "numbers": [True], "note": 1, "x": 1}) == [
        "$.note must be a string, not an integer",
        "$.x is not a field here",
        "$.filter.title must have at least 1 character",
        '$.filter.state must be one of "open", "closed"',
        "$.numbers[0] must be an integer, not a boolean",
    ]


def test_a_designed_class_is_checked_where_foreign_values_need_it() -> None:
    codec = CheckedCodec[Any](None, __name__, "Search", {"Search": json.dumps(SEARCH)})
    assert codec.decode_null_as_absent('{"note": null, "filter": null, "numbers": [1]}') == Search(
        numbers=[1]
    )
    assert issues(codec, {"note": None, "filter": None, "numbers": [1]}) == [
        "$.note must be a string, not null",
        "$.filter must be an object, not null",
    ]
    assert issues(codec, {"numbers": [1, 1], "filter": {"title": "a", "labels": [1, 1]}}) == [
        "$.filter.labels[0] must be a string, not an integer",
        "$.filter.labels[1] must be a string, not an integer",
    ]
    assert issues(codec, {"numbers": [1, 1]}) == ["$.numbers must not contain the same item twice"]
    with pytest.raises(MalformedResultError, match="same item twice"):
        codec.encode(Search(numbers=[1, 1]))


class Executor:
    async def search(self, payload: Search, ctx: ToolContext) -> list[Issue]:
        return []


def registration(*, is_exact: bool) -> ToolsetRegistration:
    make = Codec[Any] if is_exact else CheckedCodec[Any]
    spec = ToolSpec(
        id="a.b.search",
        description="Search.",
        payload=make(None, __name__, "Search", {"Search": json.dumps(SEARCH)}),
        result=foreign({"type": "array", "items": UNIQUE}, "Issues", is_exact=is_exact),
    )
    return ToolsetRegistration(name="a.b", specs=(spec,), executor=Executor())


def test_registration_says_that_the_validator_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    Runtime().tools.register(registration(is_exact=True))
    with pytest.raises(RegistrationError) as caught:
        Runtime().tools.register(registration(is_exact=False))
    message = str(caught.value)
    assert message.count("pip install 'toolgen[jsonschema]'") == 2
    assert "Search of 'search'" in message
    assert "Issues of 'search'" in message


def test_a_codec_says_that_the_validator_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "toolgen.shapes.foreign.rules", raising=False)
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    with pytest.raises(ToolgenError, match=r"pip install 'toolgen\[jsonschema\]'"):
        foreign({"type": "array", "items": UNIQUE}, "Issues", is_exact=False).decode("[]")


async def test_a_result_that_is_no_object_goes_through_a_call() -> None:
    runtime = Runtime()
    runtime.tools.register(registration(is_exact=False))
    result = await runtime.call("search", '{"numbers": [1]}')
    assert result.error is None


@pytest.mark.exhaustive
def test_importing_the_runtime_imports_no_validator() -> None:
    code = "import toolgen.runtime, sys; sys.exit('jsonschema_rs' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
