"""What designs keep of the tools of others: `python -m benchmarks.kept`, a table in Markdown.

The corpora beside the repository are imported as lists of tools. Counted are tools wholly in clauses, notes
that the designs have or a finding names, places whose values or defaults their own schema refuses and of
which a finding warns, and documents that the codec of a design and python-jsonschema judge alike: recorded
ones, one made of each schema, and changed ones. `EVERY=8` takes each eighth tool for the documents.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.conformance import corpora
from tests.conformance.test_corpora import changed, judge
from tests.conformance.test_corpora_in_clauses import _agree, _sides, generated_tools
from tests.conformance.test_import_ledger import _named, _notes, _tool
from tests.conformance.test_import_ledger import _sides as sides_of
from toolgen.contract.json_pointer import escaped
from toolgen.importers.design import design_files
from toolgen.importers.enum_labels import LABELS
from toolgen.importers.tool import ReaderResult
from toolgen.runtime.functions import SchemaCodec
from toolgen.shapes.foreign.reader.keywords import children

EVERY: Final = int(os.environ.get("EVERY", "1"))


def main() -> None:
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        for file in corpora.files():
            _kept(corpora.records(file), file.stem, Path(folder), counts)
            _judged(corpora.records(file)[::EVERY], file.stem, Path(folder), counts)
    print("| what | of | |\n|---|---|---|")
    for row, of in ROWS.items():
        print(f"| {row} | {counts[of]:,} | {counts[row]:,} |")


ROWS: Final = {
    "tools wholly in clauses": "tools",
    "descriptions kept": "descriptions",
    "descriptions named": "descriptions",
    "labels kept": "labels",
    "values that their schema refuses, warned of": "refused values",
    "documents judged alike": "documents",
}


def _kept(records: tuple[corpora.Record, ...], name: str, folder: Path, counts: Counter[str]) -> None:
    tools = [_tool(number, record) for number, record in enumerate(records)]
    source = ReaderResult(name=name, description="Tools.", tools=tuple(tools), findings=())
    design = design_files(source, name=name, service="others")
    named = _named(design.findings)
    odd = {finding.place.pointer for finding in design.findings if finding.code == "import-odd-schema"}
    whole = {tool.name for tool in tools}
    for tool, side, schema in sides_of(folder, design.files):
        said = getattr(tools[int(tool[1:])], side)
        if said is None:
            continue
        whole -= {tool} if schema is None else set()
        for keyword, _, pointer in _notes(said, f"/{tool}/{side}"):
            if keyword == "description":
                counts["descriptions"] += 1
                counts["descriptions named" if pointer in named else "descriptions kept"] += 1
        for pointer in _labels(said, f"/{tool}/{side}"):
            counts["labels"] += 1
            counts["labels kept"] += pointer not in named
        for pointer in _refused(said, f"/{tool}/{side}"):
            counts["refused values"] += 1
            counts["values that their schema refuses, warned of"] += pointer in odd
    counts["tools"] += len(tools)
    counts["tools wholly in clauses"] += len(whole)


def _judged(records: tuple[corpora.Record, ...], name: str, folder: Path, counts: Counter[str]) -> None:
    for record, spec in generated_tools(folder, name, records):
        for codec, schema, documents in _sides(record, spec):
            if isinstance(codec, SchemaCodec):
                continue
            theirs = judge(schema)
            for document in [*documents, *changed(documents, schema, record.id, times=2)]:
                counts["documents"] += 1
                counts["documents judged alike"] += _agree(codec, theirs, document)


def _places(root: Any, pointer: str) -> Iterator[tuple[Any, str]]:
    waiting = [(root, pointer)]
    while waiting:
        schema, at = waiting.pop()
        if isinstance(schema, dict):
            yield schema, at
            waiting += [(inner, "/".join((at, *map(escaped, tokens)))) for tokens, inner in children(schema)]


def _labels(root: Any, pointer: str) -> Iterator[str]:
    """Yield the place of each text about a constant: of a branch, or beside an enum."""
    for schema, at in _places(root, pointer):
        yield from (f"{at}/{word}" for word in LABELS if word in schema)
        if "const" in schema and any(f"/{word}/" in at for word in ("oneOf", "anyOf")):
            yield from (f"{at}/{word}" for word in ("title", "description") if word in schema)


def _refused(root: Any, pointer: str) -> Iterator[str]:
    """Yield each place of a value that its own schema refuses, by python-jsonschema."""
    for schema, at in _places(root, pointer):
        rest = {word: value for word, value in schema.items() if word not in ("enum", "const", "default")}
        if any("$ref" in inner for inner, _ in _places(schema, "")):
            continue
        for word in ("enum", "const"):
            values = [schema[word]] if word == "const" and word in schema else schema.get(word, [])
            if "type" in schema and not all(map(judge({"type": schema["type"]}).is_valid, values)):
                yield f"{at}/{word}"
        kept = {word: schema[word] for word in ("enum", "const") if word in schema}
        if "default" in schema and not judge({**rest, **kept}).is_valid(schema["default"]):
            yield f"{at}/default"


if __name__ == "__main__":
    main()
