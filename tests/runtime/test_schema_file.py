"""Codecs find their schemas in the catalog of their package, when they are first asked for one."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.golden import CASES, read
from tests.selection import first
from toolgen.catalog import load_catalog, parse_catalog
from toolgen.contract.errors import ToolgenError
from toolgen.runtime import RegistrationError, Runtime, ToolCall, ToolContext, ToolResult
from toolgen.runtime.functions import Codec

CATALOG = "tool_schemas.json"
TOOLSET = "art/toolsets/shapes"


async def execute(call: ToolCall, ctx: ToolContext) -> ToolResult:
    raise AssertionError("nothing is called")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield the folder of a toolset's package that nobody has imported yet."""
    shutil.copytree(CASES / "unions/gen", tmp_path / "shipped")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "shipped" / TOOLSET
    for name in [name for name in sys.modules if name.partition(".")[0] == "shipped"]:
        del sys.modules[name]


def toolset() -> Any:
    return import_module(f"shipped.{TOOLSET.replace('/', '.')}")


def test_the_schema_of_a_codec_is_that_of_the_catalog(package: Path) -> None:
    entries = {tool["id"]: tool for tool in load_catalog(package / CATALOG).tools}
    for spec in toolset().SPECS:
        assert spec.payload.schema == entries[spec.id]["payload"]["schema"]
        assert spec.result.schema == entries[spec.id]["result"]["schema"]


def test_importing_and_registering_a_toolset_reads_no_schema(package: Path) -> None:
    (package / CATALOG).write_text("no JSON", "utf-8")
    found = toolset()
    specs = found.SPECS
    Runtime().tools.register(found.registration(execute))
    with pytest.raises(ToolgenError, match="is not a tool catalog") as caught:
        specs[0].payload.decode("{}")
    assert caught.value.hint == "run `toolgen gen`"


@pytest.mark.parametrize(
    "data", [b"\xff\xfe", b'{"\xe9": 1}', b"[" * 100_000], ids=["mark", "Latin-1", "deep"]
)
def test_bytes_that_are_no_json_are_no_catalog(package: Path, data: bytes) -> None:
    (package / CATALOG).write_bytes(data)
    with pytest.raises(ToolgenError, match="is not a tool catalog"):
        _ = toolset().SPECS[0].payload.schema


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_catalog_that_an_editor_has_saved_is_read(package: Path, encoding: str) -> None:
    path = package / CATALOG
    path.write_text(path.read_text("utf-8"), encoding)
    assert toolset().SPECS[0].payload.schema


def test_registration_names_the_file_that_was_not_shipped(package: Path) -> None:
    (package / CATALOG).unlink()
    found = toolset()
    with pytest.raises(RegistrationError) as caught:
        Runtime().tools.register(found.registration(execute))
    assert str(caught.value).count(f"{CATALOG} of shipped.art.toolsets.shapes with the schemas") == 1
    with pytest.raises(ToolgenError, match=f"{CATALOG} of .* cannot be read") as unread:
        _ = found.SPECS[0].payload.schema
    assert unread.value.hint == f"ship {CATALOG} with the generated code"


def test_a_catalog_of_another_run_is_named(package: Path) -> None:
    catalog = json.loads((package / CATALOG).read_text("utf-8"))
    (package / CATALOG).write_text(json.dumps({**catalog, "tools": []}), "utf-8")
    codec = toolset().SPECS[0].payload
    with pytest.raises(ToolgenError, match=f"has no schema for {codec.name}"):
        _ = codec.schema


def test_the_first_call_of_a_tool_reads_the_catalog_of_its_toolset_alone(package: Path) -> None:
    shipped = package.parents[2]
    for file in shipped.rglob("*.json"):
        if file.parent != package:
            file.unlink()
    assert toolset().SPECS[0].payload.schema


@pytest.mark.parametrize("format", [0, 2, 4, "3", None])
def test_a_catalog_of_a_format_that_is_not_read_is_named(package: Path, format: object) -> None:
    catalog = json.loads((package / CATALOG).read_text("utf-8"))
    catalog["catalog"]["format"] = format
    (package / CATALOG).write_text(json.dumps(catalog), "utf-8")
    with pytest.raises(ToolgenError, match=f"is a catalog of format {format!r}, and"):
        _ = toolset().SPECS[0].payload.schema


def test_a_name_has_one_schema_in_each_catalog_of_a_toolset() -> None:
    for case in CASES.iterdir():
        for path, text in read(case / "gen").items() if (case / "gen").is_dir() else ():
            if "/toolsets/" in path and path.endswith(CATALOG):
                found: dict[str, str] = {}
                for part in parse_catalog(json.loads(text)).types():
                    schema = json.dumps(part.schema)
                    assert found.setdefault(part.name, schema) == schema, path


def keys(model: Any) -> set[str]:
    """Return the JSON keys of a class."""
    fields = getattr(model, "model_fields", {})
    return {field.serialization_alias or name for name, field in fields.items()}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", first(["codecs", "completions"]))
def test_every_codec_finds_its_schema(name: str) -> None:
    found = 0
    for file in CASES.rglob(f"gen/**/{name}.py"):
        module = import_module(".".join(file.relative_to(CASES.parents[1]).with_suffix("").parts))
        for value in vars(module).values():
            if isinstance(codec := getattr(value, "result", value), Codec):
                found += 1
                assert set(codec.schema.get("properties", ())) == keys(codec.type)
    assert found
