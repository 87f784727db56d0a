"""What a server writes reaches a model and a client in normal form: nothing hidden, nothing without end."""

from __future__ import annotations

import json

import mcp_types as types
import pytest
from mcp import Client

from tests.adapters.mcp.client.conftest import hostile, served
from tests.peers.hostile_server import HIDDEN, TEXTS
from toolgen.adapters.mcp import server
from toolgen.adapters.mcp.client.tools import server_tool
from toolgen.catalog.providers import DIALECTS, declarations
from toolgen.contract.printable import hides
from toolgen.runtime import ToolValidationError

REFUSED = {
    "key": "invisible characters",
    "long_key": "is a name of 9031 characters; at most 256 are allowed",
    "definition": "invisible characters",
    "required": "invisible characters",
    "enum": "invisible characters",
    "long_enum": "has a text of 9031 characters; at most 4096 are allowed",
    "const": "invisible characters",
    "tag_pattern": "invisible characters",
}
SHOWN = r"ok\u202eevil\udb40\udc41\u200b\u001b[31m"


async def test_names_and_values_that_hide_something_cost_their_tool_alone() -> None:
    async with served(hostile("texts")) as (_, snapshot):
        assert {spec.name for spec in snapshot.specs} == {"echo", *TEXTS} - REFUSED.keys()
        for tool, reason in REFUSED.items():
            told = snapshot.left_out[f"mcp.hostile.{tool}"]
            assert reason in told
            assert not hides(told)
            assert len(told) < 1_000


async def test_what_a_model_is_sent_hides_nothing() -> None:
    async with served(hostile("texts")) as (runtime, snapshot):
        sent = json.dumps(snapshot.declarations(), ensure_ascii=False)
        assert len(sent) < 20_000
        for dialect in DIALECTS:
            sent += json.dumps(declarations(snapshot, dialect).fragment, ensure_ascii=False)
        async with Client(server(runtime).sdk) as client:
            served_again = await client.list_tools()
        sent += served_again.model_dump_json()
        assert len(served_again.tools) == len(snapshot.specs)
    assert not hides(sent)


async def test_texts_are_escaped_and_notes_left_out() -> None:
    async with served(hostile("texts")) as (_, snapshot):
        schemas = {spec.name: spec.payload.schema for spec in snapshot.specs}
        specs = {spec.name: spec for spec in snapshot.specs}
    assert (specs["echo"].title, specs["prose"].description) == (SHOWN, SHOWN)
    prose = schemas["prose"]["properties"]["a"]
    assert (prose["title"], prose["description"][:30]) == (SHOWN, SHOWN[:30])
    plain = {"type": "object", "properties": {"a": {"type": "string"}}}
    for tool in ("default", "format", "comment", "unknown", "no_prose"):
        assert schemas[tool] == plain, tool
    assert schemas["examples"]["properties"]["a"]["examples"] == ["plain"]
    assert schemas["pattern"]["properties"]["a"]["pattern"] == r"^[\u202a-\u202e]$"
    assert schemas["link"]["properties"]["a"]["description"] == (
        "See [no web page] javascript:alert(1), [no web page] file:///etc/passwd or https://a.example."
    )
    target = {"type": "object", "properties": {"a": {"type": "string", "title": SHOWN}}}
    assert schemas["hidden_target"] == {"type": "object", "$ref": "#/x/y", "x": {"y": target}}


async def test_a_pattern_matches_the_same_and_a_value_is_not_changed() -> None:
    async with served(hostile("texts")) as (_, snapshot):
        (pattern,) = [spec for spec in snapshot.specs if spec.name == "pattern"]
        assert pattern.payload.decode({"a": "\u202b"}) == {"a": "\u202b"}
        assert (await snapshot.call("pattern", {"a": "b"})).status == "error"
        assert HIDDEN not in json.dumps(pattern.payload.schema, ensure_ascii=False)


async def test_links_of_results_that_are_no_web_pages_are_marked() -> None:
    async with served(hostile()) as (_, snapshot):
        content = (await snapshot.call("links", {})).content
    told = [block.as_json()["description"] for block in content]
    assert told == ["[no web page] More.", "[no web page] More.", "More."]


def test_a_schema_of_an_older_draft_is_checked_as_the_server_means_it() -> None:
    share = {"type": "number", "minimum": 0, "exclusiveMinimum": True}
    schema = {"type": "object", "properties": {"share": share}, "required": ["share", "share"]}
    tool = types.Tool(name="find", input_schema=schema)
    payload = server_tool(tool, "s.find", "find", "s", longest=100, timeout_s=None).spec.payload
    assert payload.decode('{"share": 0.1}') == {"share": 0.1}
    with pytest.raises(ToolValidationError):
        payload.decode('{"share": 0}')
    assert share["exclusiveMinimum"] is True  # what the server lists stays, for its digest
