"""A Float keeps an integer as it came: in documents, in Python, through transforms and back."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

import pytest
from pydantic_core import ErrorDetails

from tests.cases.numbers.gen.lab import service
from tests.cases.numbers.gen.lab.toolsets import numbers
from tests.cases.numbers.gen.lab.toolsets.numbers import transforms
from tests.conformance import oracle
from toolgen.runtime import MalformedResultError, ToolValidationError
from toolgen.shapes.foreign.issues import ForeignReader

KEEP = numbers.KEEP.payload


def written(text: str) -> str:
    """Return what is written of a value that came as this text."""
    document = f'{{"value":{text}}}'
    encoded = KEEP.encode(KEEP.decode(document)).decode()
    return encoded.removeprefix('{"value":').removesuffix("}")


def issues(codec: Any, document: str) -> list[tuple[str, str]]:
    with pytest.raises(ToolValidationError) as caught:
        codec.decode(document)
    return [(issue.path, issue.message) for issue in caught.value.issues]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42),
        ("-7", -7),
        ("0", 0),
        ("9007199254740993", 9007199254740993),
        ("-9223372036854775809", -9223372036854775809),
        ("1" + "0" * 400, 10**400),
        ("42.0", 42.0),
        ("0.1", 0.1),
        ("-0.0", -0.0),
    ],
)
def test_a_number_is_decoded_and_encoded_as_it_came(text: str, value: float) -> None:
    payload = KEEP.decode(f'{{"value":{text}}}')
    assert (type(payload.value), payload.value) == (type(value), value)
    assert written(text) == text


@pytest.mark.parametrize(("text", "value"), [("1e2", 100.0), ("5E-1", 0.5), ("10e-1", 1.0)])
def test_a_number_with_an_exponent_is_a_float(text: str, value: float) -> None:
    payload = KEEP.decode(f'{{"value":{text}}}')
    assert (type(payload.value), payload.value) == (float, value)
    assert written(text) == repr(value)


@pytest.mark.parametrize("text", ["1e400", "-1e400", "NaN", "Infinity", "-Infinity"])
def test_what_is_not_finite_is_refused(text: str) -> None:
    assert issues(KEEP, f'{{"value":{text}}}') == [("$.value", "must be a finite number")]


@pytest.mark.parametrize(
    ("text", "kind"),
    [("true", "a boolean"), ('"5"', "a string"), ("null", "null"), ("[1]", "an array"), ("{}", "an object")],
)
def test_what_is_no_number_is_refused_with_one_issue(text: str, kind: str) -> None:
    assert issues(KEEP, f'{{"value":{text}}}') == [("$.value", f"must be a number, not {kind}")]
    listed = f'{{"value":1,"list":[1,{text}],"map":{{"a":{text}}}}}'
    assert [path for path, _ in issues(KEEP, listed)] == ["$.list[1]", "$.map.a"]


def test_numbers_inside_others_stay_as_they_are() -> None:
    document = {
        "value": 1,
        "optional": 2,
        "nullable": 3,
        "list": [1, 2.0, 9007199254740993],
        "map": {"a": 1, "b": 1.0},
        "nested": {"a": [{"x": 1, "y": 2.0}]},
        "shape": {"kind": "dot", "x": 1, "y": 0},
        "integer": 5,
    }
    text = json.dumps(document, separators=(",", ":"))
    assert KEEP.encode(KEEP.decode(text)).decode() == text
    assert KEEP.encode(KEEP.decode(document)).decode() == text
    line = '{"value":1,"shape":{"kind":"line","value":9}}'
    assert KEEP.encode(KEEP.decode(line)).decode() == line


def test_an_integer_of_json_with_a_point_is_a_whole_number_of_an_int_only() -> None:
    payload = KEEP.decode('{"value": 5.0, "integer": 5.0}')
    assert (type(payload.value), type(payload.integer)) == (float, int)


@pytest.mark.parametrize(("text", "value"), [("1e23", 10**23), ("-1E+25", -(10**25)), ("1e300", 10**300)])
def test_an_integer_with_an_exponent_is_the_one_that_its_digits_say(text: str, value: int) -> None:
    """The float of 1e23 is 99999999999999991611392."""
    assert KEEP.decode(f'{{"value": 1, "integer": {text}}}').integer == value


def test_a_default_is_what_the_design_says() -> None:
    codec = numbers.DEFAULTS.payload
    said = {name: one["default"] for name, one in codec.schema["properties"].items()}
    found = json.loads(codec.encode(codec.decode("{}")))
    assert json.dumps(found) == json.dumps({**said, "place": {"x": 7, "y": 0}})
    assert codec.schema["properties"]["long"]["default"] == 9007199254740993


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ('{"half":0}', "must be at least 0.5"),
        ('{"half":0.25}', "must be at least 0.5"),
        ('{"half":11}', "must be at most 10"),
        ('{"half":10.5}', "must be at most 10"),
        ('{"half":123456789012345678901234567890}', "must be at most 10"),
        ('{"half":1' + "0" * 400 + "}", "must be at most 10"),
        ('{"open":0}', "must be above 0"),
        ('{"open":1' + "0" * 400 + "}", "must be below 1.5"),
        ('{"open":2}', "must be below 1.5"),
        ('{"step":-1}', "must be at least 0"),
        ('{"step":0.35}', "must be a multiple of 0.1"),
        ('{"twos":3}', "must be a multiple of 2"),
        ('{"twos":9007199254740993}', "must be a multiple of 2"),
        ('{"long":9007199254740994}', "must be at most 9007199254740993"),
        ('{"far":1000000000000000000000000000000}', "must be above 1000000000000000000000000000000"),
        ('{"far":5}', "must be above 1000000000000000000000000000000"),
    ],
)
def test_a_bound_holds_for_integers_and_floats(document: str, message: str) -> None:
    codec = numbers.BOUNDS.payload
    assert not oracle.validator(codec.schema).is_valid(json.loads(document))
    [(path, said)] = issues(codec, document)
    assert (path, said) == (f"$.{document.split(chr(34))[1]}", message)


@pytest.mark.parametrize(
    "document",
    [
        '{"half":10}',
        '{"half":1,"open":1,"step":3}',
        '{"open":0.1,"step":0.3,"twos":4.0}',
        '{"twos":9007199254740992}',
        '{"long":9007199254740993}',
        '{"far":1000000000000000000000000000001}',
        '{"far":1e+31}',
    ],
)
def test_within_bounds_a_number_stays_as_it_came(document: str) -> None:
    codec = numbers.BOUNDS.payload
    assert oracle.validator(codec.schema).is_valid(json.loads(document))
    assert codec.encode(codec.decode(document)).decode() == document


def test_an_executor_may_return_an_int_for_a_float() -> None:
    result = numbers.KeepResult(value=42)
    assert numbers.KEEP.result.encode(result) == b'{"value":42}'
    assert numbers.KEEP.result.encode(numbers.KeepResult(value=42.0)) == b'{"value":42.0}'


def test_an_integer_beside_a_value_of_a_subclass_stays_one() -> None:
    class Name(StrEnum):
        HERE = "here"

    dot = numbers.KeepPayloadShapeDot(x=1, name=Name.HERE)
    payload = numbers.KeepPayload(value=1, shape=dot)
    assert KEEP.encode(payload) == b'{"value":1,"shape":{"kind":"dot","x":1,"y":0,"name":"here"}}'


@pytest.mark.parametrize("value", [True, "5", None, float("nan"), float("inf")])
def test_python_code_gives_numbers_only(value: Any) -> None:
    with pytest.raises(ValueError, match="KeepResult"):
        numbers.KeepResult(value=value)


@pytest.mark.parametrize("value", ["5", [1], object()])
def test_what_was_put_in_the_place_of_a_number_is_not_written(value: Any) -> None:
    result = numbers.KeepPayload(value=1, list_=[1, 2])
    assert result.list_ is not None
    result.list_.append(value)
    with pytest.raises(MalformedResultError, match="KeepPayload cannot be encoded"):
        KEEP.encode(result)


def test_an_integer_reaches_the_method_and_its_result_the_model() -> None:
    payload = numbers.SCALE.payload.decode('{"value": 9007199254740993}')
    made = transforms.to_scale_method_payload(payload)
    assert (type(made.value), made.value, type(made.factor)) == (int, 9007199254740993, int)
    result = transforms.to_scale_result(service.ScaleResult(scaled=made.value))
    assert numbers.SCALE.result.encode(result) == b'{"scaled":9007199254740993}'


def test_issues_of_numbers_are_counted_by_value() -> None:
    """Each is two errors of pydantic's, of which the first ones only are read."""
    document = json.dumps({"value": 1, "list": ["x"] * 50})
    with pytest.raises(ToolValidationError) as caught:
        KEEP.decode(document)
    error = caught.value
    assert [issue.path for issue in error.issues] == [f"$.list[{at}]" for at in range(len(error.issues))]
    assert (len(error.issues) + error.more, error.is_counted) == (50, True)


def test_issues_of_foreign_numbers_are_counted_by_value() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "number"}}}}
    foreign = ForeignReader(schema)
    labels = ("<number>", "float_type"), ("<integer>", "int_type")
    errors = [
        ErrorDetails(type=kind, loc=("a", at, label), msg="", input="x")
        for at in range(1_001)
        for label, kind in labels
    ]
    found = foreign.findings(errors, 20)
    assert [issue.path for issue in found.issues] == [f"$.a[{at}]" for at in range(20)]
    assert [issue.expected for issue in found.issues] == ["number"] * 20
