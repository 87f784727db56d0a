"""Types composed of other types, and of JSON Schemas. A type in quotes is looked up by its name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any as Anything
from typing import Final, TypeAlias, TypeVar, overload

from .attributes import Attribute, Example, Required
from .datatypes import DataType, Held, Holds, NotOnThisType, StringClause, Unconstrained, Value, written

EnumValue = TypeVar("EnumValue", str, int)


class Type(Unconstrained[dict[str, Anything]]):
    """Named object that several places share.

    Generates a class in `gen/types.py`, and an entry of `$defs` in each schema that uses it. To refer to the
    type itself, or to one that is defined later, write its name in quotes.

    Args:
        name: Any Python identifier, at most 64 characters; usually `LikeThis`.
        description: One sentence; `None` if the name says everything.
        *children: Attributes, and examples of the whole object.
        open: Accept keys that no attribute names, with any JSON value.
        title: Name for people. By default, toolgen creates it from the name.

    Example: `d.Type("Device", "A device on a site.", d.Attribute("id", d.String, "ID.", required=True))`
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
    """Named enumeration of strings or of integers.

    Generates a `Literal` in `gen/types.py`, and `enum` in the schemas.

    Args:
        name: Any Python identifier, at most 64 characters; usually `LikeThis`.
        description: One sentence; `None` if the name says everything.
        *values: Allowed values, all strings or all integers. If a value does not explain itself, wrap it in
            `Value`.

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
    """Object without a name of its own.

    Generates a class that is named after its place: the attribute `period` of `ReadPayload` has the class
    `ReadPayloadPeriod`.

    Args:
        *children: Attributes of the object.
        open: Accept keys that no attribute names, with any JSON value.

    Example: `d.Object(d.Attribute("start", d.Date, "First day."), d.Attribute("end", d.Date, "Last day."))`
    """

    children: Final[tuple[Attribute | Required, ...]]
    open: Final[bool]

    def __init__(self, *children: Attribute | Required, open: bool = False) -> None:
        super().__init__()
        self.children = children
        self.open = open


class ArrayOf(DataType[list[Held], NotOnThisType, NotOnThisType, int, NotOnThisType, bool]):
    """List of values of one type.

    In Python a `list`, in JSON an array.

    Args:
        items: Type of the items; a string is the name of a type.
        min_length: Minimum number of items.
        max_length: Maximum number of items.
        unique_items: Whether the items must differ.

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
    """Object with arbitrary keys and values of one type.

    In Python a `dict`, in JSON an object.

    Args:
        keys: `String`, with constraints if you need them.
        values: Type of the values; a string is the name of a type.
        min_length: Minimum number of keys.
        max_length: Maximum number of keys.

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
    """Type whose value can also be null.

    In Python the type or `None`. An optional `Nullable` attribute is absent if its name is not in
    `model_fields_set`; `dict(value)` omits absent attributes.

    Args:
        inner: Type of the values that are not null; a string is the name of a type.

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
    """One of several objects, distinguished by a tag.

    Generates a union of classes, one for each branch. Without a name, the classes are named after the place:
    `PlanStepStop` and `PlanStepWait` for the attribute `step` of the type `Plan`. With the name `Step`, they
    are the shared types `StepStop` and `StepWait`, and other places can refer to `"Step"`.

    Args:
        tag: JSON key of the tag, which toolgen adds to each branch: `{"kind": "wait", "seconds": 3}`.
        name: Name that makes the union a shared type.
        **branches: Object of each value of the tag; a string is the name of a type.

    Example: `d.OneOf("kind", stop=d.Object(), wait=d.Object(d.Attribute("seconds", d.Int, "Delay.")))`
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
    """Type that an existing JSON Schema describes.

    Generates classes from the schema. The catalog contains the schema unchanged, and the codec enforces all
    of it. `Inject`, `BindTo` and `BoundedResult` cannot use its fields. See docs/import.md for the supported
    keywords.

    Args:
        schema: A dict, or a path relative to the folder of the design's file.
        name: Name that makes it a shared type.

    Example: `d.Args(d.JSONSchema({"type": "object", "properties": {"query": {"type": "string"}}}))`
    """

    schema: Final[SchemaSource]
    name: Final[str | None]

    def __init__(self, schema: SchemaSource, *, name: str | None = None) -> None:
        super().__init__()
        self.schema = schema
        self.name = name
