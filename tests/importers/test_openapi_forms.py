"""The parts of a multipart body, however its schema is put together."""

from __future__ import annotations

from typing import Any

import pytest

from tests.importers.operations import body, design, operation

TEXT = {"type": "string", "description": "T."}
FILE = {"type": "string", "format": "binary", "description": "F."}
NAMED = {"type": "object", "required": ["name"], "properties": {"name": TEXT}}
FILED = {"type": "object", "required": ["file"], "properties": {"file": FILE}}
ALTERNATIVES = "the form has alternatives; the parts of each are optional arguments"


def reference(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


@pytest.mark.parametrize(
    ("schema", "message", "required"),
    [
        ({"allOf": [NAMED, FILED]}, "", True),
        ({"allOf": [reference("Named"), {"allOf": [reference("Filed")]}]}, "", True),
        ({**NAMED, "allOf": [reference("Filed")]}, "", True),
        ({"oneOf": [{"allOf": [NAMED, FILED]}]}, "", True),
        ({"oneOf": [reference("Named"), reference("Filed")]}, ALTERNATIVES, False),
        ({"anyOf": [NAMED, {"allOf": [FILED]}]}, ALTERNATIVES, False),
    ],
)
def test_the_parts_of_a_form_are_those_of_all_that_it_is_put_together_of(
    schema: dict[str, Any], message: str, required: bool
) -> None:
    schemas = {"Named": NAMED, "Filed": FILED}
    files = operation(body(schema, "multipart/form-data"), schemas=schemas)
    assert files.imported == 1
    assert [finding.message for finding in files.findings if finding.code == "import-left-out"] == (
        [message] if message else []
    )
    end = ", required=True" if required else ""
    assert f'd.Attribute("name", d.String, "T."{end})' in design(files)
    assert f'd.Attribute("file", d.Bytes, "F."{end})' in design(files)


def test_a_form_that_is_part_of_itself_ends() -> None:
    schemas = {"Loop": {**NAMED, "allOf": [reference("Loop")]}}
    files = operation(body(reference("Loop"), "multipart/form-data"), schemas=schemas)
    assert files.imported == 1
