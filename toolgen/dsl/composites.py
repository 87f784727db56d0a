"""Types made of other types, and of JSON Schemas. A type in quotes is found by its name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any as Anything
from typing import Final, TypeAlias, TypeVar, overload

from .attributes import Attribute, Example, Required
from .datatypes import DataType, Held, Holds, NotOnThisType, StringClause, Unconstrained, Value, written

EnumValue = TypeVar("EnumValue", str, int)


class Type(Unconstrained[dict[str, Anything]]):
    """A named object, shared by all who use it; an open one keeps keys beyond its attributes.

    Example: `d.Type("Device", "A device on a site.", d.Attribute("id", d.String, "Its id.", required=True))`
    """

    name: Final[str]
    description: Final[str | None]
    children: Final[tuple[Attribute | Required | Example, ...]]
    open: Final[bool]
    title: Final[str | None]

    def __init__(
        self,
        name: str,
        description: str | None,
        *children: Attribute | Required | Example,
        open: bool = False,
        title: str | None = None,
    ) -> None:
        super().__init__()
        self.name = name
        self.description = description
        self.children = children
        self.open = open
        self.title = title


class Enum(Unconstrained[EnumValue]):
    """A named enumeration of strings or of whole numbers.

    Example: `d.Enum("State", "State of a device.", "online", "offline")`
    """

    name: Final[str]
    description: Final[str | None]
    values: Final[tuple[str | int | Value[str | int], ...]]

    def __init__(self, name: str, description: str | None, *values: EnumValue | Value[EnumValue]) -> None:
        super().__init__()
        self.name = name
        self.description = description
        self.values = values


class Object(Unconstrained[dict[str, Anything]]):
    """An object written where it is used; an open one keeps keys beyond its attributes.

    Example: `d.Object(d.Attribute("start", d.Date, "First day."), d.Attribute("end", d.Date, "Last day."))`
    """

    children: Final[tuple[Attribute | Required, ...]]
    open: Final[bool]

    def __init__(self, *children: Attribute | Required, open: bool = False) -> None:
        super().__init__()
        self.children = children
        self.open = open


class ArrayOf(DataType[list[Held], NotOnThisType, NotOnThisType, int, NotOnThisType, bool]):
    """A list of one type; lengths count items.

    Example: `d.ArrayOf(d.String(min_length=1), max_length=10)`
    """

    items: Final[DataType[object, object, object, object, object, object] | str]

    @overload
    def __init__(
        self,
        items: Holds[Held],
        *,
        min_length: int | None = None,
        max_length: int | None = None,
        unique_items: bool | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: ArrayOf[Anything],
        items: str,
        *,
        min_length: int | None = None,
        max_length: int | None = None,
        unique_items: bool | None = None,
    ) -> None: ...
    def __init__(
        self,
        items: Holds[Anything] | str,
        *,
        min_length: int | None = None,
        max_length: int | None = None,
        unique_items: bool | None = None,
    ) -> None:
        super().__init__(**written(locals()))
        self.items = items


class MapOf(DataType[dict[str, Held], NotOnThisType, NotOnThisType, int, NotOnThisType, NotOnThisType]):
    """An object with free keys; lengths count keys.

    Example: `d.MapOf(d.String(pattern="^[a-z]+$"), d.Float)`
    """

    keys: Final[StringClause]
    values: Final[DataType[object, object, object, object, object, object] | str]

    @overload
    def __init__(
        self,
        keys: StringClause,
        values: Holds[Held],
        *,
        min_length: int | None = None,
        max_length: int | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: MapOf[Anything],
        keys: StringClause,
        values: str,
        *,
        min_length: int | None = None,
        max_length: int | None = None,
    ) -> None: ...
    def __init__(
        self,
        keys: StringClause,
        values: Holds[Anything] | str,
        *,
        min_length: int | None = None,
        max_length: int | None = None,
    ) -> None:
        super().__init__(**written(locals()))
        self.keys = keys
        self.values = values


class Nullable(Unconstrained[Held | None]):
    """A type for which null is a value too.

    Example: `d.Nullable(d.String)`
    """

    inner: Final[DataType[object, object, object, object, object, object] | str]

    @overload
    def __init__(self, inner: Holds[Held]) -> None: ...
    @overload
    def __init__(self: Nullable[Anything], inner: str) -> None: ...
    def __init__(self, inner: Holds[Anything] | str) -> None:
        super().__init__()
        self.inner = inner


class OneOf(Unconstrained[dict[str, Anything]]):
    """One of several objects, distinguished by a tag inside them. A named one is shared by all who use it.

    Example: `d.OneOf("kind", stop=d.Object(), wait=d.Object(d.Attribute("seconds", d.Int, "How long.")))`
    """

    tag: Final[str]
    name: Final[str | None]
    branches: Final[dict[str, Type | Object | str]]

    def __init__(self, tag: str, name: str | None = None, /, **branches: Type | Object | str) -> None:
        super().__init__()
        self.tag = tag
        self.name = name
        self.branches = branches


SchemaSource: TypeAlias = str | PurePath | Mapping[str, Anything] | bool


class JSONSchema(Unconstrained[Anything]):
    """A schema of others: a path from the folder of the design's file, or a dict; a named one is shared.

    Example: `d.Args(d.JSONSchema({"type": "object", "properties": {"query": {"type": "string"}}}))`
    """

    schema: Final[SchemaSource]
    name: Final[str | None]

    def __init__(self, schema: SchemaSource, *, name: str | None = None) -> None:
        super().__init__()
        self.schema = schema
        self.name = name
