"""Catalogs of toolgen and of Goa-AI as designs."""

from __future__ import annotations

import json
import runpy
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from toolgen.catalog import Catalog, load_catalog, parse_catalog
from toolgen.cli import main
from toolgen.codegen import generate
from toolgen.contract.errors import ToolgenError
from toolgen.contract.names import CATALOG
from toolgen.dsl import build
from toolgen.importers.catalog import read_catalog
from toolgen.importers.design import design_files
from toolgen.importers.text import SourceDocument
from toolgen.importers.tool import ReaderResult

ROOT = Path(__file__).parents[2]
GOA = {
    "tools": [
        {
            "id": "helpers.answer",
            "service": "orchestrator",
            "toolset": "orchestrator.helpers",
            "title": "Answer",
            "description": "Answer a simple question",
            "tags": ["simple"],
            "payload": {
                "name": "AnswerPayload",
                "schema": {
                    "$schema": "https://json-schema.org/draft/2020-12/schema",
                    "example": {"question": "Why?"},
                    "properties": {"question": {"description": "The question.", "type": "string"}},
                    "required": ["question"],
                    "type": "object",
                },
            },
            "result": {"name": "AnswerResult", "schema": {"type": "string"}},
            "server_data": [{"kind": "evidence", "audience": "timeline", "type": {"name": "Evidence"}}],
        },
        {"id": "helpers.ping", "service": "orchestrator", "toolset": "orchestrator.helpers"},
    ]
}


def source(value: object, root: object = None) -> ReaderResult:
    return read_catalog(SourceDocument(name="tool_schemas", value=value), lambda path: root)


def imported(folder: Path, value: object, root: object = None) -> Catalog:
    """Return the catalog of the design that an import writes."""
    for path, text in design_files(source(value, root), name="others", service="others").files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    evaluation = build(runpy.run_path(str(folder / "others.py"))["design"])
    assert evaluation.design is not None, evaluation.diagnostics
    return parse_catalog(json.loads(generate(evaluation.design, module="others")[CATALOG]))


def test_the_design_of_a_catalog_has_its_tools(tmp_path: Path) -> None:
    design = build(import_module("tests.cases.behaviour.design").design).design
    assert design is not None
    document = json.loads(generate(design, module="d")[CATALOG])
    theirs = {tool["name"]: tool for tool in parse_catalog(document).tools if tool["kind"] != "native"}
    ours = {tool["name"]: tool for tool in imported(tmp_path, document).tools}
    assert ours.keys() == theirs.keys()
    for name, tool in ours.items():
        for key in ("title", "tags", "icons", "annotations"):
            assert tool.get(key) == theirs[name].get(key), (name, key)
        assert sentence(tool) == sentence(theirs[name])
        for key in ("payload", "result"):
            assert tool[key]["schema"] == theirs[name][key]["schema"], (name, key)


def sentence(tool: Mapping[str, Any]) -> str:
    """Return the description of a tool without what it says of the deprecation."""
    return str(tool["description"]).partition(" Deprecated: ")[0]


def test_an_agents_catalog_is_imported_with_its_root(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = ROOT / "gen/assistant/agents/chat/tool_schemas.json"
    assert main(("import", "catalog", str(file), "--name", "chat", "--allow-losses")) == 0
    told = capsys.readouterr().err
    names = [tool["name"] for tool in load_catalog(file).tools]
    assert f"imported {len(names)} tools" in told
    design = (folder / "chat_design.py").read_text("utf-8")
    assert all(f'"{name}"' in design for name in names)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_catalog_of_goa_is_imported(tmp_path: Path) -> None:
    read = source(GOA)
    answer, ping = read.tools
    assert (read.name, answer.name, answer.title, answer.tags) == ("helpers", "answer", "Answer", ("simple",))
    assert not answer.formats_are_types
    assert (ping.name, ping.result) == ("ping", None)
    (left_out,) = read.findings
    assert (left_out.tool, left_out.message) == ("answer", "has server_data, which the design leaves out")
    one, two = imported(tmp_path, GOA).tools
    assert one["payload"]["schema"]["required"] == ["question"]
    assert one["result"]["schema"] == {"type": "string"}
    assert two["payload"]["schema"]["properties"] == {}


def test_what_only_a_provider_runs_is_left_out_and_a_deprecation_is_said_once() -> None:
    tool = {
        "id": "s.t.find",
        "name": "find",
        "description": "Find. Deprecated: use s.t.seek.",
        "deprecated": {"reason": "It is slow.", "replacement": "s.t.seek"},
        "payload": {"name": "P", "schema": {"type": "object"}},
    }
    native = {"id": "s.t.web", "name": "web", "kind": "native", "provider": "openai", "config": {}}
    read = source({"catalog": {"format": 3, "design": "shop"}, "tools": [tool, native]})
    (find,) = read.tools
    assert (find.description, find.deprecated) == ("Find.", "It is slow.")
    (finding,) = read.findings
    assert (finding.tool, finding.place.pointer) == ("web", "/tools/1")
    assert finding.is_warning


@pytest.mark.parametrize("value", [[], {"tools": 3}, {"catalog": {"format": 9}, "tools": []}])
def test_what_is_no_catalog_is_refused(value: object) -> None:
    with pytest.raises(ToolgenError, match="the document is") as caught:
        source(value)
    assert caught.value.hint == "pass a tool_schemas.json of toolgen or of Goa-AI"


def test_a_tool_that_asks_a_person_asks_in_the_design_too(tmp_path: Path) -> None:
    tool = {
        "id": "s.t.wipe",
        "name": "wipe",
        "description": "Wipe a device.",
        "confirmation": {"hint": "Wipe {device}?"},
        "payload": {"name": "P", "schema": {"type": "object", "properties": {"device": {"type": "string"}}}},
    }
    catalog = {"catalog": {"format": 3, "design": "shop"}, "tools": [tool]}
    (finding,) = source(catalog).findings
    assert (finding.tool, finding.place.pointer) == ("wipe", "/tools/0/confirmation")
    (wipe,) = imported(tmp_path, catalog).tools
    assert "confirmation" in wipe
