"""Generated packages: what importing them costs, what they show, what their catalogues say."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.cases.big_toolset.gen.store.toolsets import many
from tests.cases.binding.gen.assistant.toolsets import devices
from tests.cases.binding.gen.assistant.toolsets.devices import calls
from tests.golden import CASES, NAMES

ROOT = Path(__file__).resolve().parents[2]

PROBE = """
import sys
from importlib import import_module
package = import_module(sys.argv[1])
import_module(sys.argv[1] + ".specs"), import_module(sys.argv[1] + ".calls")
def loaded():
    return sorted(name for name in sys.modules if name.startswith("tests.") and ".types" in name)
assert loaded() == [], loaded()
spec = package.SPECS[0]
assert spec.payload.schema["type"] == "object"
assert loaded() == [], loaded()
spec.payload.decode(sys.argv[2])
print(" ".join(name.removeprefix(package.__name__) for name in loaded() if name.startswith(package.__name__)))
"""


def probe(package: str, document: str) -> str:
    command = [sys.executable, "-c", PROBE, package, document]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def test_types_are_imported_by_the_first_call() -> None:
    assert probe(devices.__name__, '{"site": "a"}') == ".types"


def test_a_large_toolset_imports_the_types_of_the_called_tool_only() -> None:
    assert probe(many.__name__, '{"id": "a"}') == ".types .types.get_1"


@pytest.mark.parametrize("package", [devices, many], ids=["small", "large"])
def test_the_public_surface_is_there_and_nothing_else(package: Any) -> None:
    for name in package.__all__:
        assert getattr(package, name) is not None
    assert package.__all__ == sorted(package.__all__, key=lambda name: (_kind(name), _natural(name)))
    with pytest.raises(AttributeError, match="Missing"):
        assert package.Missing


def _kind(name: str) -> int:
    return 0 if name.isupper() else 1 if name[0].isupper() else 2


def _natural(name: str) -> list[tuple[int, str]]:
    padded = "".join(char if char.isdigit() else f" {char} " for char in name).split()
    return [(int(part), "") if part.isdigit() else (ord(part), part) for part in padded]


def test_calls_are_built_from_typed_payloads() -> None:
    call = calls.command(devices.CommandPayload(id="a", command=devices.CommandPayloadCommandOff()))
    assert call.tool == "assistant.devices.command"
    assert call.payload_json == b'{"id":"a","command":{"kind":"off"}}'


def catalogue(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8"))  # type: ignore[no-any-return]  # a file that we wrote


@pytest.mark.parametrize("case", NAMES)
def test_the_whole_catalogue_holds_those_of_the_toolsets(case: str) -> None:
    whole = catalogue(CASES / case / "gen/tool_schemas.json")
    folder = CASES / case / "gen"
    paths = [
        *folder.glob("*/toolsets/*/tool_schemas.json"),
        *folder.glob("*/agents/*/exports/*/tool_schemas.json"),
    ]
    parts = [catalogue(path) for path in sorted(paths)]
    assert whole["tools"] == sorted(
        (tool for part in parts for tool in part["tools"]), key=lambda tool: tool["id"]
    )
    for one in [whole, *parts]:
        canonical = json.dumps(one["tools"], sort_keys=True, separators=(",", ":")).encode()
        assert one["catalog"] == {
            "format": 1,
            "design": case,
            "digest": f"sha256:{hashlib.sha256(canonical).hexdigest()}",
        }


def test_an_entry_says_what_the_design_says_in_a_fixed_order() -> None:
    tools = catalogue(CASES / "bounded/gen/tool_schemas.json")["tools"]
    assert [tool["name"] for tool in tools] == ["carried", "counted", "endless", "free", "paged"]
    assert list(tools[4]) == [
        "id",
        "name",
        "service",
        "toolset",
        "title",
        "description",
        "kind",
        "annotations",
        "bounded",
        "payload",
        "result",
        "bind_to",
    ]
    assert tools[4]["annotations"] == {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": True,
    }
    assert tools[4]["bounded"] == {"cursor": "cursor", "next_cursor": "nextCursor"}
    assert tools[0]["bounded"] == {}


def test_codecs_carry_the_schemas_of_the_catalogue() -> None:
    by_id = {tool["id"]: tool for tool in catalogue(CASES / "binding/gen/tool_schemas.json")["tools"]}
    for spec in devices.SPECS:
        entry = by_id[spec.id]
        assert spec.payload.schema == entry["payload"]["schema"]
        assert spec.result.schema == entry["result"]["schema"]
        kinds = {one["kind"]: one["schema"] for one in entry.get("artifacts", [])}
        assert {kind: one.codec.schema for kind, one in spec.artifacts.items()} == kinds


def test_examples_stand_in_the_catalogue_and_in_the_spec() -> None:
    scalars = import_module("tests.cases.scalars.gen.forms.toolsets.scalars")
    tools = catalogue(CASES / "scalars/gen/tool_schemas.json")["tools"]
    (defaults,) = (tool for tool in tools if tool["name"] == "defaults")
    assert defaults["payload"]["examples"] == [{"string": "x", "date": "2026-02-03"}]
    assert json.loads(scalars.DEFAULTS.example) == defaults["payload"]["examples"][0]
