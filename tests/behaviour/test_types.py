"""Generated types: names, defaults, presence, unions, injected fields, docstrings."""

from __future__ import annotations

import datetime as dt
import inspect
import json
import uuid
from decimal import Decimal
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases.binding.gen.assistant.toolsets import devices
from tests.cases.bounded.gen.store.toolsets import rows
from tests.cases.enums.gen.states.toolsets import states
from tests.cases.names.design import names
from tests.cases.names.gen.lambda_.toolsets import from_
from tests.cases.nullable_optional.gen.notes.toolsets import notes
from tests.cases.recursive.gen.library.toolsets import documents
from tests.cases.recursive.gen.types import Node
from tests.cases.scalars.gen.forms.toolsets import scalars
from tests.cases.unions.gen.art.toolsets import shapes
from toolgen.dsl import Tool
from toolgen.runtime import Bounds, ToolValidationError
from toolgen.runtime.functions import Codec
from toolgen.runtime.generated import NotInjectedError


def problems(codec: Codec[Any], document: object) -> list[tuple[str, str]]:
    with pytest.raises(ToolValidationError) as caught:
        codec.decode(json.dumps(document))
    return [(issue.path, issue.constraint) for issue in caught.value.issues]


def test_any_key_is_read_and_written_as_the_design_spells_it() -> None:
    codec = from_.IMPORT.payload
    document = {
        "class": "a",
        "copy": "b",
        "json": "c",
        "model_config": "d",
        "model_fields_set": 1,
        "list": ["e"],
        "fooBar": "f",
        "@id": "g",
        "2fa": "h",
        "content-type": "i",
        "日本": "j",
        "_private": "k",
    }
    payload = codec.decode(json.dumps(document))
    assert (payload.class_, payload.copy_, payload.foo_bar, payload.id, payload.日本) == tuple("abfgj")
    assert json.loads(codec.encode(payload)) == document
    assert payload == from_.ImportPayload(
        class_="a",
        copy_="b",
        json_="c",
        model_config_="d",
        model_fields_set_=1,
        list_=["e"],
        foo_bar="f",
        id="g",
        field_2_fa="h",
        content_type="i",
        日本="j",
        private="k",
    )


def test_a_document_may_not_use_the_names_of_attributes() -> None:
    assert problems(from_.IMPORT.payload, {"class": "a", "foo_bar": "b"}) == [("$.foo_bar", "unknown_field")]


def test_a_type_may_be_called_as_something_that_generated_code_imports() -> None:
    value = from_.TYPES.result.decode('{"annotated": {"field": {"value": "a"}}}')
    assert value.annotated.field.value == "a"
    assert value.annotated.amount == Decimal("1.50")


def test_descriptions_come_out_as_they_were_written() -> None:
    tool = names.children[0]
    assert isinstance(tool, Tool)
    assert inspect.getdoc(from_.FromExecutor.import_) == tool.description
    assert inspect.getdoc(from_.FromExecutor) == names.description
    assert from_.IMPORT.description == tool.description
    field = from_.ImportPayload.model_fields["日本"]
    assert field.description == from_.IMPORT.payload.schema["properties"]["日本"]["description"]


def test_defaults_are_typed_values() -> None:
    value = scalars.DEFAULTS.payload.decode("{}")
    assert value.string == 'it\'s "so"\n'
    assert value.bytes_ == b"\x00\xffabc"
    assert value.date == dt.date(2026, 2, 28)
    assert value.midnight == dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    assert value.instant.isoformat() == "2026-01-01T02:03:04.000500-05:00"
    assert (value.duration, value.back) == (
        dt.timedelta(days=1, hours=2, seconds=3),
        dt.timedelta(minutes=-90),
    )
    assert value.uuid == uuid.UUID(int=1)
    assert str(value.decimal) == "12.340"
    assert value.any == {"a": [1, 2.5, None, True]}
    assert value.days == [dt.date(2026, 1, 1)]
    assert scalars.DEFAULTS.payload.decode(scalars.DEFAULTS.payload.encode(value)) == value


@pytest.mark.parametrize("text", ["-P999999999DT1S", "P999999999DT24H", "PT99999999999999999999S"])
def test_a_duration_that_python_cannot_hold_is_an_issue(text: str) -> None:
    assert problems(scalars.DEFAULTS.payload, {"duration": text}) == [("$.duration", "invalid_format")]


def test_defaults_stand_in_the_schema_as_json_and_decode_to_the_same_values() -> None:
    codec = scalars.DEFAULTS.payload
    given = {key: field["default"] for key, field in codec.schema["properties"].items()}
    assert codec.decode(json.dumps(given)) == codec.decode("{}")


def test_mutable_defaults_are_not_shared() -> None:
    first, second = states.ChoosePayload(), states.ChoosePayload()
    assert first.states == second.states
    assert first.states is not second.states


def test_null_is_absence_a_default_or_a_value() -> None:
    codec = notes.ALL.payload
    document = '{"required": "a", "optional": null, "defaulted": null, "nullable": null}'
    with pytest.raises(ToolValidationError) as refused:
        codec.decode(document)
    assert [issue.path for issue in refused.value.issues] == ["$.optional", "$.defaulted"]
    value = codec.decode_null_as_absent(document)
    assert (value.optional, value.defaulted, value.nullable) == (None, 3, None)
    assert json.loads(codec.encode(value)) == {
        "required": "a",
        "defaulted": 3,
        "nullable": None,
        "anything": {},
        "place": {},
    }


NOTE = {"required": "a", "nullable": 1, "optional": "b", "defaulted": 4, "optional_nullable": "c"}


@given(st.sets(st.sampled_from(sorted(NOTE))))
def test_a_codec_takes_null_just_where_its_schema_does(nulls: set[str]) -> None:
    document = {key: None if key in nulls else value for key, value in NOTE.items()}
    is_valid = jsonschema_rs.Draft202012Validator(notes.ALL.payload.schema).is_valid(document)
    assert is_valid == nulls.isdisjoint(["required", "optional", "defaulted"])
    if is_valid:
        notes.ALL.payload.decode(document)
    else:
        found = {path for path, _ in problems(notes.ALL.payload, document)}
        assert found == {f"$.{key}" for key in nulls - {"nullable", "optional_nullable"}}


def test_an_optional_nullable_field_remembers_that_it_was_null() -> None:
    codec = notes.ALL.payload
    absent = codec.decode('{"required": "a", "nullable": 1}')
    null = codec.decode('{"required": "a", "nullable": 1, "optional_nullable": null}')
    assert "optional_nullable" not in absent.model_fields_set
    assert "optional_nullable" in null.model_fields_set
    assert json.loads(codec.encode(null))["optional_nullable"] is None


def test_unions_decode_to_the_class_of_their_tag() -> None:
    circle = {"shape": "circle", "radius": 1.5}
    value = shapes.DRAW.payload.decode(json.dumps({"main": circle, "frame": {"@type": "none"}}))
    assert isinstance(value.main, shapes.DrawPayloadMainCircle)
    assert isinstance(value.frame, shapes.DrawPayloadFrameNone)
    assert value.main == shapes.DrawPayloadMainCircle(radius=1.5)


def test_every_union_wants_its_tag() -> None:
    codec = shapes.DRAW.payload
    assert problems(codec, {"main": {"radius": 1}}) == [("$.main.shape", "missing_field")]
    assert problems(codec, {"main": {"shape": "oval"}}) == [("$.main.shape", "invalid_enum_value")]
    circle = {"shape": "circle", "radius": 1}
    assert problems(codec, {"main": circle, "only": {"radius": 1}}) == [("$.only.shape", "missing_field")]


def test_all_issues_come_at_once_with_exact_paths() -> None:
    found = problems(
        documents.TABLE_OF_CONTENTS.result,
        {"root": {"title": "a", "children": [{"title": "b"}, {"titel": "c", "place": {"page": "1"}}]}},
    )
    assert sorted(found) == [
        ("$.root.children[1].place.page", "invalid_type"),
        ("$.root.children[1].titel", "unknown_field"),
        ("$.root.children[1].title", "missing_field"),
    ]


def test_recursive_types_are_built_and_encoded() -> None:
    tree = documents.TableOfContentsResult(root=Node(title="a", children=[Node(title="b")]))
    codec = documents.TABLE_OF_CONTENTS.result
    assert codec.encode(tree) == b'{"root":{"title":"a","children":[{"title":"b","children":[]}]}}'
    assert codec.decode(codec.encode(tree)) == tree


def test_an_injected_field_is_set_by_the_server_only() -> None:
    codec = devices.FIND.payload
    assert "session_id" not in codec.schema["properties"]
    assert problems(codec, {"site": "s", "session_id": "x"}) == [("$.session_id", "unknown_field")]
    payload = codec.decode('{"site": "s"}')
    with pytest.raises(NotInjectedError, match="session_id"):
        assert payload.session_id
    payload.set_session_id("secret")
    assert payload.session_id == "secret"
    assert "secret" not in repr(payload)
    assert codec.encode(payload) == b'{"site":"s"}'


def test_a_bounded_result_says_its_bounds() -> None:
    result = rows.PagedResult(rows=["a"], returned=1, truncated=True, total=5, next_cursor="n")
    assert result.result_bounds() == Bounds(returned=1, truncated=True, total=5, next_cursor="n")
    assert rows.CountedResult(rows=[], returned=0, truncated=False).result_bounds() == Bounds(
        returned=0, truncated=False
    )


def test_a_null_that_is_a_value_is_not_replaced_by_a_default() -> None:
    codec = notes.ALL.payload
    given = {"required": "a", "nullable": None, "nullable_default": None, "anything": None, "place": None}
    payload = codec.decode(given)
    assert (payload.anything, payload.place) == (None, None)
    assert json.loads(codec.encode(payload)) == {**given, "defaulted": 3}


def test_the_default_of_a_nullable_object_is_an_object() -> None:
    payload = notes.ALL.payload.decode({"required": "a", "nullable": 1})
    assert payload.place == notes.AllPayloadPlace()
    assert payload.anything == {}


def test_a_class_that_names_a_later_one_keeps_its_keys_and_its_nulls() -> None:
    codec = from_.TYPES.result
    warning = {"sub-text": None, "caused-by": [{"text": "a"}]}
    document = {"annotated": {"field": {"value": "b"}, "amount": "1.50"}, "warnings": [warning]}
    assert json.loads(codec.encode(codec.decode(document))) == document


@pytest.mark.parametrize(
    "document",
    [
        {"required": "a", "nullable": None},
        {"required": "a", "nullable": 1, "optional_nullable": None, "nullable_default": None},
        {"required": "a", "nullable": 1, "optional_nullable": "b", "anything": None},
    ],
)
def test_a_value_becomes_one_of_another_class_with_the_same_fields(document: dict[str, Any]) -> None:
    codec = notes.ALL.payload
    given = codec.decode(document)
    made = notes.AllPayload(**dict(given))
    assert codec.encode(made) == codec.encode(given)
    assert ("optional_nullable" in dict(given)) == ("optional_nullable" in document)
