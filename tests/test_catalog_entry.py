"""The entry of a tool is the same whether the generator writes it or the runtime."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.catalog_entries import catalog_entry
from tests.selection import first
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.catalog import load_catalog
from toolgen.catalog.entry import DESIGN_ONLY, tool_digest, without
from toolgen.contract.names import Hint
from toolgen.runtime import ConfirmSpec, ToolSpec
from toolgen.runtime.functions import ArtifactSpec

ROOT = Path(__file__).parents[1]
TREES = [ROOT / "gen", *sorted(ROOT.glob("tests/cases/*/gen"))]
PACKAGES = [
    file.parent
    for tree in TREES
    for pattern in ("*/toolsets/*/tool_schemas.json", "*/agents/*/exports/*/tool_schemas.json")
    for file in sorted(tree.glob(pattern))
    if (file.parent / "codecs.py").is_file()
]
AGENTS = [file.parent for tree in TREES for file in sorted(tree.glob("*/agents/*/tool_schemas.json"))]


def generated(package: Path) -> dict[str, Any]:
    """Return the entries of a catalog by id, less what a runtime cannot know."""
    tools = load_catalog(package / "tool_schemas.json").tools
    return {tool["id"]: without(tool, DESIGN_ONLY) for tool in tools if tool["kind"] != "native"}


def module(package: Path) -> Any:
    return import_module(".".join(package.relative_to(ROOT).parts))


def registered(package: Path) -> Any:
    """Return the toolset as a runtime gets it."""
    if (package / "export.py").is_file():
        return module(package / "export").registration()
    return module(package).registration(object())


@pytest.mark.parametrize("package", first(PACKAGES, 10), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_entry_of_a_spec_is_that_of_its_design(package: Path) -> None:
    toolset = registered(package)
    made = {spec.id: without(catalog_entry(spec, toolset), DESIGN_ONLY) for spec in toolset.specs}
    assert made == generated(package)


@pytest.mark.parametrize("package", AGENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_entry_of_an_agents_tool_is_as_the_agent_calls_it(package: Path) -> None:
    of_toolset = [("toolset_title",), ("toolset_instructions",), ("kind",), ("agent",)]
    made = {
        spec.id: without(catalog_entry(spec), [*DESIGN_ONLY, *of_toolset]) for spec in module(package).SPECS
    }
    assert made == {id_: without(tool, of_toolset) for id_, tool in generated(package).items()}


@pytest.mark.parametrize(
    "package", first([*PACKAGES, *AGENTS], 10), ids=lambda path: str(path.relative_to(ROOT))
)
def test_the_digest_of_a_spec_is_that_of_its_entry(package: Path) -> None:
    tools = load_catalog(package / "tool_schemas.json").tools
    entries = {tool["id"]: tool for tool in tools}
    for spec in module(package).SPECS:
        assert spec.digest == tool_digest(entries[spec.id])


EMPTY: TypeCodec[Any] = TypeCodec(None, "Nothing")
NOTHING: ToolSpec[Any, Any] = ToolSpec(id="s.t.reset", description="Reset it.", payload=EMPTY, result=EMPTY)
REPORT: ArtifactSpec[Any] = ArtifactSpec("report", EMPTY)


@pytest.mark.parametrize(
    ("changed", "asks_again"),
    [
        ({"description": "Resets it."}, False),
        ({"title": "Reset now"}, False),
        ({"confirm": ConfirmSpec()}, False),
        ({"confirm": ConfirmSpec(hint="Reset?")}, False),
        ({"artifacts": {"report": REPORT}}, False),
        ({"artifacts": {"report": replace(REPORT, description="What was done.")}}, False),
        ({"timeout": 3.0}, False),
        ({"instructions": "Ask first."}, False),
        ({"call_hint": "Resetting."}, False),
        ({"meta": {"order": 1}}, False),
        ({"is_terminal": True}, False),
        ({"annotations": {"idempotent": True}}, True),
        ({"injected": ("session_id",)}, True),
        ({"confirm": ConfirmSpec(payload=EMPTY)}, True),
        ({"payload": TypeCodec(int, "Number")}, True),
        ({"result": TypeCodec(int, "Number")}, True),
    ],
)
def test_a_digest_changes_with_every_word_and_that_of_approvals_with_contracts(
    changed: dict[str, Any], asks_again: bool
) -> None:
    other = replace(NOTHING, **changed)
    assert other.digest != NOTHING.digest
    assert (other.approval_digest != NOTHING.approval_digest) is asks_again


@pytest.mark.parametrize(
    ("written", "is_assumed"),
    [
        ({}, True),
        ({"idempotent": True}, True),
        ({"read_only": False}, True),
        ({"read_only": True}, False),
        ({"destructive": False}, False),
        ({"destructive": True}, False),
    ],
)
def test_an_entry_says_that_destructive_is_only_a_default(
    written: dict[Hint, bool], is_assumed: bool
) -> None:
    entry = catalog_entry(replace(NOTHING, annotations=written))
    assert entry.get("assumed_destructive", False) is is_assumed
    assert tool_digest(entry) == tool_digest(without(entry, [("assumed_destructive",)]))


def test_an_approval_that_waits_is_not_asked_again_because_toolgen_changed() -> None:
    assert NOTHING.approval_digest == "089e5d437ff716afec617488b421553ec8006c9c7cf75623e302bfdedceac83d"


def test_a_runtime_knows_the_first_example() -> None:
    specs = [spec for package in PACKAGES for spec in module(package).SPECS if spec.example is not None]
    assert specs
    for spec in specs:
        entry: Any = catalog_entry(spec)
        assert entry["payload"]["examples"] == [json.loads(spec.example)]
