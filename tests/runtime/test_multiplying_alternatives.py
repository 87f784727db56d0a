"""Alternatives that hold themselves: tried once a level, whatever a document has in it."""

from __future__ import annotations

import json
from typing import Annotated, Any, NotRequired

import pytest
from pydantic import AfterValidator, BaseModel
from typing_extensions import TypedDict

from toolgen.calls.functions.tools import function_toolset
from toolgen.runtime import Runtime, ToolValidationError
from toolgen.runtime.functions import SchemaCodec
from toolgen.runtime.generated import SchemaModel
from toolgen.shapes.issues import TOO_COMPLEX


class Left(SchemaModel):
    left: int | None = None
    next: Left | Right | None = None


class Right(SchemaModel):
    right: int | None = None
    next: Left | Right | None = None


SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "object", "properties": {name: {"type": "integer"}, "next": {"$ref": "#"}}}
        for name in ("left", "right")
    ]
}
Either = Left | Right
DEEP = '{"left":1,"next":' * 50 + "{}" + "}" * 50


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_exact", [True, False])
def test_alternatives_that_multiply_are_refused_with_one_issue(*, is_exact: bool) -> None:
    codec = SchemaCodec[Any](None, __name__, "Either", {"Either": json.dumps(SCHEMA)}, is_exact=is_exact)
    with pytest.raises(ToolValidationError) as raised:
        codec.decode(DEEP)
    assert raised.value.issues == (TOO_COMPLEX,)
    assert codec.decode('{"left":1,"next":' * 5 + "{}" + "}" * 5)


TRIED: list[int] = []


def tried(value: int) -> int:
    TRIED.append(value)
    return value


class One(BaseModel):
    """A class of a function's."""

    one: Annotated[int, AfterValidator(tried)]
    next: One | Two | None = None


class Two(BaseModel):
    """Another one."""

    two: Annotated[int, AfterValidator(tried)]
    next: One | Two | None = None


async def recursive(value: One | Two) -> Branch | Twig:
    """Take what may hold itself, and give the like."""
    found: Branch | Twig = {"leaf": 1}
    for _ in range(50):
        found = {"branch": 1, "next": found}
    return found


class Branch(TypedDict):
    """A result that may hold itself."""

    branch: Annotated[int, AfterValidator(tried)]
    next: NotRequired[Branch | Twig]


class Twig(TypedDict):
    """Another one."""

    leaf: Annotated[int, AfterValidator(tried)]
    next: NotRequired[Branch | Twig]


async def test_a_function_of_recursive_classes_tries_one_branch_a_level() -> None:
    made = Runtime()
    made.tools.register(function_toolset("x.deep", [recursive]))
    TRIED.clear()
    document = '{"one":1,"next":' * 50 + '{"two":2}' + "}" * 50
    result = await made.call("recursive", f'{{"value":{document}}}')
    assert result.status == "ok"
    assert len(TRIED) == 51 + 51
    document = document.replace('"two":2', '"three":3')
    wrong = await made.call("recursive", f'{{"value":{document}}}')
    assert len(json.loads(wrong.json)["issues"]) == 2
