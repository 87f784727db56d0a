"""The schema of a tool that was imported as clauses."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from toolgen.dsl import build
from toolgen.importers.design import DesignFiles, design_files
from toolgen.importers.tool import ImportedTool, ReaderResult
from toolgen.shapes.tree.schema import object_schema


def imported(arguments: Any, *, description: str = "Find.") -> DesignFiles:
    """Return the design module of a tool with these arguments."""
    tool = ImportedTool(name="find", description=description, arguments=arguments)
    source = ReaderResult(name="tools", description="Tools.", tools=(tool,), findings=())
    return design_files(source, name="tools", service="others")


def regenerated(properties: Any) -> dict[str, Any]:
    """Return the schema of the arguments that a design of the imported tool has."""
    design = imported({"type": "object", "additionalProperties": False, **properties})
    with TemporaryDirectory() as folder:
        for path, text in design.files.items():
            file = Path(folder, path)
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, "utf-8")
        evaluation = build(runpy.run_path(str(Path(folder, "tools.py")))["design"])
    assert evaluation.design is not None, evaluation.diagnostics
    toolset = evaluation.design.services[0].toolsets[0]
    objects = {one.name: one for one in (*toolset.objects, *evaluation.design.types)}
    schema: dict[str, Any] = json.loads(json.dumps(object_schema(toolset.tools[0].payload, objects)))
    return schema
