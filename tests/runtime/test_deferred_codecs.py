"""When the codecs of functions are built: what is wrong is said at once, what costs is built at first use."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Annotated, Any

import pytest
from pydantic import Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema

from tests.runtime.tools import META
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.runtime import RegistrationError, Runtime, ToolValidationError
from toolgen.runtime.functions import Sensitive, TypeCodec

FUNCTIONS = 100


class Watched:
    """Calls a function whenever pydantic asks for the schema of a type that has it."""

    def __init__(self) -> None:
        self.asked = 0
        self.on_ask: Callable[[], object] = int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        self.asked += 1
        self.on_ask()
        return handler(source)


@pytest.fixture
def built() -> Iterator[list[str]]:
    """The names of the codecs that are built meanwhile, each of which compiles its validators."""
    names: list[str] = []
    build = TypeCodec.__init__

    def counted(self: TypeCodec[Any], type_: Any, name: str, **options: Any) -> None:
        names.append(name)
        build(self, type_, name, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TypeCodec, "__init__", counted)
        yield names


def functions(watched: Watched, count: int = FUNCTIONS) -> list[Callable[..., Any]]:
    """Return functions of the same types, each with a text and a name of its own."""

    def one(number: int) -> Callable[..., Any]:
        def echo(text: Any, times: int = 3, mark: str | None = None) -> Any:
            return text

        echo.__name__ = f"echo_{number}"
        echo.__annotations__["text"] = Annotated[str, watched, Field(description=f"Text {number}.")]
        echo.__annotations__["return"] = Annotated[str, watched]
        return echo

    return [one(number) for number in range(count)]


async def test_codecs_of_functions_are_built_at_their_first_use(built: list[str]) -> None:
    watched = Watched()
    made = functions(watched)
    func_tool(made[0])
    known, asked = len(built), watched.asked
    assert known <= 4, "a check of each type"

    runtime = Runtime()
    runtime.tools.register(function_toolset("x.echoes", made))
    assert (len(built), watched.asked) == (known, asked), "the other 99 build nothing"

    for _ in range(2):
        result = await runtime.call("echo_7", {"text": "a"}, META)
        assert result.json == b'"a"'
        assert built[known:] == ["Echo7Payload", "Echo7Result"]
    properties = runtime.tools.spec("echo_8").payload.schema["properties"]
    assert properties["text"]["description"] == "Text 8."
    assert built[known + 2 :] == ["Echo8Payload"]


def test_a_deferred_codec_is_that_of_its_type() -> None:
    [function] = functions(Watched(), 1)
    spec = func_tool(function).spec
    direct: TypeCodec[str] = TypeCodec(str, "Echo0Result", is_result=True)
    assert (type(spec.result), repr(spec.result)) == (TypeCodec, "TypeCodec(Echo0Result)")
    assert spec.result.schema_json == direct.schema_json
    assert not hasattr(spec.result, "other")
    with pytest.raises(ToolValidationError, match="times"):
        func_tool(function).spec.payload.decode('{"text": "a", "times": "b"}')


@pytest.mark.parametrize("annotation", [dict[int, str], object(), Annotated[dict[int, str], []]])
def test_what_is_wrong_is_said_at_once_also_beside_known_types(annotation: Any) -> None:
    def take(text: str, value: Any) -> str:
        return text

    func_tool(take)
    take.__annotations__["value"] = annotation
    for _ in range(2):
        with pytest.raises(RegistrationError, match="the type of the parameter 'value' has no JSON"):
            func_tool(take)
    take.__annotations__ |= {"value": str, "return": annotation}
    with pytest.raises(RegistrationError, match="the result type has no JSON Schema"):
        func_tool(take)


def test_what_is_known_of_a_type_is_not_said_of_another() -> None:
    def take(first: Annotated[str, Sensitive()], second: str, third: Any = 3) -> str:
        return first

    take.__defaults__ = (Field(3, ge=1),)
    for _ in range(2):
        spec = func_tool(take).spec
        assert (spec.payload.sensitive, spec.result.sensitive) == (("/first",), ())
        assert spec.payload.schema["properties"]["third"]["default"] == 3
    take.__annotations__["return"] = Annotated[str, Sensitive()]
    assert func_tool(take).spec.result.sensitive == ("",)


def test_copies_of_a_spec_have_its_class() -> None:
    spec = func_tool(functions(Watched(), 1)[0]).spec
    copies = [copy.deepcopy(spec), copy.copy(spec), copy.deepcopy(copy.deepcopy(spec))]
    value = copies[0].payload.decode('{"text": "a"}')
    for other in (spec, *copies):
        assert type(value) is other.payload.type
        assert other.payload.encode(value) == b'{"text":"a","times":3}'

    def count(text: str) -> int:
        return len(text)

    result = func_tool(count).spec.result
    assert pickle.loads(pickle.dumps(result)).decode("5") == result.decode("5") == 5


def test_threads_that_use_a_codec_first_have_one_class() -> None:
    watched = Watched()
    payload = func_tool(functions(watched, 1)[0]).spec.payload
    both = Barrier(2, timeout=60)
    arrived: list[int] = []

    def meet() -> None:
        if len(arrived) < 2:
            arrived.append(1)
            both.wait()  # each is within its own build

    watched.on_ask = meet
    with ThreadPoolExecutor(2) as threads:
        values = list(threads.map(payload.decode, ['{"text": "a"}'] * 2))
    assert [type(value) for value in values] == [payload.type] * 2
