"""Typed Python functions as tools: specs, results and catalog entries as of generated ones."""

from __future__ import annotations

import dataclasses
import datetime as dt
import functools
import json
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel
from pydantic_core.core_schema import CoreSchema, no_info_after_validator_function, str_schema

from gen.assistant.toolsets import devices
from gen.types import Device
from tests.catalog_entries import catalog_entry
from tests.runtime.typed_functions import Point, called, issues, search
from toolgen.calls.functions.tools import FunctionFacts, func_tool
from toolgen.catalog import format_schema, load_catalog
from toolgen.catalog.reader import FORMAT_ID
from toolgen.contract.tool_facts import ToolFacts
from toolgen.runtime import (
    MalformedResultError,
    RegistrationError,
    SyncToolContext,
    ToolContext,
    ToolModel,
    ToolOutcome,
    ToolReturn,
)


class Report(BaseModel):
    """What was found."""

    when: dt.datetime
    note: str | None = None
    children: list[Report] = []


class Opaque:
    pass


def test_a_function_may_say_every_fact_of_a_spec_that_is_not_read_from_it() -> None:
    shared = {field.name for field in dataclasses.fields(ToolFacts)} - {"description", "is_lenient"}
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


class Measured(BaseModel):
    at: str = "hall"
    value: Any = None
    mean: float = 0.0


class Loose(ToolModel):
    value: Any
    values: list[Any] | None = None
    named: dict[str, Any] | None = None


NO_NUMBERS = [float("nan"), float("inf"), float("-inf")]


@pytest.mark.parametrize("number", NO_NUMBERS)
async def test_what_is_no_number_of_json_is_no_result(number: float) -> None:
    """Nobody has checked a model when it was made: pydantic writes null for it."""
    for value in (
        Measured(value=number),
        Measured(value=[{"a": number}]),
        Measured(mean=number),
        Measured(value="NaN, Infinity", mean=number),
    ):

        def measure() -> list[Measured]:
            return [value]  # noqa: B023  # it is called at once

        result = await called(measure, {})
        assert b"ran; its result could not be read" in result.json

    def say() -> Measured:
        return Measured(at="NaN", value=["Infinity", 1.5])

    assert (await called(say, {})).json == b'{"at":"NaN","value":["Infinity",1.5],"mean":0.0}'


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
async def test_what_is_no_number_of_json_is_no_argument(text: str) -> None:
    def keep(loose: Loose) -> None: ...

    deep, item, part = {"value": {"a": [0]}}, {"value": 1, "values": [0]}, {"value": 1, "named": {"a": 0}}
    for document in ({"value": 0}, deep, item, part):
        written = json.dumps({"loose": document}).replace("0", text)
        (issue,) = issues(func_tool(keep, name="keep"), written)
        assert issue.message == "must be a finite number"


async def test_generated_classes_are_results_as_their_own_codec_writes_them() -> None:
    device = Device(id="a", name="A", kind="light", room="hall", manual="m", status="online")

    def first() -> list[Device]:
        return [device]

    result = await called(first, {})
    assert json.loads(result.json) == [json.loads(device.model_dump_json(exclude_none=True))]


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
    with pytest.raises(RegistrationError, match="is not a tool name"):
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
    with pytest.raises(MalformedResultError, match="Point cannot be encoded"):
        func_tool(find).spec.result.encode({"x": 1})


def test_everything_wrong_with_a_function_comes_at_once() -> None:
    def Call(name, thing: Opaque, *args: str, **options: str): ...  # type: ignore[no-untyped-def]

    with pytest.raises(RegistrationError) as caught:
        func_tool(Call)
    lines = str(caught.value).splitlines()
    assert lines[0] == "function 'Call' cannot be a tool:"
    assert [line.strip().split(";")[0] for line in lines[1:]] == [
        "'Call' is not a tool name",
        "*args takes any number of arguments, which a schema cannot name",
        "**options takes any number of arguments, which a schema cannot name",
        "the type of the parameter 'thing' has no JSON Schema: Unable to generate "
        "pydantic-core schema "
        f"for {Opaque!r}",
    ]


async def test_what_has_no_annotation_may_be_any_value(caplog: pytest.LogCaptureFixture) -> None:
    def double(value, times=2):  # type: ignore[no-untyped-def]  # what is tested
        return [value] * times

    tool = func_tool(double)
    assert [message.partition(", so it can be any JSON value; ")[::2] for message in caplog.messages] == [
        ("function double: the parameter 'value' has no annotation", "write value: str"),
        ("function double: the parameter 'times' has no annotation", "write times: str"),
        ("function double: its result has no annotation", "write -> str, or -> None for no result"),
    ]
    assert json.loads((await called(double, {"value": {"a": None}})).json) == [{"a": None}, {"a": None}]
    assert tool.spec.payload.schema["required"] == ["value"]


def test_what_cannot_be_a_tool_is_refused() -> None:
    def keyed(value: dict[int, str]) -> None: ...

    def missing(value: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821  # what is tested

    def foreign(context: CallContext) -> None: ...

    def named(tool_context: str) -> None: ...

    def placed(tool_context: ToolContext, /) -> None: ...

    async def waiting(c: SyncToolContext) -> None: ...

    refused: list[tuple[Callable[..., object], str]] = [
        (keyed, "'value' has no JSON Schema: a map has keys of type int"),
        (missing, "NameError: name 'Missing' is not defined"),
        (foreign, "the parameter 'context' is a CallContext; write context: SyncToolContext"),
        (named, "the parameter 'tool_context' is a str; write tool_context: SyncToolContext"),
        (
            placed,
            "'tool_context' is positional-only, so it cannot be passed by name; move it behind the slash",
        ),
        (waiting, "the parameter 'c' is a SyncToolContext; write c: ToolContext, or def"),
    ]
    for function, message in refused:
        with pytest.raises(RegistrationError, match=message):
            func_tool(function)


class CallContext:
    pass


def test_a_function_has_the_catalog_entry_of_a_tool() -> None:
    entry = catalog_entry(func_tool(search, annotations={"read_only": True}).spec)
    generated = load_catalog(Path(devices.__file__).with_name("tool_schemas.json"))
    known = next(tool for tool in generated.tools if tool["id"] == devices.LIST_DEVICES.id)
    assert catalog_entry(devices.LIST_DEVICES) == known
    head = {"format": 3, "design": "d", "asserted_formats": [], "digest": "sha256:" + 64 * "0"}
    document = {"$schema": FORMAT_ID, "catalog": head, "tools": [entry]}
    Draft202012Validator(format_schema()).validate(document)


class Spoken(str):
    """A text whose schema warns."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> CoreSchema:
        return no_info_after_validator_function(cls, str_schema())

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: object) -> dict[str, str]:
        warnings.warn("a schema of its own", stacklevel=1)
        return {"type": "string"}


def test_a_warning_of_a_type_reaches_the_host() -> None:
    async def find(text: Spoken, near: object = len) -> str:
        return text

    with pytest.warns(UserWarning, match="a schema of its own") as caught:
        properties = func_tool(find).spec.payload.schema["properties"]
    assert {str(each.message) for each in caught} == {"a schema of its own"}
    assert "default" not in properties["near"]
