"""Real tools in clauses: each note of their schemas is in the design, or a finding names it."""

from __future__ import annotations

import json
import runpy
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import corpora
from tests.golden import write
from toolgen.contract.findings import Finding
from toolgen.contract.json_pointer import escaped
from toolgen.dsl import build
from toolgen.importers.design import design_files
from toolgen.importers.tool import ImportedTool, ReaderResult
from toolgen.shapes.foreign.reader.keywords import children
from toolgen.shapes.tree.schema import object_schema

pytestmark = pytest.mark.costly

NOTES = ("title", "description", "default", "examples", "example", "format", "deprecated", "readOnly")


def test_every_note_is_kept_or_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpora.require()
    counts: Counter[str] = Counter()
    silent, invented = [], list[str]()
    for file in corpora.files():
        tools = [_tool(number, record) for number, record in enumerate(corpora.records(file))]
        source = ReaderResult(name=file.stem, description="Tools.", tools=tuple(tools), findings=())
        design = design_files(source, name=file.stem, service="others")
        named = _named(design.findings)
        whole = {tool.name for tool in tools}
        for name, side, schema in _sides(tmp_path, design.files):
            said = getattr(tools[int(name[1:])], side)
            if said is None:
                continue
            whole -= {name} if schema is None else set()
            text = json.dumps(schema, ensure_ascii=False)
            for keyword, value, pointer in _notes(said, f"/{name}/{side}"):
                counts[keyword] += 1
                counts[f"{keyword} named"] += pointer in named
                if not (schema is None or pointer in named or _is_in(value, text)):
                    silent.append((file.stem, pointer, value))
            invented += _invented(schema, said)
        counts["tools"] += len(tools)
        counts["tools in clauses"] += len(whole)
    with capsys.disabled():
        print("\n" + ", ".join(f"{word}: {count}" for word, count in counts.items()))
    assert silent == []
    assert invented == []


def _named(findings: tuple[Finding, ...]) -> set[str]:
    """Return the places that findings name, in their message or as their own."""
    named = {finding.place.pointer or "" for finding in findings}
    for finding in findings:
        _, is_listed, places = finding.message.partition("leaves out: ")
        side = "/".join((finding.place.pointer or "").split("/")[:3])
        named.update(side + place for place in places.split(", ") if is_listed)
    return named


def _tool(number: int, record: corpora.Record) -> ImportedTool:
    name = f"t{number}"
    return ImportedTool(
        name=name,
        description="A tool.",
        arguments=record.input_schema,
        result=record.output_schema,
        arguments_pointer=f"/{name}/arguments",
        result_pointer=f"/{name}/result",
    )


def _sides(folder: Path, files: dict[str, str]) -> Iterator[tuple[str, str, Any]]:
    """Yield each side of a tool in a design and its schema; None for a side that stays a schema."""
    write(folder, files)
    evaluation = build(runpy.run_path(str(folder / next(iter(files))))["design"])
    assert evaluation.design is not None, evaluation.diagnostics[:3]
    toolset = evaluation.design.services[0].toolsets[0]
    objects = {each.name: each for each in (*toolset.objects, *evaluation.design.types)}
    for tool in toolset.tools:
        for side, object_ in (("arguments", tool.payload), ("result", tool.result)):
            yield tool.name, side, None if object_.foreign else object_schema(object_, objects)


def _notes(root: Any, pointer: str) -> Iterator[tuple[str, Any, str]]:
    """Yield the notes of a schema and of the definitions that it refers to, each with its place."""
    waiting, seen = [(root, pointer)], set[str]()
    while waiting:
        schema, at = waiting.pop()
        if not isinstance(schema, dict) or at in seen:
            continue
        seen.add(at)
        yield from ((word, schema[word], f"{at}/{word}") for word in NOTES if word in schema)
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/"):
            target = root
            for token in reference[2:].split("/"):
                target = target.get(token, {}) if isinstance(target, dict) else {}
            waiting.append((target, pointer + reference[1:]))
        for tokens, inner in children(schema):
            if tokens[0] not in ("$defs", "definitions"):
                waiting.append((inner, "/".join((at, *map(escaped, tokens)))))


def _is_in(value: Any, text: str) -> bool:
    """Return whether a note stands in the text of a schema, or says nothing; a title may be in other case."""
    if value in (None, False, "") or not isinstance(value, str):
        return True
    words = " ".join(value.split())[:100].casefold()
    plain = " ".join(json.dumps(value, ensure_ascii=False)[1:-1].split())[:100].casefold()
    folded = " ".join(text.replace("\\n", " ").split()).casefold()
    return (
        words in folded
        or plain in folded
        or "".join(filter(str.isalnum, words)) in "".join(filter(str.isalnum, folded))
    )


def _invented(schema: Any, said: Any) -> list[str]:
    """Return the descriptions of a design's schema that its source has nowhere."""
    own = json.dumps(said, ensure_ascii=False)
    found = _notes(schema, "") if schema else ()
    texts = (value.replace("[no web page] ", "") for word, value, _ in found if word == "description")
    return [text for text in texts if not _is_in(text, own)]
