"""The sensitive values of Python types, which `Sensitive` marks in their annotations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_args

from toolgen.contract.json_pointer import definition_of, escaped
from toolgen.contract.json_value import objects_in
from toolgen.contract.record import frozen_record

from ..sensitive import EVERY, place_of, recursion_step, unless

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

MARK: Final = "x-toolgen-sensitive"
"""Keyword that marks a schema until `sensitive_places_of` or a design reads it; it is never published."""
_BRANCHES: Final = ("anyOf", "oneOf", "allOf")
_MAPS: Final = ("$defs", "patternProperties", "properties")
_Steps: TypeAlias = tuple[str, ...]


@frozen_record(kw_only=False)
class Sensitive:
    """Mark a sensitive value: `Annotated[str, Sensitive()]`. It is redacted in events, logs, spans and texts
    for people."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(schema), MARK: True}


def is_marked(annotation: object) -> bool:
    """Return whether the annotation itself has a mark, not a class in it."""
    return isinstance(annotation, Sensitive) or any(map(is_marked, get_args(annotation)))


def sensitive_places_of(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the places of sensitive values in documents of a marked schema, as in `Codec.sensitive`.

    The branches of a union are treated as one if no property with constant texts distinguishes them.
    """
    return tuple(dict.fromkeys(map(place_of, _places(schema, schema.get("$defs", {}), {}, 0))))


def without_marks(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema for publication: without marks and without sensitive defaults."""
    unmarked: dict[str, Any] = _unmarked(schema, schema.get("$defs", {}))
    return unmarked


def _unmarked(part: Any, defs: Mapping[str, Any], *, is_schema: bool = True) -> Any:
    """Return a part of a schema without marks; if it is not a schema, it has schemas by property name."""
    match part:
        case dict():
            hidden = {MARK} if part.get(MARK) is True else set[str]()
            if is_schema and part.get("default") is not None and _has_mark(part, defs):
                hidden.add("default")
            return {
                key: _unmarked(value, defs, is_schema=not is_schema or key not in _MAPS)
                for key, value in part.items()
                if key not in hidden
            }
        case list():
            return [_unmarked(item, defs) for item in part]
        case _:
            return part


def _places(
    schema: object, defs: Mapping[str, object], outer: Mapping[str, int], depth: int
) -> Iterator[_Steps]:
    """Yield the steps from a value at a depth; `outer` has the depth of each enclosing definition."""
    if not isinstance(schema, dict):
        return
    if schema.get(MARK) is True:
        yield ()
        return
    name = definition_of(schema.get("$ref"))
    if name in outer:
        if _has_mark(defs[name], defs):
            yield (recursion_step(depth - outer[name]),)
    elif name:
        yield from _places(defs[name], defs, {**outer, name: depth}, depth)
    for key, value in schema.get("properties", {}).items():
        yield from ((escaped(key), *steps) for steps in _places(value, defs, outer, depth + 1))
    inner = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]
    for part in (*inner, schema.get("items"), *schema.get("prefixItems", ())):
        yield from ((EVERY, *steps) for steps in _places(part, defs, outer, depth + 1))
    for keyword in _BRANCHES:
        branches = schema.get(keyword, ())
        for branch in branches:
            step = () if keyword == "allOf" else _branch_step(branch, branches, defs)
            yield from ((*step, *steps) for steps in _places(branch, defs, outer, depth + len(step)))


def _branch_step(branch: object, branches: Sequence[object], defs: Mapping[str, object]) -> _Steps:
    """Return the step into a branch of a union; no step if no property value distinguishes it."""
    for name, own in _tags(branch, defs).items():
        tags = [tag for branch_schema in branches for tag in _tags(branch_schema, defs).get(name, ())]
        if others := [tag for tag in dict.fromkeys(tags) if tag not in own]:
            return (unless(name, others),)
    return ()


def _tags(branch: object, defs: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the possible values of each property in a branch that is limited to some texts."""
    name = definition_of(branch.get("$ref")) if isinstance(branch, dict) else ""
    properties = defs.get(name, {}).get("properties", {})
    plain = {key: of for key, of in properties.items() if isinstance(of, dict)}
    values: dict[str, list[Any]] = {
        key: of["enum"] if "enum" in of else [of.get("const")] for key, of in plain.items()
    }
    return {key: tags for key, tags in values.items() if all(isinstance(tag, str) for tag in tags)}


def _has_mark(schema: object, defs: Mapping[str, object]) -> bool:
    """Return whether a schema, or a definition that it refers to, has a mark."""
    seen: set[str] = set()
    waiting = [schema]
    while waiting:
        for part in objects_in(waiting.pop()):
            if part.get(MARK) is True:
                return True
            name = definition_of(part.get("$ref"))
            if name in defs and name not in seen:
                seen.add(name)
                waiting.append(defs[name])
    return False
