"""Functions with an `input_schema` from their author: its codec, and checks that the two agree."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import from_json

from toolgen.contract.json_value import Json, compact, identity
from toolgen.contract.limits import DEFAULT_LIMITS, Limits
from toolgen.shapes.guarded import rules_class
from toolgen.shapes.issues import Findings
from toolgen.shapes.steps import document_steps

from ..call import json_document
from ..codec import CheckedCodec, validation_error
from ..errors import ToolValidationError
from .type_codec import T, TypeCodec

if TYPE_CHECKING:
    from pydantic_core import ValidationError

_SAMPLES: Final[Mapping[str, Json]] = {
    "null": None,
    "boolean": True,
    "integer": 0,
    "number": 0.5,
    "string": "",
    "array": [],
    "object": {},
}
"""A sample value of each JSON type."""


class AuthoredCodec(CheckedCodec[T], TypeCodec[T]):
    """The codec of a function's arguments with a schema from its author: documents have to fit both.

    Encoded arguments contain all defaults, because people approve them and `when` conditions read them. So a
    property with the default of its parameter always fits, even if the schema has no such property.
    """

    __slots__ = ("_defaults",)

    def __init__(self, type_: Any, name: str, schema: Mapping[str, Any]) -> None:
        """Construct the codec; the schema replaces the one of the type.

        Raises:
            ValueError: it is not a JSON Schema, or a default is not JSON.
            ToolgenError: the extra `jsonschema` is not installed.
        """
        TypeCodec.__init__(self, type_, name)
        self._schemas = {self.name: compact(dict(schema))}
        self._rules = rules_class("input_schema needs a JSON Schema validator, which is not installed")(
            schema, reads_dialect=True
        )
        defaults = json.loads(self._dump(type_.model_construct()))
        free = {key: value for key, value in defaults.items() if key not in schema.get("required", ())}
        shown = schema.get("properties", {})
        hidden = {key: value for key, value in free.items() if value is None or key not in shown}
        self._defaults = hidden, free

    def decode_null_as_absent(
        self, data: bytes | str | Mapping[str, object], limits: Limits = DEFAULT_LIMITS
    ) -> T:
        data = data if isinstance(data, (bytes, str)) else json_document(data)
        with document_steps():  # one step budget for its types and its rules
            value = TypeCodec.decode_null_as_absent(self, data, limits)
            findings = self._rule_issues(data, limits.issues)
        if findings.issues:
            raise validation_error(findings.shortened())
        return value

    def _rule_issues(self, data: bytes | str, most: int) -> Findings:
        """Return the schema's issues; empty if there are none once default values are left out."""
        findings = super()._rule_issues(data, most)
        document = from_json(data) if findings.issues else None
        if isinstance(document, dict):
            for defaults in self._defaults:
                set_ = {
                    key: value
                    for key, value in document.items()
                    if key not in defaults or identity(value) != identity(defaults[key])
                }
                if len(set_) < len(document) and not super()._rule_issues(compact(set_), most).issues:
                    return Findings(issues=())
        return findings

    def _findings(self, error: ValidationError, data: bytes | str, most: int) -> Findings:
        broken = self._rule_issues(data, most)
        return broken if broken.issues else super()._findings(error, data, most)


def authored_codec(codec: TypeCodec, schema: Mapping[str, object], problems: list[str]) -> TypeCodec:
    """Return the codec of a function's arguments with the schema of its author.

    If the two do not agree, the reasons are added to `problems`. Properties that are not in the schema are
    rejected.

    Raises:
        ToolgenError: the extra `jsonschema` is not installed.
    """
    closed = {**schema, "additionalProperties": False}
    try:
        authored = AuthoredCodec(codec.type, codec.name, closed)
    except (ValueError, TypeError, RecursionError) as error:
        problems.append(f"input_schema cannot be used: {str(error).partition(chr(10))[0]}")
        return codec
    problems.extend(_problems(codec, schema))
    return authored


def _problems(codec: TypeCodec, schema: Mapping[str, Any]) -> Iterator[str]:
    properties: Any = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(properties, Mapping):
        yield 'input_schema must describe an object; write "type": "object" with "properties"'
        return
    if schema.get("additionalProperties", False) is not False:
        yield (
            "input_schema allows additional properties, but the function does not; remove "
            "additionalProperties"
        )
    own = codec.schema
    for name in own.get("required", ()):
        if name not in properties:
            yield f"input_schema has no property for the required parameter {name!r}"
        elif name not in schema.get("required", ()):
            yield (
                f"the parameter {name!r} has no default, but input_schema does not require it; add it "
                'to "required", or give the parameter a default'
            )
    for name, property_ in properties.items():
        if name not in own["properties"]:
            yield f"input_schema has the property {name!r}, but the function has no such parameter"
        elif isinstance(property_, Mapping):
            yield from _property_problems(codec, name, property_)


def _property_problems(codec: TypeCodec, name: str, property_: Mapping[str, Any]) -> Iterator[str]:
    """Yield the types and values that a property allows and the parameter rejects."""
    values = [property_[key] for key in ("const", "default") if key in property_]
    values += property_.get("enum", ())
    for value in values:
        if issue := next(_issues(codec, name, value), ""):
            yield f"input_schema allows {compact(value)} for {name!r}, but the function rejects it: {issue}"
    if "const" in property_ or "enum" in property_:
        return
    taken = codec.schema["properties"][name].get("type", "something else")
    for part in (property_, *property_.get("anyOf", ()), *property_.get("oneOf", ())):
        types = part.get("type", ()) if isinstance(part, Mapping) else ()
        for type_ in [types] if isinstance(types, str) else types:
            if any(issue.constraint == "invalid_type" for issue in _issues(codec, name, _SAMPLES[type_])):
                yield f"input_schema declares {type_} for {name!r}, but the function takes {taken}"


def _issues(codec: TypeCodec, name: str, value: Json) -> Iterator[Any]:
    """Yield the issues of a parameter's value."""
    try:
        codec.decode({name: value})
    except ToolValidationError as error:
        yield from (issue for issue in error.issues if issue.keys[:1] == (name,) and len(issue.keys) == 1)
