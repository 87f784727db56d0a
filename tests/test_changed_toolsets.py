"""A run of `toolgen gen` after a change makes the code of the toolsets that changed, and never other code."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import FrameType

import pytest

from tests.conftest import ProjectFolder
from toolgen.cli.last_generation import CACHE

DESIGN = '''\
"""Rooms, people and lamps, for a test."""

import datetime

from toolgen.dsl import *

Place = Type("Place", "A place.", Attribute("name", String, "Its name.", required=True))
Room = Type("Room", "A room.", Attribute("place", Place, "Where it is."), Attribute("size", Int, "In m²."))
State = Enum("State", "Whether it burns.", "on", "off")
rooms = Toolset(
    "rooms",
    "Find rooms.",
    Tool(
        "find_room",
        "Find a room.",
        Args(Attribute("name", String, "Its name.", required=True, max_length=40)),
        Return(Attribute("room", Room, "The room.", required=True)),
    ),
    Tool(
        "old_room",
        "Find a room.",
        Args(Attribute("day", Date, "When.", minimum=datetime.date(2020, 1, 1))),
    ),
)
people = Toolset(
    "people",
    "Talk to people.",
    Tool(
        "greet",
        "Greet a person.",
        Args(Attribute("name", String, "Whom.")),
        Return(Attribute("at", "Place", "Where.")),
    ),
)
lamps = Toolset(
    "lamps",
    "Switch lamps.",
    Tool(
        "switch",
        "Switch a lamp.",
        Args(Attribute("to", State, "To what.", required=True)),
        BindTo("put"),
        Inject("key"),
    ),
    prefix="lamp_",
)
plain = Toolset("plain", "Nothing else.", Tool("ping", "Ping.", Return(Attribute("text", String, "Pong."))))
put = Method(
    "put",
    "Put.",
    Payload(
        Attribute("to", State, "To what.", required=True),
        Attribute("key", String, "A key.", required=True),
    ),
)
hall = Service("hall", "Where people meet.", rooms, people, lamps, plain, put)
design = Design("app", "An application.", hall)
'''
SCHEMA = 'Tool("ping", "Ping.", Args(JSONSchema("ping.json")), '
AGENT = 'plain, put, Agent("clerk", "A clerk.", Use(rooms)))'
UNION = 'Return(Attribute("by", OneOf("by", "Order", name=Object(), size=Object()), "O."), '
BAD = 'plain = Toolset("plain", "N.", Tool("ping", "P.", Args(Attribute("a", object.__new__(OneOf), "A.")), '
OWN = 'class Own(Tool):\n    pass\nplain = Toolset("plain", "Nothing else.", Own("ping", '
TYPE = 'Return(Attribute("spot", Type("Spot", "S.", Attribute("x", Int, "X.")), "S."), '
ALL = ["rooms", "people", "lamps", "plain"]


@pytest.fixture
def project(project: ProjectFolder) -> ProjectFolder:
    """A project of four toolsets, whose last run is recorded."""
    project.write("app/design.py", DESIGN)
    assert project.run("gen").code == 0
    return project


def change(project: ProjectFolder, old: str, new: str) -> None:
    file = project.path / "app/design.py"
    text = file.read_text("utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), "utf-8")


def rendered(project: ProjectFolder, *options: str) -> list[str]:
    """Generate, and return the names of the toolsets whose specs were made."""
    names: list[str] = []

    def called(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_name == "specs_view":
            names.append(frame.f_locals["toolset"].name)

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        assert project.run("gen", *options).code == 0
    finally:
        sys.setprofile(before)
    return names


def content(project: ProjectFolder) -> dict[str, bytes]:
    return {path: data for path, (data, _) in project.files().items()}


def written_anew(project: ProjectFolder) -> dict[str, bytes]:
    """Return the files of the project as they are without the record of a last run."""
    (project.path / CACHE / "gen.json").unlink(missing_ok=True)
    project.run("gen")
    return content(project)


def test_a_change_of_one_toolset_writes_its_files_and_no_others(project: ProjectFolder) -> None:
    before = project.files()
    change(project, "Greet a person.", "Greet somebody.")
    assert rendered(project) == ["people"]
    after = project.files()
    changed = {path for path in after if after[path] != before.get(path)}
    people = "app/gen/hall/toolsets/people"
    assert changed == {
        "app/design.py",
        *(f"app/gen/{name}" for name in (".toolgen.json", "tool_schemas.json")),
        *(f"{people}/{name}" for name in ("executor.py", "specs.py", "tool_schemas.json")),
    }
    assert project.run("gen", "--check").code == 0
    assert content(project) == written_anew(project)


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ('"""Rooms, people', '"""Lamps, people', []),
        ("max_length=40", "max_length=50", ["rooms"]),
        ('"Ping."', '"Ping it."', ["plain"]),
        ('"Pong."', '"Pong.", title="Answer"', ["plain"]),
        ("date(2020, 1, 1)", "date(2021, 1, 1)", ["rooms"]),
        ('Attribute("at", "Place", "Where.")', 'Attribute("at", Room, "Where.")', ["people"]),
        ('BindTo("put")', 'BindTo("put"), Sequential()', ["lamps"]),
        ('"on", "off"', '"on", "off", "dim"', None),
        ('"Its name.", required=True))', '"Its own name.", required=True))', None),
        ('"In m²."', '"In m².", minimum=1', None),
        ('"Put."', '"Put it."', None),
        ('"Switch lamps."', '"Switch all lamps."', None),
        ('prefix="lamp_"', 'prefix="light_"', None),
        ('"plain", ', '"simple", ', None),
        ('Tool("ping"', 'Tool("pong"', None),
        ("rooms, people, lamps", "people, rooms, lamps", None),
        ('Return(Attribute("text"', f'{TYPE}Attribute("text"', None),
        ("An application.", "One application.", None),
        (" plain, put", " put", None),
        ('design = Design("app"', 'design = Design("apps"', None),
    ],
)
def test_what_is_made_after_a_change_is_what_is_made_anew(
    project: ProjectFolder, old: str, new: str, names: list[str] | None
) -> None:
    change(project, old, new)
    made = rendered(project)
    assert made == names if names is not None else len(made) >= 3
    assert content(project) == written_anew(project)


def test_a_check_names_files_in_the_order_of_the_design(project: ProjectFolder) -> None:
    change(project, '"Ping."', '"Ping it."')
    once = project.run("gen", "--check")
    (project.path / CACHE / "gen.json").unlink()
    assert once == project.run("gen", "--check")
    assert once.code == 1


def test_a_changed_shared_type_reaches_each_toolset_that_has_it(project: ProjectFolder) -> None:
    change(project, '"In m²."', '"In square metres."')
    assert rendered(project) == ALL
    catalogue = project.path / "app/gen/hall/toolsets/rooms/tool_schemas.json"
    assert "In square metres." in catalogue.read_text("utf-8")


@pytest.mark.parametrize("text", ["# mine\n", None])
@pytest.mark.parametrize("name", ["hall/toolsets/rooms/specs.py", "tool_schemas.json", "types.py"])
def test_a_file_that_somebody_edited_or_removed_is_written_again(
    project: ProjectFolder, name: str, text: str | None
) -> None:
    file = project.path / "app/gen" / name
    if text is None:
        file.unlink()
    else:
        file.write_text(text)
    change(project, '"Ping."', '"Ping it."')
    assert rendered(project) == ALL
    assert content(project) == written_anew(project)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"version": 2}', "\0"])
def test_a_damaged_record_is_not_read(project: ProjectFolder, text: str) -> None:
    (project.path / CACHE / "gen.json").write_text(text)
    change(project, '"Ping."', '"Ping it."')
    assert rendered(project) == ALL
    assert content(project) == written_anew(project)


@pytest.mark.parametrize("old", ["", "Find a room.", "sha256:"])
def test_texts_of_the_last_run_that_somebody_edited_are_not_used(project: ProjectFolder, old: str) -> None:
    file = project.path / CACHE / "gen.tools"
    text = file.read_text("ascii")
    assert old in text
    file.write_text(text.replace(old, "Lose a room.") if old else "", "ascii")
    change(project, '"Ping."', '"Ping it."')
    assert rendered(project) == ALL
    assert content(project) == written_anew(project)


@pytest.mark.parametrize("part", ["version", "made_by", "trees", "stubs", "texts"])
def test_a_record_of_something_else_is_not_used(project: ProjectFolder, part: str) -> None:
    file = project.path / CACHE / "gen.json"
    record = json.loads(file.read_text("utf-8"))
    record[part] = {
        "version": 1,
        "made_by": {},
        "trees": {"app/gen": "0"},
        "stubs": {"executors": {}},
        "texts": "",
    }[part]
    file.write_text(json.dumps(record))
    change(project, '"Ping."', '"Ping it."')
    assert rendered(project) == ALL


def test_the_whole_design_is_made_by_force(project: ProjectFolder) -> None:
    change(project, '"Ping."', '"Ping it."')
    assert rendered(project, "--force") == ALL


def test_an_edited_stub_is_read_again_with_its_toolset_alone(project: ProjectFolder) -> None:
    stub = project.path / "executors/hall/rooms.py"
    stub.write_text(stub.read_text("utf-8").replace("def find_room", "def search_room"), "utf-8")
    change(project, '"Ping."', '"Ping it."')
    done = project.run("gen")
    assert "executors/hall/rooms.py" in done.err
    assert "find_room" in done.err
    assert content(project) == written_anew(project)


def test_a_stub_that_lost_its_toolset_is_named(project: ProjectFolder) -> None:
    helper = project.path / "executors/hall/more.py"
    rooms = project.path / "executors/hall/rooms.py"
    helper.write_text(rooms.read_text("utf-8").replace("rooms", "halls"), "utf-8")
    change(project, '"Ping."', '"Ping it."')
    assert "executors/hall/more.py" in project.run("gen").err


def test_a_stub_that_lost_its_toolset_is_named_in_the_place_of_native_tools(project: ProjectFolder) -> None:
    change(
        project, "plain, put)", 'plain, put, Toolset("web", "Search.", NativeTool("openai", "web_search")))'
    )
    stub = project.write("executors/hall/web.py", "")
    assert project.run("gen").code == 0
    rooms = project.path / "executors/hall/rooms.py"
    stub.write_text(rooms.read_text("utf-8").replace("rooms", "halls"), "utf-8")
    assert "executors/hall/web.py" in project.run("gen").err


def test_a_mistake_is_found_in_a_toolset_that_did_not_change(project: ProjectFolder) -> None:
    change(
        project,
        'Args(Attribute("day"',
        'Deprecated("Old.", replacement="hall.plain.ping"), Args(Attribute("day"',
    )
    assert rendered(project) == ALL
    change(project, 'Tool("ping", "Ping.", ', 'Tool("ping", "Ping.", Deprecated("Old too."), ')
    done = project.run("gen")
    assert done.code == 1
    assert "which is deprecated too" in done.err + done.out


def test_a_mistake_of_a_changed_toolset_is_that_of_the_whole_design(project: ProjectFolder) -> None:
    change(project, 'Attribute("at", "Place", "Where.")', 'Attribute("at", "Plaice", "Where.")')
    once = project.run("gen")
    (project.path / CACHE / "gen.json").unlink()
    assert once == project.run("gen")
    assert once.code == 1
    change(project, '"Plaice"', '"Place"')
    assert project.run("gen").code == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('Tool("ping", "Ping.", ', SCHEMA),
        ("plain, put)", AGENT),
        ('Return(Attribute("text"', f'{UNION}Attribute("text"'),
        ('plain = Toolset("plain", "Nothing else.", Tool("ping", ', OWN),
    ],
)
def test_a_design_that_depends_on_more_is_made_whole(project: ProjectFolder, old: str, new: str) -> None:
    Path(project.path, "app/ping.json").write_text(
        '{"type": "object", "properties": {"a": {"type": "string"}}}'
    )
    change(project, old, new)
    assert project.run("gen").code == 0
    Path(project.path, "app/ping.json").write_text(
        '{"type": "object", "properties": {"b": {"type": "string"}}}'
    )
    change(project, "Greet a person.", "Greet somebody.")
    assert rendered(project) == ALL
    assert content(project) == written_anew(project)


def test_a_definition_with_definitions_may_have_the_name_of_a_shared_type(project: ProjectFolder) -> None:
    """Such a type stands in the catalogue without references, for a reader looks at a whole schema alone."""
    note = 'Tool("ping_payload_note", "Note.", Args(Attribute("at", Place, "Where."))), '
    change(project, '"Find rooms.",\n', f'"Find rooms.",\n    {note}\n')
    change(project, '"Talk to people.",\n', f'"Talk to people.",\n    {note}\n')
    change(project, '"Ping.", ', '"Ping.", Args(Attribute("note_payload", JSONSchema(SCHEMA), "A note.")), ')
    change(project, "plain = ", 'SCHEMA = {"type": "object"}\nplain = ')
    for _ in range(2):  # the first run says which stubs it extended
        assert project.run("gen").code == 0
    plain = 'SCHEMA = {"type": "object"'
    nested = ', "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {}}'
    for old, new in ((plain, f"{plain}{nested}"), (nested, "")):
        change(project, old, new)
        assert rendered(project) == ["plain"]
        made = content(project)
        assert made == written_anew(project)


def test_a_clause_that_was_not_made_is_reported_as_in_a_first_run(project: ProjectFolder) -> None:
    change(project, 'plain = Toolset("plain", "Nothing else.", Tool("ping", "Ping.", ', BAD)
    done = project.run("gen")
    assert done.code == 1
    assert "ping" in done.out + done.err
