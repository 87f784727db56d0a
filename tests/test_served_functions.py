"""A project of functions without a design: the commands serve them as they are."""

from __future__ import annotations

import json

import pytest

from .conftest import ProjectFolder
from .service_projects import FUNCTIONS, ROOMS

SETTINGS = '[tool.toolgen]\nfunctions = ["app.rooms", "app.desk:till"]\n'
MODULE = '''\
"""Rooms of an office."""

booked = {}


def book_room(room: str, guest: str = "nobody") -> dict[str, str]:
    """Book a room.

    Args:
        room: Name of the room.
    """
    booked[room] = guest
    return {"number": f"{room}-{len(booked)}"}


async def cancelBooking(number: str) -> None:
    booked.pop(number.partition("-")[0], None)


def _private(room: str) -> None: ...
'''
DESK = '''\
import functools


class Till:
    """The till of a shop."""

    def __init__(self, cents: int) -> None:
        self.cents = cents

    def pay(self, cents: int) -> int:
        self.cents += cents
        return self.cents

    def _count(self) -> int:
        return self.cents


till = Till(5)


def add(a: int, b: int) -> int:
    return a + b


add_two = functools.partial(add, 2)
'''


@pytest.fixture
def served(project: ProjectFolder) -> ProjectFolder:
    project.write("app/rooms.py", MODULE)
    project.write("app/desk.py", DESK)
    project.write("pyproject.toml", SETTINGS)
    return project


def test_functions_and_methods_answer_without_a_design(served: ProjectFolder) -> None:
    done = served.run("call", "book_room", '{"room": "blue"}')
    assert (done.code, done.out, done.err) == (0, '{"number":"blue-1"}\n', "")
    assert served.run("call", "local.rooms.cancel_booking", '{"number": "blue-1"}').out == "{}\n"
    assert served.run("call", "pay", '{"cents": 3}').out == "8\n"
    done = served.run("call", "book_room", "{}")
    assert (done.code, json.loads(done.out)["issues"][0]["path"]) == (1, "$.room")


def test_their_schemas_and_names_are_printed(served: ProjectFolder) -> None:
    listed = served.run("tools", "list")
    assert listed.out.split() == ["local.rooms.book_room", "local.rooms.cancel_booking", "local.till.pay"]
    done = served.run("schema", "--for", "openai", "--tool", "book_room")
    (tool,) = json.loads(done.out)
    assert tool["function"]["description"] == "Book a room."
    assert tool["function"]["parameters"]["properties"]["room"]["description"] == "Name of the room."
    done = served.run("schema", "--for", "openai", "--tool", "fly")
    assert (done.code, "error: the project has no tool 'fly'" in done.err) == (2, True)


def test_the_progress_of_a_generator_is_shown(served: ProjectFolder) -> None:
    text = (
        "from collections.abc import Generator\n\n\n"
        "def export() -> Generator[str | float | list[int], None, int]:\n"
        '    yield "half"\n    yield 0.5\n    yield [1]\n    return 2\n'
    )
    served.write("app/rooms.py", text)
    done = served.run("call", "export", "{}")
    assert (done.code, done.out) == (0, "2\n")
    assert done.err.splitlines() == ["export: half", "export: 50%", "export: [1]"]


def test_methods_of_a_class_that_need_no_object_answer(served: ProjectFolder) -> None:
    text = (
        "class Clock:\n"
        "    @staticmethod\n    def hours(days: int) -> int:\n        return days * 24\n\n"
        "    @classmethod\n    def name(cls) -> str:\n        return cls.__name__\n"
    )
    served.write("app/rooms.py", text)
    served.write("pyproject.toml", '[tool.toolgen]\nfunctions = ["app.rooms:Clock"]\n')
    assert served.run("call", "local.clock.hours", '{"days": 2}').out == "48\n"
    assert served.run("call", "name", "{}").out == '"Clock"\n'


def test_a_part_of_a_module_may_be_named(served: ProjectFolder) -> None:
    served.write("pyproject.toml", '[tool.toolgen]\nfunctions = ["app.desk:add", "app.desk:add_two"]\n')
    assert served.run("tools", "list").out.split() == ["local.desk.add", "local.desk.add_two"]
    assert served.run("call", "add_two", '{"b": 3}').out == "5\n"


def test_beside_a_design_they_are_further_toolsets(served: ProjectFolder) -> None:
    served.write("app/hotel.py", ROOMS)
    served.write("app/design.py", FUNCTIONS.replace('"app.rooms', '"app.hotel'))
    served.write("pyproject.toml", f'{SETTINGS}design = "app.design"\nout = "app/gen"\n')
    assert served.run("gen").code == 0
    assert "local.till.pay" in served.run("tools", "list").out
    assert served.run("call", "book", '{"room": "blue"}').code == 0
    names = [tool["function"]["name"] for tool in json.loads(served.run("schema", "--for", "openai").out)]
    assert {"book", "pay"} <= set(names)


def test_what_cannot_be_a_tool_is_left_out_of_a_whole_module(served: ProjectFolder) -> None:
    served.write("app/rooms.py", f"{MODULE}\n\ndef spread(*numbers: int) -> int: ...\n")
    done = served.run("call", "book_room", '{"room": "blue"}')
    assert done.code == 0
    assert done.err.startswith(
        "warning: app.rooms is served without one of its functions: function 'spread' cannot be a tool: *numb"
    )


@pytest.mark.parametrize(
    ("entry", "text", "message"),
    [
        ("app.nowhere", "", "the module 'app.nowhere' was not found"),
        ("app.rooms", "1 / 0", "app.rooms cannot be imported:\n"),
        ("app.rooms", "size = 3", "app.rooms defines no public function"),
        ("app.rooms:size", "size = 3", "app.rooms has no function 'size': it is of type int"),
        (
            "app.rooms:Size",
            "class Size: ...",
            "app.rooms:Size is a class, and its methods need an instance\n",
        ),
        (
            "app.rooms:Size",
            "class Size:\n    def grow(self) -> None: ...",
            "its method 'grow' needs an instance\n  hint: write size = Size(…) in the module, and use app",
        ),
        ("app.rooms:fly", "size = 3", "app.rooms has no function 'fly'"),
        (
            "app.rooms",
            "def spread(*numbers: int) -> int: ...",
            "app.rooms has no function that can be a tool:\n  function 'spread' cannot be a tool:\n    *num",
        ),
        ("app.rooms", "def pay() -> None: ...", "has two tools 'pay': in app.rooms and in app.desk.till"),
    ],
)
def test_mistakes_are_named(served: ProjectFolder, entry: str, text: str, message: str) -> None:
    served.write("app/rooms.py", f"{text}\n")
    served.write("pyproject.toml", f'[tool.toolgen]\nfunctions = ["{entry}", "app.desk:till"]\n')
    done = served.run("call", "pay", '{"cents": 3}')
    assert done.code == 2
    assert message in done.err


def test_what_needs_a_design_says_so(served: ProjectFolder) -> None:
    done = served.run("gen")
    assert done.code == 2
    assert "has no design, only functions\n  hint: to create a design" in done.err
