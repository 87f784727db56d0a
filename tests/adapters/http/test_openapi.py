"""The OpenAPI document of the surface: valid, kept, true of its paths, and importable as tools."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from types import GenericAlias
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import ConfigDict, TypeAdapter
from starlette.routing import Route

from tests.adapters.http.shop import AGENT, served
from toolgen.adapters.http import records
from toolgen.adapters.http.problems import PROBLEMS
from toolgen.cli import main
from toolgen.events.document import event_schema

ROOT = Path(__file__).parents[3]
KEPT = Path(str(records.__file__)).with_name("openapi-1.json")
RECORDS = (
    records.AgentPage,
    records.Answered,
    records.Call,
    records.GrantPage,
    records.ProblemRecord,
    records.Run,
    records.RunPage,
    records.SessionPage,
    records.Suspension,
    records.SuspensionPage,
    records.Transcript,
)
REF = "#/components/schemas/"


def document() -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(KEPT.read_text("utf-8"))
    return kept


@pytest.mark.exhaustive
def test_the_schemas_are_those_of_the_records() -> None:
    kept = document()
    if os.environ.get("UPDATE"):
        kept["components"]["schemas"] = schemas()
        KEPT.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    anew = "`UPDATE=1 pytest -m exhaustive tests/adapters/http/test_openapi.py` rewrites them"
    assert kept["components"]["schemas"] == schemas(), anew


def schemas() -> dict[str, Any]:
    """Return the schemas of the records and events as they are now."""
    described = ConfigDict(use_attribute_docstrings=True, extra="allow")
    every: Any = GenericAlias(tuple, RECORDS)
    adapter = TypeAdapter[Any](every, config=described)
    schema = adapter.json_schema(mode="serialization", ref_template=REF + "{model}")
    made: dict[str, Any] = schema["$defs"]
    event = event_schema()
    events = event.pop("$defs")
    shared = {name for name in events if name in made and name.endswith("Document")}
    prefixed = {name: f"Event{name}" for name in events if name in made and name not in shared}
    for name, schema in events.items():
        if name not in shared:
            made[prefixed.get(name) or name] = renamed(schema, prefixed)
    made["Event"] = renamed({key: value for key, value in event.items() if key[0] != "$"}, prefixed)
    return dict(sorted(made.items()))


def renamed(schema: Any, names: dict[str, str]) -> Any:
    """Return a schema of events whose references are those of the document."""
    match schema:
        case dict():
            return {key: renamed(value, names) for key, value in schema.items()}
        case list():
            return [renamed(item, names) for item in schema]
        case str() if schema.startswith("#/$defs/"):
            name = schema.removeprefix("#/$defs/")
            return REF + names.get(name, name)
        case _:
            return schema


@pytest.mark.exhaustive
def test_the_document_is_valid() -> None:
    OpenAPIV31SpecValidator(document()).validate()
    for schema in document()["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_the_document_says_that_texts_are_not_escaped() -> None:
    assert "a user interface escapes hidden" in document()["info"]["description"]
    question = document()["components"]["schemas"]["Suspension"]["properties"]["question"]
    assert "a user interface must escape hidden" in question["description"]


def test_the_guide_lists_each_path_and_each_problem() -> None:
    text = (ROOT / "docs/serving.md").read_text("utf-8").partition("## Paths and records")[2]
    rows = re.findall(r"^\| `([A-Z]+) (/\S+)` \|", text, re.MULTILINE)
    listed = {(verb.lower(), path) for verb, path in rows}
    assert listed == {(verb, path) for path, verbs in document()["paths"].items() for verb in verbs}
    assert set(re.findall(r"`([a-z]+(?:-[a-z]+)+|[a-z]+)`", text.partition("| Status |")[2])) == set(PROBLEMS)


async def test_each_path_is_in_the_document() -> None:
    async with served() as shop:
        assert await shop.get("/openapi.json") == document()
        routes = [route for route in shop.surface.routes if isinstance(route, Route)]
    has = {
        (route.path.replace(":path", ""), method.lower())
        for route in routes
        for method in (route.methods or ())
        if method != "HEAD"
    }
    assert has == {(path, method) for path, item in document()["paths"].items() for method in item}


def checked(name: str, record: Any) -> None:
    """Check a record by its schema, which has no further fields here."""
    schemas = document()["components"]["schemas"]
    closed = {
        key: {**schema, "additionalProperties": False} if "properties" in schema else schema
        for key, schema in schemas.items()
    }
    root = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": closed}}
    Draft202012Validator(root).validate(record)


async def test_what_is_answered_fits_the_document() -> None:
    async with served() as shop:
        call = (await shop.call("destroy", {"item": "tea"})).json()
        checked("Call", call)
        checked("Call", (await shop.call("order", {"item": "tea"}, trace=True)).json())
        checked("Call", (await shop.call("fail")).json())
        checked("ProblemRecord", (await shop.call("order", {"amount": "x"})).json())
        checked("SuspensionPage", await shop.get("/suspensions"))
        path = f"/suspensions/{call['suspensions'][0]['id']}/answer"
        checked("Answered", (await shop.post(path, answer={"approved": True})).json())
        run = (await shop.post("/runs", agent=AGENT, message="tea", session="ann:1")).json()
        stream = (await shop.client.get(f"/runs/{run['id']}/events")).text
        for line in stream.splitlines():
            if line.startswith("data: "):
                checked("Event", json.loads(line.removeprefix("data: ")))
        checked("Run", await shop.get(f"/runs/{run['id']}"))
        checked("RunPage", await shop.get("/runs", limit=1))
        checked("SessionPage", await shop.get("/sessions"))
        checked("Transcript", await shop.get("/sessions/ann:1/messages"))
        checked("AgentPage", await shop.get("/agents"))


def test_it_is_imported_as_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "surface.json"
    file.write_bytes(KEPT.read_bytes())
    command = ("import", "openapi", str(file), "--server", "http://127.0.0.1:8765", "--out", "design.py")
    code = main(command)
    output = capsys.readouterr()
    assert code == 0, output.err
    text = Path("design.py").read_text("utf-8")
    for name in ("catalog", "call", "answer", "start", "run", "messages", "resolve"):
        assert f'"{name}"' in text
