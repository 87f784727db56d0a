"""Values of an `enum` or a `const` that the type beside them refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from toolgen.contract.json_pointer import escaped
from toolgen.schema_reader.keywords import children
from toolgen.schema_reader.merging import named_types
from toolgen.shapes.union_shapes import types_of


def refused_values(root: Any, *, takes_nullable: bool = False) -> Iterator[tuple[str, str]]:
    """Yield JSON Pointer and fault of each choice with values that nobody may send.

    With `takes_nullable`, `nullable` says that null may be sent, as in OpenAPI 3.0.
    """
    waiting: list[tuple[Any, str]] = [(root, "")]
    while waiting:
        schema, pointer = waiting.pop()
        if not isinstance(schema, dict):
            continue
        inner = [(part, "/".join((pointer, *map(escaped, tokens)))) for tokens, part in children(schema)]
        waiting += reversed(inner)
        keyword = "const" if "const" in schema else "enum"
        values = schema.get(keyword)
        values = [values] if keyword == "const" else values
        if not isinstance(values, list) or "type" not in schema:
            continue
        kinds = named_types(schema["type"])
        kinds = [*kinds, "null"] if takes_nullable and schema.get("nullable") is True else kinds
        if refused := [value for value in values if set(kinds).isdisjoint(types_of(value))]:
            shown = ", ".join(json.dumps(value, ensure_ascii=False) for value in refused)
            yield f"{pointer}/{keyword}", f"holds {shown:.80}, which the type beside it refuses"
