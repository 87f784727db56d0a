"""Each format has one number that is read: a file with another number is refused, and stays as it is."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.golden import design, write
from toolgen.catalog import CatalogueError, load_catalogue
from toolgen.codegen import generate
from toolgen.contract.json_value import Json
from toolgen.contract.names import CATALOG, CATALOG_FORMAT, FORMAT
from toolgen.runtime import FormatError

GARBAGE: tuple[Json, ...] = (None, True, -1, 1.5, "2", [], {})


class Format(NamedTuple):
    """How a file of a format is made with a number in its header, and opened."""

    name: str
    number: Json
    """The one that is read."""
    others: tuple[Json, ...]
    """All earlier numbers, the next one, and what is no number."""
    make: Callable[[Path, Json], None]
    """Writes into an empty folder what this toolgen writes, with another number in the header."""
    open: Callable[[Path], object]
    """Opens what is in the folder."""
    refused: tuple[type[Exception], str]
    """The error, and what its message says of the number."""


def catalogue(folder: Path, number: Json) -> None:
    document = json.loads(generate(design("unions"), module="design")[CATALOG])
    document["catalog"]["format"] = number
    (folder / CATALOG).write_text(json.dumps(document), "utf-8")


def code(folder: Path, number: Json) -> None:
    """Write a package whose other modules a later runtime alone can execute."""
    texts = generate(design("unions"), module="design")
    texts["__init__.py"] = texts["__init__.py"].replace(f", {FORMAT})", f", {number!r})")
    for path in texts:
        if path.endswith("specs.py") and number != FORMAT:
            texts[path] = "from toolgen.runtime.generated import name_of_a_later_toolgen"
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


FORMATS = (
    Format(
        name="catalogue",
        number=CATALOG_FORMAT,
        others=(1, 2, CATALOG_FORMAT + 1, *GARBAGE),
        make=catalogue,
        open=lambda folder: load_catalogue(folder / CATALOG),
        refused=(
            CatalogueError,
            "is a catalogue of format {}, and this toolgen reads format 3: write",
        ),
    ),
    Format(
        name="generated code",
        number=FORMAT,
        others=(1, FORMAT + 1, *GARBAGE),
        make=code,
        open=imported,
        refused=(
            FormatError,
            "'unions_code' is generated code of format {}, and this runtime executes",
        ),
    ),
)


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_the_number_of_today_is_read(format: Format, tmp_path: Path) -> None:
    format.make(tmp_path, format.number)
    format.open(tmp_path)


@pytest.mark.parametrize(
    ("format", "number"),
    [(format, number) for format in FORMATS for number in format.others],
    ids=lambda part: part.name if isinstance(part, Format) else repr(part),
)
def test_another_number_is_refused_and_the_file_stays_as_it_is(
    format: Format, number: Json, tmp_path: Path
) -> None:
    format.make(tmp_path, number)
    before = contents(tmp_path)
    error, message = format.refused
    with pytest.raises(error, match=re.escape(message.format(number))):
        format.open(tmp_path)
    assert contents(tmp_path) == before


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
