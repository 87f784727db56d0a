"""Schemas of real tools with random changes: each tool is imported and generated, or is one clear error."""

from __future__ import annotations

import importlib
import json
import runpy
import sys
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.conformance import corpora
from tests.conformance.agreement import decoded
from tests.conformance.mutated_schemas import mutated
from tests.golden import write
from tests.selection import volume
from toolgen.codegen import generate
from toolgen.contract.findings import render
from toolgen.dsl import Args, Design, JSONSchema, Service, Tool, Toolset, build
from toolgen.dsl.evaluation import Evaluation
from toolgen.importers.design import design_files
from toolgen.importers.json_schema import read_schemas
from toolgen.importers.text import read_document
from toolgen.shapes.foreign.reader.document import DEEPEST

BATCHES = volume(3, lab=12)
TOOLS = 50
"""Of a batch, which is one source."""


@lru_cache
def originals() -> list[Any]:
    return [record.input_schema for file in corpora.files() for record in corpora.records(file)]


def batch(number: int) -> list[Any]:
    chance = Random(number)
    return [mutated(chance.choice(originals()), originals(), chance) for _ in range(TOOLS)]


def depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    corpora.require()
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        patch.setattr(sys, "dont_write_bytecode", True)
        yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "mutated_gen"]:
        del sys.modules[name]


@pytest.mark.volume
@pytest.mark.parametrize("number", range(BATCHES))
def test_a_mutated_schema_is_imported_or_one_error(number: int, folder: Path) -> None:
    records = [{"name": f"t{at}", "parameters": one} for at, one in enumerate(batch(number))]
    records = [record for record in records if depth(record) < DEEPEST]  # a file of it is refused
    file = folder / "mutated.json"
    file.write_text(json.dumps(records), "utf-8")
    source = read_schemas(read_document(file))
    design = design_files(source, name="mutated", service="others")
    errors = [finding for finding in (*source.findings, *design.findings) if not finding.is_warning]
    refused = Counter(error.tool for error in errors)
    assert all(error.message and error.hint and error.place.pointer for error in errors), errors
    assert design.imported + len(refused) == len(records), "each tool is imported, or is refused by name"
    write(folder, design.files)
    evaluation = build(runpy.run_path(str(folder / next(iter(design.files))))["design"])
    assert evaluation.design is not None, evaluation.diagnostics
    texts = generate(evaluation.design, module="mutated_design")
    write(folder, {f"mutated_gen/{path}": text for path, text in texts.items()})
    specs = importlib.import_module("mutated_gen.others.toolsets.mutated").SPECS
    assert len(specs) == design.imported
    for spec in specs:
        decoded(spec.payload, {})


@pytest.mark.volume
@pytest.mark.parametrize("number", range(BATCHES, BATCHES + volume(1, lab=4)))
def test_a_mutated_schema_in_a_design_is_generated_or_a_diagnostic(number: int) -> None:
    corpora.require()
    tools = [Tool(f"t{at}", "A tool.", Args(JSONSchema(one))) for at, one in enumerate(batch(number))]
    good = []
    for tool in tools:
        evaluation = _built(tool)
        assert render(evaluation.diagnostics, "text", "") or evaluation.design is not None
        good += [tool] if evaluation.design is not None else []
    evaluation = _built(*good)
    assert evaluation.design is not None, evaluation.diagnostics
    generate(evaluation.design, module="mutated")


def _built(*tools: Tool) -> Evaluation:
    return build(Design("mutated", "M.", Service("others", "Theirs.", Toolset("tools", "T.", *tools))))
