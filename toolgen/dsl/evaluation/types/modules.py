"""The generated modules for classes, while they are being filled."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping

from toolgen.shapes import naming
from toolgen.shapes.fields import Field, Objects, ObjectType, RefType

from ...expr.source import Source
from ..checks.names import Identifiers
from ..report import Report

UNKNOWN = RefType(name="?")
"""The type of a reported value; everything fits it, and it is never checked."""


class Module:
    """The classes of one module, in order of first use, with the sources of them and their fields."""

    def __init__(self, report: Report, where: str, shared: Module | None = None) -> None:
        self.classes: dict[str, ObjectType] = {}
        self._report = report
        self.names: Identifiers = Identifiers(report, where, shared.names if shared else None)
        self.shared = shared
        self._sources: dict[tuple[str, str], Source] = {}

    def reserve(self, class_name: str, what: str, source: Source) -> None:
        """Reserve the class's name and its place in the order; its fields are added later."""
        self.names.claim(class_name, what, source)
        self.classes.setdefault(class_name, ObjectType(name=class_name, description="", fields=()))

    def define(
        self, object_: ObjectType, sources: Mapping[str, Source], hidden: Iterable[Field] = ()
    ) -> None:
        """Add an object; hidden fields are injected into it and need identifiers too."""
        self.classes[object_.name] = object_
        attributes = Identifiers(self._report, f"the class {object_.name}")
        for name, source in sources.items():
            self._sources[object_.name, name] = source
            attributes.claim(naming.field_name(name), f"attribute {name!r}", source)
        for field in hidden:
            if source_of := sources.get(field.name):
                attributes.claim(naming.setter_name(field.name), f"the setter of {field.name!r}", source_of)

    def adopt(self, object_: ObjectType, what: str, source: Source) -> None:
        """Add a type that can be foreign, and reserve the names of the classes inside it."""
        self.classes[object_.name] = object_
        for name in object_.foreign.classes if object_.foreign else ():
            if name != object_.name:
                self.names.claim(name, f"a class of {what}", source)

    @property
    def objects(self) -> Objects:
        """The table in which the references of this module's types are resolved."""
        return ChainMap(self.classes, self.shared.classes if self.shared else {})

    def source_of(self, class_name: str, field: Field | str) -> Source | None:
        """Return the source of a field; None for a field that was added."""
        name = field if isinstance(field, str) else field.name
        source = self._sources.get((class_name, name))
        return source or (self.shared.source_of(class_name, name) if self.shared else None)
