"""Reading a source is linear: a file that is twice as long takes twice the work, whatever stands in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from tests.conformance.agreement import drawing
from tests.work import lines_run
from toolgen.contract.errors import ToolgenError
from toolgen.importers import json_text
from toolgen.importers.json_schema import read_schemas
from toolgen.importers.openapi import openapi_files
from toolgen.importers.text import MOST_FINDINGS, read_document
from toolgen.schema_reader.document import LONGEST_POINTER

OBJECT = {"type": "object", "properties": {"city": {"type": "string"}}}


@drawing(500)
@given(st.text('"\\[]{}ab\n', max_size=40))
def test_the_scanner_takes_something_wherever_it_begins(text: str) -> None:
    """What it fails to take it would try again from the next place."""
    for at, char in enumerate(text):
        found = json_text._TOKENS.match(text, at)
        assert (found is not None) == (char in '"[]{}')


def tools(number: int, record: str) -> str:
    """Return a list of tools; each has another number where the record says N."""
    return "[" + ",".join(record.replace("N", str(one)) for one in range(number)) + "]"


RECORD = '{"name": "tN", "parameters": %s}'
SOURCES: dict[str, Callable[[int], str]] = {
    "halves of characters": lambda n: tools(n, RECORD % '{"title": "\\ud800"}'),
    "numbers": lambda n: tools(n, RECORD % '{"default": 1e999}'),
    "keys twice": lambda n: tools(n, RECORD % '{"type": "object", "type": "object"}'),
    "names twice": lambda n: tools(n, '{"name": "t", "parameters": {}}'),
    "no tools": lambda n: tools(n, '{"name": 3}'),
    "deep": lambda n: tools(n, RECORD % ('{"items":' * 120 + "{}" + "}" * 120)),
    "keys twice below a long key": lambda n: (
        '{"' + "k" * n * 50 + '": [' + ",".join(['{"a": 1, "a": 2}'] * n) + "]}"
    ),
    "halves below a long key": lambda n: '{"' + "k" * n * 50 + '": [' + ",".join(['"\\ud800"'] * n) + "]}",
}


@pytest.mark.parametrize("name", SOURCES)
def test_a_list_of_tools_is_read_in_linear_work(name: str, tmp_path: Path) -> None:
    def work(number: int) -> int:
        file = tmp_path / f"{number}.json"
        file.write_text(SOURCES[name](number), "utf-8")
        return lines_run(lambda: read_schemas(read_document(file)))

    assert work(400) < 2.2 * work(200)


def _operations(number: int) -> str:
    parameters = [{"name": f"p{n}", "in": "query", "schema": {"$ref": "#/components/x"}} for n in range(3)]
    paths = {f"/p{n}": {"get": {"parameters": parameters}} for n in range(number)}
    return json.dumps({"openapi": "3.1.0", "paths": paths, "components": {"x": {"type": "string"}}})


def _clashing(number: int) -> str:
    """Return an API whose schemas have one name in `$defs`: `/x/a/a_a` and `/x/a_a/a`, and so on."""
    document: dict[str, Any] = {"openapi": "3.1.0", "x": {}}
    pointers = []
    for one in range(number):
        pointer = "/x/a" + "".join("/_"[int(bit)] + "a" for bit in f"{one:010b}")
        at = document
        for token in pointer.split("/")[1:]:
            at = at.setdefault(token, {})
        at["type"] = "string"
        pointers.append(pointer)
    schema = {"anyOf": [{"$ref": f"#{pointer}"} for pointer in pointers]}
    body = {"content": {"application/json": {"schema": schema}}}
    return json.dumps({**document, "paths": {"/a": {"post": {"requestBody": body}}}})


@pytest.mark.parametrize("source", [_operations, _clashing])
def test_an_api_is_read_in_linear_work(source: Callable[[int], str], tmp_path: Path) -> None:
    def work(number: int) -> int:
        file = tmp_path / f"{number}.json"
        file.write_text(source(number), "utf-8")
        document = read_document(file)
        return lines_run(lambda: openapi_files(document, name="api", service="API"))

    assert work(400) < 2.2 * work(200)


YAML: dict[str, Callable[[int], str]] = {
    "lists": lambda n: "a:\n" + "- {x: 1, y: [1, 2]}\n" * n,
    "anchors": lambda n: "a: &a {x: 1}\nb:\n" + "- *a\n" * n,
    "merged": lambda n: "a: &a {x: 1}\nb:\n" + "- {<<: *a, y: 2}\n" * n,
    "keys": lambda n: "".join(f"k{one}: 1\n" for one in range(n)),
    "numbers": lambda n: "a: " + "1" * n + "e",
    "quotes": lambda n: 'a: "' + '\\"' * n + '"',
}


@pytest.mark.parametrize("name", YAML)
def test_yaml_is_read_in_linear_work(name: str, tmp_path: Path) -> None:
    def work(number: int) -> int:
        file = tmp_path / f"{number}.yaml"
        file.write_text(YAML[name](number), "utf-8")
        return lines_run(lambda: read_document(file, yaml=True))

    assert work(800) < 2.2 * work(400)


def test_an_integer_of_too_many_digits_costs_its_tool_only(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    long = f'{{"name": "long", "parameters": {{"default": {"9" * 5_000}}}}}'
    file.write_text(f'[{long}, {{"name": "good", "parameters": {json.dumps(OBJECT)}}}]', "utf-8")
    source = read_schemas(read_document(file))
    assert [tool.name for tool in source.tools] == ["good"]
    [finding] = source.findings
    assert (finding.tool, finding.place.pointer) == ("long", "/0/parameters/default")
    assert finding.message == "the number is too large"


def test_a_key_of_many_characters_costs_its_tool_only(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    schema = {"properties": {"k" * LONGEST_POINTER: {"type": "string"}}}
    records = [{"name": "long", "parameters": schema}, {"name": "good", "parameters": OBJECT}]
    file.write_text(json.dumps(records), "utf-8")
    source = read_schemas(read_document(file))
    assert [tool.name for tool in source.tools] == ["good"]
    [finding] = source.findings
    assert finding.tool == "long"
    assert finding.message == "stands under keys of more than 2,000 characters"


def test_a_tool_that_is_too_deep_in_many_places_is_one_error(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    deep = '{"items":' * 120 + "{}" + "}" * 120
    schema = f'{{"anyOf": [{", ".join([deep] * 50)}]}}'
    file.write_text(
        f'[{{"name": "a", "parameters": {schema}}}, {{"name": "b", "parameters": {schema}}}]', "utf-8"
    )
    source = read_schemas(read_document(file))
    assert [(finding.tool, finding.message) for finding in source.findings] == [
        ("a", "what stands here is nested too deeply to be read"),
        ("b", "what stands here is nested too deeply to be read"),
    ]


def test_a_source_with_thousands_of_faults_is_refused_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text("[" + ",".join(["1e999"] * (MOST_FINDINGS + 1)) + "]", "utf-8")
    with pytest.raises(ToolgenError, match="tools has more than 10,000 places to correct"):
        read_document(file)
