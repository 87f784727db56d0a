"""Wide schemas go through `import` and `gen`; one that is too large is one error, and costs its tool only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import in_a_process
from tests.schema_reader.shapes import SHAPES, Schema, an_object, nested

pytestmark = pytest.mark.costly

WIDTH = 100
TOO_LARGE: dict[str, tuple[Schema, str]] = {
    "enum": (SHAPES["enum"](100_000), "has more than 100000 values or 5000000 characters"),
    "patterns": (
        an_object({"x": {"pattern": "(a{1000}){1000}"}}),
        "brings all patterns together to more than 100000 parts",
    ),
}
USE = """\
from gen.wide.toolsets.wide import SPECS
from toolgen.runtime import ToolValidationError

for spec in SPECS:
    try:
        spec.payload.decode("{}")
    except ToolValidationError as error:
        assert all(issue.constraint == "missing_field" for issue in error.issues), error
print(len(SPECS))
"""


def run(folder: Path, schemas: dict[str, Schema]) -> str:
    """Import the schemas as tools, generate them, and return what the import said."""
    records = [
        {"name": name, "description": "A tool.", "parameters": schema} for name, schema in schemas.items()
    ]
    (folder / "wide.json").write_text(json.dumps(records), "utf-8")
    (folder / "pyproject.toml").write_text('[tool.toolgen]\ndesign = "wide_design"\n', "utf-8")
    imported = in_a_process(folder, "-m", "toolgen", "import", "jsonschema", "wide.json")
    assert imported.returncode == ("could not be imported (--allow" in imported.stderr), imported.stderr
    generated = in_a_process(folder, "-m", "toolgen", "gen")
    assert generated.returncode == 0, generated.stderr
    return imported.stderr


def test_wide_schemas_become_types_that_mypy_takes(tmp_path: Path) -> None:
    run(tmp_path, {f"t{number}": shape(WIDTH) for number, shape in enumerate(SHAPES.values())})
    used = in_a_process(tmp_path, "-c", USE)
    assert used.stdout.strip() == str(len(SHAPES)), used.stderr
    checked = in_a_process(tmp_path, "-m", "mypy", "--strict", "--config-file=", "gen")
    assert checked.returncode == 0, checked.stdout


def test_a_document_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    tool = {"name": "large", "description": "A tool.", "parameters": nested(200)}
    (tmp_path / "wide.json").write_text(json.dumps([tool]), "utf-8")
    done = in_a_process(tmp_path, "-m", "toolgen", "import", "jsonschema", "wide.json")
    message = "error: wide.json is not JSON: it is nested more than 100 levels deep"
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, message)


@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_is_too_large_is_one_error_and_the_rest_is_imported(name: str, tmp_path: Path) -> None:
    schema, message = TOO_LARGE[name]
    said = run(tmp_path, {"large": schema, "small": an_object({"a": {"type": "string"}})})
    [error, hint] = said.splitlines()[:2]
    assert error.startswith("wide.json: error: tool 'large' at /0/parameters")
    assert message in error
    assert hint.startswith("  hint: ")
    assert "\nimported 1 tool; 1 error; " in said
