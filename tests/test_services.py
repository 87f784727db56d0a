"""Services with a transport, from the design to a call that answers: no code but the design."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest

from tests.cases.functions.gen.rooms.functions import RoomsFunctions as Rooms
from tests.cases.http.gen.books import BooksClient, DescribePayload, DescribeResult
from tests.cases.http.gen.loans import LoansClient
from tests.golden import design
from tests.service_projects import FUNCTIONS, ROOMS, SETTINGS, generate
from tests.service_projects import rooms as rooms
from tests.service_projects import server as server
from tests.service_projects import tariffs as tariffs
from toolgen.capabilities import EnvironmentCredentials
from toolgen.clients import HTTP as HTTPTransport
from toolgen.clients import Function, FunctionsClient, HTTPClient, Operation
from toolgen.runtime import Runtime
from toolgen.shapes.naming import CLIENT_NAMES, module_name

from .conftest import ProjectFolder, surroundings


def test_an_api_answers_calls_without_code(tariffs: ProjectFolder) -> None:
    assert not (tariffs.path / "executors").exists()
    first = tariffs.run("call", "list_prices", '{"zone": "north"}')
    assert (first.code, json.loads(first.out)) == (
        0,
        {"prices": [{"hour": 0, "cents": 31}], "next": "b", "returned": 1, "truncated": True},
    )
    last = tariffs.run("call", "list_prices", '{"zone": "north", "cursor": "b"}')
    assert json.loads(last.out) == {"prices": [{"hour": 1, "cents": 29}], "returned": 1, "truncated": False}


def test_a_declared_error_of_an_api_is_that_of_the_tool(tariffs: ProjectFolder) -> None:
    done = tariffs.run("call", "list_prices", '{"zone": "south"}')
    assert done.code == 1
    assert json.loads(done.out)["code"] == "unknown_zone"


@pytest.mark.exhaustive
def test_a_missing_credential_is_waited_for_and_kept(
    tariffs: ProjectFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOOLGEN_TARIFFS__KEY")
    tariffs.write("pyproject.toml", f'{SETTINGS}runs = "runs.db"\n')
    waits = tariffs.run("call", "list_prices", '{"zone": "north"}', "--session", "s")
    assert (waits.code, waits.out) == (3, "")
    id_ = tariffs.run("approve").out.split()[0]
    given = tariffs.run("approve", id_, "--scope", "service", piped="k-1\n")
    assert (given.code, json.loads(given.out)["returned"]) == (0, 1), given.err
    assert tariffs.run("call", "list_prices", '{"zone": "north"}').code == 0
    assert (tariffs.path / "runs.db.credentials").exists()


def test_a_missing_credential_is_named(tariffs: ProjectFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOOLGEN_TARIFFS__KEY")
    done = tariffs.run("call", "list_prices", '{"zone": "north"}')
    assert done.code == 1
    assert "TOOLGEN_TARIFFS__KEY" in json.loads(done.out)["error"]


def test_functions_answer_calls_without_code(rooms: ProjectFolder) -> None:
    done = rooms.run("call", "book", '{"room": "blue"}')
    assert (done.code, json.loads(done.out)) == (0, {"number": "blue-1"})
    assert rooms.run("gen", "--check").code == 0
    assert rooms.run("stubs", "--check").code == 0


@pytest.mark.exhaustive
def test_calls_wait_in_the_file_of_the_settings(rooms: ProjectFolder) -> None:
    confirmed = FUNCTIONS.replace("Args(ROOM),", "Args(ROOM), Confirm(),").replace(
        "Args, ", "Args, Confirm, ", 1
    )
    generate(rooms, confirmed)
    denied = rooms.run("call", "book", '{"room": "blue"}')
    assert denied.code == 1
    assert json.loads(denied.out)["code"] == "approval_unavailable"
    rooms.write("pyproject.toml", f'{SETTINGS}runs = "runs.db"\n')
    waits = rooms.run("call", "book", '{"room": "blue"}')
    run = re.search("run: (call_[0-9a-f]+)", waits.err)
    assert waits.code == 3
    assert run
    listed = rooms.run("approve")
    answered = rooms.run("approve", listed.out.split()[0], "--yes")
    assert (answered.code, json.loads(answered.out)) == (0, {"number": "blue-1"}), answered.err


OVERRIDE = """\
from app.gen.assistant.toolsets import bookings
from toolgen.runtime import ToolContext


class Bookings(bookings.BoundBookingsExecutor):
    async def book(self, payload: bookings.BookPayload, ctx: ToolContext) -> bookings.BookResult:
        return bookings.BookResult(number="mine")
"""
MAIN = """\
from app.gen.assistant.toolsets import bookings
from executors.assistant.bookings import Bookings
from toolgen.runtime import Runtime


def runtime() -> Runtime:
    runtime = Runtime()
    runtime.tools.register(bookings.registration(Bookings()))
    return runtime
"""


def test_an_executor_of_the_author_stands_in_the_place_of_the_client(rooms: ProjectFolder) -> None:
    rooms.write("executors/assistant/bookings.py", OVERRIDE)
    done = rooms.run("call", "book", '{"room": "blue"}')
    assert done.code == 2
    assert "assistant.bookings (the executor in executors/assistant/bookings.py)" in done.err
    rooms.write("app/main.py", MAIN)
    rooms.write("pyproject.toml", f'{SETTINGS}runtime = "app.main:runtime"\n')
    done = rooms.run("call", "book", '{"room": "blue"}')
    assert done.code == 0, done.err
    assert json.loads(done.out) == {"number": "mine"}
    assert rooms.run("stubs", "--check").code == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("changes", "need"),
    [
        ({', BindTo("Rooms", "book_room")': ""}, "an executor"),
        ({'    Functions("app.rooms"),\n': ""}, "an executor"),
        (
            {
                "Payload(ROOM)": 'Payload(ROOM, Attribute("tenant", String, "Whose it is."))',
                'BindTo("Rooms", "book_room")': 'BindTo("Rooms", "book_room"), Inject("tenant")',
            },
            "an interceptor that fills 'tenant'",
        ),
        (
            {
                ', BindTo("Rooms", "book_room")': "",
                '"Tools.", bookings': '"Tools.", Agent("clerk", "Books rooms.", Export(bookings))',
            },
            "the agent assistant.clerk",
        ),
    ],
)
def test_code_that_a_toolset_needs_is_named(rooms: ProjectFolder, changes: dict[str, str], need: str) -> None:
    design = FUNCTIONS
    for old, new in changes.items():
        design = design.replace(old, new)
    generate(rooms, design)
    done = rooms.run("call", "book", '{"room": "blue"}')
    assert done.code == 2
    assert f"has no runtime, but these toolsets need code: assistant.bookings ({need})\n" in done.err
    assert "hint: add runtime =" in done.err


def test_what_was_generated_of_an_earlier_design_is_generated_again(rooms: ProjectFolder) -> None:
    generate(rooms, FUNCTIONS.replace('    Functions("app.rooms"),\n', ""))
    rooms.write("app/design.py", FUNCTIONS)
    (rooms.path / "executors/assistant/bookings.py").unlink()
    done = rooms.run("call", "book", '{"room": "blue"}')
    assert done.code == 2
    assert "app.gen.assistant.toolsets.bookings cannot be registered; run: toolgen gen" in done.err
    shutil.rmtree(rooms.path / "app/gen")
    done = rooms.run("call", "book", '{"room": "blue"}')
    assert done.code == 2
    assert "app.gen.assistant.toolsets.bookings cannot be registered; run: toolgen gen" in done.err


def test_a_subclass_of_a_client_overrides_a_method(
    rooms: ProjectFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(rooms.path))
    service, toolset = (import_module(f"app.gen.{name}") for name in ("rooms", "assistant.toolsets.bookings"))

    class Rooms(service.RoomsFunctions):  # type: ignore[misc, name-defined]
        async def book_room(self, payload: Any) -> Any:
            booked = await super().book_room(payload)
            return booked.model_copy(update={"number": booked.number.upper()})

    runtime = Runtime()
    runtime.tools.register(toolset.registration(toolset.BoundBookingsExecutor(rooms=Rooms())))
    result = asyncio.run(runtime.call("book", {"room": "blue"}))
    assert json.loads(result.json) == {"number": "BLUE-1"}


def test_functions_that_do_not_fit_are_named_before_a_call(rooms: ProjectFolder) -> None:
    rooms.write("app/rooms.py", ROOMS.replace("room: str", "place: str"))
    done = rooms.run("call", "book", '{"room": "blue"}')
    assert done.code == 2
    assert "app.rooms:book_room" in done.err


@pytest.mark.parametrize("case", ["http", "functions"])
def test_generated_constants_are_the_values_of_the_design(case: str) -> None:
    for service in design(case).services:
        for kind in service.clients:
            module = import_module(f"tests.cases.{case}.gen.{module_name(service.name)}.{kind}")
            operations = {
                operation.name: operation.transport
                for operation in vars(module).values()
                if isinstance(operation, Operation)
            }
            transport = HTTPTransport if kind == "client" else Function
            methods = [method for method in service.methods if isinstance(method.transport, transport)]
            assert operations == {method.name: method.transport for method in methods}
            if kind == "client":
                assert getattr(module, f"{service.name}Client").servers == service.servers


def test_the_names_of_clients_are_kept_from_methods() -> None:
    public = {name for client in (HTTPClient, FunctionsClient) for name in dir(client) if name[0] != "_"}
    assert public == CLIENT_NAMES
    assert Rooms.send is FunctionsClient.send
    assert {"book_room", "cancel", "send_"} <= set(vars(Rooms))


def test_a_client_is_abstract_where_methods_have_no_transport() -> None:
    with pytest.raises(TypeError, match="remind"):
        LoansClient()  # type: ignore[abstract]
    assert "`remind`" in str(LoansClient.__doc__)


async def test_a_schema_that_somebody_else_wrote_decodes(server: str) -> None:
    books = BooksClient(
        server=server, credentials=EnvironmentCredentials({"TOOLGEN_BOOKS__LIBRARY_KEY": "k-1"})
    )
    async with books:
        described = await books.describe(DescribePayload(isbn="0-306-40615-2"))
    assert type(described) is DescribeResult
    assert (described.pages, described.more) == (120, {"colour": ["red"]})


@pytest.mark.exhaustive
def test_a_client_is_made_at_its_first_call(tariffs: ProjectFolder) -> None:
    code = (
        "import sys\n"
        "from app.gen.assistant.toolsets import prices\n"
        "from toolgen.runtime import Runtime\n"
        "Runtime().tools.register(prices.registration())\n"
        "print([name for name in sys.modules if name in ('httpx', 'app.gen.tariffs.client')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tariffs.path, env=surroundings(), capture_output=True, text=True
    )
    assert done.stdout == "[]\n", done.stderr
