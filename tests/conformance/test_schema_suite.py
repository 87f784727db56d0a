"""The JSON-Schema-Test-Suite for 2020-12: each schema as somebody else's, through generated code.

Groups that need another document are refused, as remote references are; formats are notes. What else
does not agree stands in `schema_suite_exceptions.toml` with its reason, and nothing but that.
"""

from __future__ import annotations

import importlib
import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import corpora, oracle
from tests.conformance.agreement import keeps_numbers
from tests.golden import write
from toolgen.codegen import generate
from toolgen.dsl import Design, JSONSchema, Return, Service, Tool, Toolset, build
from toolgen.runtime import ToolValidationError
from toolgen.runtime.functions import Codec
from toolgen.shapes.foreign.reader import read

EXCEPTIONS = Path(__file__).with_name("schema_suite_exceptions.toml")
PACKAGE = "suite_gen"


@pytest.fixture(scope="module")
def groups() -> list[dict[str, Any]]:
    """The groups that stand alone and do not ask for formats to be asserted."""
    corpora.require()
    return [group for group in corpora.lines(corpora.SUITE) if not group["format_assertion"]]


@pytest.fixture(scope="module")
def codecs(
    groups: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, Codec[Any]]]:
    """The generated codec of each group that can be read, by its id."""
    readable = [group for group in groups if read(group["schema"], name="T").foreign]
    tools = [
        Tool(f"t{number}", group["name"], Return(JSONSchema(group["schema"])))
        for number, group in enumerate(readable)
    ]
    evaluation = build(Design("suite", "The suite.", Service("it", "It.", Toolset("all", "All.", *tools))))
    assert evaluation.design is not None, evaluation.diagnostics
    texts = generate(evaluation.design, module="suite")
    folder = tmp_path_factory.mktemp("suite")
    write(folder, {f"{PACKAGE}/{path}": text for path, text in texts.items()})
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setattr(sys, "dont_write_bytecode", True)
        specs = importlib.import_module(f"{PACKAGE}.it.toolsets.all").SPECS
        yield {group["id"]: spec.result for group, spec in zip(readable, specs, strict=True)}
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def test_codecs_agree_with_the_suite(
    groups: list[dict[str, Any]], codecs: Mapping[str, Codec[Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    found: dict[str, str] = {}
    count = 0
    for group in groups:
        if group["id"] not in codecs:
            found[group["id"]] = "refused"
            continue
        for test in group["tests"]:
            count += 1
            if _accepts(codecs[group["id"]], test["data"]) != test["valid"]:
                found[group["id"]] = "differs"
    with capsys.disabled():
        print(f"\nJSON-Schema-Test-Suite: {len(groups)} groups, {count} tests, {len(found)} groups listed")
    listed = tomllib.loads(EXCEPTIONS.read_text("utf-8"))["exception"]
    assert all(one["reason"] for one in listed)
    assert found == {one["id"]: one["what"] for one in listed}
    assert count > 700


def _accepts(codec: Codec[Any], data: Any) -> bool:
    try:
        value = codec.decode(json.dumps(data))
    except ToolValidationError:
        return False
    written = json.loads(codec.encode(value))
    if data == 1e308:  # an integer follows the digits of its JSON text
        return bool(written == 10**308)
    assert written == oracle.filled(data, codec.schema)
    assert keeps_numbers(data, written)
    return True
