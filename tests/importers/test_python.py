"""Typed functions as tools."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import enum
import sys
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from functools import partial
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import pytest
from pydantic import BaseModel, Field
from typing_extensions import Doc

from toolgen.contract.findings import Finding
from toolgen.importers.python_functions import read_functions
from toolgen.importers.tool import ImportedTool, ReaderResult
from toolgen.runtime import ToolContext
from toolgen.runtime.functions import Sensitive
from toolgen.shapes.python.docstrings import read_docstring


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Options(TypedDict):
    deep: bool
    inner: NotRequired[list[Options]]


class Flat(TypedDict, total=False):
    deep: bool
    point: Point


class Report(BaseModel):
    """What was found."""

    when: dt.datetime
    children: list[Report] = []


class Opaque:
    pass


def read(function: Callable[..., object]) -> ReaderResult:
    return read_functions("tools", "", {function.__name__: function})


def tool(function: Callable[..., object]) -> ImportedTool:
    [found] = (source := read(function)).tools
    assert source.findings == ()
    return found


def properties(function: Callable[..., object]) -> dict[str, Any]:
    arguments = tool(function).arguments
    assert isinstance(arguments, dict)
    assert arguments["additionalProperties"] is False
    found: dict[str, Any] = arguments["properties"]
    return found


def findings(function: Callable[..., object]) -> list[Finding]:
    return list(read(function).findings)


async def search(query: str, limit: Annotated[int, Field(ge=1, description="How many.")] = 10) -> Report:
    """Search the notes.

    Newest first.

    Args:
        query: What to
            look for.

    Returns:
        The report.
    """
    raise NotImplementedError


def test_a_function_becomes_a_tool() -> None:
    found = tool(search)
    assert (found.name, found.description) == ("search", "Search the notes.\n\nNewest first.")
    assert found.arguments == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for."},
            "limit": {"type": "integer", "minimum": 1, "default": 10, "description": "How many."},
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    assert found.formats_are_types
    assert isinstance(found.result, dict)
    assert found.result["$defs"]["Report"]["properties"]["when"] == {"type": "string", "format": "date-time"}


def test_a_sensitive_default_stays_in_its_function() -> None:
    def send(text: str, key: Annotated[str, Sensitive()] = "sk-123", *, size: int = 5) -> None:
        """Send a text."""

    found = properties(send)
    assert "default" not in found["key"]
    assert found["size"]["default"] == 5


def test_names_of_pydantic_are_names_like_others() -> None:
    def save(schema: str, copy: int, model_config: bool) -> None: ...

    assert list(properties(save)) == ["schema", "copy", "model_config"]


def test_literals_enums_and_options_have_their_values() -> None:
    def paint(
        mode: Literal["fast", "slow"],
        colour: Colour = Colour.RED,
        note: Optional[str] = None,  # noqa: UP045
    ) -> None: ...

    found = properties(paint)
    assert found["mode"] == {"type": "string", "enum": ["fast", "slow"]}
    assert found["colour"] == {"$ref": "#/$defs/Colour", "default": "red"}
    assert found["note"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}


def test_none_as_the_default_makes_null_a_value() -> None:
    def find(limit: int = None) -> None: ...  # type: ignore[assignment]  # noqa: RUF013  # what many authors write

    assert properties(find)["limit"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}


@pytest.mark.parametrize("type_", [Point, Flat, Options, Report])
def test_structured_parameters_are_objects(type_: type) -> None:
    def take(value: object) -> None: ...

    take.__annotations__["value"] = type_
    arguments = tool(take).arguments
    assert isinstance(arguments, dict)
    assert arguments["properties"]["value"] == {"$ref": f"#/$defs/{type_.__name__}"}
    assert arguments["$defs"][type_.__name__]["type"] == "object"


def test_keys_of_a_typed_dict_are_required_as_it_says() -> None:
    def take(options: Options) -> None: ...

    arguments = tool(take).arguments
    assert isinstance(arguments, dict)
    assert arguments["$defs"]["Options"] == {
        "type": "object",
        "properties": {
            "deep": {"type": "boolean"},
            "inner": {"type": "array", "items": {"$ref": "#/$defs/Options"}},
        },
        "required": ["deep"],
    }


def test_the_context_of_the_call_is_no_argument() -> None:
    def greet(ctx: ToolContext, name: str) -> None: ...

    assert list(properties(greet)) == ["name"]


def test_the_owner_of_a_method_is_no_argument() -> None:
    class Notes:
        def add(self, text: str) -> None: ...

    assert list(properties(Notes.add)) == ["text"]


def test_a_function_that_returns_nothing_has_no_result() -> None:
    def log(text: str) -> None: ...

    assert tool(log).result is None


def test_a_result_need_not_be_an_object() -> None:
    def add(a: int, b: int) -> list[int]:
        """Add.

        :returns: The sums.
        """
        return [a + b]

    assert tool(add).result == {"type": "array", "items": {"type": "integer"}, "description": "The sums."}


def test_variadics_are_refused_each() -> None:
    def call(*args: str, **options: str) -> None: ...

    assert [(finding.tool, finding.place.pointer) for finding in findings(call)] == [
        ("call", "/args"),
        ("call", "/options"),
    ]


def test_what_has_no_annotation_may_be_any_value() -> None:
    def call(name, limit=3): ...  # type: ignore[no-untyped-def]  # what is tested

    source = read(call)
    assert [(finding.place.pointer, finding.hint, finding.is_warning) for finding in source.findings] == [
        ("/name", "write name: str", True),
        ("/limit", "write limit: str", True),
        ("/return", "write -> str, or -> None for no result", True),
    ]
    [found] = source.tools
    assert isinstance(found.arguments, dict)
    assert found.arguments["properties"] == {"name": {}, "limit": {"default": 3}}
    assert (found.arguments["required"], found.result) == (["name"], {})


def test_the_result_of_a_generator_is_what_it_returns_or_all_that_it_yields() -> None:
    def count() -> Iterator[int]:
        yield 1

    async def pages() -> AsyncIterator[Point]:
        yield Point(1)

    def export() -> Generator[str, None, int]:
        yield "half"
        return 2

    def drop() -> Generator[str]:
        yield "half"

    assert tool(count).result == {"type": "array", "items": {"type": "integer"}}
    found = tool(pages).result
    assert isinstance(found, dict)
    assert found["items"] == {"$ref": "#/$defs/Point"}
    assert tool(export).result == {"type": "integer"}
    assert tool(drop).result == {"type": "array", "items": {"type": "string"}}


def test_a_generator_that_says_nothing_of_its_result_has_any() -> None:
    def count():  # type: ignore[no-untyped-def]  # what is tested
        yield 1

    source = read(count)
    assert [finding.place.pointer for finding in source.findings] == ["/return"]
    assert source.tools[0].result == {}


def test_a_context_manager_is_refused() -> None:
    @contextlib.contextmanager
    def lent() -> Iterator[int]:
        yield 1

    [finding] = findings(lent)
    assert (finding.message, finding.is_warning) == ("it is a context manager and has no result", False)


def test_arguments_that_a_partial_binds_are_no_arguments() -> None:
    def add(a: int, b: int, c: int = 0, *, d: int = 0) -> int:
        """Add them."""
        return a + b + c + d

    [found] = read_functions("tools", "", {"add": partial(partial(add, 1), c=2)}).tools
    assert isinstance(found.arguments, dict)
    assert list(found.arguments["properties"]) == ["b", "d"]
    assert found.description == "Add them."


def test_texts_among_the_metadata_of_an_annotation_describe_it() -> None:
    def find(
        word: Annotated[str, "Word to find."],
        limit: Annotated[int, Doc("Most of them."), Field(ge=1)] = 1,
        page: Annotated[int, "not this", Field(description="Page of them.")] = 1,
    ) -> None:
        """Find it.

        Args:
            word: Not this text.
        """

    found = properties(find)
    assert [found[name]["description"] for name in ("word", "limit", "page")] == [
        "Word to find.",
        "Most of them.",
        "Page of them.",
    ]


def test_a_type_without_schema_is_refused_by_its_parameter() -> None:
    def call(count: int, thing: Opaque) -> None: ...

    [finding] = findings(call)
    assert (finding.tool, finding.place.pointer) == ("call", "/thing")
    assert finding.message.startswith("the type of the parameter 'thing' has no JSON Schema: Unable")


def test_a_result_without_schema_costs_the_result_only() -> None:
    def call(count: int) -> Opaque:
        raise NotImplementedError

    source = read(call)
    assert source.tools[0].result is None
    assert [finding.is_warning for finding in source.findings] == [True]


def test_an_annotation_that_names_nothing_is_refused() -> None:
    def call(count: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821  # what is tested

    [finding] = findings(call)
    assert "NameError: name 'Missing' is not defined" in finding.message


GOOGLE = (
    "Add it.\n\nArgs:\n    a (int): The a.\n    b: The b,\n        and more.\n\nReturns:\n    int: The sum."
)
NUMPY = """Add it.

Parameters
----------
a : int
    The a.
b : int, optional
    The b,
    and more.

Returns
-------
int
    The sum.
"""
REST = "Add it.\n\n:param a: The a.\n:param int b: The b,\n    and more.\n:returns: The sum.\n"


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, REST], ids=["google", "numpy", "rest"])
def test_a_docstring_of_each_style_is_read(text: str) -> None:
    said = read_docstring(text)
    assert said.description == "Add it."
    assert said.parameters == {"a": "The a.", "b": "The b, and more."}
    assert said.result == "The sum."


@pytest.mark.parametrize(
    ("text", "description", "parameters"),
    [
        ("Add.\n\nNote:\n    Slow.\n\nArgs:\n    a: The a.\n\nNotes:\n    More.", "Add.", {"a": "The a."}),
        (
            "Add.\n\nArgs:\n    *a: The a: all.\n    b (dict[str, int], optional): The b.",
            "Add.",
            {"a": "The a: all.", "b": "The b."},
        ),
        (
            "Add.\n\nTwo.\n\nKeyword Args:\n    a: The a.\n\nRaises:\n    E: No.",
            "Add.\n\nTwo.",
            {"a": "The a."},
        ),
        (
            "Add.\n\nParameters\n----------\na, b : int\n    Both.\n\nNotes\n-----\nSlow.\n",
            "Add.",
            {"a": "Both.", "b": "Both."},
        ),
        ("Add.\n\n@param a: The a.", "Add.", {"a": "The a."}),
    ],
)
def test_each_parameter_has_its_text_and_asides_have_no_place(
    text: str, description: str, parameters: dict[str, str]
) -> None:
    said = read_docstring(text)
    assert (said.description, said.parameters) == (description, parameters)


@pytest.mark.parametrize(
    "text",
    ["Plain: text.", "One.\n\nTwo: three\n  four", "Say it.\n\n:smile: is fine.", "Add.\n\nArgs:\na: b"],
)
def test_a_docstring_without_sections_is_all_description(text: str) -> None:
    assert read_docstring(text).description == text


def test_no_docstring_says_nothing() -> None:
    assert read_docstring(None).description == ""


def test_without_their_reader_docstrings_of_one_line_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docstring_parser", None)

    def short(a: int) -> None:
        """Add it."""

    assert tool(short).description == "Add it."
    [finding] = findings(search)
    assert "several lines, and docstring_parser, which reads them, is not installed" in finding.message
    assert (finding.hint, finding.is_warning) == ("pip install 'toolgen[docstrings]'", False)
