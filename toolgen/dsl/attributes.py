"""The attributes of objects, which of them are required, and example values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from toolgen.shapes.fields import MISSING, Missing

from .clause import Clause, Names
from .datatypes import Bound, Choice, DataType, Flag, Held, Length, Text, Value, written


class Attribute(Clause):
    """Field of an object.

    Args:
        name: JSON key of the field, without spaces.
        type: Type of the value; a string is the name of a `Type`, `Enum` or `OneOf`.
        description: One sentence for models and people; `None` if the name says everything.
        required: Whether the field is always present.
        default: Value that stands for an absent field. Exclusive with `required`.
        enum: Allowed values of a `String` or `Int`; a tuple can contain `Value`.
        minimum: Smallest allowed value.
        maximum: Largest allowed value.
        exclusive_minimum: Bound that a value must exceed.
        exclusive_maximum: Bound that a value must stay below.
        multiple_of: Step between values, above 0.
        min_length: Minimum number of characters, items or keys.
        max_length: Maximum number of characters, items or keys.
        unique_items: Whether the items of an array must differ.
        pattern: Regular expression that matches anywhere in the string; anchor it with `^` and `$`.
        format: `email`, `hostname`, `ipv4` or `ipv6`.
        title: Name for people.
        examples: Example values for models and people.
        deprecated: Whether the field should no longer be used.
        sensitive: Whether events, logs, spans and texts for people redact the value. See
            docs/security.md#sensitive-values.

    Example: `d.Attribute("limit", d.Int, "Maximum number of devices.", maximum=500, default=50)`
    """

    name: Final[str]
    type: Final[DataType[object, object, object, object, object, object] | str]
    description: Final[str | None]
    constraints: Final[dict[str, object]]
    required: Final[bool]
    default: Final[object]
    title: Final[str | None]
    examples: Final[tuple[object, ...]]
    deprecated: Final[bool]
    sensitive: Final[bool]

    def __init__(
        self,
        name: str,
        type: DataType[Held, Choice, Bound, Length, Text, Flag] | str,
        description: str | None,
        *,
        required: bool = False,
        default: Held | Missing = MISSING,
        enum: tuple[Choice | Value[Choice], ...] | list[Choice] | None = None,
        minimum: Bound | None = None,
        maximum: Bound | None = None,
        exclusive_minimum: Bound | None = None,
        exclusive_maximum: Bound | None = None,
        multiple_of: Bound | None = None,
        min_length: Length | None = None,
        max_length: Length | None = None,
        unique_items: Flag | None = None,
        pattern: Text | None = None,
        format: Text | None = None,
        title: str | None = None,
        examples: tuple[Held, ...] | list[Held] = (),
        deprecated: bool = False,
        sensitive: bool = False,
    ) -> None:
        super().__init__()
        self.name = name
        self.type = type  # type: ignore[assignment]  # invariant for authors, any type for the build
        self.description = description
        self.constraints = written(locals())
        self.required = required
        self.default = default
        self.title = title
        self.examples = examples  # type: ignore[assignment]  # a list is read as well
        self.deprecated = deprecated
        self.sensitive = sensitive


class Required(Names):
    """Require attributes by name.

    It has the same effect as `required=True` in each of them.

    Args:
        *names: Names of attributes of the same object.

    Example: `d.Required("id", "name")`
    """


@dataclass(frozen=True, eq=False, repr=False)
class Example(Clause):
    """Example of a call, or of a value of a `Type`.

    `toolgen gen` validates it. Models receive the example of a tool when their arguments are invalid. The
    example of a type is in `examples` of its schema.

    Args:
        args: Arguments of the tool, or attributes of the type.
        result: Result of the tool as JSON; `None` for no result.

    Example: `d.Example({"site_id": "s1"}, result={"names": []})`
    """

    args: Mapping[str, object]
    result: object = None
