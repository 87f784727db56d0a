"""What the decode target decodes with: codecs of designs, of schemas of others, and of functions."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from tests.conformance import corpora
from tests.conformance.generated import codecs
from tests.golden import write
from tests.schema_reader.random_schemas import Draws
from toolgen.codegen import generate
from toolgen.contract.json_value import Json
from toolgen.dsl import Args, Design, JSONSchema, Return, Service, Tool, Toolset, build
from toolgen.runtime import ToolSpec
from toolgen.runtime.functions import Codec
from toolgen.shapes.foreign.reader import read

from .functions import TOOLS


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A codec, and documents that it should take."""

    name: str
    codec: Codec[Any]
    documents: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Foreign:
    """A tool of somebody else."""

    name: str
    arguments: Any
    result: Any
    documents: tuple[Json, ...] = ()
    results: tuple[Json, ...] = ()


def subjects(seed: int, *, most_corpora: int = 150, most_random: int = 60) -> list[Subject]:
    """Return all of designs and functions, and so many of schemas that the seed draws.

    Schemas become types by the generator, as imported ones do. Without the corpora there are none of them.
    """
    found = [Subject(name=name, codec=codec) for name, codec in codecs().items()]
    for tool in TOOLS.bound:
        for codec in (tool.spec.payload, tool.spec.result):
            found.append(Subject(name=f"{tool.spec.id}:{codec.name}", codec=codec))
    chance = Random(seed)
    foreign = [*_recorded(chance, most_corpora), *_random(chance, most_random)]
    return [*found, *_generated(foreign)] if foreign else found


def _recorded(chance: Random, most: int) -> Iterator[_Foreign]:
    records = [record for file in corpora.files() for record in corpora.records(file)]
    for record in chance.sample(records, min(most, len(records))):
        one = _Foreign(
            name=record.id,
            arguments=record.input_schema,
            result=record.output_schema,
            documents=tuple(record.valid),
            results=tuple(record.results[:5]),
        )
        if _is_readable(one):
            yield one


def _random(chance: Random, most: int) -> Iterator[_Foreign]:
    draws = Draws(chance.randrange(2**32))
    for number in range(most):
        schema = draws.root(draft_7=number % 3 == 0)
        documents = [draws.instance(schema, schema) for _ in range(5)]
        one = _Foreign(name=f"random {number}", arguments={}, result=schema, results=tuple(documents))
        if _is_readable(one):
            yield one


def _is_readable(one: _Foreign) -> bool:
    is_input = read(one.arguments, name="T", arguments=True).foreign is not None
    return is_input and (one.result is None or read(one.result, name="T").foreign is not None)


def _generated(foreign: Sequence[_Foreign]) -> Iterator[Subject]:
    tools = [
        Tool(
            f"t{number}",
            one.name,
            Args(JSONSchema(one.arguments)),
            *([] if one.result is None else [Return(JSONSchema(one.result))]),
        )
        for number, one in enumerate(foreign)
    ]
    evaluation = build(Design("fuzz", "F.", Service("others", "Theirs.", Toolset("all", "All.", *tools))))
    assert evaluation.design is not None, evaluation.diagnostics
    specs = _imported(generate(evaluation.design, module="fuzz"))
    for one, spec in zip(foreign, specs, strict=True):
        yield Subject(name=one.name, codec=spec.payload, documents=one.documents)
        if one.result is not None:
            yield Subject(name=f"{one.name}:result", codec=spec.result, documents=one.results)


def _imported(texts: Mapping[str, str]) -> Sequence[ToolSpec[Any, Any]]:
    """Return the specs of a generated package, whose modules stay imported after their files are gone."""
    package = next(name for name in map("fuzz_gen_{}".format, count()) if name not in sys.modules)
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), {f"{package}/{path}": text for path, text in texts.items()})
        sys.path.insert(0, folder)
        try:
            specs: Sequence[ToolSpec[Any, Any]] = import_module(f"{package}.others.toolsets.all").SPECS
            for spec in specs:
                _ = spec.payload.type, spec.result.type  # imports the types
        finally:
            sys.path.remove(folder)
    return specs


def schema_of(codec: Codec[Any]) -> Any:
    """Return the schema of a codec as JSON."""
    return json.loads(codec.schema_json)
