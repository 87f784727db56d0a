"""Every generated catalogue is of the format that toolgen ships as a JSON Schema."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from toolgen.catalog import format_schema
from toolgen.catalog.entry import tool_digest
from toolgen.catalog.format import FORMAT_ID
from toolgen.contract.names import CATALOG_FORMATS, CatalogFormat

ROOT = Path(__file__).parents[1]
CATALOGUES = sorted(
    [*ROOT.glob("gen/**/tool_schemas.json"), *ROOT.glob("tests/cases/*/gen/**/tool_schemas.json")]
)


@pytest.mark.parametrize("format", CATALOG_FORMATS)
def test_a_format_is_a_schema(format: CatalogFormat) -> None:
    schema = format_schema(format)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["properties"]["catalog"]["properties"]["format"] == {"const": format}


def test_a_catalogue_names_the_schema_of_its_format() -> None:
    schema = format_schema()
    assert schema["$id"] == FORMAT_ID
    assert schema["properties"]["$schema"] == {"const": FORMAT_ID}


@pytest.mark.parametrize("file", CATALOGUES, ids=lambda file: str(file.relative_to(ROOT)))
def test_the_catalogue_is_of_the_format(file: Path) -> None:
    catalogue = json.loads(file.read_text("utf-8"))
    jsonschema.Draft202012Validator(format_schema()).validate(catalogue)
    assert catalogue["catalog"]["digest"] == digest_of(catalogue)
    assert all(tool["digest"] == tool_digest(tool) for tool in catalogue["tools"])
    ids = [tool["id"] for tool in catalogue["tools"]]
    assert ids == sorted(ids)
    for tool in (tool for tool in catalogue["tools"] if tool["kind"] != "native"):
        for part in (tool["payload"], tool["result"], *tool.get("artifacts", ()), *_behaviour(tool)):
            jsonschema.Draft202012Validator.check_schema(part["schema"])
            assert "$schema" not in part["schema"]
        judge = jsonschema.Draft202012Validator(tool["payload"]["schema"])
        assert all(judge.is_valid(example) for example in tool["payload"].get("examples", ()))
    for completion in catalogue.get("completions", ()):
        jsonschema.Draft202012Validator.check_schema(completion["result"]["schema"])


def digest_of(catalogue: dict[str, Any]) -> str:
    """Return the digest of a catalogue, made as its format says."""
    whole = {key: value for key, value in catalogue.items() if key not in ("$schema", "catalog")}
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _behaviour(tool: dict[str, dict[str, Any]]) -> list[Any]:
    """Return the types of approvals, acknowledgements and progress."""
    late = tool.get("long_running", {})
    types = (tool.get("confirmation", {}).get("payload"), late.get("ack"), late.get("progress"))
    return [type_ for type_ in types if type_]
