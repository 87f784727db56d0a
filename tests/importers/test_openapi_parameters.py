"""Parameters that are JSON, headers that the client itself sends, and what can be sent at all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.importers.echoing_api import COMPONENTS, EchoingAPI, api, get
from tests.importers.operations import design, operation

__all__ = ["api"]

FILTER = {"type": "object", "properties": {"q": {"type": "string"}, "tags": {}}, "required": ["q"]}


def parameter(name: str, place: str, schema: Any, **facts: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": schema, "required": place == "path", **facts}


def as_json(name: str, place: str, schema: Any, kind: str = "application/json") -> dict[str, Any]:
    return {"name": name, "in": place, "required": True, "content": {kind: {"schema": schema}}}


def test_a_parameter_with_content_is_sent_as_json_text(api: EchoingAPI) -> None:
    reference = {"$ref": f"{COMPONENTS}Filter"}
    paths = {
        "/plain": get("plain", as_json("j", "query", reference)),
        "/list": get("list", as_json("j", "query", {"type": "array", "items": reference})),
        "/text": get("text", as_json("j", "query", {"type": "string"}, "application/vnd.desk+json")),
        "/header": get("header", as_json("X-Filter", "header", reference)),
        "/cookie": get(
            "cookie", as_json("filter", "cookie", {"type": "array", "items": {"type": "integer"}})
        ),
        "/in/{j}": get("in_path", as_json("j", "path", reference)),
    }
    api.publish(paths, Filter=FILTER)
    value = {"q": "a b", "tags": [{"deep": "é"}]}
    assert json.loads(api.sent("plain", {"j": value}).query["j"][0]) == value
    assert json.loads(api.sent("list", {"j": [value, value]}).query["j"][0]) == [value, value]
    assert api.sent("text", {"j": "a"}).query["j"] == ['"a"']
    assert json.loads(api.sent("header", {"X-Filter": value}).headers["x-filter"]) == value
    assert api.sent("cookie", {"filter": [1, 2]}).headers["cookie"] == "filter=%5B1%2C2%5D"
    assert json.loads(api.sent("in_path", {"j": {"q": "a"}}).path.removeprefix("/in/")) == {"q": "a"}
    assert api.refused("plain", {"j": {"q": 1}}) == ["$.j.q"]
    assert api.refused("header", {"X-Filter": {}}) == ['$["X-Filter"].q']


def test_the_keys_of_an_exploded_header_stand_before_their_values(api: EchoingAPI) -> None:
    value = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
    plain, exploded = parameter("X-A", "header", value), parameter("X-B", "header", value, explode=True)
    api.publish({"/p": get("p", plain, exploded)})
    sent = api.sent("p", {"X-A": {"a": "x", "b": 1}, "X-B": {"a": "x", "b": 1}})
    assert (sent.headers["x-a"], sent.headers["x-b"]) == ("a,x,b,1", "a=x,b=1")


def test_a_parameter_of_another_media_type_is_its_text(api: EchoingAPI) -> None:
    api.publish({"/p": get("p", as_json("j", "query", FILTER, "application/xml"))})
    assert "'j' is application/xml; its argument is plain text" in api.said
    assert api.sent("p", {"j": "<a/>"}).query["j"] == ["<a/>"]


@pytest.mark.parametrize(
    "name",
    [
        *("Host", "content-length", "Connection", "Cookie", "Transfer-Encoding", "Accept-Encoding"),
        *("Content-Encoding", "TE", "Expect", "Upgrade", "Keep-Alive", "Accept", "Content-Type"),
        "Proxy-Authorization",
    ],
)
def test_a_header_of_the_client_is_left_out_and_named(name: str) -> None:
    held = {**parameter(name, "header", {"type": "string"}), "required": True}
    files = operation({"parameters": [held]}, get={"summary": "Get x.", "parameters": [held]})
    assert files.imported == 2
    assert name not in design(files)
    [finding] = files.findings
    assert finding.code == "import-note-left-out"
    assert finding.message == (
        f"the design leaves out the header {name!r}, which the client sends itself (2 places)"
    )


@pytest.mark.parametrize(
    "name",
    ["User-Agent", "Origin", "Referer", "If-Match", "Idempotency-Key", "X-Forwarded-For", "Accept-Language"],
)
def test_other_headers_are_arguments(name: str) -> None:
    files = operation({"parameters": [parameter(name, "header", {"type": "string"})]})
    assert not files.findings
    assert f'http.Header("{name}")' in design(files)


def test_one_header_in_two_cases_is_one_parameter() -> None:
    item = [
        parameter("x-trace", "header", {"type": "string"}),
        parameter("X-Trace", "header", {"type": "integer"}),
    ]
    files = operation({"parameters": item})
    assert files.imported == 1
    assert 'd.Attribute("X-Trace", d.Int, None)' in design(files)


@pytest.mark.parametrize("place", ["header", "cookie"])
def test_a_name_that_cannot_be_sent_costs_its_parameter(place: str) -> None:
    files = operation({"parameters": [parameter("a b", place, {"type": "string"})]})
    assert files.imported == 1
    [finding] = files.findings
    assert finding.code == "import-left-out"
    assert f"'a b' has characters that a {place} cannot have" in finding.message


def test_what_cannot_be_sent_is_an_issue_of_its_argument(api: EchoingAPI) -> None:
    name, names = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
    reference = {"$ref": f"{COMPONENTS}Name"}
    paths = {
        "/a/{id}": get("plain", parameter("id", "path", name)),
        "/b/{id}": get("by_reference", parameter("id", "path", reference)),
        "/c/{ids}": get("of_list", parameter("ids", "path", names)),
        "/d/{id}": get("undescribed"),
        "/e/{id}": get("odd", parameter("id", "path", {"type": "string", "format": "slug"})),
        "/i/{id}": get("untyped", parameter("id", "path", {"title": "Id"})),
        "/j": get("header_untyped", parameter("X-Name", "header", {})),
        "/f": get("header", parameter("X-Name", "header", name)),
        "/g": get("header_by_reference", parameter("X-Name", "header", reference)),
        "/h": get("header_of_list", parameter("X-Names", "header", names)),
    }
    api.publish(paths, Name=name)
    for tool in ("plain", "by_reference", "undescribed", "odd", "untyped"):
        assert '"minLength": 1' in json.dumps(api.arguments(tool)), tool
        assert api.refused(tool, {"id": ""}) == ["$.id"]
        assert api.sent(tool, {"id": "é /"[:2]}).path.endswith("/é ")
    for empty in ([], [""]):
        assert api.refused("of_list", {"ids": empty})
    assert api.refused("untyped", {"id": None}) == ["$.id"]
    for tool in ("header", "header_by_reference", "header_untyped"):
        assert api.refused(tool, {"X-Name": "a\nb"}) == ['$["X-Name"]']
        assert api.sent(tool, {"X-Name": "a b"}).headers["x-name"] == "a b"
    assert api.refused("header_of_list", {"X-Names": ["a", "\x7f"]}) == ['$["X-Names"][1]']
    assert api.sent("header_of_list", {"X-Names": ["a", "b"]}).headers["x-names"] == "a,b"


def test_what_would_be_absent_does_not_fit_a_required_parameter(api: EchoingAPI) -> None:
    names = {"type": "array", "items": {"type": "string"}}
    reference = {"$ref": f"{COMPONENTS}Names"}
    filters = {"type": "object", "additionalProperties": {"type": "string"}}
    sent = {"in": "query", "required": True}
    paths = {
        "/a": get("plain", {"name": "names", "schema": names, **sent}),
        "/b": get("joined", {"name": "names", "schema": names, "explode": False, **sent}),
        "/c": get("by_reference", {"name": "names", "schema": reference, **sent}),
        "/d": get("of_map", {"name": "filters", "schema": filters, "style": "deepObject", **sent}),
        "/e": get("cookie", {"name": "names", "schema": names, **sent, "in": "cookie"}),
        "/f": get("optional", {"name": "names", "schema": names, "in": "query"}),
        "/g": get("nullable", {"name": "names", "schema": {**names, "nullable": True}, **sent}),
    }
    api.publish(paths, Names=names)
    for tool in ("plain", "joined", "by_reference", "cookie", "nullable"):
        assert api.refused(tool, {"names": []}) == ["$.names"], tool
        assert api.refused(tool, {"names": None}) == ["$.names"], tool
        assert '"minItems": 1' in json.dumps(api.arguments(tool)), tool
    assert api.refused("of_map", {"filters": {}}) == ["$.filters"]
    assert '"minProperties": 1' in json.dumps(api.arguments("of_map"))
    assert not api.sent("optional", {"names": []}).query


def test_what_the_document_says_of_a_text_counts_too() -> None:
    schema = {"type": "string", "minLength": 3, "maxLength": 9}
    files = operation({"parameters": [parameter("id", "path", schema)]}, path="/x/{id}")
    assert "String, None, min_length=3, max_length=9, required=True" in design(files)
    schema = {"type": "string", "pattern": "^a$"}
    files = operation({"parameters": [parameter("X-A", "header", schema)]})
    assert 'pattern="^a$"' in design(files)
    schema = {"type": "string", "enum": ["a", "b"]}
    files = operation({"parameters": [parameter("id", "path", schema)]}, path="/x/{id}")
    assert 'String, None, enum=("a", "b"), required=True' in design(files)


@pytest.mark.parametrize("word", ["anyOf", "oneOf"])
def test_a_path_has_a_character_whatever_the_alternative(word: str) -> None:
    """As FastAPI writes a text that may be null: an empty one leads elsewhere."""
    schema = {word: [{"type": "string", "maxLength": 9}, {"type": "null"}]}
    text = design(operation({"parameters": [parameter("name", "path", schema)]}, path="/a/{name}"))
    assert "min_length=1" in text
    header = design(operation({"parameters": [parameter("X-Name", "header", schema)]}))
    assert "pattern=" in header
