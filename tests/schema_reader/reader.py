"""How the tests read a schema, and look at a normal form by a validator."""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from toolgen.shapes.fields import Foreign
from toolgen.shapes.foreign.reader import Reading, read


def foreign(schema: object, *, arguments: bool = False) -> Foreign:
    """Return the schema as read; it must have no error."""
    reading = read(schema, name="Root", arguments=arguments)
    assert reading.foreign is not None, reading.problems
    return reading.foreign


def node(schema: object) -> tuple[dict[str, Any], bool]:
    """Return the normal form of a property's schema, and whether it is exact."""
    read_ = foreign({"type": "object", "properties": {"x": schema}, "$defs": DEFS})
    return read_.classes["Root"]["properties"]["x"], read_.is_exact


DEFS: dict[str, Any] = {
    "Text": {"type": "string", "minLength": 1},
    "Point": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
}


def errors(schema: object, *, arguments: bool = False) -> list[tuple[str, str]]:
    """Return pointer and message of each problem of a schema that cannot be read."""
    reading: Reading = read(schema, name="Root", arguments=arguments)
    assert reading.foreign is None
    assert all(problem.hint for problem in reading.problems)
    return [(problem.pointer, problem.message) for problem in reading.problems]


def normal_validator(read_: Foreign) -> jsonschema_rs.Draft202012Validator:
    """Return a validator of the normal form, which is JSON Schema too."""
    return jsonschema_rs.Draft202012Validator({**read_.root, "$defs": read_.classes}, validate_formats=False)


def disagreement(read_: Foreign, contract: Any, value: Any) -> str:
    """Return how normal form and contract disagree on a value; empty when they may stand together."""
    wanted, held = contract.is_valid(value), normal_validator(read_).is_valid(value)
    if wanted and not held:
        return f"the normal form refuses {value!r}"
    if read_.is_exact and held and not wanted:
        return f"the normal form is not exact on {value!r}"
    return ""
