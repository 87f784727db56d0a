"""Services whose methods are functions."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import sys
import threading
import types
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import BaseModel, Field

from tests.clients.books import Nothing
from toolgen.clients import Function, FunctionsClient, Operation, UnfitAnswerError, calling
from toolgen.runtime import (
    CallMeta,
    MalformedResultError,
    RegistrationError,
    ToolContext,
    ToolError,
    ToolModel,
)
from toolgen.shapes.design.model import OpenModel

MODULE = "rooms_of_the_office"


class Person(ToolModel):
    name: str
    since: dt.date | None = None


class Book(ToolModel):
    room: str
    person: Person
    class_: Annotated[str | None, Field(alias="class")] = None
    guests: int = 0


class Booked(ToolModel):
    id: str
    at: dt.datetime | None = None
    person: Person | None = None


class Id(ToolModel):
    ids: list[str]


def booking(target: str = f"{MODULE}:book", payload: Any = Book, result: Any = Booked) -> Operation[Any, Any]:
    return Operation("Rooms", "book", Function(target), payload=payload, result=result)


@pytest.fixture
def module() -> Iterator[types.ModuleType]:
    """A module of functions, which a test fills."""
    made = types.ModuleType(MODULE)
    sys.modules[MODULE] = made
    yield made
    del sys.modules[MODULE]


def client(*operations: Operation[Any, Any]) -> FunctionsClient:
    made: FunctionsClient = type("RoomsFunctions", (FunctionsClient,), {"operations": operations})()
    return made


PAYLOAD = Book(room="a", person=Person(name="Ann"))


async def returned(module: types.ModuleType, value: Any, result: Any = Booked) -> Any:
    """Return what a client makes of what a function returns."""
    module.book = lambda **arguments: value  # type: ignore[attr-defined]  # a module of the test
    of = booking(result=result)
    return await client(of).send(of, PAYLOAD)


async def test_a_function_gets_the_attributes_by_their_names(module: types.ModuleType) -> None:
    got: list[Any] = []

    def book(room: str, person: Person, *, class_: str = "its own", guests: int = 7) -> Booked:
        got.append((room, person, class_, guests, threading.current_thread() is threading.main_thread()))
        return Booked(id="1")

    module.book = book  # type: ignore[attr-defined]  # a module of the test
    of = booking()
    rooms = client(of)
    assert await rooms.send(of, PAYLOAD) == Booked(id="1")
    await rooms.send(of, Book(room="b", person=Person(name="Bo"), class_="x", guests=1))
    assert got == [("a", Person(name="Ann"), "its own", 0, False), ("b", Person(name="Bo"), "x", 1, False)]


async def test_an_absent_attribute_is_none_where_the_function_needs_it(module: types.ModuleType) -> None:
    module.book = lambda room, person, class_, guests: {"id": repr(class_)}  # type: ignore[attr-defined]  # a module of the test
    of = booking()
    assert await client(of).send(of, PAYLOAD) == Booked(id="None")


async def test_an_asynchronous_function_is_awaited_in_the_loop(module: types.ModuleType) -> None:
    async def book(**arguments: Any) -> dict[str, str]:
        return {"id": str(threading.current_thread() is threading.main_thread())}

    async def late(**arguments: Any) -> dict[str, str]:
        return {"id": "late"}

    module.book = book  # type: ignore[attr-defined]  # a module of the test
    module.late = lambda **arguments: late(**arguments)  # type: ignore[attr-defined]  # a module of the test
    of, of_late = booking(), booking(f"{MODULE}:late")
    assert await client(of).send(of, PAYLOAD) == Booked(id="True")
    assert await client(of_late).send(of_late, PAYLOAD) == Booked(id="late")


async def test_a_method_of_an_object_is_a_function(module: types.ModuleType) -> None:
    class Rooms:
        def book(self, **arguments: Any) -> list[str]:
            return ["1"]

    module.rooms = Rooms()  # type: ignore[attr-defined]  # a module of the test
    of = booking(f"{MODULE}:rooms.book", result=Id)
    assert await client(of).send(of, PAYLOAD) == Id(ids=["1"])


class Other(BaseModel):
    id: str
    at: dt.datetime
    private: int = 1


@dataclass
class Record:
    id: str
    person: Any
    more: int = 0


class Typed(TypedDict):
    id: str


NOON = dt.datetime(2026, 11, 26, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Booked(id="1"), Booked(id="1")),
        ({"id": "1", "at": NOON}, Booked(id="1", at=NOON)),
        ({"id": "1", "at": "2026-11-26T12:00:00Z"}, Booked(id="1", at=NOON)),
        ({"id": "1", "person": Person(name="Ann")}, Booked(id="1", person=Person(name="Ann"))),
        (Other(id="1", at=NOON), Booked(id="1", at=NOON)),
        (Record(id="1", person=Record(id="2", person=None)), None),
        (Record(id="1", person={"name": "Ann", "x": 1}), Booked(id="1", person=Person(name="Ann"))),
        (Typed(id="1"), Booked(id="1")),
    ],
)
async def test_results(module: types.ModuleType, value: Any, expected: Any) -> None:
    if expected is None:
        with pytest.raises(MalformedResultError, match=r"\$\.person\.name is missing"):
            await returned(module, value)
    else:
        assert await returned(module, value) == expected


@pytest.mark.parametrize("value", [["1", "2"], ("1", "2"), {"ids": ["1", "2"]}])
async def test_the_value_of_the_one_attribute_is_a_result(module: types.ModuleType, value: Any) -> None:
    assert await returned(module, value, Id) == Id(ids=["1", "2"])


class Done(ToolModel):
    note: str | None = None


async def test_nothing_is_a_result_without_required_attributes(module: types.ModuleType) -> None:
    assert await returned(module, None, Done) == Done()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            {"id": 1},
            r"rooms_of_the_office:book returned a result that does not fit: "
            r"\$\.id must be a string, not an integer",
        ),
        ("1", "must be an object, not a string"),
        (None, "must be an object, not null"),
        (
            object(),
            "returned a value that has no JSON form: a value of type object cannot be serialized to JSON",
        ),
        ({"id": float("nan")}, "returned a result"),
        ({1: 2}, "has no JSON form"),
    ],
)
async def test_what_is_no_result_is_malformed(module: types.ModuleType, value: Any, message: str) -> None:
    with pytest.raises(MalformedResultError, match=message):
        await returned(module, value)


@pytest.mark.parametrize(
    ("result", "value", "document"),
    [(Booked, {"id": 1}, {"id": 1}), (Booked, 7, 7), (Id, [1, "b"], {"ids": [1, "b"]})],
)
async def test_a_lenient_service_has_what_does_not_fit(
    module: types.ModuleType, result: Any, value: Any, document: Any
) -> None:
    module.book = lambda **arguments: value  # type: ignore[attr-defined]  # a module of the test
    lenient = replace(booking(result=result), is_lenient=True)
    with pytest.raises(UnfitAnswerError, match="returned a result that does not fit") as raised:
        await client(lenient).send(lenient, PAYLOAD)
    assert json.loads(raised.value.document) == document
    assert raised.value.warnings


async def test_a_lenient_service_has_what_is_no_json_as_text(module: types.ModuleType) -> None:
    module.book = lambda **arguments: {"id": float("nan")}  # type: ignore[attr-defined]  # a module of the test
    lenient = replace(booking(), is_lenient=True)
    with pytest.raises(UnfitAnswerError) as raised:
        await client(lenient).send(lenient, PAYLOAD)
    assert json.loads(raised.value.document) == '{"id":NaN}'


async def test_what_holds_itself_is_malformed(module: types.ModuleType) -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(MalformedResultError, match="has no JSON form"):
        await returned(module, value)


async def test_what_a_function_raises_is_raised(module: types.ModuleType) -> None:
    def book(**arguments: Any) -> None:
        raise LookupError("no room")

    module.book = book  # type: ignore[attr-defined]  # a module of the test
    of = booking()
    with pytest.raises(LookupError, match="no room"):
        await client(of).send(of, PAYLOAD)


async def test_a_parameter_without_a_keyword_is_given_by_its_position(module: types.ModuleType) -> None:
    got: list[object] = []

    def book(room: str, guests: int = 7, person: Person | None = None, /, class_: str = "") -> Booked:
        got.append((room, guests, person, class_))
        return Booked(id="1")

    module.book = book  # type: ignore[attr-defined]  # a module of the test
    of = booking()
    await client(of).send(of, PAYLOAD)
    await client(of).send(of, Book(room="b", person=Person(name="Bo"), class_="c", guests=1))
    assert got == [("a", 0, Person(name="Ann"), ""), ("b", 1, Person(name="Bo"), "c")]


@pytest.mark.parametrize("is_async", [False, True])
async def test_what_a_generator_yields_is_progress_of_the_call(
    module: types.ModuleType, is_async: bool
) -> None:
    def book(room: str, **rest: object) -> Iterator[str]:
        yield room
        yield "b"

    async def book_later(room: str, **rest: object) -> AsyncIterator[str]:
        yield room
        yield "b"

    module.book = book_later if is_async else book  # type: ignore[attr-defined]  # a module of the test
    of = booking(result=Id)
    told: list[str] = []
    context = ToolContext(CallMeta(), "office.rooms.book")
    context.report = lambda *, message, **rest: told.append(message)
    with calling(context):
        assert await client(of).send(of, PAYLOAD) == Id(ids=["a", "b"])
    assert told == ["a", "b"]
    assert await client(of).send(of, PAYLOAD) == Id(ids=["a", "b"])  # outside a call nobody listens


class OpenBook(OpenModel):
    room: str
    class_: Annotated[str | None, Field(alias="class")] = None


@pytest.mark.parametrize("key", ["class_", "dry_run", "rest"])
async def test_a_free_key_is_no_other_parameter(module: types.ModuleType, key: str) -> None:
    got: list[Any] = []

    def book(room: str, class_: str = "", dry_run: bool = True, **rest: object) -> None:
        got.append((room, class_, dry_run, rest))

    module.book = book  # type: ignore[attr-defined]  # a module of the test
    of = booking(payload=OpenBook, result=Nothing)
    text = json.dumps({"room": "a", "class": "x", key: "admin"})
    payload = OpenBook.model_validate_json(text, by_alias=True, by_name=False)
    if key == "rest":
        await client(of).send(of, payload)
        assert got == [("a", "x", True, {"rest": "admin"})]
    else:
        with pytest.raises(
            ToolError, match=f"'{key}' is another parameter of {MODULE}:book and cannot be a free key"
        ):
            await client(of).send(of, payload)


async def test_all_that_is_wrong_is_said_at_once(module: types.ModuleType) -> None:
    module.no_guests = lambda room, person, class_=None: None  # type: ignore[attr-defined]  # a module of the test
    module.more = lambda floor, **arguments: None  # type: ignore[attr-defined]  # a module of the test
    module.number = 1  # type: ignore[attr-defined]  # a module of the test
    targets = [
        "no_such_module_anywhere:f",
        *(f"{MODULE}:{name}" for name in ("gone", "number", "no_guests", "more")),
    ]
    with pytest.raises(RegistrationError) as raised:
        client(*map(booking, targets))
    line = module.more.__code__.co_firstlineno
    assert str(raised.value).splitlines() == [
        "RoomsFunctions cannot call its functions:",
        "  the module 'no_such_module_anywhere' of no_such_module_anywhere:f does not exist; install it, or "
        "put it below the folder of pyproject.toml",
        "  the module 'rooms_of_the_office' has no function 'gone'; add it",
        "  the module 'rooms_of_the_office' has no function 'number'; add it",
        f"  {__file__}:{line - 1}: rooms_of_the_office:no_guests does not take 'guests', which the payload "
        "has; add the parameter",
        f"  {__file__}:{line}: rooms_of_the_office:more needs 'floor', which no payload has; "
        "give it a default",
    ]


async def test_a_function_with_almost_the_name_is_meant(module: types.ModuleType) -> None:
    module.__file__ = "rooms.py"
    module.bok = lambda room: None  # type: ignore[attr-defined]  # a module of the test
    with pytest.raises(RegistrationError, match=r"in rooms\.py has no function 'boko'; did you mean 'bok'\?"):
        client(booking(f"{MODULE}:boko"))


async def test_an_import_that_fails_inside_a_module_says_so_itself() -> None:
    broken = types.ModuleType("broken_rooms")
    sys.modules["broken_rooms"] = broken
    try:
        with pytest.raises(RegistrationError, match="'broken_rooms' has no function 'book'"):
            client(booking("broken_rooms:book"))
    finally:
        del sys.modules["broken_rooms"]


async def test_a_thread_is_not_waited_for_by_the_loop(module: types.ModuleType) -> None:
    loop, going, over = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def book(**arguments: Any) -> dict[str, str]:
        loop.call_soon_threadsafe(going.set)
        over.wait()
        return {"id": "1"}

    module.book = book  # type: ignore[attr-defined]  # a module of the test
    of = booking()
    call = asyncio.create_task(client(of).send(of, PAYLOAD))
    await going.wait()
    over.set()
    assert await call == Booked(id="1")
