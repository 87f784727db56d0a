"""Arguments that a model made up, and schemas that somebody else wrote to cost much."""

from __future__ import annotations

import json

import pytest

from tests.providers.tools import Schema, tool
from tests.work import lines_run
from toolgen.catalog.providers import project


def test_decoding_keeps_what_it_does_not_understand() -> None:
    one = tool(a={"type": "object", "additionalProperties": {"type": "integer"}}, b={"type": "string"})
    for text in (b"", b"{", b"[1]", b'"x"', b"null", b'{"a": NaN}', b'{"a": 1e999}', b"[" * 100_000, b"\xff"):
        assert one.decode(text) == text
    assert json.loads(one.decode('{"unknown": 1, "b": null}')) == {"unknown": 1}
    assert one.decode('{"b": "\\ud800", "a": null}') == b'{"b":"\\ud800"}'


MORE = pytest.mark.exhaustive


@pytest.mark.exhaustive
@pytest.mark.parametrize("keyword", ["anyOf", pytest.param("allOf", marks=MORE)])
@pytest.mark.parametrize(
    "dialect",
    [
        *("anthropic-strict", "gemini-json", "openai"),
        *(pytest.param(dialect, marks=MORE) for dialect in ("openai-strict", "gemini")),  # take seconds
    ],
)
def test_a_schema_whose_references_multiply_comes_to_an_end(keyword: str, dialect: str) -> None:
    """Its parts are two to the power of sixty; they come from servers that nobody has to trust."""
    defs: Schema = {
        f"D{part}": {keyword: [{"$ref": f"#/$defs/D{part + 1}"}, {"$ref": f"#/$defs/D{part + 1}"}]}
        for part in range(60)
    }
    number = {"type": "integer", "multipleOf": 2, "exclusiveMinimum": 4}
    text = {"type": "string", "minLength": 2}
    properties = {"n": number, "t": text, "o": {}}
    defs["D60"] = {"type": "object", "properties": properties, "required": ["t"]}
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/D0"}}, "$defs": defs}
    one = project("tool", "", schema, dialect)
    one.decode('{"a": {"n": null, "t": "x", "o": "1"}}')
    defs["D60"] = {"$ref": "#/$defs/D0"}
    one = project("tool", "", schema, dialect)
    one.decode('{"a": {"n": 1}}')


@pytest.mark.parametrize("steps", [2_000, 4_000])
def test_all_choices_of_a_document_share_its_steps(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    """Each look at a branch was bounded, and each branch: their product took seconds."""
    monkeypatch.setattr("toolgen.catalog.providers.codecs._MOST_STEPS", steps)
    defs: Schema = {
        f"D{part}": {"anyOf": [{"$ref": f"#/$defs/D{part + 1}"}, {"$ref": f"#/$defs/D{part + 1}"}]}
        for part in range(60)
    }
    defs["D60"] = {
        "type": "object",
        "properties": {"t": {"type": "string", "minLength": 2}},
        "required": ["t"],
    }
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/D0"}}, "$defs": defs}
    one = project("tool", "", schema, "anthropic-strict")
    sent = b'{"a": {"t": 1}}'
    assert lines_run(lambda: one.decode(sent)) < 60 * steps
    assert one.decode(sent) == sent
