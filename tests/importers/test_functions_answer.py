"""Imported functions answer as they are: import, generate, call, without a line of code."""

from __future__ import annotations

import json

import pytest

from tests.conftest import ProjectFolder, in_a_process
from tests.conftest import project as project
from tests.selection import first

MODULE = '''\
"""Rooms of an office."""

import datetime as dt
import enum
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict

from pydantic import BaseModel, Field

from toolgen.runtime import ToolContext


class Kind(enum.Enum):
    BIG = "big"
    SMALL = "small"


@dataclass
class Point:
    x: int
    y: int = 1


class Options(TypedDict):
    deep: bool


class Report(BaseModel):
    when: dt.date
    kind: Kind
    point: Point
    children: list["Report"] = []


class Named(BaseModel):
    name: str = Field(default="none", alias="theName")


class Desk:
    """A desk of an office."""

    def __init__(self) -> None:
        self.used = 0

    def use(self, hours: int) -> int:
        """Use it."""
        self.used += hours
        return self.used


desk = Desk()


def report(
    point: Point, options: Options, schema: str, copy: Annotated[int, Field(ge=1)], kind: Kind = Kind.BIG
) -> Report:
    """Report it."""
    assert isinstance(point, Point) and isinstance(kind, Kind) and type(options) is dict
    return Report(when=dt.date(2026, 1, copy), kind=kind, point=point)


def shift(points: list[Point], tags: set[str]) -> list[Point]:
    """Shift them."""
    return [Point(point.x + len(tags), point.y) for point in points]


async def day(of: dt.date | None = None) -> dict[str, int]:
    """Tell the day."""
    return {"day": of.day} if of else {}


def forget(name: str) -> None:
    """Forget it."""


def rename(named: Named, at: Path = Path("a")) -> Named:
    """Rename it."""
    return Named(theName=f"{named.name} {at}")


def place(of: str) -> Path:
    """Find its place."""
    return Path("/", of)
'''
SETTINGS = '[tool.toolgen]\ndesign = "app.{}_design"\nout = "app/gen"\n'


def imported(project: ProjectFolder, source: str, name: str, text: str = MODULE) -> str:
    """Import and generate, and return what the import said."""
    project.write("app/rooms.py", text)
    done = project.run("import", "python", source, "--out", "app")
    assert done.code == 0, done.err
    project.write("pyproject.toml", SETTINGS.format(name))
    generated = project.run("gen")
    assert generated.code == 0, generated.err
    return done.err


def answer(project: ProjectFolder, tool: str, arguments: object) -> object:
    done = project.run("call", tool, json.dumps(arguments))
    assert done.code == 0, done.out + done.err
    return json.loads(done.out)


@pytest.mark.exhaustive
@pytest.mark.parametrize("source", first(["app.rooms", "app/rooms.py"]))
def test_a_whole_module_answers(project: ProjectFolder, source: str) -> None:
    assert imported(project, source, "rooms").endswith("\nimported 6 tools\n")
    arguments = {"point": {"x": 2}, "options": {"deep": True}, "schema": "s", "copy": 3}
    assert answer(project, "report", {**arguments, "kind": "small"}) == {
        "when": "2026-01-03",
        "kind": "small",
        "point": {"x": 2, "y": 1},
        "children": [],
    }
    assert answer(project, "report", arguments)["kind"] == "big"  # type: ignore[index]  # an object
    shifted = answer(project, "shift", {"points": [{"x": 1}], "tags": ["a", "b"]})
    assert shifted == {"result": [{"x": 3, "y": 1}]}
    assert answer(project, "day", {"of": "2026-02-05"}) == {"result": {"day": 5}}
    assert answer(project, "day", {}) == {"result": {}}
    assert answer(project, "forget", {"name": "x"}) == {}
    assert answer(project, "rename", {"named": {"theName": "x"}, "at": "b"}) == {"theName": "x b"}
    assert answer(project, "place", {"of": "x"}) == {"result": "/x"}
    refused = project.run("call", "report", json.dumps({**arguments, "copy": 0}))
    assert json.loads(refused.out)["issues"][0]["path"] == "$.copy"


@pytest.mark.exhaustive
def test_one_function_and_the_methods_of_an_object_answer(project: ProjectFolder) -> None:
    imported(project, "app.rooms:shift", "rooms")
    assert answer(project, "shift", {"points": [], "tags": []}) == {"result": []}
    imported(project, "app.rooms:desk", "desk")
    assert '"A desk of an office."' in (project.path / "app/desk_design.py").read_text()
    assert answer(project, "use", {"hours": 3}) == {"result": 3}


def test_generators_and_positions_answer(project: ProjectFolder) -> None:
    text = '''\
from collections.abc import AsyncIterator, Generator


def export(months: int, /, first: int = 1) -> Generator[str, None, dict[str, int]]:
    """Export months."""
    yield f"month {first}"
    return {"months": months}


async def count(to: int) -> AsyncIterator[int]:
    """Count."""
    for number in range(to):
        yield number
'''
    imported(project, "app.rooms", "rooms", text)
    done = project.run("call", "export", '{"months": 2}')
    assert (done.out, done.err) == ('{"result":{"months":2}}\n', "export: month 1\n")
    assert answer(project, "count", {"to": 2}) == {"result": [0, 1]}


@pytest.mark.exhaustive
def test_a_file_below_the_folder_is_imported_by_its_path(project: ProjectFolder) -> None:
    project.write("scripts/deep/halls.py", "def size(hall: str) -> int:\n    return len(hall)\n")
    done = project.run("import", "python", "scripts/deep/halls.py", "--out", "app")
    assert "warning: tool 'size'" in done.err
    assert "import-not-importable" not in done.err
    assert 'd.Functions("scripts.deep.halls")' in (project.path / "app/halls_design.py").read_text()
    project.write("pyproject.toml", SETTINGS.format("halls"))
    assert project.run("gen").code == 0
    called = in_a_process(project.path, "-m", "toolgen", "call", "size", '{"hall": "abc"}')
    assert called.stdout == '{"result":3}\n', called.stderr


@pytest.mark.exhaustive
def test_a_file_that_its_module_does_not_name_is_warned_of(
    project: ProjectFolder, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "halls.py"
    elsewhere.write_text('def size(hall: str) -> int:\n    """Size it."""\n    return len(hall)\n')
    done = project.run("import", "python", str(elsewhere), "--out", "app")
    assert done.code == 0
    assert "warning: Python cannot import 'halls' from here" in done.err
    assert f"hint: put its file below {project.path}, or install its package" in done.err
    project.write("pyproject.toml", SETTINGS.format("halls"))
    assert project.run("gen").code == 0
    called = in_a_process(project.path, "-m", "toolgen", "call", "size", '{"hall": "abc"}')
    assert called.returncode == 2
    assert "the module 'halls' of halls:size does not exist; install it, or put it below" in called.stderr


@pytest.mark.exhaustive
def test_what_types_do_not_say_stays_a_schema(project: ProjectFolder) -> None:
    text = '''\
from typing import Annotated

from pydantic import BaseModel, Field

Even = Annotated[int, Field(json_schema_extra={"not": {"const": 3}})]


class Tree(BaseModel):
    number: Even
    inner: list["Tree"] = []


def plant(tree: Tree, number: Even = 2) -> int:
    """Plant it."""
    return tree.number + number
'''
    imported(project, "app.rooms", "rooms", text)
    assert "d.JSONSchema(" in (project.path / "app/rooms_design.py").read_text()
    assert answer(project, "plant", {"tree": {"number": 2}}) == {"result": 4}
    assert project.run("call", "plant", '{"tree": {"number": 3}}').code == 1


def test_a_sensitive_parameter_stays_sensitive(project: ProjectFolder) -> None:
    text = '''
from typing import Annotated

from toolgen.runtime.functions import Sensitive

KEY = "sk-123456"
Secret = Annotated[str, Sensitive()]


def send(text: str, key: Secret = KEY, pins: list[Secret] = ["9876"], old: Secret | None = None) -> Secret:
    """Send a text."""
    return f"{text} by {key} and {pins}"
'''
    imported(project, "app.rooms", "rooms", text)
    design = (project.path / "app/rooms_design.py").read_text()
    assert design.count("sensitive=True") == 4
    assert "x-toolgen-sensitive" not in design
    for file in project.path.rglob("*"):
        if file.is_file() and file.name != "rooms.py" and "__pycache__" not in file.parts:
            assert b"sk-123456" not in file.read_bytes(), file
    done = project.run("call", "send", '{"text": "hello"}')
    assert "sk-123456" not in done.out + done.err
    shown = project.run("call", "send", '{"text": "hello"}', "--show-sensitive")
    assert json.loads(shown.out)["result"] == "hello by sk-123456 and ['9876']"


def test_what_has_no_annotation_answers(project: ProjectFolder) -> None:
    said = imported(
        project,
        "app.rooms",
        "rooms",
        'def echo(value, times=2):\n    """Echo."""\n    return [value] * times\n',
    )
    assert said.endswith("imported 1 tool; 3 warnings\n")
    assert answer(project, "echo", {"value": {"a": None}}) == {"result": [{"a": None}, {"a": None}]}
    assert answer(project, "echo", {"value": 1, "times": 1}) == {"result": [1]}


@pytest.mark.exhaustive
def test_a_function_that_takes_the_context_keeps_its_executor(project: ProjectFolder) -> None:
    added = (
        MODULE
        + '\n\ndef stream(ctx: ToolContext, text: str) -> str:\n    """Stream it."""\n    return text\n'
    )
    said = imported(project, "app.rooms", "rooms", added)
    assert "tool 'stream' at /ctx: the parameter 'ctx' takes the call context" in said
    done = project.run("call", "shift", '{"points": [], "tags": []}')
    assert "these toolsets need code: rooms.rooms (an executor)" in done.err


@pytest.mark.exhaustive
def test_a_type_that_refers_to_itself_leaves_the_other_attributes_as_they_are(project: ProjectFolder) -> None:
    text = '''\
import datetime as dt
from dataclasses import dataclass


@dataclass
class Item:
    name: str
    parts: tuple[str, int] = ("x", 1)
    parent: "Item | None" = None


@dataclass
class Place:
    room: str


Pair = tuple[int, int]


def keep(item: Item, place: Place, day: dt.date, tags: list[str] = ["a"], pair: Pair = (1, 2)) -> Item:
    """Keep it."""
    assert isinstance(item, Item) and isinstance(place, Place) and isinstance(day, dt.date)
    assert pair == (1, 2) and tags == ["a"]
    return Item(place.room, parent=item)
'''
    said = imported(project, "app.rooms", "rooms", text)
    assert "import-internal-error" not in said
    assert not list(project.path.glob("app/*_schemas"))
    design = (project.path / "app/rooms_design.py").read_text()
    assert 'd.Attribute("day", d.Date, None, required=True)' in design
    assert 'd.Attribute("tags", d.ArrayOf(d.String), None, default=["a"])' in design
    assert "default=[1, 2]" in design
    assert '"Place": {' not in design, "no definition stands where nothing refers to it"
    arguments = {"item": {"name": "a", "parent": {"name": "b"}}, "place": {"room": "r"}, "day": "2026-01-02"}
    kept = answer(project, "keep", arguments)
    assert kept["parent"]["parent"]["name"] == "b"  # type: ignore[index]  # an object


def test_bytes_are_base64_in_both_directions(project: ProjectFolder) -> None:
    text = '''\
from dataclasses import dataclass


@dataclass
class Blob:
    data: bytes


def join(blob: Blob, more: list[bytes], last: bytes = b"") -> bytes:
    """Join them."""
    return blob.data + b"".join(more) + last
'''
    imported(project, "app.rooms", "rooms", text)
    arguments = {"blob": {"data": "/w=="}, "more": ["YQ=="], "last": "Yg=="}
    assert answer(project, "join", arguments) == {"result": "/2Fi"}


def test_a_default_is_written_as_the_value_that_it_is_in_python(project: ProjectFolder) -> None:
    text = '''\
import datetime as dt


def wait(
    since: dt.date = dt.date(2026, 1, 2),
    lasts: dt.timedelta = dt.timedelta(hours=1),
    at: dt.datetime | None = dt.datetime(2026, 1, 2, tzinfo=dt.UTC),
    data: bytes = b"datetime.",
) -> str:
    """Wait."""
    return f"{since} {lasts} {at} {data!r}"
'''
    imported(project, "app.rooms", "rooms", text)
    design = (project.path / "app/rooms_design.py").read_text()
    for default in (
        "dt.date(2026, 1, 2)",
        "dt.timedelta(seconds=3600)",
        "dt.datetime(2026, 1, 2, 0, 0, tzinfo=dt.UTC)",
        'b"datetime."',
    ):
        assert f"default={default}" in design
    done = {"result": "2026-01-02 1:00:00 2026-01-02 00:00:00+00:00 b'datetime.'"}
    assert answer(project, "wait", {}) == done


def test_the_fields_of_a_typed_dict_of_keywords_are_arguments(project: ProjectFolder) -> None:
    text = '''
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, NotRequired, TypedDict, Unpack


@dataclass
class Where:
    floor: int


class Wishes(TypedDict):
    day: date
    where: NotRequired[Where]
    length: NotRequired[Annotated[timedelta, "How long."]]


def hold(room: str, **wishes: Unpack[Wishes]) -> str:
    """Hold a room."""
    return f"{room} {sorted(wishes)} {wishes['day']:%d %B} {wishes.get('where')}"
'''
    assert imported(project, "app.rooms", "rooms", text).endswith("\nimported 1 tool\n")
    design = (project.path / "app/rooms_design.py").read_text("utf-8")
    assert 'd.Attribute("day", d.Date, None, required=True)' in design
    assert 'd.Attribute("length", d.Nullable(d.Duration), "How long.")' in design
    arguments = {"room": "blue", "day": "2026-01-02", "where": {"floor": 3}}
    held = "blue ['day', 'where'] 02 January Where(floor=3)"
    assert answer(project, "hold", arguments) == {"result": held}
    project.write("pyproject.toml", '[tool.toolgen]\nfunctions = ["app.rooms"]\n')
    assert answer(project, "hold", arguments) == held
