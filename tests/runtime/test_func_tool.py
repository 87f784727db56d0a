"""Typed Python functions as tools: codecs, issues and catalogue entries as of generated ones."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import functools
import json
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, TypedDict

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field, field_validator

from gen.assistant.toolsets import devices
from gen.types import Device
from tests.catalog_entries import catalog_entry
from toolgen.calls.toolsets.functions import FunctionFacts, func_tool, function_toolset
from toolgen.catalog import format_schema, load_catalogue
from toolgen.catalog.entry import without
from toolgen.catalog.reader import format_id
from toolgen.contract.tool_facts import ToolFacts
from toolgen.runtime import (
    BoundTool,
    FieldIssue,
    MalformedResultError,
    RegistrationError,
    Runtime,
    SyncToolContext,
    ToolContext,
    ToolOutcome,
    ToolResult,
    ToolReturn,
    ToolValidationError,
)


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: Annotated[int, Field(ge=0)] = 0


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


class Report(BaseModel):
    """What was found."""

    when: dt.datetime
    note: str | None = None
    children: list[Report] = []


class Even(BaseModel):
    number: int

    @field_validator("number")
    @classmethod
    def is_even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("must be even")
        return value


class Opaque:
    pass


def issues(tool: BoundTool, document: str) -> list[FieldIssue]:
    with pytest.raises(ToolValidationError) as caught:
        tool.spec.payload.decode(document)
    return list(caught.value.issues)


def said(tool: BoundTool, document: str) -> list[str]:
    return [f"{issue} [{issue.constraint}]" for issue in issues(tool, document)]


async def called(function: Callable[..., object], arguments: dict[str, object]) -> ToolResult:
    runtime = Runtime()
    runtime.tools.register(
        function_toolset("host.tools", [func_tool(function, name="tool", toolset="host.tools")])
    )
    return await runtime.call("tool", arguments)


def properties(function: Callable[..., object]) -> dict[str, Any]:
    found: dict[str, Any] = func_tool(function, name="tool").spec.payload.schema["properties"]
    return found


async def search(query: str, limit: Annotated[int, Field(ge=1, description="How many.")] = 10) -> list[str]:
    """Search the notes.

    Newest first.

    Args:
        query: What to
            look for.
        limit: Not this text.

    Returns:
        The titles.
    """
    return [query] * limit


def test_a_function_may_say_every_fact_of_a_spec_that_is_not_read_from_it() -> None:
    shared = {field.name for field in dataclasses.fields(ToolFacts)} - {"description"}
    specific = {"confirm", "long_running", "example", "max_result_bytes"}
    assert set(FunctionFacts.__annotations__) == shared | specific


def test_a_function_has_the_spec_of_a_tool() -> None:
    spec = func_tool(search, annotations={"read_only": True}, tags=("notes",)).spec
    assert (spec.id, spec.name, spec.title) == ("local.functions.search", "search", "Search")
    assert spec.description == "Search the notes.\n\nNewest first."
    assert spec.payload.schema == {
        "type": "object",
        "title": "Search",
        "properties": {
            "query": {"type": "string", "title": "Query", "description": "What to look for."},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "title": "Limit",
                "description": "How many.",
                "default": 10,
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    assert spec.result.schema == {
        "type": "array",
        "items": {"type": "string"},
        "title": "Search result",
        "description": "The titles.",
    }


async def test_a_call_goes_from_json_to_json() -> None:
    assert (await called(search, {"query": "x", "limit": 2})).json == b'["x","x"]'
    refused = await called(search, {"limit": 0, "page": 1})
    assert json.loads(refused.json)["issues"] == [
        {
            "path": "$.query",
            "constraint": "missing_field",
            "message": "is required and was left out",
            "expected": "string",
        },
        {"path": "$.limit", "constraint": "invalid_range", "message": "must be at least 1", "limit": 1},
        {
            "path": "$.page",
            "constraint": "unknown_field",
            "message": "is not a field here",
            "allowed": ["query", "limit"],
        },
    ]


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


async def test_generated_classes_are_results_as_their_own_codec_writes_them() -> None:
    device = Device(id="a", name="A", kind="light", room="hall", manual="m", status="online")

    def first() -> list[Device]:
        return [device]

    result = await called(first, {})
    assert json.loads(result.json) == [json.loads(device.model_dump_json(exclude_none=True))]


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


async def test_the_context_is_passed_and_stands_in_no_schema() -> None:
    def who(name: str, call: SyncToolContext) -> str:
        return f"{name} {call.tool}"

    assert list(properties(who)) == ["name"]
    assert (await called(who, {"name": "a"})).result == "a host.tools.tool"


async def test_a_function_that_is_not_asynchronous_runs_in_a_thread() -> None:
    def where() -> str:
        return threading.current_thread().name

    async def here() -> str:
        return threading.current_thread().name

    assert (await called(where, {})).result != threading.current_thread().name
    assert (await called(here, {})).result == threading.current_thread().name


async def test_methods_and_callable_objects_are_functions_too() -> None:
    class Notes:
        def add(self, text: str) -> str:
            return f"added {text}"

        async def __call__(self, text: str) -> str:
            return f"called {text}"

    assert (await called(Notes().add, {"text": "a"})).result == "added a"
    assert (await called(Notes(), {"text": "a"})).result == "called a"
    partial = functools.partial(Notes().add)
    with pytest.raises(RegistrationError, match="no name of a tool"):
        func_tool(partial)


async def test_a_function_that_returns_nothing_has_the_empty_object_as_its_result() -> None:
    def log(text: str) -> None: ...

    assert (await called(log, {"text": "a"})).json == b"{}"


async def test_outcomes_are_results_with_what_goes_beside_them() -> None:
    async def find(ctx: ToolContext) -> ToolReturn[Report]:
        return ToolOutcome.final(Report(when=dt.datetime(2026, 1, 1, tzinfo=dt.UTC)), display="found")

    result = await called(find, {})
    assert result.json == b'{"when":"2026-01-01T00:00:00Z","children":[]}'
    assert (result.is_final, result.display) == (True, "found")
    assert func_tool(find).spec.result.name == "Report"


async def test_a_result_of_another_type_is_the_functions_mistake(caplog: pytest.LogCaptureFixture) -> None:
    async def find() -> Point:
        return {"x": 1}  # type: ignore[return-value]  # what is tested

    async def wrong() -> Point:
        return Point(x=1, y=-1)

    for function in (find, wrong):
        result = await called(function, {})
        assert result.retry_hint is None
        assert b" ran; its result could not be read" in result.json
    with pytest.raises(MalformedResultError, match="Point does not encode"):
        func_tool(find).spec.result.encode({"x": 1})


def test_everything_wrong_with_a_function_comes_at_once() -> None:
    def Call(name, thing: Opaque, *args: str, **options: str): ...  # type: ignore[no-untyped-def]

    with pytest.raises(RegistrationError) as caught:
        func_tool(Call)
    lines = str(caught.value).splitlines()
    assert lines[0] == "function 'Call' cannot be a tool:"
    assert [line.strip().split(";")[0] for line in lines[1:]] == [
        "'Call' is no name of a tool: up to 64 of a-z, 0-9 and _",
        "*args takes any number of arguments, which no schema names",
        "**options takes any number of arguments, which no schema names",
        "the type of the parameter 'thing' has no exact JSON form: Unable to generate pydantic-core schema "
        f"for {Opaque!r}",
    ]


async def test_what_has_no_annotation_may_be_any_value(caplog: pytest.LogCaptureFixture) -> None:
    def double(value, times=2):  # type: ignore[no-untyped-def]  # what is tested
        return [value] * times

    tool = func_tool(double)
    assert [message.partition(", so it may be any JSON value; ")[::2] for message in caplog.messages] == [
        ("function double: the parameter 'value' has no annotation", "write value: str"),
        ("function double: the parameter 'times' has no annotation", "write times: str"),
        ("function double: its result has no annotation", "write -> str, or -> None where there is none"),
    ]
    assert json.loads((await called(double, {"value": {"a": None}})).json) == [{"a": None}, {"a": None}]
    assert tool.spec.payload.schema["required"] == ["value"]


def test_what_cannot_be_a_tool_is_refused() -> None:
    def keyed(value: dict[int, str]) -> None: ...

    def missing(value: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821  # what is tested

    def foreign(context: CallContext) -> None: ...

    def blocking(c: ToolContext) -> None: ...

    async def waiting(c: SyncToolContext) -> None: ...

    refused: list[tuple[Callable[..., object], str]] = [
        (keyed, "'value' has no exact JSON form: a map has keys of type int"),
        (missing, "NameError: name 'Missing' is not defined"),
        (foreign, "the parameter 'context' is a CallContext; write context: SyncToolContext"),
        (blocking, "the parameter 'c' is a ToolContext; write c: SyncToolContext, or async def"),
        (waiting, "the parameter 'c' is a SyncToolContext; write c: ToolContext, or def"),
    ]
    for function, message in refused:
        with pytest.raises(RegistrationError, match=message):
            func_tool(function)


class CallContext:
    pass


def test_a_function_has_the_catalogue_entry_of_a_tool() -> None:
    entry = catalog_entry(func_tool(search, annotations={"read_only": True}).spec)
    generated = load_catalogue(Path(devices.__file__).with_name("tool_schemas.json"))
    known = next(tool for tool in generated.tools if tool["id"] == devices.LIST_DEVICES.id)
    assert catalog_entry(devices.LIST_DEVICES) == without(known, [("bind_to",)])
    head = {"format": 3, "design": "d", "asserted_formats": [], "digest": "sha256:" + 64 * "0"}
    document = {"$schema": format_id(), "catalog": head, "tools": [entry]}
    Draft202012Validator(format_schema()).validate(document)
