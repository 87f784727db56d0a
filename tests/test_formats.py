"""Each format has one number that is read: a file with another one is refused, and stays as it is."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable
from contextlib import chdir, redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.golden import design, write
from toolgen.catalog import CatalogError, load_catalog
from toolgen.cli import main
from toolgen.codegen import generate
from toolgen.codegen.write import write as write_tree
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.mcp_lock import LockError, lock_text, make_lock, read_lock
from toolgen.contract.names import CATALOG, FORMAT
from toolgen.events import RunStarted
from toolgen.events.document import as_json, from_json
from toolgen.runtime.generated import FormatError

MISSING = "missing"
GARBAGE: tuple[object, ...] = (MISSING, None, True, -1, 1.5, "2", [], {})


class Format(NamedTuple):
    """How a file of a format is made with a number in its header, and opened."""

    name: str
    number: object
    """The one that is read."""
    others: tuple[object, ...]
    """All earlier numbers, and the next one."""
    make: Callable[[Path, object], None]
    """Writes into an empty folder what this toolgen writes, with another number in the header."""
    open: Callable[[Path], object]
    """Opens what is in the folder, in a step that may write."""
    refused: tuple[type[Exception], str]
    """The error, and what its message says of the number."""
    garbage: tuple[object, ...] = GARBAGE


class CommandError(Exception):
    """A command has failed, with this on stderr."""


def command(folder: Path, *args: str) -> None:
    with chdir(folder), redirect_stderr(StringIO()) as told:
        code = main(args)
    if code:
        raise CommandError(" ".join(told.getvalue().split()))


def numbered(document: dict[str, Any], key: str, number: object) -> str:
    """Return the JSON of a document with another number at a key, or without the key."""
    rest = {name: value for name, value in document.items() if name != key}
    return json.dumps(rest if number == MISSING else {**document, key: number})


def catalog(folder: Path, number: object) -> None:
    document = json.loads(generate(design("unions"), module="design")[CATALOG])
    document["catalog"] = json.loads(numbered(document["catalog"], "format", number))
    (folder / CATALOG).write_text(json.dumps(document), "utf-8")


def code(folder: Path, number: object) -> None:
    """Write a package, of which another runtime could not import the rest."""
    texts = generate(design("unions"), module="design")
    texts["__init__.py"] = texts["__init__.py"].replace(f", {FORMAT})", f", {number!r})")
    if number != FORMAT:
        texts = {
            path: text if path == "__init__.py" else "import gone_since_then" for path, text in texts.items()
        }
    write(folder / "unions_code", texts)


def imported(folder: Path) -> None:
    """Import generated code from a folder, and forget it."""
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        importlib.import_module("unions_code.art.toolsets.shapes.specs")
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == "unions_code"]:
            del sys.modules[name]


def generated(folder: Path, text: str) -> None:
    write_tree(folder / "gen", {"module.py": text}, design="design")


def manifest(folder: Path, number: object) -> None:
    generated(folder, "x = 1\n")
    file = folder / "gen/.toolgen.json"
    file.write_text(numbered(json.loads(file.read_text("utf-8")), "format", number), "utf-8")


LISTED: dict[str, Json] = {
    "name": "sum",
    "description": "Add two numbers.",
    "inputSchema": {"type": "object"},
}


def imported_design(folder: Path, number: object) -> None:
    """Import a list of tools, and edit the design."""
    (folder / "tools.json").write_text(json.dumps({"tools": [LISTED]}), "utf-8")
    command(folder, "import", "mcp", "tools.json", "--out", "sums.py")
    with open(folder / "sums.py", "a", encoding="utf-8") as file:
        file.write("# an edit of the author\n")
    lock = folder / "sums.import.json"
    lock.write_text(numbered(json.loads(lock.read_text("utf-8")), "lock", number), "utf-8")


def server_lock(folder: Path, number: object) -> None:
    text = lock_text(make_lock("2025-11-25", "sums", "1", [LISTED]))
    (folder / "sums.mcp.json").write_text(numbered(json.loads(text), "lock", number), "utf-8")


def event(folder: Path, number: object) -> None:
    facts = as_json(RunStarted(agent="desk.clerk"))
    (folder / "event.json").write_text(numbered(facts, "format", number), "utf-8")


FORMATS = (
    Format(
        name="catalog",
        number=3,
        others=(1, 2, 4),
        make=catalog,
        open=lambda folder: load_catalog(folder / CATALOG),
        refused=(CatalogError, "is a catalog of format {}, and this toolgen reads format 3: generate it"),
    ),
    Format(
        name="generated code",
        number=2,
        others=(1, 3),
        make=code,
        open=imported,
        refused=(FormatError, "'unions_code' was generated with format {}, but this runtime supports"),
        garbage=GARBAGE[1:],
    ),
    Format(
        name="manifest",
        number=3,
        others=(1, 2, 4),
        make=manifest,
        open=lambda folder: generated(folder, "x = 2\n"),
        refused=(ToolgenError, "is a manifest of format {}, and this toolgen reads format 3\n  hint: delete"),
    ),
    Format(
        name="lock of an import",
        number=1,
        others=(2,),
        make=imported_design,
        open=lambda folder: command(folder, "import", "--out", "sums.py"),
        refused=(CommandError, "has lock format {}, and this toolgen reads lock format 1: write it again"),
    ),
    Format(
        name="lock of a server",
        number=1,
        others=(2,),
        make=server_lock,
        open=lambda folder: read_lock((folder / "sums.mcp.json").read_bytes()),
        refused=(LockError, "has lock format {}, and this toolgen reads lock format 1: write it again"),
    ),
    Format(
        name="event",
        number=2,
        others=(1, 3),
        make=event,
        open=lambda folder: from_json(json.loads((folder / "event.json").read_bytes())),
        refused=(ValueError, "the event has format {}, and this toolgen reads format 2"),
    ),
)


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_the_number_of_today_is_read(format: Format, tmp_path: Path) -> None:
    format.make(tmp_path, format.number)
    format.open(tmp_path)


@pytest.mark.parametrize(
    ("format", "number"),
    [(format, number) for format in FORMATS for number in (*format.others, *format.garbage)],
    ids=lambda part: part.name if isinstance(part, Format) else repr(part),
)
def test_another_number_is_refused_and_the_file_stays_as_it_is(
    format: Format, number: object, tmp_path: Path
) -> None:
    format.make(tmp_path, number)
    before = contents(tmp_path)
    error, message = format.refused
    said = re.escape(message.format(repr(number))) if number != MISSING else None
    with pytest.raises(error, match=said):
        format.open(tmp_path)
    assert contents(tmp_path) == before


def test_a_lock_of_another_form_is_refused_by_its_number() -> None:
    with pytest.raises(LockError, match="has lock format 2, and this toolgen reads lock format 1"):
        read_lock('{"lock": 2, "servers": []}')


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
