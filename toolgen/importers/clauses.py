"""Clauses for the normal form of a schema, if they have exactly the same meaning.

An attribute that clauses cannot express gets a small `JSONSchema({…})` as its type. If that is not possible
either, the writer raises, and the caller stores the schema in a file. `clauses_built` checks the rules of a
design.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field as dataclass_field
from typing import Final

from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.dsl.evaluation.checks.names import key_fault
from toolgen.shapes import naming
from toolgen.shapes.constraints import limits_of
from toolgen.shapes.fields import MISSING
from toolgen.shapes.foreign.annotations import is_annotated, without_limits
from toolgen.shapes.foreign.nodes import Classes, Node, meanings_of, without_null
from toolgen.shapes.foreign.nodes import target as class_of

from .clauses_built import NotExpressibleError
from .clauses_layout import ClauseCall, Named, Part, Text, call, literal
from .clauses_parts import (
    constraints_of,
    description_part,
    enum_clause,
    integral,
    nullable_type,
    with_constraints,
)
from .clauses_schemas import as_written, schema_clause
from .clauses_types import TypePlan, type_plan
from .clauses_values import (
    ALL_FORMATS,
    TYPED_FORMATS,
    holds,
    holds_limited,
    limited_clause,
    limited_type,
    python_value,
)
from .names import type_name

(_STEP,) = limits_of("number", "step")
_MOST_ATTRIBUTES: Final = 2000
"""Maximum number of attributes in one place; branches that are repeated in many places could be endless."""


@frozen_record
class ClauseSource:
    """A schema that clauses can express: its normal form, and the original of some parts."""

    root: Node
    classes: Classes
    as_written: Mapping[str, Node] = dataclass_field(default_factory=dict[str, Node])
    """Schemas that replace clauses, by property of the root."""
    formats_are_types: bool = False
    """Whether the schema was written by toolgen, so that its formats are types and its steps are exact."""
    typed_formats: frozenset[str] = frozenset()
    """Formats that are always types."""
    shared: Mapping[str, Part] = dataclass_field(default_factory=dict[str, Part])
    """Clauses of classes that are already types, by class."""
    is_bound: bool = False
    """Whether a tool is bound to the method, so that all objects must be types that both share."""
    inexact: frozenset[str] = frozenset()
    """Properties of the root that clauses cannot express."""
    enum_of: Callable[[Node], Part | None] | None = None
    """Returns the named enumeration of a node; None if there is none."""
    schema_of: Callable[[str], Part] | None = None
    """Returns the replacement for a property of the root that clauses cannot express."""


@frozen_record
class NamedType:
    """A `Type` that is defined before the tools."""

    name: str
    text: ClauseCall
    claims: tuple[str, ...]
    """Classes that are generated for it."""
    identity: str = ""
    """Identity of the type in the source."""


@frozen_record
class WrittenClauses:
    """The clauses of arguments or of a result."""

    parts: tuple[Part | Named, ...]
    """Parts of `Args` or `Return`."""
    types: tuple[NamedType, ...]
    claims: tuple[str, ...]
    """Classes that are generated in the toolset, in addition to the root's own."""
    lost_keywords: tuple[str, ...] = ()
    """Keywords that the clauses leave out, as sentence fragments."""


def plan_types(shape: ClauseSource) -> TypePlan:
    """Return the types of a shape's clauses that need names.

    Raises:
        NotExpressibleError: Clauses cannot express the schema, regardless of names.
    """
    root = class_of(shape.root)
    if root is None:
        if shape.root == {"type": "object", "additionalProperties": {}}:
            return TypePlan(order=(), tags={})
        raise NotExpressibleError("the schema is not an object with properties")
    return type_plan(shape.root, shape.classes, shape.shared, all_named=shape.is_bound)


def type_identity(class_name: str, name: str) -> str:
    """Return the identity of a type in the source: a class inside another one."""
    return f"object {class_name} {name}"


def write_clauses(
    shape: ClauseSource, plan: TypePlan, class_name: str, names: Mapping[str, str]
) -> WrittenClauses:
    """Return the clauses of a shape, with the class name of its root and the names of its types.

    Raises:
        NotExpressibleError: Clauses cannot express the schema.
    """
    losses: list[str] = []
    types = []
    for name in plan.order:
        writer = _Writer(shape, plan, names, losses, inside=name)
        types.append(writer.type_definition(name, type_identity(class_name, name)))
    root = class_of(shape.root)
    writer = _Writer(shape, plan, names, losses)
    if root is None:
        parts: tuple[Part | Named, ...] = (Named("open", literal(True)),)
    elif root in plan.order:
        parts = (names[root],)
    else:
        parts = writer.members(root, class_name, as_written=shape.as_written)
    return WrittenClauses(
        parts=parts,
        types=tuple(types),
        claims=tuple(writer.claims),
        lost_keywords=tuple(dict.fromkeys(losses)),
    )


class _Writer:
    """Writer of one class and its parts; collects the names of the classes that it creates."""

    def __init__(
        self,
        shape: ClauseSource,
        plan: TypePlan,
        names: Mapping[str, str],
        losses: list[str],
        *,
        inside: str | None = None,
    ) -> None:
        self.claims: list[str] = []
        self._shape = shape
        self._plan = plan
        self._names = names
        self._losses = losses
        self._inside = inside
        self._formats = ALL_FORMATS if shape.formats_are_types else shape.typed_formats
        self._size = 0

    def type_definition(self, name: str, identity: str) -> NamedType:
        class_ = self._shape.classes[name]
        written = self._names[name]
        self.claims.append(written)
        text = description_part(class_.get("description"))
        as_written = self._shape.as_written if name == class_of(self._shape.root) else None
        members = self.members(name, written, without=self._plan.tags.get(name), as_written=as_written)
        return NamedType(
            name=written,
            text=call("Type", literal(written), text, *members),
            claims=tuple(self.claims),
            identity=identity,
        )

    def members(
        self,
        name: str,
        place: str,
        *,
        without: str | None = None,
        as_written: Mapping[str, Node] | None = None,
    ) -> tuple[Part | Named, ...]:
        """Return the attributes of a class, and `open` if it is open."""
        class_ = self._shape.classes[name]
        instead: Mapping[str, Node] = as_written if as_written is not None else {}
        required = class_.get("required", ())
        nodes: Node = {**class_["properties"], **instead}
        schema_of = self._shape.schema_of if name == class_of(self._shape.root) else None
        parts: list[Part | Named] = [
            self._attribute(key, node, place, key in required, key in instead, schema_of)
            for key, node in nodes.items()
            if key != without
        ]
        if class_.get("additionalProperties") is True:
            parts.append(Named("open", literal(True)))
        self._size += len(parts)
        if self._size > _MOST_ATTRIBUTES:
            raise NotExpressibleError("the schema has too many attributes")
        return tuple(parts)

    def _attribute(
        self,
        key: str,
        node: Node,
        place: str,
        required: bool,
        is_leaf: bool,
        schema_of: Callable[[str], Part] | None,
    ) -> Part:
        _require_key(key)
        inner = naming.class_name(place, key)
        before = len(self.claims)
        constraints: tuple[Named, ...] = ()
        try:
            if is_leaf or (schema_of is not None and key in self._shape.inexact):
                raise NotExpressibleError("the attribute keeps its schema")
            type_, constraints = self._type(node, inner)
        except NotExpressibleError:
            del self.claims[before:]
            type_ = schema_clause(node) if is_leaf else schema_of(key) if schema_of else nullable_type(node)
            if not isinstance(type_, str):
                self.claims.append(inner)
        described = node.get("description") or self._own_description(node)
        limited = None if is_leaf else limited_type(node)
        if described and limited:
            described = without_limits(described, limited)
        return call(
            "Attribute",
            literal(key),
            type_,
            description_part(described),
            *constraints,
            *self._facts(key, node, required),
        )

    def _own_description(self, node: Node) -> str | None:
        """Return the description of a referenced object that is written inline."""
        name = class_of(node)
        if name is None or name in self._plan.order:
            return None
        text: str | None = self._shape.classes[name].get("description")
        return text

    def _facts(self, key: str, node: Node, required: bool) -> Iterable[Named]:
        """Yield the facts of an attribute other than its type."""
        default, examples = node.get("default", MISSING), node.get("examples")
        if default is not MISSING and not required:
            if self._holds(node, default):
                yield Named("default", literal(self._value(node, integral(default, node))))
            else:
                self._losses.append(
                    f"the default of {key!r} is left out, because it is not a string in Python"
                )
        if required:
            yield Named("required", literal(True))
        title = node.get("title", "")
        if naming.words(title) not in ((), naming.words(key)):
            yield Named("title", Text(title))
        fitting = [each for each in examples if self._holds(node, each)] if isinstance(examples, list) else ()
        if fitting:
            yield Named("examples", literal(tuple(self._value(node, each) for each in fitting)))
        if node.get("deprecated") is True:
            yield Named("deprecated", literal(True))

    def _holds(self, node: Node, value: Json) -> bool:
        return holds_limited(node, value) and holds(node, value, self._formats)

    def _value(self, node: Node, value: Json) -> object:
        return python_value(node, value, self._formats)

    def _type(self, node: Node, place: str) -> tuple[Part, tuple[Named, ...]]:
        """Return the type of a node, and its constraints."""
        match node:
            case {"$ref": _}:
                return self._reference(class_of(node) or "", place), ()
            case {"anyOf": list(branches)}:
                return self._union(node, branches, place), ()
            case {"enum": list(members)}:
                if self._shape.enum_of is not None and (enum := self._shape.enum_of(node)) is not None:
                    return enum, ()
                return enum_clause(members, meanings_of(node))
            case {"type": "string"}:
                return self._string(node)
            case {"type": "number"} if _STEP.keyword in node and not self._shape.formats_are_types:
                raise NotExpressibleError(
                    "a multiple of a number is exact in JSON Schema, but not for floats"
                )
            case {"type": "integer" | "number" as kind}:
                word = "Int" if kind == "integer" else "Float"
                return word, constraints_of(node, word)
            case {"type": "boolean"}:
                return "Boolean", ()
            case {"type": "array", "items": dict(items)}:
                type_ = call("ArrayOf", self._constrained_type(items, place))
                return type_, constraints_of(node, call("ArrayOf", "Any"))
            case {"type": "object", "additionalProperties": dict(values)}:
                keys = node.get("propertyNames", {"type": "string"})
                if keys.get("type") != "string" or "format" in keys:
                    raise NotExpressibleError("the keys of a map are not plain strings")
                written = with_constraints("String", constraints_of(keys, "String"))
                type_ = call("MapOf", written, self._constrained_type(values, place))
                return type_, constraints_of(node, call("MapOf", "String", "Any"))
            case _ if as_written(node) == {}:
                return "Any", ()
        raise NotExpressibleError(f"no clause expresses the type {node.get('type')!r}")

    def _constrained_type(self, node: Node, place: str) -> Part:
        """Return a type that includes its constraints."""
        type_, constraints = self._type(node, place)
        return with_constraints(type_, constraints)

    def _string(self, node: Node) -> tuple[Part, tuple[Named, ...]]:
        if is_annotated(node):
            return limited_clause(node)
        format_ = node.get("format")
        if format_ is None:
            return "String", constraints_of(node, "String")
        constraints = constraints_of(node, "String")
        if format_ in self._formats and not constraints:
            if format_ in TYPED_FORMATS:
                return TYPED_FORMATS[format_], ()
            return "String", (Named("format", literal(format_)),)
        raise NotExpressibleError("a format is only an annotation in JSON Schema")

    def _union(self, node: Node, branches: list[Node], place: str) -> Part:
        rest = without_null(node)
        is_nullable = len(rest) < len(branches)
        if len(rest) == 1 and is_nullable:
            return call("Nullable", self._constrained_type(rest[0], place))
        tag = node.get("discriminator")
        if not isinstance(tag, str):
            raise NotExpressibleError("a union has no discriminator")
        union = self._tagged(tag, rest, place)
        return call("Nullable", union) if is_nullable else union

    def _tagged(self, tag: str, branches: list[Node], place: str) -> Part:
        _require_key(tag)
        written: list[Named] = []
        for branch in branches:
            name = class_of(branch) or ""
            value = self._tag_value(name, tag)
            inner = naming.class_name(place, value)
            self.claims.append(inner)
            if name in self._shape.shared:
                written.append(Named(value, self._shape.shared[name]))
            elif name in self._plan.tags:
                written.append(Named(value, self._type_name(name)))
            else:
                written.append(Named(value, call("Object", *self.members(name, inner, without=tag))))
        if not self._shape.is_bound:
            return call("OneOf", literal(tag), *written)
        name = type_name(place)
        self.claims.append(name)
        return call("OneOf", literal(tag), literal(name), *written)

    def _tag_value(self, name: str, tag: str) -> str:
        """Return the single value of the tag in a branch."""
        members = self._shape.classes[name]["properties"].get(tag, {}).get("enum", ())
        if len(members) != 1 or not isinstance(members[0], str):
            raise NotExpressibleError("a branch of a union has several discriminator values")
        _require_key(members[0])
        return members[0]

    def _reference(self, name: str, place: str) -> Part:
        if name in self._shape.shared:
            return self._shape.shared[name]
        if name in self._plan.order:
            return self._type_name(name)
        self.claims.append(place)
        return call("Object", *self.members(name, place))

    def _type_name(self, name: str) -> Part:
        written = self._names[name]
        return literal(written) if self._plan.is_below(name, self._inside) else written


def _require_key(name: str) -> None:
    """Check that a name is allowed for an attribute, a tag or a branch.

    Raises:
        NotExpressibleError: The name is not allowed.
    """
    if fault := key_fault(name):
        raise NotExpressibleError(f"the name {name!r} {fault}")
