"""Every constraint of every kind of type: what the design says is what schema, codec, type and issue say."""

from __future__ import annotations

import datetime as dt
import importlib
import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

import pydantic
import pytest
from jsonschema_rs import Draft202012Validator
from pydantic import ValidationError
from pydantic_core import SchemaValidator

from tests.checked import built, codes, field_of
from tests.golden import write
from tests.selection import first
from toolgen import dsl
from toolgen.codegen import generate
from toolgen.dsl import (
    Args,
    ArrayOf,
    Attribute,
    Date,
    DateTime,
    Duration,
    Float,
    Int,
    MapOf,
    Service,
    String,
    Tool,
    Toolset,
)
from toolgen.runtime import FieldIssue, ToolValidationError
from toolgen.runtime.functions import Codec, TypeCodec, func_tool
from toolgen.shapes.constraints import CONSTRAINTS, OF_BYTES, Constraint, Holder, held_by, limits_of
from toolgen.shapes.exact import exact
from toolgen.shapes.fields import Field
from toolgen.shapes.foreign.annotations import annotated_type
from toolgen.shapes.foreign.reader import read
from toolgen.shapes.tree.validator import Validator
from toolgen.shapes.values import plain

CLAUSES: dict[Holder, Any] = {
    "string": String,
    "integer": Int,
    "number": Float,
    "array": ArrayOf(Int),
    "map": MapOf(String, Int),
    "date": Date,
    "datetime": DateTime,
    "duration": Duration,
    "decimal": dsl.Decimal,
}
TYPES: dict[Holder, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "array": list[int],
    "map": dict[str, int],
    "date": dt.date,
    "datetime": dt.datetime,
    "duration": dt.timedelta,
    "decimal": Decimal,
    "bytes": bytes,
}
"""The types of Python that functions have for them."""
ORDERED: dict[Holder, tuple[Any, Any, Any]] = {
    "integer": (1, 2, 3),
    "number": (1.25, 1.5, 1.75),
    "date": (dt.date(2026, 1, 30), dt.date(2026, 1, 31), dt.date(2026, 2, 1)),
    "datetime": (
        dt.datetime(2026, 1, 31, 1, tzinfo=dt.UTC),
        dt.datetime(2026, 1, 31, 2, tzinfo=dt.UTC),
        dt.datetime(2026, 1, 31, 3, tzinfo=dt.UTC),
    ),
    "duration": (dt.timedelta(seconds=1), dt.timedelta(seconds=2), dt.timedelta(seconds=3)),
    "decimal": (Decimal("1.25"), Decimal("1.50"), Decimal("1.75")),
}
"""A value just below a limit, the limit, and a value just above it."""
STEPPED: dict[Holder, tuple[Any, Any, Any]] = {
    "integer": (3, 6, 7),
    "number": (0.25, 0.75, 0.8),
    "duration": (dt.timedelta(seconds=3), dt.timedelta(seconds=6), dt.timedelta(seconds=7)),
    "decimal": (Decimal("0.25"), Decimal("0.75"), Decimal("0.8")),
}
"""A step, a multiple of it, and a value beside one."""
OF_SIZE: dict[Holder, Callable[[int], Any]] = {
    "string": "é".__mul__,
    "array": lambda size: list(range(size)),
    "map": lambda size: {str(number): number for number in range(size)},
    "bytes": b"a".__mul__,
}
OTHERS: dict[tuple[Holder, str], tuple[Any, Any, Any]] = {
    ("string", "enum"): (("a", "b"), "b", "c"),
    ("integer", "enum"): ((1, 2), 2, 3),
    ("array", "unique_items"): (True, [1, 2], [1, 1]),
    ("string", "pattern"): ("^a+$", "aa", "b"),
    ("string", "format"): ("ipv4", "127.0.0.1", "127.0.0.256"),
}
"""The value of a constraint, and what it accepts and refuses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row of the table, on one of its types: the values are those of Python."""

    row: Constraint
    holder: Holder
    limit: Any
    within: Any
    beyond: Any

    @property
    def name(self) -> str:
        return f"{self.holder}_{self.row.name}"

    @property
    def attribute(self) -> Attribute:
        constraint: dict[str, Any] = {self.row.name: self.limit}
        return Attribute(self.name, CLAUSES[self.holder], "A value.", **constraint)


def case(row: Constraint, holder: Holder) -> Case:
    """Return a limit with a value that it just accepts, and one that it just refuses."""
    match row.takes:
        case "bound":
            low, limit, high = ORDERED[holder]
            inside, outside = (high, low) if row.side == "low" else (low, high)
            within, beyond = (inside, limit) if row.is_exclusive else (limit, outside)
        case "step":
            limit, within, beyond = STEPPED[holder]
        case "length":
            limit = 2
            within, beyond = OF_SIZE[holder](2), OF_SIZE[holder](1 if row.side == "low" else 3)
        case _:
            limit, within, beyond = OTHERS[holder, row.name]
    return Case(row=row, holder=holder, limit=limit, within=within, beyond=beyond)


CASES = [case(row, holder) for row in CONSTRAINTS for holder in row.holders]
OF_TYPES = [each for each in CASES if each.row.core]
"""What an annotation of Python says with the keywords of pydantic's `Field`."""
SIZES_OF_BYTES = [case(row, holder) for row in OF_BYTES for holder in row.holders]
"""What no clause says."""


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any]]:
    """Return the arguments with one attribute for each case, in the design and as a generated package."""
    attributes = [case.attribute for case in CASES]
    design = built(Service("s", "S.", Toolset("t", "T.", Tool("every", "Every limit.", Args(*attributes)))))
    folder = tmp_path_factory.mktemp("every_constraint")
    write(folder / "every_constraint", generate(design, module="d"))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield (
            design.services[0].toolsets[0].tools[0],
            importlib.import_module("every_constraint.s.toolsets.t"),
        )


@pytest.mark.parametrize("case", first(CASES, 12), ids=lambda case: case.name)
def test_a_limit_is_the_same_everywhere(case: Case, generated: tuple[Any, Any]) -> None:
    tool, package = generated
    codec: Codec[Any] = package.EVERY.payload
    field = field_of(tool.payload, case.name)
    within, beyond = plain(case.within), plain(case.beyond)

    assert_schema(case, codec.schema["properties"][case.name], within, beyond)
    assert getattr(codec.decode(json.dumps({case.name: within})), case.name) == case.within
    with pytest.raises(ToolValidationError) as refused:
        codec.decode(json.dumps({case.name: beyond}))
    assert_issue(case, refused.value.issues)
    assert_validator(case, field, within, beyond)
    assert_read(case, field, codec.schema["properties"][case.name])

    assert getattr(package.EveryPayload(**{case.name: case.within}), case.name) == case.within
    with pytest.raises(ValidationError):
        package.EveryPayload(**{case.name: case.beyond})


def assert_schema(case: Case, schema: Any, within: Any, beyond: Any) -> None:
    assert schema[case.row.keyword] == plain(list(case.limit) if case.row.takes == "choice" else case.limit)
    judge = Draft202012Validator(schema, validate_formats=False)
    assert judge.is_valid(within)
    assert judge.is_valid(beyond) is case.row.is_annotation
    if case.row.is_annotation:
        said = case.row.message_of(plain(case.limit))
        assert schema["description"] == f"A value. {said[0].upper()}{said[1:]}."


def assert_issue(case: Case, issues: tuple[FieldIssue, ...]) -> None:
    (issue,) = issues
    assert issue.constraint == case.row.code
    if case.row.compare is not None:
        assert issue.limit == plain(case.limit)
        assert issue.message == case.row.message_of(plain(case.limit))
    if case.row.takes == "choice":
        assert issue.allowed == case.limit


def assert_validator(case: Case, field: Field, within: Any, beyond: Any) -> None:
    """Check the validator of values in a design, such as defaults."""
    validator = Validator(field.type, {})
    assert validator.issues(within) == ()
    assert_issue(case, validator.issues(beyond))


def assert_read(case: Case, field: Field, schema: Any) -> None:
    """Check that a reader of the schema holds the limit, or says that types cannot."""
    if case.row.is_annotation:
        assert annotated_type(schema) == field.type
    reading = read({"type": "object", "properties": {case.name: schema}}, name="Read")
    assert reading.foreign
    node = reading.foreign.classes["Read"]["properties"][case.name]
    assert node.get(case.row.keyword) == schema[case.row.keyword] or case.row.keyword in reading.unsupported


def arguments_of(case: Case, type_: Any) -> TypeCodec[Any]:
    """Return the codec of a function with one parameter, which the docstring describes."""

    def take(**arguments: Any) -> None: ...

    parameter = inspect.Parameter(case.name, inspect.Parameter.KEYWORD_ONLY, annotation=type_)
    take.__signature__ = inspect.Signature([parameter])  # type: ignore[attr-defined]  # PEP 362
    take.__annotations__ = {case.name: type_, "return": None}
    take.__doc__ = f"Take.\n\nArgs:\n    {case.name}: A value."
    codec = func_tool(take).spec.payload
    assert isinstance(codec, TypeCodec)
    return codec


def limited_type(case: Case) -> Any:
    return Annotated[TYPES[case.holder], pydantic.Field(**{case.row.core: case.limit})]


def issues_of(codec: Codec[Any], case: Case) -> tuple[FieldIssue, ...]:
    """Return the issues of a value beyond the limit; one within it has none."""
    codec.decode(json.dumps({case.name: plain(case.within)}))
    with pytest.raises(ToolValidationError) as refused:
        codec.decode(json.dumps({case.name: plain(case.beyond)}))
    return refused.value.issues


@pytest.mark.parametrize("case", first(OF_TYPES, 12), ids=lambda case: case.name)
def test_a_limit_of_a_function_is_that_of_a_design(case: Case, generated: tuple[Any, Any]) -> None:
    designed: Codec[Any] = generated[1].EVERY.payload
    codec = arguments_of(case, limited_type(case))
    assert codec.schema["properties"][case.name] == designed.schema["properties"][case.name]
    assert issues_of(codec, case) == issues_of(designed, case)


@pytest.mark.parametrize("case", SIZES_OF_BYTES, ids=lambda case: case.name)
def test_a_size_of_bytes_is_a_limit_of_a_function(case: Case) -> None:
    codec = arguments_of(case, limited_type(case))
    assert_schema(case, codec.schema["properties"][case.name], plain(case.within), plain(case.beyond))
    assert_issue(case, issues_of(codec, case))


def test_a_generated_class_in_a_function_shows_its_limits(generated: tuple[Any, Any]) -> None:
    shown = TypeCodec(generated[1].EveryPayload, "Every").schema["properties"]
    designed = generated[1].EVERY.payload.schema["properties"]
    names = [each.name for each in CASES if each.row.is_annotation]
    assert {name: shown[name] for name in names} == {name: designed[name] for name in names}


@pytest.mark.parametrize(
    "case", [each for each in CASES if each.row.is_annotation], ids=lambda case: case.name
)
def test_limits_of_a_result_follow_its_description(case: Case) -> None:
    schema = TypeCodec(limited_type(case), "Value", is_result=True, description="A value.").schema
    assert_schema(case, schema, plain(case.within), plain(case.beyond))


def test_a_number_limits_decimals_by_its_digits() -> None:
    codec: TypeCodec[Decimal] = TypeCodec(Annotated[Decimal, pydantic.Field(ge=0.1)], "Price")
    assert codec.schema["x-minimum"] == "0.1"
    assert codec.decode('"0.1"') == Decimal("0.1")


@pytest.mark.parametrize("case", first(CASES, 12), ids=lambda case: case.name)
def test_a_default_is_within_the_limits(case: Case) -> None:
    def of_default(value: Any) -> list[str]:
        attribute = Attribute(
            case.name, CLAUSES[case.holder], "A value.", default=value, **{case.row.name: case.limit}
        )
        return codes(Service("s", "S.", Toolset("t", "T.", Tool("one", "One.", Args(attribute)))))

    named = {"bound": "default-out-of-range", "choice": "default-not-in-enum"}
    assert of_default(case.within) == []
    assert of_default(case.beyond) == [named.get(case.row.takes, "default-mismatch")]


@pytest.mark.parametrize("holder", CLAUSES)
def test_a_clause_takes_the_limits_of_its_type(holder: Holder) -> None:
    clause = CLAUSES[holder]
    written = type(clause) if holder in ("array", "map") else clause
    keywords = inspect.signature(written).parameters.values()
    names = {keyword.name for keyword in keywords if keyword.kind is keyword.KEYWORD_ONLY}
    assert names == {row.name for row in held_by(holder)}
    assert names <= inspect.signature(Attribute).parameters.keys()


@pytest.mark.parametrize("kind", ["bool", "uuid", "any", "bytes", "date", "literal"])
def test_a_limit_that_nothing_would_enforce_is_refused(kind: str) -> None:
    """pydantic-core ignores a keyword that it does not know."""
    (low, _) = limits_of("array", "length")
    (step,) = limits_of("integer", "step")
    unknown = step if kind == "bytes" else low
    with pytest.raises(TypeError, match=f"'{kind}' enforces the limit '{unknown.core}'"):
        exact({"type": kind, unknown.core: 2, "expected": ["a"]})


def test_sizes_of_bytes_are_enforced() -> None:
    low, high = limits_of("array", "length")
    validator = SchemaValidator(exact({"type": "bytes", low.core: 2, high.core: 3}))
    assert validator.validate_json('"YWI="') == validator.validate_python(b"ab") == b"ab"
    for text, value, error in (("YQ==", b"a", "bytes_too_short"), ("YWJjZA==", b"abcd", "bytes_too_long")):
        for validate, given in ((validator.validate_json, f'"{text}"'), (validator.validate_python, value)):
            with pytest.raises(ValidationError) as refused:
                validate(given)
            assert refused.value.errors()[0]["type"] == error
