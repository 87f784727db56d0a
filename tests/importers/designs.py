"""Designs of imported tools: made of their schemas, written, run and built."""

from __future__ import annotations

import json
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolgen.catalog import parse_catalog
from toolgen.codegen import generate
from toolgen.dsl import build
from toolgen.dsl.evaluation import Evaluation
from toolgen.importers.design import DesignFiles, design_files
from toolgen.importers.tool import ImportedTool, ReaderResult

UNIQUE = {"type": "array", "uniqueItems": True}


def source(*tools: ImportedTool) -> ReaderResult:
    return ReaderResult(name="tools", description="Some tools.", tools=tools, findings=())


def tool(name: str = "find", arguments: object = True, **facts: Any) -> ImportedTool:
    return ImportedTool(name=name, **{"description": "Find a thing.", "arguments": arguments, **facts})


def imported(*tools: ImportedTool) -> DesignFiles:
    return design_files(source(*tools), name="tools", service="assistant")


def built(found: DesignFiles, folder: Path) -> Evaluation:
    """Write the files, run the module and build its design."""
    for path, text in found.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return build(runpy.run_path(str(folder / "tools.py"))["design"])


def errors(evaluation: Evaluation) -> list[str]:
    return [each.message for each in evaluation.diagnostics if not each.is_warning]


def object_(properties: Mapping[str, object], *required: str, **keywords: object) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(required), **keywords}


def schemas(evaluation: Evaluation) -> dict[str, Any]:
    """Return the exported schemas of every tool by its name."""
    assert evaluation.design is not None
    text = generate(evaluation.design, module="tools")["tool_schemas.json"]
    return {each["name"]: each for each in parse_catalog(json.loads(text)).tools}
