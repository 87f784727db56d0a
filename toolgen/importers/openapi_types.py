"""The types of an OpenAPI document: each component once, as clauses, or as a shared schema.

Types refer to each other, so they are first collected, then sorted and named, and written last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from toolgen.shapes import naming
from toolgen.shapes.foreign.nodes import Classes, Node, target, targets
from toolgen.shapes.foreign.normal_form import safe_text

from . import codes
from .clauses import ClauseSource, WrittenClauses
from .clauses_built import NotExpressibleError
from .clauses_layout import ClauseCall, Named, Part, Text, call, literal
from .clauses_schemas import notes
from .clauses_types import named_apart, ordered
from .clauses_values import REQUEST_FORMATS
from .design_objects import with_good_examples
from .design_types import TypeTable
from .names import DesignNames, content, type_name
from .openapi_components import Components, Direction
from .openapi_cuts import (
    Cut,
    Cutter,
    TypeKey,
    mark_of,
    without_null,
    without_property,
)
from .openapi_document import UnreadableError, component_name, mapping, text
from .openapi_enums import EnumBook
from .openapi_notes import NotedSchema
from .openapi_reading import CutReader, ReadObject
from .openapi_texts import own_title
from .openapi_untyped import UntypedSchemas

_MOST_ROUNDS: Final = 10


class _Shared(dict[str, Any]):
    """Replacements for classes that are types; None for a class that is not an object of clauses."""

    def __getitem__(self, name: str) -> Part:
        part: Part | None = super().__getitem__(name)
        if part is None:
            raise NotExpressibleError("a branch of a union cannot be a type")
        return part


class TypeBook:
    """The types of a design, while they are collected, ordered and written."""

    def __init__(
        self, components: Components, toolset: str, names: DesignNames, find: Callable[..., None]
    ) -> None:
        self._components = components
        self._api = components.api
        self._find, self._names = find, names
        self._table = TypeTable(self._names)
        self._cuts: dict[TypeKey, Cut] = {}
        self._roots: list[TypeKey] = []
        self._order: dict[TypeKey, int] = {}
        self._variants: dict[str, list[TypeKey]] = {}
        """Types of each component, by its address."""
        self._failed: set[TypeKey] = set()
        self._reader = CutReader(find)
        self._objects: dict[TypeKey, ReadObject] = {}
        """Normal forms of objects, by type."""
        self._called: dict[TypeKey, str] = {}
        self._details: dict[str, str] = {}
        self.bases: set[str] = set()
        """Class names derived from components."""
        self.errors: dict[tuple[str, str], tuple[Part, tuple[ClauseCall, ...]]] = {}
        """Types of error details, and their body attribute, by place and name."""
        self._origins: dict[str, str] = {}
        """Object for which a type was written, by the name of the type."""
        self.cutter = Cutter(components)
        self.untyped = UntypedSchemas(components, toolset, names, find)
        """Schemas that do not become types."""
        self.enums = EnumBook()
        """Named enumerations."""
        self.types: dict[str, ClauseCall] = {}
        """Types and unions by name, in order."""
        self.quoted: dict[str, None] = {}
        """Types that are referred to before their definition."""

    def details(self, parts: Iterable[Part | Named], name: str, about: str, written: str, place: str) -> str:
        """Return the type of error details with these attributes; equal attributes share one type."""
        clause, identity = call("Object", *parts), f"object {place}"
        named = self._details.get(clause.flat)
        if named is None:
            named = self._names.assign(content(clause.flat), type_name(name), also=identity)
            self._details[clause.flat] = named
            self.types[named] = call("Type", literal(named), Text(about), *parts)
        self._origins[written] = named
        self._names.record(named, identity)
        return named

    def origin(self, name: str) -> str:
        """Return the component type, error details type or object to which a name belongs."""
        seen = {name}
        while (origin := self._origins.get(name, name)) not in seen:
            seen.add(name := origin)
        return name

    def names(self) -> list[str]:
        """Return the names of all types so far."""
        return [*self._called.values(), *self.enums.names()]

    def scan(self, cuts: Sequence[Cut]) -> None:
        """Collect all types that schemas refer to, directly or indirectly, in order."""
        waiting = [key for cut in cuts for key in cut.keys.values()]
        self._roots = roots = list(dict.fromkeys(waiting))
        while waiting:
            key = waiting.pop()
            if key not in self._cuts:
                self._cuts[key] = self._component(key)
                waiting += self._cuts[key].keys.values()
        order = ordered(roots, lambda key: self._cuts[key].keys.values())
        self._order = {key: number for number, key in enumerate(order)}
        for key in self._order:
            self._variants.setdefault(key.address, []).append(key)
        self.bases = {naming.class_name(component_name(key.address)) for key in self._order}
        self.enums.scan([*cuts, *self._cuts.values()])

    def name(self) -> None:
        """Assign the names of the types."""
        wanted = {key: self._wanted(key) for key in self._order}
        every = [*wanted.values(), *self.enums.wanted()]
        names = self._names.assign_all({identity: [name] for identity, name in every})
        self._called = {key: names[identity] for key, (identity, _) in wanted.items()}
        self.enums.name(names)

    def type_of(self, address: str, direction: Direction) -> Part | None:
        """Return the type of a component that is an object of clauses; None for other schemas."""
        if self._components.adds_null(address):
            return None
        address = self._components.canonical(address)
        key = TypeKey(address, self._components.direction(address, direction))
        is_type = key in self._order and key not in self._failed and self._components.kind(address) == "class"
        return self._called[key] if is_type and not self._components.facts(address).is_nullable else None

    def _component(self, key: TypeKey) -> Cut:
        schema = self._api.find(key.address)
        if self._components.kind(key.address) == "union" and not self._components.has_texts(key.address):
            self._failed.add(key)  # before its branches become unused types
            return Cut(schema={}, place=key.address)
        try:
            cut = self.cutter.cut(schema, key.address, key.direction)
        except UnreadableError as error:
            self._find(codes.LEFT_OUT, error.pointer, f"{error.message}; any JSON is accepted", error.hint)
            self._failed.add(key)
            return Cut(schema={}, place=key.address)
        cut.schema = without_null(cut.schema)
        cut.properties = {
            name: part
            for name, part in self._components.facts(key.address).properties.items()
            if name != key.tag
        }
        return cut

    def sources(self) -> Iterator[NotedSchema]:
        """Yield the components that are types, with their classes."""
        untagged_addresses = {key.address for key in self._order if not key.tag}
        for key in self._order:
            if not key.tag or key.address not in untagged_addresses:
                yield NotedSchema(
                    schema=self._api.find(key.address),
                    pointer=key.address,
                    direction=key.direction,
                    name=component_name(key.address),
                    written=(self._called[key],),
                    without=key.tag,
                )

    def _wanted(self, key: TypeKey) -> tuple[str, str]:
        """Return the identity of a type, and its wanted name."""
        base = naming.class_name(component_name(key.address))
        others = self._variants[key.address]
        is_input = key.direction == "in" and any(each.direction != "in" for each in others)
        is_branch = key.tag and any(each.tag != key.tag for each in others)
        kind = f"{'Input' if is_input else ''}{'Branch' if is_branch else ''}"
        identity = f"type {key.address} {kind} {key.tag if is_branch else ''}".strip()
        name = f"{base}{kind}"
        if self._components.kind(key.address) == "union":
            values = self._components.tag_values(key.address)
            while any(naming.class_name(name, str(value)) in self.bases for value in values):
                name = f"{name}Union"
        return identity, type_name(name)

    def simplify(self, name: str, *, is_example: bool) -> bool:
        """Simplify a type whose clause is not allowed; return whether there is a type with this name.

        First its examples are dropped if one of them is at fault, then it becomes a schema, then any JSON.
        """
        if name in self.untyped.clauses and name not in self.untyped.opened:
            self.untyped.opened.add(name)
            return True
        key = next((each for each, called in self._called.items() if called == name), None)
        if key is None or key in self._failed:
            return False
        if not is_example or not self.untyped.drop_examples(key.address, key.direction):
            self._failed.add(key)
        return True

    def statements(self) -> list[tuple[str, ClauseCall]]:
        """Return schemas and types with their names, in order."""
        return [*self.enums.statements(), *self.untyped.clauses.items(), *self.types.items()]

    def write(self, progress: Callable[[int, int, str], None]) -> None:
        """Write all types; repeat while a branch of a union turns out to remain a schema."""
        for key, number in self._order.items():
            progress(number, len(self._order), self._called[key])
            self._read(key)
        for _ in range(_MOST_ROUNDS):
            before = len(self._failed)
            self._restart()
            self._try_unions()
            if len(self._failed) > before:
                continue
            self._restart()
            needed = self._needed()
            for key in self._order:
                self.untyped.is_needed = key in needed
                self._write(key)
            self.untyped.is_needed = True
            if len(self._failed) == before:
                return

    def _needed(self) -> set[TypeKey]:
        """Return the types that operations may need; kept schemas contain everything they refer to."""
        needed: set[TypeKey] = set()
        waiting = [*self._roots]
        while waiting:
            key = waiting.pop()
            if key not in needed:
                needed.add(key)
                classes = self._objects[key].classes.values() if key not in self._failed else ()
                marks = (mark_of(class_, self._cuts[key]) for class_ in classes)
                waiting += [self._cuts[key].keys[mark] for mark in marks if mark]
        return needed

    def _restart(self) -> None:
        """Discard everything that was written."""
        self._names.restart()
        self._table = TypeTable(self._names)
        self.types.clear()
        self.quoted.clear()
        self._origins.clear()
        self.untyped.clear()
        self.enums.clear()
        self._details.clear()
        self.errors.clear()

    def _try_unions(self) -> None:
        """Find the unions that remain schemas before writing all types, which takes much longer."""
        for key in self._order:
            if key not in self._failed and self._components.kind(key.address) == "union":
                try:
                    self._union(self._cuts[key], self._called[key], key)
                except NotExpressibleError:
                    self._failed.add(key)

    def _read(self, key: TypeKey) -> None:
        """Read a type once, before others refer to it, because clauses might not be able to express it."""
        if key not in self._failed and key not in self._objects:
            cut, name = self._cuts[key], self._called[key]
            try:
                if self._components.kind(key.address) == "union":
                    read_object = self._reader.union(cut, name, self._failed)
                else:
                    read_object = self._reader.object(cut, name)
                named_apart(read_object.root, read_object.classes)
                self._objects[key] = read_object
            except NotExpressibleError:
                self._failed.add(key)

    def _write(self, key: TypeKey) -> None:
        name, cut = self._called[key], self._cuts[key]
        if key not in self._failed:
            try:
                if self._components.kind(key.address) == "union":
                    self.types[name] = self._union(cut, name, key)
                else:
                    written = self.written(cut, name, key, without=key.tag)
                    examples = [] if key.tag else self.untyped.examples(key.address, key.direction)
                    named = [part for part in written.parts if isinstance(part, Named)]
                    named += own_title(self._api.find(key.address), name)
                    parts = [part for part in written.parts if not isinstance(part, Named)]
                    about = literal(name), self._description(key)
                    self.types[name] = call("Type", *about, *parts, *examples, *named)
                return
            except NotExpressibleError:
                self._failed.add(key)
        if not key.tag:
            self.untyped.add(self._api.find(key.address), key.address, key.direction, name)

    def _description(self, key: TypeKey) -> Part:
        described = text(mapping(self._api.find(key.address)).get("description"))
        return Text(safe_text(described)) if described else literal(None)

    def _union(self, cut: Cut, name: str, key: TypeKey) -> ClauseCall:
        read_union = self._objects[key]
        (part,) = self._parts(read_union.root, read_union.classes, cut, name, key).parts[:1]
        type_ = part.parts[1] if isinstance(part, ClauseCall) else part
        if isinstance(type_, ClauseCall) and type_.clause == "Nullable":
            type_ = type_.parts[0]
        if not isinstance(type_, ClauseCall) or type_.clause != "OneOf":
            raise NotExpressibleError("the union has branches that are not objects")
        return call("OneOf", type_.parts[0], literal(name), *type_.parts[1:])

    def written(self, cut: Cut, name: str, key: TypeKey | None, *, without: str = "") -> WrittenClauses:
        """Return the attributes of an object; attributes that clauses cannot express refer to schemas.

        Raises:
            NotExpressibleError: Clauses cannot express the object completely.
        """
        object_schema = self._objects[key] if key else self._reader.object(cut, name)
        separate = frozenset([*object_schema.inexact, *cut.separate, *cut.fixed])
        try:
            return self._parts(
                object_schema.root, object_schema.classes, cut, name, key, inexact=separate, without=without
            )
        except NotExpressibleError:
            if key is not None:
                raise
        root = target(object_schema.root) or ""
        own = object_schema.classes[root]
        nested = {
            at
            for at, node in own["properties"].items()
            if any(not mark_of(object_schema.classes[to], cut) for to, _ in targets(node))
        }
        rest = {at: notes(node) if at in nested else node for at, node in own["properties"].items()}
        classes = {**object_schema.classes, root: {**own, "properties": rest}}
        return self._parts(object_schema.root, classes, cut, name, key, inexact=separate | nested)

    def _parts(
        self,
        root: Node,
        classes: Classes,
        cut: Cut,
        name: str,
        key: TypeKey | None,
        *,
        inexact: frozenset[str] = frozenset(),
        without: str = "",
    ) -> WrittenClauses:
        classes = dict(classes)
        own = target(root) if key else named_apart(root, classes)
        if without and own:
            classes[own] = without_property(classes[own], without)
        shape = ClauseSource(
            root=root,
            classes=classes,
            shared=self._shared(classes, cut, key),
            is_bound=key is None,
            typed_formats=REQUEST_FORMATS if cut.direction == "in" else frozenset(),
            inexact=inexact,
            enum_of=self.enums.part,
            schema_of=lambda attribute: self._kept_property(cut, attribute, name),
        )
        written = self._table.write(with_good_examples(shape), name)
        self._table.add(written)
        for type_ in written.types:
            self.types.setdefault(type_.name, type_.text)
            self._origins.setdefault(type_.name, name)
        return written

    def _shared(self, classes: Classes, cut: Cut, key: TypeKey | None) -> _Shared:
        shared = _Shared()
        at = len(self._order) if key is None else self._order[key]
        for class_name, class_ in classes.items():
            mark = mark_of(class_, cut)
            if not mark:
                continue
            used = cut.keys[mark]
            name = self._called[used]
            if used.tag and used in self._failed:
                shared[class_name] = None
            elif used in self._failed or self._order[used] < at:  # schemas are defined before all types
                shared[class_name] = name
            else:
                shared[class_name] = literal(name)
                if used != key:
                    self.quoted[name] = None
        return shared

    def _kept_property(self, cut: Cut, attribute: str, owner: str) -> Part:
        if attribute in cut.fixed:
            return cut.fixed[attribute]
        schema, place = cut.properties.get(attribute, ({}, cut.place))
        return self.untyped.part(schema, place, cut.direction, naming.class_name(owner, attribute))
