"""JSON Pointers (RFC 6901), and references whose fragment is one."""

from __future__ import annotations

from typing import Any, Final

import pytest

from toolgen.contract.json_pointer import ABSENT, definition_of, pointer_of, referred, resolved, tokens_of
from toolgen.shapes.python.schema import title_of

DOCUMENT: Final[dict[str, Any]] = {
    "$defs": {
        "plain": {"type": "string"},
        "a b": {"type": "integer"},
        "Page<Item>": {"type": "array"},
        "a/b": {"type": "number"},
        "a~b": {"type": "boolean"},
        "50%": {"type": "null"},
        "nothing": None,
    },
    "anyOf": [{"const": 1}, True],
}


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("#", DOCUMENT),
        ("#/$defs/plain", {"type": "string"}),
        ("#/$defs/a%20b", {"type": "integer"}),
        ("#/$defs/Page%3CItem%3E", {"type": "array"}),
        ("#/%24defs/a~1b", {"type": "number"}),
        ("#/$defs/a~0b", {"type": "boolean"}),
        ("#/$defs/50%25", {"type": "null"}),
        ("#/anyOf/0", {"const": 1}),
        ("#/anyOf/1", True),
        ("#/anyOf/00", None),
        ("#/anyOf/2", None),
        ("#/anyOf/-", None),
        ("#/$defs/nothing", None),
        ("#/$defs/other", None),
        ("#/$defs/plain/type/0", None),
        ("#plain", None),
        ("other.json#/$defs/plain", None),
        ("", None),
        (7, None),
    ],
)
def test_a_reference_leads_into_its_own_document(reference: object, target: object) -> None:
    assert referred(DOCUMENT, reference) == target


def test_pointers_are_read_as_they_are_written() -> None:
    tokens = ["$defs", "a/b", "~1", "", "0"]
    assert tokens_of(pointer_of(tokens)) == tokens
    assert resolved({"": {"/": [1]}}, "//~1/0") == 1
    assert resolved({"a": [1]}, "/a/01") is ABSENT


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("#/$defs/Node", "Node"),
        ("#/$defs/a%20b~1c", "a b/c"),
        ("#/$defs/Node/$defs/Inner", ""),
        ("#/definitions/Node", ""),
        ("other.json#/$defs/Node", ""),
        ("#", ""),
        (None, ""),
    ],
)
def test_the_name_of_a_definition_is_read_off_its_reference(reference: object, name: str) -> None:
    assert definition_of(reference) == name
    if name:
        assert title_of({"$ref": reference, "$defs": {name: {"title": "One node"}}}) == "One node"
