"""Reading a source is linear: a file that is twice as long takes twice the work, whatever stands in it."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.importers.recursive_api import recursive_api
from tests.work import lines_run
from toolgen.importers.json_schema import read_schemas
from toolgen.importers.openapi import openapi_files
from toolgen.importers.reimport.targets import targets_in
from toolgen.importers.text import read_document


def tools(number: int, record: str) -> str:
    """Return a list of tools; each has another number where the record says N."""
    return "[" + ",".join(record.replace("N", str(one)) for one in range(number)) + "]"


RECORD = '{"name": "tN", "parameters": %s}'
SOURCES: dict[str, Callable[[int], str]] = {
    "halves of characters": lambda n: tools(n, RECORD % '{"title": "\\ud800"}'),
    "keys twice": lambda n: tools(n, RECORD % '{"type": "object", "type": "object"}'),
    "names twice": lambda n: tools(n, '{"name": "t", "parameters": {}}'),
    "no tools": lambda n: tools(n, '{"name": 3}'),
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


def test_components_that_lead_to_each_other_are_read_in_linear_work(tmp_path: Path) -> None:
    def work(number: int) -> int:
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(recursive_api(number)), "utf-8")
        document = read_document(file)
        return lines_run(lambda: openapi_files(document, name="api", service="API"))

    assert work(160) < 2.3 * work(80)


def _answering(answers: list[dict[str, Any]], schemas: dict[str, Any]) -> str:
    paths = {
        f"/p{n}": {
            "get": {
                "responses": {
                    "200": {"description": "A.", "content": {"application/json": {"schema": schema}}}
                }
            }
        }
        for n, schema in enumerate(answers)
    }
    return json.dumps({"openapi": "3.1.0", "paths": paths, "components": {"schemas": schemas}})


def _import_work(text: str, file: Path) -> int:
    file.write_text(text, "utf-8")
    document = read_document(file)
    return lines_run(lambda: openapi_files(document, name="api", service="API"))


def test_a_union_that_stays_a_schema_lets_no_type_be_written_twice(tmp_path: Path) -> None:
    def work(*actions: str) -> int:
        branches = [
            {
                "type": "object",
                "properties": {"action": {"type": "string", "enum": [f"{action}{n}" for action in actions]}},
                "required": ["action"],
            }
            for n in range(2)
        ]
        schemas: dict[str, Any] = {
            f"Kind{n}": {"type": "object", "properties": {f"a{m}": {"type": "string"} for m in range(20)}}
            for n in range(60)
        }
        schemas["Action"] = {"oneOf": branches}
        held = {name: {"$ref": f"#/components/schemas/{name}"} for name in schemas}
        return _import_work(
            _answering([{"type": "object", "properties": held}], schemas), tmp_path / "api.json"
        )

    assert work("play", "mute") < 1.1 * work("play")


def test_answers_that_are_alike_are_read_once(tmp_path: Path) -> None:
    def work(is_alike: bool) -> int:
        answers = [
            {
                "type": "object",
                "properties": {
                    f"a{m}": {"type": "string", "description": f"A {0 if is_alike else n}."}
                    for m in range(20)
                },
            }
            for n in range(60)
        ]
        return _import_work(_answering(answers, {}), tmp_path / "api.json")

    assert work(True) < 0.9 * work(False)


def test_the_targets_of_a_design_are_found_in_linear_work() -> None:
    def work(number: int) -> int:
        methods = ", ".join(f'Method("m{n}", "M.", HTTP(GET("/m{n}")))' for n in range(number))
        service = f'Service("shop", "S.", Server("https://shop.example"), Security(KEY), {methods})'
        tree = ast.parse(f'KEY = BearerSecurity("key", "K.")\nshop = {service}')
        assert len(targets_in(tree)) == number + 2
        return lines_run(lambda: targets_in(tree))

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
