"""Work that an import does once, counted and not timed, and the garbage that it leaves: none."""

from __future__ import annotations

import ast
import gc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer import Typer
from typer.main import get_command

from toolgen.cli.app import app
from toolgen.cli.command_list import narrowed
from toolgen.importers import openapi_notes, text
from toolgen.importers.openapi import openapi_files
from toolgen.importers.openapi_components import Components
from toolgen.importers.openapi_document import API
from toolgen.importers.reimport import targets
from toolgen.importers.text import SourceDocument, parsed
from toolgen.shapes.fields import NumberType
from toolgen.shapes.foreign.reader import schema_index
from toolgen.shapes.foreign.reader.schema_index import SchemaIndex
from toolgen.shapes.tree.validator import Validator

from .operations import answer, body, operation
from .recursive_api import recursive_api

CONTRADICTORY = {
    "type": "object",
    "properties": {"kind": {"type": "integer", "minimum": 3}},
    "example": {"kind": 1},
    "discriminator": {"propertyName": "kind"},
}


def counted(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> Counter[Any]:
    """Return a count of the calls of a function or a method, by the arguments that can be hashed."""
    calls = Counter[Any]()
    original: Callable[..., Any] = getattr(owner, name)

    def call(*args: Any, **named: Any) -> Any:
        calls[tuple(each for each in args if isinstance(each, str | tuple))] += 1
        return original(*args, **named)

    monkeypatch.setattr(owner, name, call)
    return calls


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(recursive_api(3), id="recursive"),
        pytest.param({**recursive_api(1), "servers": [{"url": "/v1"}]}, id="without a server"),
    ],
)
def test_an_import_leaves_nothing_for_the_garbage_collector(document: dict[str, object]) -> None:
    document["components"]["schemas"]["Odd"] = CONTRADICTORY  # type: ignore[index]
    document["paths"]["/odd"] = {"post": {**body({"$ref": "#/components/schemas/Odd"}), "responses": {}}}  # type: ignore[index]

    def imported() -> int:
        return openapi_files(SourceDocument(name="api", value=document), name="api", service="api").imported

    assert imported()  # the first one imports modules and fills caches
    gc.disable()
    try:
        assert min(garbage_after(imported) for _ in range(3)) == 0  # threads of earlier tests leave some, too
    finally:
        gc.enable()


def garbage_after(work: Callable[[], int]) -> int:
    """Return the number of objects that only the garbage collector frees after the work."""
    gc.collect()
    assert work()
    return gc.collect()


def test_an_example_that_does_not_fit_leaves_no_cycle() -> None:
    validator = Validator(NumberType(integer=True), {})
    assert validator.issues("x")
    gc.collect()
    assert validator.issues("x")
    assert gc.collect() == 0


def test_the_notes_of_an_operation_are_read_once_for_all_its_arguments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads = counted(monkeypatch, openapi_notes, "notes_of")
    parameters = [
        {"name": f"n{n}", "in": "query", "schema": {"type": "string", "description": f"Number {n}."}}
        for n in range(20)
    ]
    assert operation({"parameters": parameters, "responses": {"200": answer({"type": "object"})}}).imported
    assert reads.total() == 1


def test_a_schema_that_others_lead_to_is_looked_through_once_for_a_direction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = counted(monkeypatch, Components, "_marked_or_targets")
    document = recursive_api(30)
    document["components"]["schemas"]["C0"]["properties"]["next"]["readOnly"] = True  # type: ignore[index]
    components = Components(API(document))
    for n in range(30):
        assert components.direction(f"/components/schemas/C{n}", "in") == "in"
    assert len(steps) == 30
    assert set(steps.values()) == {1}


def test_a_reference_that_stands_in_many_places_is_resolved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    resolved = counted(monkeypatch, schema_index, "resolved")
    properties = {f"p{n}": {"$ref": "#/$defs/Name"} for n in range(20)}
    survey = SchemaIndex({"properties": properties, "$defs": {"Name": {"type": "string"}}})
    assert len(survey.targets) == 20
    assert resolved.total() == 1


def test_a_json_document_is_rebuilt_only_for_halves_of_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    rebuilt = counted(monkeypatch, text, "_whole")
    file = Path("api.json")
    assert parsed('{"a": ["\\u00e9", "b"]}', file, "api.json", yaml=True).value == {"a": ["é", "b"]}
    assert not rebuilt
    document = parsed('{"a": ["\\uD800", "b"]}', file, "api.json", yaml=True)
    assert document.value == {"a": ["�", "b"]}
    assert [each.code for each in document.findings] == ["import-bad-text"]
    assert rebuilt


def test_a_search_for_credentials_does_not_enter_types(monkeypatch: pytest.MonkeyPatch) -> None:
    entered = counted(monkeypatch, targets, "_inner")
    attributes = ", ".join(f'd.Attribute("a{n}", d.ArrayOf(d.String))' for n in range(50))
    tree = ast.parse(
        f'thing = d.Type("Thing", {attributes})\n'
        'key = d.APIKeySecurity("key", header="X-Key")\n'
        'service = d.Service("s", d.Server("https://a.example"), '
        f'd.Method("m", d.Payload({attributes}), d.Security(key)))'
    )
    assert [each.scheme for each in targets.credentials_in(tree)] == ["key"]
    assert entered.total() < 30


@pytest.mark.parametrize("word", ["import", "gen", "runs", "mcp"])
def test_only_the_command_that_is_called_is_built(word: str) -> None:
    assert [*_commands(narrowed(app, [word, "--help"]))] == [word]


@pytest.mark.parametrize("args", [[], ["--help"], ["imports"]])
def test_all_commands_are_built_for_an_overview_or_an_unknown_word(args: list[str]) -> None:
    assert narrowed(app, args) is app
    assert {"import", "gen", "runs", "mcp"} < _commands(app).keys()


def _commands(made: Typer) -> dict[str, Any]:
    commands: dict[str, Any] = get_command(made).commands  # type: ignore[attr-defined]
    return commands
