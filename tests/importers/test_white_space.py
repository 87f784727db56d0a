r"""White space of descriptions reaches models as line feeds and plain spaces; values keep theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from tests.importers.designs import built, errors, imported, object_, schemas, tool
from tests.importers.operations import design, operation
from toolgen.adapters.mcp.client.errors import cleaned, shown_name
from toolgen.adapters.mcp.client.tools import server_tool
from toolgen.clients.failures import shown
from toolgen.contract.printable import plain_spaces
from toolgen.importers.design import design_files
from toolgen.importers.python_functions import read_functions

SPACES = {
    "dotnet": ("One.\r\nTwo.\r\n", "One.\nTwo."),
    "old mac": ("One.\rTwo.", "One.\nTwo."),
    "next line": ("One.\x85Two.", "One.\nTwo."),
    "separators": ("One.\u2028Two.\u2029Three.", "One.\nTwo.\nThree."),
    "feeds": ("One.\vTwo.\fThree.", "One.\nTwo.\nThree."),
    "code": ("Run:\n\tls\n\t\tdeep\nEnd.", "Run:\n    ls\n        deep\nEnd."),
    "columns": ("10\tkm", "10 km"),
    "no-break": ("10\xa0km at\u202fmost", "10 km at most"),
    "wide": ("\u3000東京\u3000タワー\u2003x", "東京 タワー x"),
}
EACH = pytest.mark.parametrize(("text", "read"), SPACES.values(), ids=SPACES)


@EACH
def test_texts_have_line_feeds_and_plain_spaces(text: str, read: str) -> None:
    assert plain_spaces(text).strip() == read
    assert plain_spaces(read) == read


def test_characters_that_nobody_sees_stay_escaped() -> None:
    found = imported(tool("find", object_({}), description="Finds.\u200b\x1b[2J\u202e"))
    assert r"Finds.\\u200b\\u001b[2J\\u202e" in found.files["tools.py"]


@EACH
def test_what_a_tool_list_says(text: str, read: str, tmp_path: Path) -> None:
    leaf = {"type": "array", "uniqueItems": True, "description": text}
    arguments = object_({"a": {"type": "string", "description": text}, "b": leaf})
    found = imported(tool("find", arguments, description=text))
    evaluation = built(found, tmp_path)
    assert errors(evaluation) == []
    entry = schemas(evaluation)["find"]
    properties = entry["payload"]["schema"]["properties"]
    assert [entry["description"], *(each["description"] for each in properties.values())] == [read] * 3


@EACH
def test_what_a_document_says(text: str, read: str) -> None:
    answer = {"description": text, "content": {"application/json": {"schema": {"type": "string"}}}}
    parameter = {"name": "q", "in": "query", "description": text, "schema": {"type": "string"}}
    component = {"type": "object", "description": text, "properties": {"a": {"description": text}}}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}
    files = operation(
        {"description": text, "parameters": [parameter], "requestBody": body, "responses": {"404": answer}},
        schemas={"A": component},
    )
    written = design(files)
    assert written.replace('" "', "").count(json.dumps(read, ensure_ascii=False)) >= 5
    assert not {"\\r", "\\t", "\\u", "\\x"} & {written[at : at + 2] for at in range(len(written))}


@EACH
def test_what_a_function_says(text: str, read: str) -> None:
    def find(a: str) -> str:
        return a

    find.__doc__ = f"{text}\n\nArgs:\n    a: {text.splitlines()[0].strip()}\n"
    source = read_functions("tools", text, {"find": find})
    written = design_files(source, name="tools", service="assistant").files["tools.py"]
    assert not {"\\r", "\\t", "\\u", "\\x", "\xa0", "\u3000"} & {
        written[at : at + size] for at in range(len(written)) for size in (1, 2)
    }
    assert plain_spaces(source.tools[0].description) == source.tools[0].description


@EACH
def test_what_a_live_server_says(text: str, read: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": text}}}
    listed = types.Tool(name="find", title=text, description=text, input_schema=schema)
    spec = server_tool(listed, "s.find", "find", "s", longest=100, timeout_s=None).spec
    assert spec.description == read
    assert spec.payload.schema["properties"]["a"]["description"] == read
    assert spec.title == read.replace("\n", " ")
    assert (cleaned(text, 100), shown_name(text.strip(), 100)) == (read, read.replace("\n", " "))


@EACH
def test_what_an_api_answers_when_it_fails(text: str, read: str) -> None:
    assert shown(text) == " ".join(read.split())


@pytest.mark.parametrize("value", ["a\tb", "a\r\nb", "a\xa0b", "a\u3000b"])
def test_values_and_patterns_keep_theirs(value: str, tmp_path: Path) -> None:
    properties: dict[str, Any] = {
        "a": {"enum": [value, "x"]},
        "b": {"const": value},
        "c": {"type": "string", "default": value},
        "d": {"type": "string", "pattern": f"^{value}$"},
    }
    evaluation = built(imported(tool("find", object_(properties))), tmp_path)
    held = schemas(evaluation)["find"]["payload"]["schema"]["properties"]
    assert held["a"]["enum"] == [value, "x"]
    assert held["b"]["const"] == value
    assert held["c"]["default"] == value
    assert json.loads(f'"{held["d"]["pattern"]}"') == f"^{value}$"
