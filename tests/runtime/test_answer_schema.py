"""Answers in a client without tools: the frozen schema is what they have to fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.runtime.tools import EMPTY, META, SITE, Listing, nothing, runtime, spec, waiting
from tests.selection import first
from toolgen.calls.answer_schema import checked_schema, value_issues
from toolgen.calls.errors import MalformedResultError
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime import ConfirmSpec, Runtime, Suspended, ToolOutcome
from toolgen.runtime.functions import LongRunningSpec
from toolgen.shapes.evaluator import Evaluator, Undecided
from toolgen.waiting.errors import BadAnswerError, ConflictingAnswerError

TOOL = "assistant.devices.list_devices"
DEVICE = {"id": "d1", "name": "Lamp", "status": "online"}


async def pends(payload: Any, ctx: Any) -> Any:
    return ToolOutcome.pending("job-1")


async def asked(file: Path, does: Any = None, **facts: Any) -> Suspended:
    """Return what a process asked that is gone."""
    async with runtime(Listing(does), spec(**facts), engine=InProcessEngine(file)) as made:
        return waiting(await made.call(TOOL, SITE, META))


@pytest.mark.parametrize(
    ("result", "path"),
    first(
        [
            ({**EMPTY, "returned": "two"}, "$.returned"),
            ({**EMPTY, "devices": {}}, "$.devices"),
            ({**EMPTY, "devices": [{"id": 7}]}, "$.devices[0]"),
            ({**EMPTY, "colour": "red"}, "$.colour"),
            ({"devices": []}, "$.returned"),
            ([], "$ "),
        ],
        2,
    ),
)
async def test_a_result_that_does_not_fit_is_refused_and_another_one_taken(
    tmp_path: Path, result: Json, path: str
) -> None:
    file = tmp_path / "runs.db"
    work = await asked(file, pends, long_running=LongRunningSpec())
    async with Runtime(engine=InProcessEngine(file, worker=False)) as desk:
        with pytest.raises(BadAnswerError, match="does not fit") as error:
            await desk.suspensions.answer(work.token, result, wait_s=0)
        assert path in str(error.value)
        assert (await desk.suspensions.answer(work.token, EMPTY, wait_s=0)).status == "running"
        with pytest.raises(ConflictingAnswerError) as differently:
            await desk.suspensions.answer(work.token, {"error": "no power"}, wait_s=0)
        assert "the first answer counts" in differently.value.hint
    async with runtime(Listing(), spec(long_running=LongRunningSpec()), engine=InProcessEngine(file)) as made:
        assert (await made.suspensions.answer(work.token, EMPTY)).status == "ok"


async def test_what_a_person_adds_to_an_approval_has_to_fit(tmp_path: Path) -> None:
    file = tmp_path / "runs.db"
    confirm = ConfirmSpec(payload=TypeCodec(dict[str, int], "Kept"))
    call = await asked(file, confirm=confirm)
    async with Runtime(engine=InProcessEngine(file, worker=False)) as desk:
        with pytest.raises(BadAnswerError, match=r"keep_cents must be of type integer, not string"):
            await desk.suspensions.answer(
                call.token, {"approved": True, "payload": {"keep_cents": "many"}}, wait_s=0
            )
        good: Json = {"approved": True, "payload": {"keep_cents": 5}}
        assert (await desk.suspensions.answer(call.token, good, wait_s=0)).status == "running"


TREE: dict[str, Any] = {
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
                "pair": {"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "string"}},
                "tags": {"type": "array", "items": {"enum": ["a", 1]}, "maxItems": 2},
                "more": {"type": "object", "additionalProperties": {"type": "number"}, "minProperties": 1},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
        "Circle": {"$ref": "#/$defs/Circle"},
    },
    "$ref": "#/$defs/Node",
}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"name": "n", "next": {"name": "m", "next": None}, "tags": None}, ""),
        ({"name": "n", "pair": [1, "x"], "tags": ["a", 1], "more": {"x": 1.5}}, ""),
        ({"name": "n", "next": {"name": ""}}, "$.next.name must have at least 1 character"),
        ({"name": "n", "next": 7}, "$.next must be an object, not integer"),
        ({"name": "n", "pair": [1.0, 2]}, "$.pair[1] must be of type string, not integer"),
        ({"name": "n", "tags": [True]}, "$.tags[0] must be one of a, 1"),
        ({"name": "n", "tags": ["a", "a", "a"]}, "$.tags must have at most 2 items"),
        ({"name": "n", "more": {}}, "$.more must have at least 1 property"),
        ({"name": "n", "more": {"x": "y"}}, "$.more.x must be of type number, not string"),
        ({"name": None}, "$.name must be of type string, not null"),
    ],
)
def test_the_schemas_of_tools_are_read(value: Json, said: str) -> None:
    assert "; ".join(map(str, value_issues(TREE, value, 10, TREE))) == said


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"$ref": "#/$defs/Circle"}, "t"),
        ({"$ref": "https://example.org/other.json"}, "t"),
        ({"not": {"pattern": "(?<=x)y"}}, "xy"),
        ({"not": {"oneOf": [{}]}}, "t"),
        ({"oneOf": [{"pattern": "(?<=x)y"}, {"maxLength": 3}]}, "xy"),
        ({"properties": {"a": {"$id": "https://example.org/a", "$ref": "#/$defs/Node"}}}, {"a": 1}),
        ({"type": 7}, "t"),
        ({"maximum": 3, "exclusiveMaximum": True}, 2),
        ({"type": "string", "pattern": "(?<=x)y"}, "t"),
        ({"type": "object", "patternProperties": {"^t": {}}, "additionalProperties": False}, {"t": 1}),
    ],
)
def test_what_a_schema_says_in_other_words_is_left_to_the_tool(schema: dict[str, Any], value: Json) -> None:
    assert value_issues(schema, value, 10, TREE) == ()


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"enum": [[1]]}, [True]),
        ({"const": {"a": 0}}, {"a": False}),
        ({"type": "array", "uniqueItems": True}, [1, 1]),
        ({"type": "array", "uniqueItems": True}, [1, 1.0]),
        ({"type": "array", "uniqueItems": True}, [1, True]),
        ({"type": "array", "uniqueItems": True, "minItems": 2}, ["a"]),
        ({"type": "object", "minProperties": 1}, {}),
        ({"type": "integer"}, 1.0),
        ({"type": "number", "multipleOf": 0.1}, 0.35),
        ({"$ref": "#/$defs/a%20b", "$defs": {"a b": {"type": "string"}}}, 5),
    ],
)
def test_a_value_is_judged_as_a_validator_judges_it(schema: dict[str, Any], value: Any) -> None:
    is_valid = jsonschema_rs.Draft202012Validator(schema).is_valid(value)
    assert (not value_issues(schema, value, 10, schema)) == is_valid
    assert Evaluator(schema, Undecided.AS_MISFIT).fits(schema, value) == is_valid


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ({"not": {}}, 1, "$ must not match the schema's `not`"),
        ({"items": {"not": {"const": 1}}}, [2, 1.0], "$[1] must not match the schema's `not`"),
        ({"not": {"pattern": "^t"}}, "t", "$ must not match the schema's `not`"),
        (
            {"oneOf": [{"type": "integer"}, {"minimum": 3}]},
            4,
            "$ must match exactly one alternative, but matches several",
        ),
        (
            {"oneOf": [{"pattern": "^t"}, {"maxLength": 3}]},
            "t",
            "$ must match exactly one alternative, but matches several",
        ),
        ({"oneOf": [{"type": "integer"}, {"minimum": 3}]}, 2.5, "$ must be of type integer, not number"),
        (
            {"propertyNames": {"maxLength": 1}},
            {"ab": 1},
            "$.ab has a name that must have at most 1 character",
        ),
        ({"properties": {"a": False}}, {"a": 1}, "$.a is not allowed here"),
    ],
)
def test_what_a_schema_excludes_is_refused(schema: Any, value: Any, said: str) -> None:
    assert not jsonschema_rs.Draft202012Validator(schema).is_valid(value)
    assert "; ".join(map(str, value_issues(schema, value, 10, schema))) == said


NAMES = st.sampled_from(["a", "b", "cc"])
SCALARS = st.sampled_from([True, False, 0, 1, 1.0, 2.5, -3, "", "a", "cc"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
TYPE_NAMES = st.sampled_from(["string", "boolean", "integer", "number", "array", "object"])
SMALL = st.integers(0, 2)
LEAVES = st.fixed_dictionaries(
    {},
    optional={
        "type": TYPE_NAMES | st.lists(TYPE_NAMES, min_size=1, max_size=2, unique=True),
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "minimum": st.integers(-3, 2),
        "exclusiveMaximum": st.integers(0, 3),
        "minLength": SMALL,
        "maxItems": SMALL,
        "uniqueItems": st.booleans(),
        "minProperties": SMALL,
        "required": st.lists(NAMES, max_size=1),
    },
)


def composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": TYPE_NAMES,
            "items": inner,
            "properties": st.dictionaries(NAMES, inner, max_size=2),
            "additionalProperties": inner,
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "$ref": st.sampled_from(["#/$defs/leaf", "#/$defs/plain"]),
        },
    )


PLAIN = st.recursive(LEAVES | st.booleans(), composed, max_leaves=4)
EXCLUDING = st.fixed_dictionaries(
    {}, optional={"not": PLAIN, "oneOf": st.lists(PLAIN, min_size=1, max_size=3), "propertyNames": PLAIN}
)
ANY = st.recursive(PLAIN | EXCLUDING, composed, max_leaves=5)
DEFINITIONS = {"leaf": {"type": ["integer", "object"]}, "plain": {"items": {"$ref": "#/$defs/leaf"}}}


@given(ANY, VALUES)
def test_values_are_judged_as_a_validator_judges_them(schema: Any, value: Any) -> None:
    whole = {"allOf": [schema], "$defs": DEFINITIONS}
    is_valid = jsonschema_rs.Draft202012Validator(whole).is_valid(value)
    assert (not value_issues(whole, value, 10, whole)) == is_valid


CHOICES: list[Json] = [{"const": "a", "title": "The first"}, {"const": "b", "title": "The second"}]
SEVERAL: dict[str, dict[str, Any]] = {
    "titles": {"type": "string", "oneOf": CHOICES, "title": "Which"},
    "several": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1},
    "several with titles": {"type": "array", "items": {"anyOf": CHOICES}, "maxItems": 2, "default": ["a"]},
}


@pytest.mark.parametrize("is_field", [True, False])
@pytest.mark.parametrize("kind", SEVERAL)
async def test_one_or_several_choices_are_asked_for(
    engine: InProcessEngine, kind: str, is_field: bool
) -> None:
    """SEP-1330 of MCP, in 2025-11-25."""
    schema = SEVERAL[kind]
    whole = {"type": "object", "properties": {"f": schema}} if is_field else schema

    async def asks(payload: Any, ctx: Any) -> Any:
        if ctx.answer is None:
            return ToolOutcome.ask("Which?", whole)
        seen.append(ctx.answer)
        return nothing()

    seen: list[Json] = []
    made = runtime(Listing(asks), engine=engine)
    question = waiting(await made.call(TOOL, SITE, META))
    good: Json = "b" if kind == "titles" else ["b"]
    misfits: list[Json] = ["c", ["c"], 7, {"const": "a"}]
    for bad in misfits:
        with pytest.raises(BadAnswerError, match="does not fit"):
            await made.suspensions.answer(question.token, {"f": bad} if is_field else bad)
    await made.suspensions.answer(question.token, {"f": good} if is_field else good)
    assert seen == [{"f": good} if is_field else good]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "oneOf": []},
        {"type": "string", "oneOf": [{"const": 1, "title": "one"}]},
        {"type": "string", "oneOf": [{"const": "a"}]},
        {"type": "integer", "oneOf": CHOICES},
        {"type": "array"},
        {"type": "array", "items": {"type": "string"}},
        {"type": "array", "items": {"type": "integer", "enum": [1]}},
        {"type": "array", "items": {"anyOf": CHOICES}, "minItems": "1"},
        {"type": "array", "items": {"anyOf": CHOICES}, "uniqueItems": True},
    ],
)
def test_other_choices_are_no_schema_of_a_question(schema: Any) -> None:
    with pytest.raises(MalformedResultError, match="one or several choices"):
        checked_schema(schema)
