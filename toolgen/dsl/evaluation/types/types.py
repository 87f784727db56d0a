"""Resolves type clauses into the field tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any as Anything
from typing import Final, TypeAlias

from toolgen.contract.record import record
from toolgen.shapes import naming
from toolgen.shapes.fields import (
    ArrayType,
    DataType,
    EnumType,
    Field,
    MapType,
    NullableType,
    ObjectType,
    RefType,
    StringType,
    UnionType,
)

from ...composites import ArrayOf, Enum, JSONSchema, MapOf, Nullable, Object, OneOf, Type
from ...datatypes import DataType as DataTypeClause
from ...datatypes import FloatClause, IntClause, ScalarClause, StringClause
from ...expr import codes
from ...expr.source import Source
from ..checks.arguments import BROKEN
from ..checks.names import Unique, check_identifier, check_key, described
from ..clause_lookup import Named
from ..report import Report, closest, source_text, suggestion
from .constraints import Subject, constraints_of, lengths, number_type, scalar_type, string_type
from .enums import enum_type
from .foreign import foreign
from .modules import UNKNOWN, Module
from .resolved_fields import ALL_FIELDS, Branches, FieldChoice, Member, ResolvedFields, UnionBranch, members
from .spelling import PRIMITIVES, clause_text
from .values import ValueChecks

TypeClause: TypeAlias = DataTypeClause[Anything, Anything, Anything, Anything, Anything, Anything]
AnyType: TypeAlias = TypeClause | str

_PLAIN: Final = (StringClause, IntClause, FloatClause, ScalarClause, Enum, Type)
"""Clauses without nested clauses, or with a name: without constraints, they are the same everywhere."""


@record
class _Place:
    """The place of a type, after which the classes created for it are named."""

    module: Module
    names: tuple[str, ...]
    """Parts of the name of a class, if it needs one."""
    subject: Subject
    description: str
    title: str = ""

    @property
    def class_name(self) -> str:
        return naming.class_name(*self.names)


class Types:
    """All types of a design: the named types, and the module that all others refer to."""

    def __init__(self, report: Report, values: ValueChecks, named: Iterable[Named]) -> None:
        self.shared = Module(report, "the shared types")
        self._report = report
        self._values = values
        self._by_name: dict[str, Named] = {}
        self._enums: dict[str, EnumType | None] = {}
        self._unions: dict[str, UnionType] = {}
        self._schemas: dict[str, DataType] = {}
        self._plain: dict[int, DataType] = {}
        """Types that are the same in every place, by the identity of their clause in the design."""
        self._branches = Branches(report, self.shared)
        self._declare(named)

    @property
    def enums(self) -> tuple[EnumType, ...]:
        return tuple(enum for enum in self._enums.values() if enum)

    @property
    def unions(self) -> tuple[UnionType, ...]:
        return tuple(self._unions.values())

    def _declare(self, named: Iterable[Named]) -> None:
        """Reserve all names first, so that types can refer to each other."""
        unique = Unique(self._report, "the design")
        for clause in named:
            kind = _kind(clause)
            name = clause.name or ""
            check_identifier(self._report, f"the {kind}", name, clause.source)
            if not unique.add("type", name, clause.source):
                continue
            self._by_name[name] = clause
            what, class_name = f"{kind} {name!r}", naming.class_name(name)
            if isinstance(clause, Type):
                self.shared.reserve(class_name, what, clause.source)
                continue
            if isinstance(clause, JSONSchema):
                subject = Subject(what=what, source=clause.source, report=self._report)
                place = _Place(
                    module=self.shared,
                    names=(name,),
                    subject=subject,
                    description=f"{naming.type_title(name)}.",
                )
                self._schemas[name] = self._foreign(clause, place)
                continue
            self.shared.names.claim(class_name, what, clause.source)
            if isinstance(clause, Enum):
                self._enums[name] = self._enum(clause, class_name)
            else:
                self._unions[name] = _declared(clause, class_name)
        for name, clause in self._by_name.items():
            if isinstance(clause, OneOf):
                self._define_union(name, clause)
        for clause in self._by_name.values():
            if isinstance(clause, Type):
                self._define(clause)

    def _define_union(self, name: str, clause: OneOf) -> None:
        """Define the objects of a named union's branches, which are shared like the union."""
        subject = Subject(what=repr(name), source=clause.source, report=self._report)
        place = _Place(module=self.shared, names=(name,), subject=subject, description="")
        if not isinstance(self._union(clause, place), UnionType):
            del self._unions[name]

    def _enum(self, clause: Enum[Anything], class_name: str) -> EnumType | None:
        what = f"enum {clause.name!r}"
        description = described(self._report, what, clause.description, clause.source)
        subject = Subject(what=repr(clause.name), source=clause.source, report=self._report)
        enum = enum_type(clause.values, None, subject, class_name)
        return replace(enum, description=description) if enum else None

    def _define(self, clause: Type) -> None:
        class_name = naming.class_name(clause.name)
        if clause.title:
            self._branches.titles[class_name] = clause.title
        description = described(self._report, f"type {clause.name!r}", clause.description, clause.source)
        drawn = self.fields(clause.children, self.shared, class_name, f"type {clause.name!r}", clause.source)
        object_ = ObjectType(
            name=class_name,
            description=description,
            title=clause.title or naming.type_title(clause.name),
            fields=drawn.fields,
            open=clause.open,
            examples=self._values.type_examples(clause, class_name, self.shared),
        )
        self.shared.define(object_, drawn.sources)

    def finish(self) -> None:
        """Fill the branches of unions, because the fields of every named type are known now."""
        self._branches.finish()

    def fields(
        self,
        children: Iterable[object],
        module: Module,
        class_name: str,
        where: str,
        source: Source,
        projection: FieldChoice = ALL_FIELDS,
    ) -> ResolvedFields:
        """Return the fields of an object that consists of attributes."""
        fields: list[Field] = []
        sources: dict[str, Source] = {}
        for member in members(children, where, source, self._report):
            name = projection.name(member.attribute.name)
            if projection.includes(name):
                fields.append(self._field(member, name, module, class_name))
                sources[name] = member.attribute.source
        return ResolvedFields(fields=tuple(fields), sources=sources)

    def _field(self, member: Member, name: str, module: Module, class_name: str) -> Field:
        attribute = member.attribute
        check_key(self._report, "an attribute", attribute.name, attribute.source)
        what = f"attribute {attribute.name!r}"
        description = described(self._report, what, attribute.description, attribute.source)
        title = attribute.title or naming.title(name)
        type_ = None if attribute.constraints else self._plain.get(id(attribute.type))
        if type_ is None:
            subject = Subject(what=repr(attribute.name), source=attribute.source, report=self._report)
            place = _Place(
                module=module,
                names=(class_name, attribute.name),
                subject=subject,
                description=description,
                title=title,
            )
            type_ = self.type_(attribute.type, place, attribute.constraints)
        return self._values.field(
            Field(
                name=name,
                type=type_,
                description=description,
                title=title,
                required=member.required,
                deprecated=attribute.deprecated,
                sensitive=attribute.sensitive,
            ),
            attribute,
            module,
        )

    def object_type(
        self, clause: AnyType, module: Module, class_name: str, subject: Subject, description: str
    ) -> str:
        """Return the class of a type that must be an object; an inline one gets this name."""
        resolved = self.named_type(clause, subject)
        if isinstance(resolved, (Type, Object)):
            place = _Place(module=module, names=(class_name,), subject=subject, description=description)
            type_ = self.type_(resolved, place, {})
            return type_.name if isinstance(type_, RefType) else UNKNOWN.name
        if resolved is not None and resolved is not BROKEN:
            text = clause_text(resolved)
            name = "items" if isinstance(resolved, ArrayOf) else "value"
            hint = f'write Object(Attribute("{name}", {text}, "…", required=True))'
            self._report.add(codes.NOT_AN_OBJECT, subject.source, what=subject.what, type=text, hint=hint)
        return UNKNOWN.name

    def shared_object(self, clause: Type) -> ObjectType | None:
        """Return the object of a named type; None if another type or enum took its name."""
        return self.shared.classes.get(naming.class_name(clause.name))

    def named_type(self, clause: AnyType, subject: Subject) -> TypeClause | None:
        """Return the type of a clause or a name; report an unknown name."""
        if not isinstance(clause, str):
            return clause
        resolved: TypeClause | None = self._by_name.get(clause)
        if resolved is None:
            hint = self._unknown_type_hint(clause)
            self._report.add(codes.UNKNOWN_TYPE, subject.source, what=subject.what, name=clause, hint=hint)
        return resolved

    def _unknown_type_hint(self, name: str) -> str:
        """Return the hint for the name of an unknown type: a primitive in quotes, or a description."""
        if not name.isidentifier():
            meant = f"description={source_text(name)}"
            return f"write a type before it; if it is the description, write {meant}"
        primitive = closest(name, PRIMITIVES)
        if primitive is not None and closest(name, self._by_name) is None:
            return f"did you mean {primitive}, without quotes?"
        return suggestion(name, self._by_name, f'add Type("{name}", "…", …)')

    def type_(self, clause: AnyType, place: _Place, outer: dict[str, object]) -> DataType:
        """Return the type of the field tree; `UNKNOWN` if it was reported."""
        if not outer and (plain := self._plain.get(id(clause))) is not None:
            return plain
        type_ = self._resolved(clause, place, outer)
        if not outer and isinstance(clause, _PLAIN) and not clause.constraints:
            self._plain[id(clause)] = type_
        return type_

    def _resolved(self, clause: AnyType, place: _Place, outer: dict[str, object]) -> DataType:
        if clause is BROKEN:
            return UNKNOWN
        subject = place.subject
        if not isinstance(clause, str) and clause.constraints:
            subject = replace(subject, source=clause.source)
        constraints = constraints_of(clause, outer, subject)
        match clause:
            case str():
                resolved = self.named_type(clause, subject)
                return UNKNOWN if resolved is None else self.type_(resolved, place, {})
            case StringClause() | IntClause() if "enum" in constraints:
                kind = str if isinstance(clause, StringClause) else int
                return enum_type(constraints["enum"], kind, subject) or UNKNOWN
            case StringClause():
                return string_type(constraints, subject) or UNKNOWN
            case IntClause() | FloatClause():
                return number_type(constraints, isinstance(clause, IntClause), subject) or UNKNOWN
            case ScalarClause():
                return scalar_type(clause.kind, constraints, subject) or UNKNOWN
            case Enum():
                return self._enums.get(clause.name) or UNKNOWN
            case Type():
                object_ = self.shared_object(clause)
                return RefType(name=object_.name) if object_ else UNKNOWN
            case Object():
                return self._inline(clause, place)
            case ArrayOf():
                items = self.type_(clause.items, place, {})
                is_sound = lengths("array", constraints, subject)
                return ArrayType(items=items, **constraints) if is_sound else UNKNOWN
            case MapOf():
                return self._map(clause, place, constraints)
            case Nullable():
                inner = self.type_(clause.inner, place, {})
                return inner if isinstance(inner, NullableType) else NullableType(inner=inner)
            case OneOf(name=str(name)):
                return self._unions.get(name, UNKNOWN)
            case OneOf():
                return self._union(clause, place)
            case JSONSchema(name=str(name)):
                return self._schemas.get(name, UNKNOWN)
            case JSONSchema():
                return self._foreign(clause, place)
            case _:
                return UNKNOWN

    def _inline(self, clause: Object, place: _Place) -> DataType:
        where = f"the object of {place.subject.what}"
        place.module.reserve(place.class_name, where, place.subject.source)
        drawn = self.fields(clause.children, place.module, place.class_name, where, clause.source)
        object_ = ObjectType(
            name=place.class_name,
            description=place.description,
            title=place.title,
            fields=drawn.fields,
            inline=True,
            open=clause.open,
        )
        place.module.define(object_, drawn.sources)
        return RefType(name=place.class_name)

    def _foreign(self, clause: JSONSchema, place: _Place) -> DataType:
        subject = place.subject
        schema = foreign(clause, place.class_name, subject.what, self._report)
        if schema is None:
            return UNKNOWN
        place.module.reserve(place.class_name, f"the schema of {subject.what}", subject.source)
        object_ = ObjectType(name=place.class_name, description=place.description, fields=(), foreign=schema)
        place.module.adopt(object_, subject.what, subject.source)
        return RefType(name=place.class_name)

    def _map(self, clause: MapOf[Anything], place: _Place, constraints: dict[str, Anything]) -> DataType:
        keys = self.type_(clause.keys, place, {})
        values = self.type_(clause.values, place, {})
        if not isinstance(keys, StringType):
            if keys is not UNKNOWN:
                what, type_ = place.subject.what, clause_text(clause.keys)
                type_ = "of an enum" if isinstance(keys, EnumType) and keys.name is None else type_
                self._report.add(codes.MAP_KEY, place.subject.source, what=what, type=type_)
            return UNKNOWN
        if not lengths("map", constraints, place.subject):
            return UNKNOWN
        return MapType(keys=keys, values=values, **constraints)

    def _union(self, clause: OneOf, place: _Place) -> DataType:
        subject = place.subject
        if not clause.branches:
            hint = f'name its branches: OneOf("{clause.tag}", stop=Stop, pause=Pause)'
            self._report.add(
                codes.BAD_UNION, subject.source, what=subject.what, fault="has no branches", hint=hint
            )
            return UNKNOWN
        good = check_key(self._report, f"the tag of {subject.what}", clause.tag, clause.source)
        branches = [
            (name, self._branch(name, branch, clause.tag, place)) for name, branch in clause.branches.items()
        ]
        if not good or any(branch is None for _, branch in branches):
            return UNKNOWN
        return UnionType(tag=clause.tag, branches=tuple((name, ref) for name, ref in branches if ref))

    def _branch(self, name: str, clause: AnyType, tag: str, place: _Place) -> RefType | None:
        subject = place.subject
        if not check_key(self._report, f"a branch of {subject.what}", name, subject.source):
            return None
        class_name = naming.class_name(place.class_name, name)
        resolved = self.named_type(clause, subject)
        if resolved is None or resolved is BROKEN:
            return None
        if not isinstance(resolved, (Type, Object)):
            self._report.add(
                codes.BAD_UNION,
                subject.source,
                what=subject.what,
                fault=f"has the branch {name!r} of {clause_text(resolved)}, which is not an object",
                hint=f'write {name}=Object(Attribute("value", {clause_text(resolved)}, "…", required=True))',
            )
            return None
        place.module.reserve(class_name, f"branch {name!r} of {subject.what}", subject.source)
        branch = UnionBranch(module=place.module, class_name=class_name, tag=tag, value=name, subject=subject)
        if isinstance(resolved, Type):
            self._branches.postpone(branch, naming.class_name(resolved.name))
        else:
            where = f"branch {name!r} of {subject.what}"
            drawn = self.fields(resolved.children, place.module, class_name, where, resolved.source)
            self._branches.define(branch, place.description, replace(drawn, open=resolved.open))
        return RefType(name=class_name)


def _kind(clause: Named) -> str:
    if isinstance(clause, Type):
        return "type"
    return "enum" if isinstance(clause, Enum) else "union" if isinstance(clause, OneOf) else "schema"


def _declared(clause: OneOf, class_name: str) -> UnionType:
    """Return a named union before its branches are resolved, which can refer back to it."""
    branches = tuple((value, RefType(name=naming.class_name(class_name, value))) for value in clause.branches)
    return UnionType(tag=clause.tag, branches=branches, name=class_name)
