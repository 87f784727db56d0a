"""Arguments of functions that are tools: issues at their place, defaults, names and contexts."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, TypedDict

import pytest
from pydantic import BaseModel, Field, field_validator

from gen.assistant.toolsets import devices
from tests.runtime.typed_functions import Point, called, issues, properties, search
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.runtime import (
    BoundTool,
    Continue,
    Hook,
    Runtime,
    SyncToolContext,
    ToolCall,
    ToolContext,
    ToolValidationError,
    Verdict,
)


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Options(TypedDict):
    deep: bool
    inner: NotRequired[list[Options]]


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str | None = None


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


class Pair(NamedTuple):
    key: str
    value: int = 0


class Even(BaseModel):
    number: int

    @field_validator("number")
    @classmethod
    def is_even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("must be even")
        return value


def said(tool: BoundTool, document: str) -> list[str]:
    return [f"{issue} [{issue.constraint}]" for issue in issues(tool, document)]


def test_a_function_of_generated_types_has_their_schema_and_their_issues() -> None:
    def take(payload: devices.ListDevicesPayload) -> None: ...

    tool = func_tool(take)
    schema = tool.spec.payload.schema["$defs"]["ListDevicesPayload"]
    assert schema.pop("description") == "Arguments of list_devices."
    assert {**schema, "title": "List devices"} == devices.LIST_DEVICES.payload.schema
    document = '{"status": "broken", "limit": 1000, "page": 2}'
    with pytest.raises(ToolValidationError) as caught:
        devices.LIST_DEVICES.payload.decode(document)
    inside = [dataclasses.replace(issue, keys=("payload", *issue.keys)) for issue in caught.value.issues]
    assert issues(tool, f'{{"payload": {document}}}') == inside


@pytest.mark.parametrize(
    ("type_", "document", "message"),
    [
        (int, "true", "$.value must be an integer, not a boolean"),
        (int, '"5"', "$.value must be an integer, not a string"),
        (bool, "1", "$.value must be a boolean, not an integer"),
        (float, "NaN", "$.value must be a finite number"),
        (list, "[NaN]", "$.value[0] must be a finite number"),
        (dict, '{"a": NaN}', "$.value.a must be a finite number"),
        (
            dt.datetime,
            '"2026-01-31 10:00"',
            "$.value must be written as date-time, such as 2026-01-31T10:00:00Z",
        ),
        (dt.datetime, "5", "$.value must be a string, not an integer"),
        (bytes, '"!"', "$.value must be written as base64, such as aGVsbG8="),
        (Annotated[bytes, Field(max_length=1)], '"YWI="', "$.value must have at most 1 byte"),
        (Colour, '"green"', '$.value must be one of "red", "blue"'),
        (Literal["a", 1], "true", '$.value must be one of "a", 1'),
        (Point, '{"x": 1, "z": 2}', "$.value.z is not a field here"),
        (Point, '{"x": 1, "y": -1}', "$.value.y must be at least 0"),
        (Point, "[1]", "$.value must be an object, not an array"),
        (Options, '{"deep": true, "inner": [{}]}', "$.value.inner[0].deep is required and was left out"),
        (Pet, '{"kind": "cow"}', '$.value.kind must be one of "cat", "dog"'),
        (Pet, '{"kind": "dog", "lives": 1}', "$.value.lives is not a field here"),
        (set[int], "5", "$.value must be an array, not an integer"),
        (int | str, "[]", "$.value must be an integer or a string, not an array"),
        (list[Point] | Point, '{"x": "a"}', "$.value.x must be an integer, not a string"),
        (Even, '{"number": 1}', "$.value.number must be even"),
        (Pair, "[]", "$.value[0] is required and was left out"),
    ],
)
def test_what_does_not_fit_is_one_issue_at_its_place(type_: Any, document: str, message: str) -> None:
    def take(value: Any) -> None: ...

    take.__annotations__["value"] = type_
    assert [str(issue) for issue in issues(func_tool(take), f'{{"value": {document}}}')] == [message]


def test_the_keys_that_an_object_takes_are_named() -> None:
    def take(point: Point) -> None: ...

    [issue] = issues(func_tool(take), '{"point": {"x": 1, "z": 2}}')
    assert issue.allowed == ("x", "y")


async def test_null_leaves_out_a_parameter_that_has_a_default() -> None:
    def find(limit: int = 3, note: str | None = None, mark: Optional[str] = "m") -> list[object]:  # noqa: UP045
        return [limit, note, mark]

    assert (await called(find, {"limit": None, "note": None, "mark": None})).json == b"[3,null,null]"
    found = properties(find)
    assert found["note"] == {"type": "string", "title": "Note"}
    assert found["mark"] == {"type": ["string", "null"], "title": "Mark", "default": "m"}


async def test_a_default_may_be_any_iterable() -> None:
    def count(words: Iterable[str] = (), more: Sequence[str] = ()) -> int:
        return len([*words, *more])

    assert (await called(count, {})).json == b"0"
    assert (await called(count, {"words": ["a"], "more": ["b"]})).json == b"2"


def test_arguments_are_frozen_and_written_as_they_were_decoded() -> None:
    payload = func_tool(search).spec.payload
    value = payload.decode('{"query": "x"}')
    assert payload.encode(value) == b'{"query":"x","limit":10}'
    with pytest.raises(Exception, match="frozen"):
        value.query = "y"


def test_names_of_pydantic_are_names_like_others() -> None:
    def save(schema: str, copy: int, model_config: bool, camelCase: int, _under: int) -> None: ...

    assert list(properties(save)) == ["schema", "copy", "model_config", "camelCase", "_under"]


def test_an_alias_is_the_only_name_of_an_argument() -> None:
    def find(query: Annotated[str, Field(alias="q")]) -> None: ...

    tool = func_tool(find)
    assert tool.spec.payload.decode('{"q": "x"}').query == "x"
    assert said(tool, '{"query": "x"}') == [
        "$.q is required and was left out [missing_field]",
        "$.query is not a field here [unknown_field]",
    ]


async def test_parameters_reach_the_function_under_their_own_names() -> None:
    def save(first: int, /, schema: str, *, class_: str = "c", camelCase: int = 1) -> list[object]:
        return [first, schema, class_, camelCase]

    assert (await called(save, {"first": 1, "schema": "s", "camelCase": 2})).json == b'[1,"s","c",2]'


async def test_what_a_hook_keeps_in_a_payload_does_not_reach_the_function() -> None:
    class Notes(Hook):
        async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
            vars(payload)["seen"] = True
            return Continue()

    runtime = Runtime(hooks=[Notes()])
    runtime.tools.register(function_toolset("host.tools", [search]))
    assert (await runtime.call("search", {"query": "x"})).result == ["x"] * 10


async def test_the_context_is_passed_and_stands_in_no_schema() -> None:
    def who(name: str, call: SyncToolContext) -> str:
        return f"{name} {call.tool}"

    assert list(properties(who)) == ["name"]
    assert (await called(who, {"name": "a"})).result == "a host.tools.tool"
