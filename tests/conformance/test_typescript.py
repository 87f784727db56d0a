"""Generated TypeScript compiles and is clean, and takes the documents that the codecs take."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given

from tests import golden
from tests.conformance import corpora
from tests.conformance.agreement import decoded, documents, drawing
from tests.conformance.compiler import (
    OPTIONS,
    configure,
    linted,
    project,
    refused,
    settings,
)
from tests.conformance.generated import packages, specs_of
from tests.conformance.random_designs import designs
from tests.conformance.test_imported_designs import FILES, corpus
from tests.importers.designs import built, imported, tool
from tests.selection import volume
from tests.typescript.test_doc import blocks, home
from toolgen import dsl
from toolgen.codegen.languages import generate_language
from toolgen.codegen.typescript.layout import (
    PLAIN,
    FileScope,
    shared_scope,
    toolset_file,
    toolset_scope,
    toolsets_of,
)
from toolgen.codegen.typescript.sides import Side
from toolgen.codegen.typescript.text import quote
from toolgen.dsl import build
from toolgen.dsl.expr.tree import Design, Tool
from toolgen.runtime import ToolSpec, ToolValidationError
from toolgen.runtime.functions import Codec, json_schema_codec

pytestmark = pytest.mark.costly

SHAPES = {"missing_field", "unknown_field", "invalid_type", "invalid_enum_value"}
"""What types say of a document; they know no limits, patterns and formats."""


def trees(design: Design, name: str) -> dict[str, str]:
    texts = generate_language("typescript", design, module=name)
    return {f"{name}/{path}": text for path, text in texts.items()}


def everything() -> dict[str, str]:
    """Return the code of the document beside the tree of the example, and the trees of all cases."""
    texts = {f"toolgen/{path}": text for path, text in home().items()}
    for case in golden.NAMES:
        texts |= trees(golden.design(case), case)
    shown = {f"block_{number}.ts": text for number, text in enumerate(blocks("ts"))}
    assert len(shown) > 1
    return texts | shown


def test_the_example_and_the_cases_are_clean(tmp_path: Path) -> None:
    texts = everything()
    folder = project(tmp_path, texts)
    assert refused(folder) == {}
    assert linted(folder, "toolgen", *_own(texts)) == ""


def _own(texts: Iterable[str]) -> list[str]:
    """Return the paths of what a design is in, without what is the same for every design."""
    return [path for path in texts if not path.endswith(PLAIN)]


def test_the_compiler_and_the_linter_do_look(tmp_path: Path) -> None:
    folder = project(tmp_path, {"wrong.ts": 'export const a: string = 1;\nexport const b = "" as any;\n'})
    assert [*refused(folder)] == [("wrong.ts", 1)]
    assert "no-explicit-any" in linted(folder, "wrong.ts")


@pytest.mark.volume
def test_random_designs_are_clean(tmp_path: Path) -> None:
    texts: dict[str, str] = {}

    @drawing(volume(12, lab=200))
    @given(designs())
    def check(design: dsl.Design) -> None:
        checked = build(design).design
        if checked is not None:
            texts.update(trees(checked, f"random_{len(texts)}"))

    check()
    folder = project(tmp_path, texts)
    assert refused(folder) == {}
    assert len({path.split("/")[0] for path in texts}) > 5
    configure(folder, settings("strict"))
    assert refused(folder) == {}
    configure(folder, OPTIONS)
    assert linted(folder, *_own(texts)[:: volume(3, lab=1)]) == ""


@pytest.mark.volume
@pytest.mark.parametrize("name", FILES)
def test_types_of_the_corpora_take_what_their_schemas_take(name: str, tmp_path: Path) -> None:
    """And what is of another shape is refused, at its line."""
    records = corpora.part(corpus(name))
    found = imported(
        *(
            tool(
                record["name"],
                record["input_schema"],
                description=record.get("description") or "",
                result=record.get("output_schema"),
            )
            for record in records
        )
    )
    left_out = {finding.tool for finding in found.findings if not finding.is_warning}
    good = [record for record in records if record["name"] not in left_out]
    design = built(found, tmp_path).design
    assert design is not None
    (toolset,) = design.services[0].toolsets
    pairs = [*zip(toolset.tools, good, strict=True)]
    first = f'import type * as t from "./{toolset.service}/{toolset.name}.js";'
    right = [line for pair in pairs for line in _right(*pair)]
    wrong = [line for pair in pairs for line in _wrong(*pair)]
    folder = project(
        tmp_path / "web",
        {
            **trees(design, name),
            f"{name}/right.ts": "\n".join([first, *_numbered(right)]),
            f"{name}/wrong.ts": "\n".join([first, *_numbered(wrong)]),
        },
    )
    errors = refused(folder)
    passed = [line for at, line in enumerate(wrong, 2) if (f"{name}/wrong.ts", at) not in errors]
    assert passed == []
    assert {place: text for place, text in errors.items() if place[0] != f"{name}/wrong.ts"} == {}
    assert len(right) > 5
    assert len(wrong) > 10
    assert linted(folder, f"{name}/{toolset.service}") == ""


@pytest.mark.volume
def test_each_side_takes_what_crosses_it(tmp_path: Path) -> None:
    """Arguments as their schema takes them; results as the codec writes them and the surface shows them."""
    checked = build(import_module("examples.home.design").design).design
    assert checked is not None
    by_package = {"gen": checked, **{f"tests.cases.{name}.gen": golden.design(name) for name in golden.NAMES}}
    texts: dict[str, str] = {}
    lines = 0
    for package in [*packages()][:: volume(3, lab=1)]:
        design = by_package[package]
        name = package.split(".")[-2] if "." in package else "home"
        specs = {spec.id: spec for spec in specs_of(package)}
        texts |= trees(design, name)
        shared = shared_scope(design)
        for toolset in toolsets_of(design):
            scope = toolset_scope(toolset, shared)
            found = [_typed(*each) for tool in toolset.tools for each in _crossing(specs[tool.id], scope)]
            place = toolset_file(toolset).removesuffix(".ts")
            modules = {
                "own": f"./{PurePosixPath(place).name}.js",
                "shared": "../" * (place.count("/")) + "types.js",
            }
            used = [alias for alias in modules if any(f": {alias}." in line for line in found)]
            heads = [f'import type * as {alias} from "{modules[alias]}";' for alias in used]
            texts[f"{name}/{place}_documents.ts"] = "\n".join([*heads, *_numbered(found)]) + "\n"
            lines += len(found)
    assert lines > 100
    assert refused(project(tmp_path, texts)) == {}


def _crossing(spec: ToolSpec[Any, Any], scope: FileScope) -> Iterator[tuple[str, Any]]:
    """Yield documents that cross the surface, each with its type."""
    sent = [spec.payload, *([spec.confirm.payload] if spec.confirm and spec.confirm.payload else [])]
    late = spec.long_running
    sent += [spec.result] if late else []
    received = [spec.result, *(artifact.codec for artifact in spec.artifacts.values())]
    received += [error.codec for error in spec.errors.values() if error.codec]
    received += [codec for codec in (late.ack, late.progress) if codec] if late else []
    for codec in sent:
        for document in _drawn(codec):
            yield _name(codec, "sent", scope), document
    for codec in received:
        for document in _drawn(codec):
            value = decoded(codec, document)[0]
            yield _name(codec, "received", scope), codec.public(json.loads(codec.encode(value)))


def _name(codec: Codec[Any], side: Side, scope: FileScope) -> str:
    name = scope.names[side][codec.name]
    return f"{'shared' if name in scope.shared else 'own'}.{name}"


def _drawn(codec: Codec[Any]) -> list[Any]:
    """Return documents that the codec takes."""
    taken: list[Any] = []

    @drawing(volume(4, lab=30))
    @given(documents(codec.schema))
    def collect(document: Any) -> None:
        if not decoded(codec, document)[1]:
            taken.append(document)

    collect()
    return taken


def _right(of: Tool, record: dict[str, Any]) -> list[str]:
    results = [*record.get("valid_outputs", ()), *(call["result"] for call in record.get("calls") or ())]
    lines = [_typed(f"t.{of.payload.name}", each) for each in record.get("valid_args", ())]
    if record.get("output_schema") is not None:
        lines += [_typed(f"t.{of.result.name}", each) for each in results]
    return lines


def _wrong(of: Tool, record: dict[str, Any]) -> list[str]:
    codec = json_schema_codec(record["input_schema"], of.name)
    lines = []
    for each in record.get("invalid_args", ()):
        try:
            codec.decode_as_sent(json.dumps(each["args"]))
        except ToolValidationError as error:
            if SHAPES.intersection(issue.constraint for issue in error.issues):
                lines.append(_typed(f"t.{of.payload.name}", each["args"]))
    return lines


def _typed(name: str, value: Any) -> str:
    return f": {name} = {_expression(value)};"


def _numbered(lines: list[str]) -> list[str]:
    return [f"export const v{number}{line}" for number, line in enumerate(lines)]


def _expression(value: Any) -> str:
    match value:
        case dict():
            return f"{{{', '.join(f'{quote(key)}: {_expression(each)}' for key, each in value.items())}}}"
        case list():
            return f"[{', '.join(map(_expression, value))}]"
        case str():
            return quote(value)
        case _:
            return json.dumps(value)
