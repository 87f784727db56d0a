"""Open objects keep keys beyond their attributes, and a model sends nothing that is injected."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from pydantic import ValidationError

from tests.cases.open_objects.gen.types import Label
from tests.cases.open_objects.gen.warehouse.service import CountResult
from tests.cases.open_objects.gen.warehouse.toolsets import labels
from tests.cases.open_objects.gen.warehouse.toolsets.labels import transforms
from tests.checked import SESSION, bound, codes, service
from toolgen.dsl import (
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    BindTo,
    Inject,
    Method,
    Object,
    OneOf,
    Payload,
    Result,
    Return,
    String,
    Tool,
    Type,
)
from toolgen.runtime import FieldIssue, ToolValidationError
from toolgen.runtime.functions import Codec

TEXT = Attribute("text", String, "Text of the note.")
OPEN = Type("Open", "An open object.", TEXT, open=True)
INLINE = Object(TEXT, open=True)
METHOD = Method("find", "Find.")
PAYLOAD = labels.FIND.payload
RESULT = labels.DESCRIBE.result


def issues(codec: Codec[Any], document: str) -> tuple[FieldIssue, ...]:
    with pytest.raises(ToolValidationError) as caught:
        codec.decode(document)
    return caught.value.issues


def round_trip(codec: Codec[Any], document: object) -> object:
    return json.loads(codec.encode(codec.decode(json.dumps(document))))


@pytest.mark.parametrize("value", [None, True, 5, 5.0, 10**30, "x", [None, {"a": None}], {}])
def test_another_key_keeps_any_json_value(value: object) -> None:
    document = {"other": value, "limit": 3}
    assert PAYLOAD.decode(json.dumps(document)).model_extra == {"other": value}
    assert round_trip(PAYLOAD, {**document, "like": {"text": "a"}, "odd": []}) == {
        **document,
        "like": {"text": "a"},
        "odd": [],
    }


@pytest.mark.parametrize(
    "key", ["", "model_extra", "model_config", "__class__", "_private", "self", "result_bounds", "é"]
)
def test_another_key_may_have_any_name(key: str) -> None:
    assert round_trip(RESULT, {key: 1}) == {key: 1}


def test_fields_are_written_before_other_keys_and_those_as_they_came() -> None:
    text = labels.DESCRIBE.payload.encode(
        labels.DESCRIBE.payload.decode('{"z":null,"a":{"b":null},"text":"t"}')
    )
    assert text == b'{"text":"t","z":null,"a":{"b":null}}'


def test_a_key_that_is_the_python_name_of_a_field_is_another_key() -> None:
    payload = PAYLOAD.decode('{"site_id": 3}')
    assert payload.site_id is None
    assert payload.model_extra == {"site_id": 3}
    document = {"siteId": "s", "limit": 10, "like": {"text": "a"}, "odd": [], "site_id": None}
    assert round_trip(PAYLOAD, document) == document


def test_a_union_goes_by_the_key_of_its_tag_alone() -> None:
    branch = PAYLOAD.decode('{"filter": {"the-kind": "range", "the_kind": "none"}}').filter
    assert type(branch) is labels.types.FindPayloadFilterRange
    assert branch.model_extra == {"the_kind": "none"}
    (issue,) = issues(PAYLOAD, '{"filter": {"the_kind": "range"}}')
    assert (issue.path, issue.constraint) == ('$.filter["the-kind"]', "missing_field")


def test_fields_are_checked_as_in_a_closed_object() -> None:
    (issue,) = issues(PAYLOAD, '{"limit": "3", "other": 1}')
    assert (issue.path, issue.constraint) == ("$.limit", "invalid_type")


@pytest.mark.parametrize("document", ['{"x": NaN}', '{"x": [{"y": Infinity}]}', '{"x": 1e999}'])
def test_another_key_holds_no_number_that_is_not_json(document: str) -> None:
    assert [issue.keys for issue in issues(RESULT, document)] in ([("x",)], [()])


@pytest.mark.parametrize("value", [float("nan"), {"a": [float("inf")]}, {1: 2}, object()])
def test_python_gives_other_keys_json_values_only(value: object) -> None:
    with pytest.raises(ValidationError):
        Label(text="t", **dict[str, Any](other=value))


def test_a_default_keeps_its_other_keys() -> None:
    payload = labels.types.FindPayload()
    assert payload.like.model_extra == {"size": 3}
    assert [label.model_extra for label in payload.odd] == [{}, {"printed_on": "soon"}]
    assert payload.odd[1].printed_on is None


def test_a_tool_without_a_result_of_its_own_returns_the_other_keys_of_its_method() -> None:
    document = {"all": 3, "by_colour": {"red": 2}, "note": None}
    answer = CountResult.model_validate_json(json.dumps(document))
    codec = labels.COUNT.result
    assert json.loads(codec.encode(transforms.to_count_result(answer))) == document
    assert codec.schema.get("additionalProperties") is not False


def test_a_result_whose_attributes_are_renamed_is_closed() -> None:
    tool = bound(
        Method("find", "Find.", Result(OPEN)), Tool("go", "Go.", BindTo("find", rename={"text": "word"}))
    )
    assert not tool.result.open


def test_other_keys_are_part_of_the_value() -> None:
    label = Label.model_validate_json('{"text": "t", "other": null}')
    assert label != Label(text="t")
    assert dict(label)["other"] is None
    assert copy.deepcopy(label) == label
    assert pickle.loads(pickle.dumps(label)) == label


@pytest.mark.parametrize("args", [Args(TEXT, SESSION, open=True), Args(Type("T", "T.", SESSION, open=True))])
def test_nothing_is_injected_into_open_arguments(args: Args) -> None:
    tool = Tool("go", "Go.", args, Inject("session_id"))
    assert codes(service(METHOD, tool)) == ["open-injection"]


def field(type_: Any) -> Attribute:
    return Attribute("it", type_, "It.")


@pytest.mark.parametrize(
    ("method", "clauses"),
    [
        ((Payload(TEXT),), (Args(TEXT, open=True),)),
        ((Payload(TEXT, open=True),), (Args(TEXT, open=True),)),
        ((Payload(OPEN),), (Args(OPEN),)),
        ((Payload(field(INLINE)),), (Args(field(INLINE)),)),
        ((Payload(field(Object(TEXT))),), (Args(field(INLINE)),)),
        ((Payload(field(ArrayOf(INLINE))),), (Args(field(ArrayOf(INLINE))),)),
        ((Payload(field(OneOf("kind", a=OPEN))),), (Args(field(OneOf("kind", a=OPEN))),)),
        ((Result(OPEN),), (Return(OPEN),)),
        ((Result(field(INLINE)),), ()),
        ((Result(field(INLINE)),), (Return(field(OPEN)),)),
        ((Result(Attribute("scan", INLINE, "Scan.")),), (Artifact("scan", INLINE, "Scan."),)),
    ],
)
def test_an_open_object_is_not_built_again_without_its_keys(
    method: tuple[Any, ...], clauses: tuple[Any, ...]
) -> None:
    tool = Tool("go", "Go.", BindTo("find"), *clauses)
    assert codes(service(Method("find", "Find.", *method), tool)) == ["open-rebuild"]


@pytest.mark.parametrize(
    ("method", "clauses"),
    [
        ((Payload(TEXT, open=True),), ()),
        ((Payload(TEXT, open=True),), (Args(TEXT),)),
        ((Payload(field(INLINE)),), (Args(field(Object(TEXT))),)),
        ((Payload(field(OPEN)),), (Args(field(OPEN)),)),
        ((Result(OPEN),), ()),
        ((Result(OPEN),), (Return(TEXT),)),
        ((Result(TEXT),), (Return(TEXT, open=True),)),
        ((Result(field(INLINE)),), (Return(field(Object(TEXT))),)),
        ((Result(field(ArrayOf(OPEN))),), (Return(field(ArrayOf(OPEN))),)),
        ((Result(Attribute("scan", OPEN, "Scan.")),), (Artifact("scan", OPEN, "Scan."),)),
    ],
)
def test_an_open_object_may_be_passed_on_or_read_in_part(
    method: tuple[Any, ...], clauses: tuple[Any, ...]
) -> None:
    assert bound(Method("find", "Find.", *method), Tool("go", "Go.", BindTo("find"), *clauses)).binding


def test_openness_is_true_or_false() -> None:
    tool = Tool("go", "Go.", Args(TEXT, open="yes"))  # type: ignore[arg-type]  # what is tested
    assert codes(service(METHOD, tool)) == ["wrong-argument"]
