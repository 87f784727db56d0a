"""Formats of requests are types; an answer keeps its text as the API wrote it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.importers.echoing_api import COMPONENTS, EchoingAPI, api, get, post
from tests.importers.operations import answer, body, design, operation

__all__ = ["api"]

FORMATS = {
    "uuid": ("d.Uuid", "123e4567-e89b-12d3-a456-426614174000", "123"),
    "date-time": ("d.DateTime", "2026-01-31T10:00:00Z", "2026-01-31 10:00"),
    "date": ("d.Date", "2026-01-31", "31 January"),
    "uri": ("d.Url", "urn:isbn:9", "no address"),
    "byte": ("d.Bytes", "aGVsbG8=", "not base64!"),
}


def text(format_: str) -> dict[str, Any]:
    return {"type": "string", "format": format_}


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
@pytest.mark.parametrize(("format_", "clause"), [(word, held[0]) for word, held in FORMATS.items()])
def test_a_format_of_a_request_is_a_type(format_: str, clause: str, version: str) -> None:
    places = ("path", "query", "header", "cookie")
    parameters = [
        {"name": f"a-{place}", "in": place, "required": place == "path", "schema": text(format_)}
        for place in places
    ]
    reference, items = {"$ref": f"{COMPONENTS}Text"}, {"type": "array", "items": text(format_)}
    schema = {"type": "object", "properties": {"a": text(format_), "b": reference, "c": items}}
    value = {**body(schema), "parameters": parameters}
    files = operation(value, path="/x/{a-path}", version=version, schemas={"Text": text(format_)})
    assert not files.findings
    written = design(files)
    for place in places if format_ != "byte" else ("query", "cookie"):
        assert f'd.Attribute("a-{place}", {clause}, None' in written
    assert f'd.Attribute("a", {clause}, None)' in written
    assert f'd.Attribute("b", {clause}, None)' in written
    assert f'd.Attribute("c", d.ArrayOf({clause}), None)' in written


def test_what_is_not_of_the_format_is_an_issue_of_its_argument(api: EchoingAPI) -> None:
    properties = {word: text(word) for word in FORMATS}
    paths = {
        "/body": post("in_body", {"type": "object", "properties": properties}),
        **{
            f"/{word}/{{a}}": get(
                word.replace("-", "_"), {"name": "a", "in": "path", "required": True, "schema": text(word)}
            )
            for word in FORMATS
        },
    }
    api.publish(paths)
    right = {word: held[1] for word, held in FORMATS.items()}
    assert api.sent("in_body", {"body": right}).body == right
    wrong = {word: held[2] for word, held in FORMATS.items()}
    assert api.refused("in_body", {"body": wrong})
    for word, (_, good, bad) in FORMATS.items():
        tool = word.replace("-", "_")
        assert api.sent(tool, {"a": good}).path == f"/{word}/{good}"
        if word != "byte":  # which may be empty, so that its text has a length instead
            assert api.refused(tool, {"a": bad}) == ["$.a"]
        assert api.refused(tool, {"a": ""}) == ["$.a"]


def test_an_answer_keeps_its_text_whatever_the_format_says(api: EchoingAPI) -> None:
    held = {"type": "object", "properties": {word: text(word) for word in FORMATS}}
    reference = {"$ref": f"{COMPONENTS}Held"}
    api.publish({"/p": post("p", reference), "/q": get("q", answer=reference)}, Held=held)
    assert "HeldInput = d.Type(" in api.design
    for answered in (
        {word: held[2] for word, held in FORMATS.items()},
        {
            "uuid": "123E4567-E89B-12D3-A456-426614174000",
            "date-time": "2026-01-31T10:00:00.123456789+00:00",
        },
    ):
        api.answer = answered
        assert api.call("q", {}) == answered


def test_a_component_without_such_a_format_is_one_type_for_both_ways() -> None:
    schemas = {"Held": {"type": "object", "properties": {"a": text("email"), "b": {"type": "string"}}}}
    reference = {"$ref": f"{COMPONENTS}Held"}
    files = operation(body(reference) | {"responses": {"200": answer(reference)}}, schemas=schemas)
    assert "HeldInput" not in design(files)


@pytest.mark.parametrize("format_", ["email", "duration", "password", "binary", "slug"])
def test_other_formats_are_notes(format_: str) -> None:
    files = operation(body({"type": "object", "properties": {"a": text(format_)}}))
    assert f'd.JSONSchema({{"type": "string", "format": "{format_}"}})' in design(files)


def test_files_of_a_form_are_files() -> None:
    schema = {
        "type": "object",
        "properties": {"cover": text("binary"), "pages": {"type": "array", "items": text("binary")}},
    }
    written = design(operation(body(schema, "multipart/form-data")))
    assert 'd.Attribute("cover", d.Bytes, None)' in written
    assert 'd.Attribute("pages", d.ArrayOf(d.Bytes), None)' in written
    assert 'http.Body(http.File("cover"), http.File("pages"))' in written


def test_defaults_and_examples_are_values_of_the_type() -> None:
    schema = {
        "type": "object",
        "properties": {
            "day": {**text("date"), "default": "2026-01-31"},
            "at": {**text("date-time"), "default": "soon", "example": "2026-01-31T10:00:00Z"},
        },
    }
    files = operation(body(schema), version="3.0.3")
    written = design(files)
    assert "default=dt.date(2026, 1, 31)" in written
    assert "examples=(dt.datetime(2026, 1, 31, 10, 0, tzinfo=dt.UTC),)" in written
    assert "soon" not in written
    [finding] = files.findings
    assert finding.message == "the design leaves out 'default' of schemas (1 place, in x)"
