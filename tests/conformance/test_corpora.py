"""Thousands of real tools: each schema becomes types, and accepts what it accepted.

A codec accepts what the schema accepts with the defaults of absent required properties (`oracle.filled`).

All files are one design and one generated package. What does not hold stands in `corpora_misses.toml` by
name and with its reason, and nothing else does. In `make conformance` it is a part of the tools.
"""

from __future__ import annotations

import copy
import importlib
import json
import random
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from jsonschema.validators import validator_for

from tests.conformance import corpora, oracle
from tests.conformance.agreement import is_same
from tests.conformance.corpora import Record
from tests.conformance.samples import sample
from tests.golden import write
from toolgen.catalog import parse_catalog
from toolgen.codegen import generate
from toolgen.dsl import Args, Design, JSONSchema, Return, Service, Tool, Toolset, build
from toolgen.runtime import ToolValidationError
from toolgen.runtime.functions import Codec
from toolgen.shapes.foreign.reader import read
from toolgen.shapes.naming import snake

MISSES = Path(__file__).with_name("corpora_misses.toml")
COLUMNS = (
    "tools",
    "imported",
    "valid accepted",
    "invalid refused",
    "results round-tripped",
    "changed agreed",
)
PACKAGE = "corpora_gen"


@dataclass(frozen=True, order=True)
class Miss:
    """One thing that does not hold of one tool."""

    id: str
    what: str


@dataclass(frozen=True)
class Imported:
    """A tool of the corpora with what was generated for it."""

    record: Record
    payload: Codec[Any]
    result: Codec[Any] | None
    exported: Mapping[str, Any]
    """Its entry in the catalog."""


@dataclass(frozen=True)
class Corpora:
    tools: dict[str, list[Imported]]
    """By file."""
    refused: dict[str, list[Record]]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpora]:
    """Every tool of every file, imported, generated and registered by its name."""
    corpora.require()
    unread = {miss.id for miss in _listed() if miss.what == "not imported"}
    good: dict[str, list[Record]] = {}
    refused: dict[str, list[Record]] = {}
    for path in corpora.files():
        for record in corpora.part(corpora.records(path)):
            is_refused = record.id in unread and not _is_readable(record)
            (refused if is_refused else good).setdefault(path.stem, []).append(record)
    toolsets = [
        Toolset(snake(file), "Tools.", *(_tool(number, one) for number, one in enumerate(records)))
        for file, records in good.items()
    ]
    evaluation = build(Design("corpora", "Tools of others.", Service("others", "Theirs.", *toolsets)))
    assert evaluation.design is not None, evaluation.diagnostics
    texts = generate(evaluation.design, module="corpora")
    folder = tmp_path_factory.mktemp("corpora")
    write(folder, {f"{PACKAGE}/{path}": text for path, text in texts.items()})
    entries = {one["id"]: one for one in parse_catalog(json.loads(texts["tool_schemas.json"])).tools}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setattr(sys, "dont_write_bytecode", True)
        tools = {}
        for file, records in good.items():
            package = importlib.import_module(f"{PACKAGE}.others.toolsets.{snake(file)}")
            specs = {spec.id: spec for spec in package.SPECS}
            tools[file] = [
                _imported(one, specs, entries, f"others.{snake(file)}.t{number}")
                for number, one in enumerate(records)
            ]
        yield Corpora(tools, refused)
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.mark.volume
def test_the_tools_of_others_accept_what_they_accepted(
    everything: Corpora, capsys: pytest.CaptureFixture[str]
) -> None:
    misses: list[Miss] = []
    table: dict[str, Counter[str]] = {}
    for file, tools in everything.tools.items():
        counts = table[file] = Counter()
        for record in everything.refused.get(file, ()):
            counts["tools"] += 1
            misses.append(Miss(record.id, "not imported"))
        for tool in tools:
            counts["tools"] += 1
            counts["imported"] += 1
            misses += [Miss(tool.record.id, what) for what in sorted(set(_misses(tool, counts)))]
    with capsys.disabled():
        print("\n" + _table(table))
    known = {tool.record.id for tools in everything.tools.values() for tool in tools}
    known |= {record.id for records in everything.refused.values() for record in records}
    assert sorted(misses) == sorted(miss for miss in _listed() if miss.id in known)


def _listed() -> list[Miss]:
    """Return what is known not to hold."""
    listed = tomllib.loads(MISSES.read_text("utf-8")).get("miss", [])
    assert all(one["reason"] for one in listed)
    return [Miss(one["id"], one["what"]) for one in listed]


def _is_readable(record: Record) -> bool:
    schemas = [(record.input_schema, True)]
    schemas += [] if record.output_schema is None else [(record.output_schema, False)]
    return all(read(schema, name="T", arguments=is_input).foreign for schema, is_input in schemas)


def _tool(number: int, record: Record) -> Tool:
    clauses: list[Args | Return] = [Args(JSONSchema(record.input_schema))]
    if record.output_schema is not None:
        clauses.append(Return(JSONSchema(record.output_schema)))
    return Tool(f"t{number}", record.id, *clauses)


def _imported(record: Record, specs: Mapping[str, Any], entries: Mapping[str, Any], tool_id: str) -> Imported:
    spec = specs[tool_id]
    result = spec.result if record.output_schema is not None else None
    return Imported(record=record, payload=spec.payload, result=result, exported=entries[tool_id])


def _misses(tool: Imported, counts: Counter[str]) -> Iterator[str]:
    """Yield what does not hold, and count what does."""
    record = tool.record
    exported = jsonschema.Draft202012Validator(tool.exported["payload"]["schema"])
    for document in record.valid:
        counts["valid"] += 1
        if is_same(_written(tool.payload, document), [document]) and exported.is_valid(document):
            counts["valid accepted"] += 1
        else:
            yield "a valid document"
    for document in record.invalid:
        counts["invalid"] += 1
        if not exported.is_valid(document) and _agrees(exported, tool.payload, document):
            counts["invalid refused"] += 1
        else:
            yield "an invalid document"
    if tool.result is not None:
        exported = jsonschema.Draft202012Validator(tool.exported["result"]["schema"])
        for document in record.results:
            counts["results"] += 1
            if is_same(_written(tool.result, document), [document]) and exported.is_valid(document):
                counts["results round-tripped"] += 1
            else:
                yield "a result"
        for document in record.wrong_results:
            counts["invalid"] += 1
            if not exported.is_valid(document) and _agrees(exported, tool.result, document):
                counts["invalid refused"] += 1
            else:
                yield "a wrong result"
    for codec, schema, documents in _sides(tool):
        theirs = judge(schema)
        for document in changed(documents, schema, record.id):
            counts["changed"] += 1
            if _agrees(theirs, codec, document):
                counts["changed agreed"] += 1
            else:
                yield "a changed document"


def _sides(tool: Imported) -> Iterator[tuple[Codec[Any], Any, list[Any]]]:
    record = tool.record
    yield tool.payload, record.input_schema, record.valid
    if tool.result is not None:
        yield tool.result, record.output_schema, record.results


def judge(schema: Any) -> Any:
    """Return the opinion of python-jsonschema on what the tool's author wrote."""
    kind = validator_for(schema, default=jsonschema.Draft202012Validator)
    return kind(schema)


def changed(documents: list[Any], schema: Any, seed: str, *, times: int = 6) -> Iterator[Any]:
    """Yield documents near valid ones: one made of the schema, and each so often with some values changed."""
    chance = random.Random(seed)
    for document in [sample(schema), *documents[:3]]:
        yield document
        for _ in range(times):
            other = oracle.mutations(document, chance.choice)
            if isinstance(document, dict) and not isinstance(other, dict):
                continue  # arguments are always an object
            yield copy.deepcopy(other)


def _written(codec: Codec[Any], document: Any) -> list[Any]:
    """Return what comes back when the document is read and written; nothing when it is refused."""
    try:
        value = codec.decode(json.dumps(document))
    except ToolValidationError:
        return []
    return [json.loads(codec.encode(value))]


def _agrees(judge: Any, codec: Codec[Any], document: Any) -> bool:
    """Return whether a codec accepts a document just when a validator accepts the filled one."""
    meant = oracle.filled(document, codec.schema)
    return bool(judge.is_valid(meant) == bool(_written(codec, document)))


def _table(rows: Mapping[str, Counter[str]]) -> str:
    lines = [f"{'file':24}" + "".join(f"{column:>24}" for column in COLUMNS)]
    for file, counts in rows.items():
        cells = []
        for column in COLUMNS:
            of = column.split(" ")[0]
            cells.append(f"{counts[column]} of {counts[of]}" if " " in column else str(counts[column]))
        lines.append(f"{file:24}" + "".join(f"{cell:>24}" for cell in cells))
    return "\n".join(lines)
