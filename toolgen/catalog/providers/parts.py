"""Shared code for rewriting schemas: the context of one tool, and a part of its schema on both sides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from toolgen.contract.json_pointer import pointer_of
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.shapes.constraints import CONSTRAINTS, OF_BYTES

from .codecs import SAME, ArgumentCodec, JsonText
from .dialects import Dialect
from .losses import Action, Loss
from .sentences import joined, keyword_sentences

Schema: TypeAlias = dict[str, Any]

_MOST_DEPTH: Final = 60
"""Maximum nesting depth of parts; each takes a few frames of Python's stack."""
_JSON_VALUE: Final = "Any JSON value, written as JSON text."
JSON_OBJECT: Final = "A JSON object, written as JSON text."
_JSON_ARRAY: Final = "A JSON array, written as JSON text."


class NotStrictError(Exception):
    """A tool cannot be strict; the text has the reason."""


@frozen_record(kw_only=False)
class SchemaPlace:
    """The place of a part in the tool's own schema."""

    path: str = ""
    """JSON Pointer."""
    level: int = 1
    """Nesting depth that an object at this place would have."""

    def at(self, *steps: str | int, deeper: int = 0) -> SchemaPlace:
        """Return the place at these steps from here."""
        return SchemaPlace(self.path + pointer_of(steps), self.level + deeper)


@frozen_record
class Part:
    """A part of a schema in the dialect of the provider."""

    schema: Schema
    codec: ArgumentCodec = SAME
    takes_null: bool = False
    """Whether the tool accepts null here."""


@dataclass(slots=True, kw_only=True)
class Context:
    """The state while the schema of one tool is rewritten."""

    dialect: Dialect
    root: Schema
    project: Callable[[Context, Any, SchemaPlace], Part]
    enum_size: int | None
    """Maximum size of an enum that is sent as an enum."""
    defs: dict[str, Schema] = field(default_factory=dict)
    """The provider's `$defs`."""
    codecs: dict[str, ArgumentCodec] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """The names of parts of `$defs`, by reference."""
    open: list[str] = field(default_factory=list)
    """References that are being followed."""
    losses: list[Loss] = field(default_factory=list)
    losses_of: dict[str, list[Loss]] = field(default_factory=dict)
    """Losses in the parts of `$defs`, by name: they apply to every place that refers to the part."""
    nodes: int = 0
    """Number of parts that were projected."""
    depth: int = 0
    """Nesting depth of the part that is being projected."""
    merged: int = 0
    """Number of schemas that were searched for `allOf`."""

    def part(self, schema: Any, place: SchemaPlace) -> Part:
        """Return a part of the schema in the form for the provider.

        Raises:
            NotStrictError: the tool cannot be strict.
        """
        self.nodes += 1
        self.depth += 1
        try:
            if self.depth > _MOST_DEPTH:
                return self.json_text(schema, place, "type")
            return self.project(self, schema, place)
        finally:
            self.depth -= 1

    def define(self, name: str, schema: object, place: SchemaPlace) -> None:
        """Create a part of `$defs`; store its losses with it, whichever parts refer to it."""
        around, self.losses = self.losses, []
        part = self.part(schema, place)
        self.keep(name, part)
        self.losses_of[name], self.losses = self.losses, around

    def keep(self, name: str, part: Part) -> None:
        """Store a part in `$defs`."""
        self.defs[name] = self.nullable(part) if part.takes_null else part.schema
        self.codecs[name] = part.codec

    def lose(self, place: SchemaPlace, keyword: str, action: Action, detail: str = "") -> None:
        """Record a rule that the provider's schema does not express."""
        self.losses.append(Loss(path=place.path, keyword=keyword, action=action, detail=detail))

    def description(
        self, schema: Mapping[str, Any], place: SchemaPlace, keywords: frozenset[str], *more: str
    ) -> Schema:
        """Return the description of a part, with the rules that it expresses nowhere else; or an empty dict.

        `keywords` are the keywords that the provider's schema has too.
        """
        texts = [str(schema.get("description") or "").strip()]
        self.losses += described_limits(schema, place)
        for keyword, text in keyword_sentences(schema, keywords):
            self.lose(place, keyword, "described" if text else "dropped", text)
            if text not in texts:
                texts.append(text)
        text = joined(*texts, *more)
        return {"description": text} if text else {}

    def json_text(self, schema: object, place: SchemaPlace, keyword: str, what: str = "") -> Part:
        """Return a part that is sent as JSON text."""
        schema_object: Schema = schema if isinstance(schema, dict) else {}
        what = what or _JSON_WORDS.get(str(schema_object.get("type")), _JSON_VALUE)
        self.lose(place, keyword, "as JSON text")
        own = {key: value for key, value in schema_object.items() if key not in _STRUCTURE}
        names = list(schema_object.get("properties", {})) if keyword != "type" else []
        keys = f"Its keys: {', '.join(names)}." if names else ""
        text = self.description(own, place, frozenset(), what, keys)
        return Part(schema={"type": "string", **text}, codec=JsonText(self.root, schema))

    def nullable(self, part: Part) -> Schema:
        """Return the provider's schema of a part or null."""
        return nullable(part.schema, has_nullable=self.dialect.has_nullable)


def described_limits(schema: Mapping[str, Json], place: SchemaPlace) -> list[Loss]:
    """Return the limits in toolgen's own keywords, which a designed type has in its description."""
    limits = [keyword for keyword in schema if keyword in _LIMITS]
    return [Loss(path=place.path, keyword=keyword, action="described") for keyword in limits]


_LIMITS: Final = frozenset(row.keyword for row in (*CONSTRAINTS, *OF_BYTES) if row.is_annotation)
_JSON_WORDS: Final = {"object": JSON_OBJECT, "array": _JSON_ARRAY}
_STRUCTURE: Final = frozenset(
    "type properties required additionalProperties patternProperties items prefixItems anyOf oneOf allOf "
    "$ref enum const not if then else".split()
)


def nullable(schema: Schema, *, has_nullable: bool) -> Schema:
    """Return a schema that also accepts null."""
    if not schema or set(schema) == {"description"}:
        return schema
    if has_nullable:
        return {**schema, "nullable": True}
    null: Schema = {"type": "null"}
    if "anyOf" in schema:
        return schema if null in schema["anyOf"] else {**schema, "anyOf": [*schema["anyOf"], null]}
    kind = schema.get("type")
    if kind == "null" or (isinstance(kind, list) and "null" in kind):
        return schema
    if kind in ("string", "integer", "number", "boolean") and not {"enum", "const"} & schema.keys():
        return {**schema, "type": [kind, "null"]}
    text = {key: value for key, value in schema.items() if key == "description"}
    return {**text, "anyOf": [{key: value for key, value in schema.items() if key not in text}, null]}


def with_description(part: Part, description: Schema) -> Part:
    """Return a part with another description, which cannot be beside a reference."""
    if not description:
        return part
    if "$ref" in part.schema:
        return replace(part, schema={**description, "anyOf": [part.schema]})
    return replace(part, schema={**part.schema, **description})
