"""The shapes of pydantic's core schemas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from .labels import UNKNOWN_KEY
from .union_shapes import ANY, Shape, scalars, union_shape


class CoreShapes:
    """Reads shapes from a core schema."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        """Construct a reader of a schema whose references are resolved in these definitions."""
        self._definitions = definitions

    def of(self, schema: Any, *, has_members: bool = True) -> Shape:
        """Return the shape of the accepted values; `ANY` if the author's own code validates first."""
        kind = schema["type"]
        if (types := _TYPES.get(kind)) is not None:
            return Shape(types=types)
        if kind in _OBJECTS:
            return self._object(schema, schema.get("config", {})) if has_members else _OBJECT
        if schema.get("on_error", "raise") != "raise":
            return ANY
        match kind:
            case "definitions" | "default" | "function-after":
                return self.of(schema["schema"], has_members=has_members)
            case "definition-ref":
                definition = self._definitions.get(schema["schema_ref"])
                return ANY if definition is None else self.of(definition, has_members=has_members)
            case "json-or-python":
                return self.of(schema["json_schema"], has_members=has_members)
            case "chain":  # the first step, or the values of the last step if that is a literal
                first, last = schema["steps"][0], schema["steps"][-1]
                return self.of(last if last["type"] == "literal" else first, has_members=has_members)
            case "literal":
                return scalars(schema["expected"])
            case "nullable":
                return union_shape((self.of(schema["schema"], has_members=False), _NULL))
            case "union":
                choices = choices_of(schema)
                if len(choices) == 1:
                    return self.of(choices[0], has_members=has_members)
                return union_shape(self.of(choice, has_members=False) for choice in choices)
            case "tagged-union":
                return _OBJECT
            case "model" | "dataclass":
                return self._class(schema, has_members)
            case _:
                return ANY

    def _class(self, schema: Any, has_members: bool) -> Shape:
        """Return the shape of a model or a dataclass; `ANY` if the author's own code constructs it."""
        inner = schema["schema"]
        while inner["type"] == "function-after":
            inner = inner["schema"]
        if schema.get("root_model") or schema.get("custom_init") or inner["type"] not in _OBJECTS:
            return ANY
        shape = self._object(inner, schema.get("config", {})) if has_members else _OBJECT
        return replace(shape, classes=(schema["cls"],))

    def _object(self, schema: Any, config: Mapping[str, Any]) -> Shape:
        fields = fields_of(schema)
        required: set[str] = set()
        members: dict[str, Shape] = {}
        for key, field_schema in fields:
            if key is None:
                continue  # the value can be at one of several places
            is_required = field_schema.get("required", schema.get("total", True))
            if (
                is_required
                and field_schema.get("init", True)
                and not self._has_default(field_schema["schema"])
            ):
                required.add(key)
            shape = self.of(field_schema["schema"], has_members=False)
            if shape.types is not None:
                members[key] = shape
        keys = [key for key, _ in fields if key is not None]
        is_closed = _refuses_keys(schema, config) and len(keys) == len(fields)
        return Shape(
            types=_OBJECT.types,
            required=frozenset(required),
            declared=frozenset(keys) if is_closed else None,
            members=members,
        )

    def _has_default(self, schema: Any) -> bool:
        """Return whether a value has a default, at any level of its schema."""
        match schema:
            case {"type": "default"}:
                return True
            case {"type": "model" | "dataclass"}:
                return False
            case {"type": "definition-ref", "schema_ref": ref}:
                definition = self._definitions.get(ref, {"type": "default"})
                return bool(definition["type"] == "default")
            case (
                {"schema": inner} | {"json_schema": inner} | {"strict_schema": inner} | {"steps": [inner, *_]}
            ):
                return self._has_default(inner)
            case _:
                return False


_OBJECT: Final = Shape(types=frozenset({"object"}))
_NULL: Final = scalars([None])
_ARRAY: Final = frozenset({"array"})
_TYPES: Final[Mapping[str, frozenset[str]]] = {
    "none": frozenset({"null"}),
    "bool": frozenset({"boolean"}),
    "int": frozenset({"integer"}),
    "float": frozenset({"number"}),
    "str": frozenset({"string"}),
    "list": _ARRAY,
    "set": _ARRAY,
    "frozenset": _ARRAY,
    "tuple": _ARRAY,
    "dict": frozenset({"object"}),
}
_OBJECTS: Final = frozenset({"model-fields", "typed-dict", "dataclass-args"})


def choices_of(schema: Any) -> list[Any]:
    """Return the branches of a union, without their labels."""
    return [choice[0] if isinstance(choice, tuple) else choice for choice in schema["choices"]]


def fields_of(schema: Any) -> list[tuple[str | None, Any]]:
    """Return the fields of an object by JSON key; None for a field with several keys."""
    fields = schema["fields"]
    named = fields.items() if isinstance(fields, dict) else [(field["name"], field) for field in fields]
    keys = [(field.get("validation_alias", name), field) for name, field in named]
    return [(key if isinstance(key, str) else None, field) for key, field in keys]


def _refuses_keys(schema: Any, config: Mapping[str, Any]) -> bool:
    """Return whether an object rejects keys beyond its fields."""
    keys = schema.get("extras_keys_schema", {})
    if keys.get("custom_error_type") == UNKNOWN_KEY:
        return True
    return bool(schema.get("extra_behavior", config.get("extra_fields_behavior")) == "forbid")
