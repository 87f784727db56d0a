"""Real tools whose schemas the words can express: the design that `toolgen import` writes says the same.

A codec takes what the schema takes, null too.
"""

from __future__ import annotations

import importlib
import json
import runpy
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import corpora
from tests.conformance.agreement import decoded
from tests.conformance.corpora import Record
from tests.conformance.test_corpora import changed, judge
from tests.golden import write
from toolgen.codegen import generate
from toolgen.dsl import build
from toolgen.importers.design import design_files
from toolgen.importers.tool import ImportedTool, ReaderResult
from toolgen.runtime import ToolSpec
from toolgen.runtime.functions import Codec, SchemaCodec

PACKAGE = "words_gen"
LEAST_IN_WORDS = 0.8
"""Share of all arguments; what they cannot express is mostly a schema without a type."""

Tools = list[tuple[Record, ToolSpec[Any, Any]]]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Tools]]:
    """Every tool by its file, generated from the module that an import writes."""
    corpora.require()
    folder = tmp_path_factory.mktemp("words")
    found: dict[str, Tools] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setattr(sys, "dont_write_bytecode", True)
        for file in corpora.files():
            found[file.stem] = generated_tools(folder, file.stem, corpora.part(corpora.records(file)))
        yield found
    for name in [name for name in sys.modules if name.partition(".")[0].startswith(PACKAGE)]:
        del sys.modules[name]


def generated_tools(folder: Path, name: str, of: Sequence[Record]) -> Tools:
    """Return the tools that can be imported, generated as a package in a folder of `sys.path`.

    Each has its number for a name, for names recur.
    """
    records = {f"t{number}": record for number, record in enumerate(of)}
    imported = tuple(
        ImportedTool(
            name=number,
            description="A tool.",
            arguments=record.input_schema,
            result=record.output_schema,
        )
        for number, record in records.items()
    )
    source = ReaderResult(name=name, description="Tools.", tools=imported, findings=())
    design = design_files(source, name=name, service="others")
    write(folder, design.files)
    evaluation = build(runpy.run_path(str(folder / next(iter(design.files))))["design"])
    assert evaluation.design is not None, evaluation.diagnostics[:3]
    texts = generate(evaluation.design, module=name)
    package = f"{PACKAGE}_{name}"
    write(folder, {f"{package}/{path}": text for path, text in texts.items()})
    specs = importlib.import_module(f"{package}.others.toolsets.{name}").SPECS
    return [(records[spec.name], spec) for spec in specs]


@pytest.mark.volume
def test_designed_words_meet_reality(tools: dict[str, Tools], capsys: pytest.CaptureFixture[str]) -> None:
    counts: Counter[str] = Counter()
    differences = []
    for found in tools.values():
        for record, spec in found:
            for codec, schema, documents in _sides(record, spec):
                counts["schemas"] += 1
                if isinstance(codec, SchemaCodec):
                    continue
                counts["in words"] += 1
                theirs = judge(schema)
                for document in [*documents, *changed(documents, schema, record.id, times=2)]:
                    counts["documents"] += 1
                    if not _agree(codec, theirs, document):
                        differences.append((record.id, document))
    with capsys.disabled():
        print(f"\nin words: {counts['in words']} of {counts['schemas']}, {counts['documents']} documents")
    assert differences == []
    assert counts["in words"] > LEAST_IN_WORDS * counts["schemas"]


@pytest.mark.volume
def test_recorded_arguments_come_back_as_they_were(
    tools: dict[str, Tools], capsys: pytest.CaptureFixture[str]
) -> None:
    """Without what the tool adds, a default."""
    count = 0
    differences = []
    for found in tools.values():
        for record, spec in found:
            for document in record.valid:
                count += 1
                written = json.loads(spec.payload.encode(spec.payload.decode(document)))
                if not _holds(written, document):
                    differences.append((record.id, document, written))
    with capsys.disabled():
        print(f"\nrecorded arguments: {len(differences)} of {count} differ")
    assert differences == []
    assert count > 2_500 / corpora.STRIDE


def _holds(written: Any, plain: Any) -> bool:
    """Return whether a document holds another one, number by number as it was written."""
    if isinstance(written, dict) and isinstance(plain, dict):
        return plain.keys() <= written.keys() and all(_holds(written[key], plain[key]) for key in plain)
    if isinstance(written, list) and isinstance(plain, list):
        return len(written) == len(plain) and all(map(_holds, written, plain))
    return type(written) is type(plain) and bool(written == plain)


def _sides(record: Record, spec: ToolSpec[Any, Any]) -> Iterator[tuple[Codec[Any], Any, list[Any]]]:
    yield spec.payload, record.input_schema, [*record.valid, *record.invalid]
    if record.output_schema is not None:
        yield spec.result, record.output_schema, record.results


def _agree(codec: Codec[Any], theirs: Any, document: Any) -> bool:
    """Return whether the tool takes what its author's schema takes, and gives it back."""
    value, issues = decoded(codec, document)
    if theirs.is_valid(document) != (not issues):
        return False
    if issues:
        return True
    written = json.loads(codec.encode(value))
    return theirs.is_valid(written) and _is_same(written, document, _defaults(codec.schema))


def _is_same(written: Any, plain: Any, defaults: defaultdict[str, list[Any]]) -> bool:
    """Return whether a document holds what another holds, and defaults."""
    if isinstance(written, dict) and isinstance(plain, dict):
        known = {key: [plain[key]] if key in plain else defaults[key] for key in written}
        return plain.keys() <= written.keys() and all(
            any(_is_same(value, other, defaults) for other in known[key]) for key, value in written.items()
        )
    if isinstance(written, list) and isinstance(plain, list):
        return len(written) == len(plain) and all(
            _is_same(one, other, defaults) for one, other in zip(written, plain, strict=True)
        )
    if isinstance(written, bool) or type(written) is not int:
        return type(written) is type(plain) and bool(written == plain)
    return type(plain) in (int, float) and bool(written == plain)  # 5.0 may be a whole number


def _defaults(schema: Any) -> defaultdict[str, list[Any]]:
    """Return the defaults of a schema by the key that has them, wherever it stands."""
    found: defaultdict[str, list[Any]] = defaultdict(list)
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            for key, property_ in node.get("properties", {}).items():
                if isinstance(property_, dict) and "default" in property_:
                    found[key].append(property_["default"])
        waiting += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return found
