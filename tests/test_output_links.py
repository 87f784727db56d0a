"""Links and special files in the way of `toolgen gen`: named, never followed, never opened."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.selection import first
from toolgen.codegen.write.safe_paths import kind

from .conftest import ProjectFolder

TOOLSETS = "app/gen/hall/toolsets"
TYPES = f"{TOOLSETS}/people/types.py"
STUB = "executors/hall/people.py"


@pytest.fixture
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the user with a file for each that is generated for a toolset."""
    folder = tmp_path_factory.mktemp("mine")
    (folder / "people").mkdir()
    for name in ("__init__.py", "people/__init__.py", "people/types.py", "people/specs.py"):
        (folder / name).write_text("mine\n")
    return folder


def contents(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def link_to_a_folder(place: Path, mine: Path) -> str:
    place.symlink_to(mine)
    return "a symbolic link"


def link_to_a_file(place: Path, mine: Path) -> str:
    place.symlink_to(mine / "people/types.py")
    return "a symbolic link"


def link_to_nothing(place: Path, mine: Path) -> str:
    place.symlink_to(mine / "nothing")
    return "a symbolic link"


def link_to_endless_data(place: Path, mine: Path) -> str:
    place.symlink_to("/dev/zero")
    return "a symbolic link"


def fifo(place: Path, mine: Path) -> str:
    os.mkfifo(place)
    return "a FIFO"


def listening_socket(place: Path, mine: Path) -> str:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(place))  # the system takes about a hundred bytes
    return "a socket"


OBSTACLES: list[Callable[[Path, Path], str]] = [
    link_to_a_folder,
    link_to_a_file,
    link_to_nothing,
    link_to_endless_data,
    fifo,
    listening_socket,
]


PLACES = [TOOLSETS, TYPES, "app/gen/.toolgen.json", "app/gen/mine"]
REFUSED = [
    pytest.param(obstacle, where, marks=() if is_first or where == TYPES else pytest.mark.exhaustive)
    for is_first, obstacle in zip((True, *[False] * 5), OBSTACLES, strict=True)
    for where in PLACES
]
"""Everything at every place; in `make test` one thing at every place, and everything at one."""


@pytest.mark.exhaustive
@pytest.mark.parametrize(("obstacle", "where"), first(REFUSED, 3))
def test_what_is_no_file_is_refused_by_name(
    project: ProjectFolder, mine: Path, obstacle: Callable[[Path, Path], str], where: str
) -> None:
    project.run("gen")
    place = project.path / where
    if place.exists():
        place.rename(project.path / "moved")
    what = obstacle(place, mine)
    project.add_tool()
    before, held = project.files(), contents(mine)
    for arguments in ((), ("--check",), ("--diff",)):
        done = project.run("gen", *arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err == (
            "error: app/gen holds links or special files, which are not followed; nothing was changed:\n"
            f"  {where} ({what})\n"
            "  hint: move them elsewhere, or give toolgen its own folder in [tool.toolgen]\n"
        )
    assert project.files() == before
    assert contents(mine) == held


def test_kinds_have_names() -> None:
    assert [kind(mode) for mode in (0o020000, 0o060000, 0)] == [
        "a character device",
        "a block device",
        "not a regular file",
    ]


def test_links_of_caches_are_nobodys(project: ProjectFolder, mine: Path) -> None:
    """They are not looked into, and what they lead to stays when their folder goes."""
    project.run("gen")
    (project.path / TOOLSETS / "people/__pycache__").symlink_to(mine)
    held = contents(mine)
    assert project.run("gen", "--check").code == 0
    project.write("app/design.py", (project.path / "app/design.py").read_text().replace('"people"', '"folk"'))
    assert project.run("gen").code == 0
    assert not (project.path / TOOLSETS / "people").exists()
    assert contents(mine) == held


@pytest.mark.exhaustive
@pytest.mark.parametrize("linked", first(["app/gen", "app"]))
def test_the_output_may_be_a_link_as_a_whole(project: ProjectFolder, linked: str) -> None:
    """Its author has made it, and what stands in the folder is asked of the manifest as ever."""
    real = project.path / "elsewhere/real"
    real.parent.mkdir()
    place = project.path / linked
    if place.exists():
        place.rename(real)
    else:
        real.mkdir()
    place.symlink_to(real)
    assert project.run("gen").code == 0
    assert project.run("gen", "--check").err == "app/gen: up to date\n"
    project.add_tool()
    project.write(TYPES, "mine\n")
    assert f"{TYPES}: was edited; overwritten" in project.run("gen").err
    assert project.run("gen", "--check").code == 0
    assert place.is_symlink()
    assert not [file for file in project.files() if ".toolgen-" in file and ".toolgen.json" not in file]
    project.write("app/gen/mine.py", "mine")
    assert "files that toolgen did not write" in project.run("gen").err


def test_an_output_that_is_a_link_to_nothing_is_refused(project: ProjectFolder) -> None:
    (project.path / "app/gen").symlink_to(project.path / "nothing")
    done = project.run("gen")
    assert done.code == 2
    assert done.err.startswith("error: app/gen is a link that leads to no folder\n  hint: ")
    assert not (project.path / "nothing").exists()


@pytest.fixture(params=["FIFO", "link to a FIFO", "link to endless data"])
def stub_that_is_no_file(project: ProjectFolder, request: pytest.FixtureRequest) -> Iterator[str]:
    project.run("gen")
    stub = project.path / STUB
    stub.unlink()
    match request.param:
        case "FIFO":
            os.mkfifo(stub)
            yield "it is a FIFO"
        case "link to a FIFO":
            os.mkfifo(project.path / "fifo")
            stub.symlink_to(project.path / "fifo")
            yield "it is a FIFO"
        case _:
            stub.symlink_to("/dev/zero")
            yield "it is a character device"


@pytest.mark.exhaustive
@pytest.mark.parametrize("command", first(map(pytest.param, [("gen",), ("gen", "--diff"), ("stubs",)])))
def test_a_stub_that_is_no_file_is_not_opened(
    project: ProjectFolder, stub_that_is_no_file: str, command: tuple[str, ...]
) -> None:
    done = project.run(*command)
    assert (done.code, done.err) == (
        2,
        f"error: cannot read {STUB}: {stub_that_is_no_file}\n  hint: make it a readable file\n",
    )
