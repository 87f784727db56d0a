"""The parameter of a function that gets the context of the call, in every way to write it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Annotated, Any, Optional, Union

import pytest

from tests.runtime.typed_functions import called
from toolgen.calls.functions.tools import func_tool
from toolgen.importers.python_functions import read_functions
from toolgen.runtime import RegistrationError, SyncToolContext, ToolContext


def unannotated(city: str, tool_context) -> str:  # type: ignore[no-untyped-def]
    return f"{city} {type(tool_context).__name__}"


def of_any_type(city: str, tool_context: Any) -> str:
    return f"{city} {type(tool_context).__name__}"


def synchronous(city: str, tool_context: ToolContext) -> str:
    return f"{city} {type(tool_context).__name__}"


def first(tool_context: ToolContext, city: str) -> str:
    return synchronous(city, tool_context)


def keyword_only(city: str, *, tool_context: ToolContext) -> str:
    return synchronous(city, tool_context)


def optional(city: str, tool_context: Optional[ToolContext] = None) -> str:  # noqa: UP045  # as authors write it
    return f"{city} {type(tool_context).__name__}"


def with_none(city: str, call: SyncToolContext | None = None) -> str:
    return f"{city} {type(call).__name__}"


def either(city: str, call: Union[ToolContext, SyncToolContext]) -> str:  # noqa: UP007  # as authors write it
    return f"{city} {type(call).__name__}"


def with_text(city: str, call: Annotated[Optional[ToolContext], "The call."] = None) -> str:  # noqa: UP045
    return f"{city} {type(call).__name__}"


def as_text(city: "str", call: "ToolContext") -> str:  # noqa: UP037  # as authors write it
    return f"{city} {type(call).__name__}"


class Towns:
    def visit(self, city: str, tool_context: ToolContext) -> str:
        return synchronous(city, tool_context)

    @classmethod
    def of(cls, city: str, tool_context) -> str:  # type: ignore[no-untyped-def]
        return unannotated(city, tool_context)

    @staticmethod
    def at(city: str, tool_context: ToolContext) -> str:
        return synchronous(city, tool_context)

    def __call__(self, city: str, tool_context: ToolContext) -> str:
        return synchronous(city, tool_context)


@functools.wraps(synchronous)
def wrapped(*args: Any, **named: Any) -> str:
    return synchronous(*args, **named)


def greeting(greeting: str, city: str, tool_context: ToolContext) -> str:
    return synchronous(f"{greeting} {city}".removeprefix("hello "), tool_context)


SYNCHRONOUS: list[Callable[..., object]] = [
    unannotated,
    of_any_type,
    synchronous,
    first,
    keyword_only,
    optional,
    with_none,
    either,
    with_text,
    as_text,
    Towns().visit,
    Towns.of,
    Towns.at,
    Towns(),
    wrapped,
    functools.partial(greeting, "hello"),
    functools.partial(greeting, greeting="hello"),
]


@pytest.mark.parametrize("function", SYNCHRONOUS, ids=range(len(SYNCHRONOUS)))
async def test_a_synchronous_function_gets_the_context_and_the_model_does_not_see_it(
    function: Callable[..., object],
) -> None:
    tool = func_tool(function, name="tool")
    assert list(tool.spec.payload.schema["properties"]) == ["city"]
    assert (await called(function, {"city": "Ulm"})).result == "Ulm SyncToolContext"
    refused = await called(function, {"city": "Ulm", "tool_context": {}})
    assert b"is not a field here" in refused.json


async def test_an_asynchronous_function_gets_its_own_context() -> None:
    async def visit(city: str, tool_context) -> str:  # type: ignore[no-untyped-def]
        return f"{city} {type(tool_context).__name__}"

    assert (await called(visit, {"city": "Ulm"})).result == "Ulm ToolContext"


async def test_a_generator_gets_the_context_of_its_form() -> None:
    def visit(city: str, tool_context):  # type: ignore[no-untyped-def]
        yield city
        return type(tool_context).__name__

    assert (await called(visit, {"city": "Ulm"})).result == "SyncToolContext"


async def test_a_context_that_is_bound_already_stays() -> None:
    bound = functools.partial(of_any_type, tool_context=3)
    assert (await called(bound, {"city": "Ulm"})).result == "Ulm int"


def test_the_context_of_another_framework_is_refused_with_what_to_write() -> None:
    other = ModuleType("other.tools")
    other.ToolContext = type("ToolContext", (), {"__module__": "other.tools"})  # type: ignore[attr-defined]
    names: dict[str, Any] = {"ToolContext": other.ToolContext}
    exec("def visit(city: str, tool_context: ToolContext) -> str: ...", names)
    with pytest.raises(RegistrationError) as caught:
        func_tool(names["visit"])
    assert (
        "the parameter 'tool_context' is a other.tools.ToolContext; write tool_context: SyncToolContext"
        in str(caught.value)
    )


def test_further_arguments_are_refused_with_the_way_out() -> None:
    def join(tool_context, *parts: str, **options: str) -> None: ...  # type: ignore[no-untyped-def]

    with pytest.raises(RegistrationError) as caught:
        func_tool(join)
    assert str(caught.value).splitlines()[1:] == [
        "  *parts takes any number of arguments, which a schema cannot name; "
        "give each argument a name, or write parts: list[str]",
        "  **options takes any number of arguments, which a schema cannot name; "
        "give each argument a name, or annotate it with Unpack[…] of a TypedDict",
    ]


def test_an_imported_function_keeps_the_context_from_the_model() -> None:
    read = read_functions("towns", "Towns.", {"unannotated": unannotated})
    (tool,) = read.tools
    assert tool.arguments is not None
    assert "tool_context" not in str(tool.arguments)
