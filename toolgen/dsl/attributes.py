"""The attributes of objects, which of them are required, and example values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from toolgen.shapes.fields import MISSING, Missing

from .clause import Clause, Names
from .datatypes import Bound, Choice, DataType, Flag, Held, Length, Text, Value, written


class Attribute(Clause):
    """One field of an object; constraints are shorthand for those of its own type.

    Example: `d.Attribute("limit", d.Int, "Maximum number of devices.", maximum=500, default=50)`
    """

    name: Final[str]
    type: Final[DataType[object, object, object, object, object, object] | str]
    description: Final[str | None]
    """None says that there is none, where a name says it all."""
    constraints: Final[dict[str, object]]
    required: Final[bool]
    default: Final[object]
    title: Final[str | None]
    examples: Final[tuple[object, ...]]
    deprecated: Final[bool]
    sensitive: Final[bool]
    """Its values stand in no event, log, span or text for people."""

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
    """The same as `required=True` on each attribute beside it.

    Example: `d.Required("id", "name")`
    """


@dataclass(frozen=True, eq=False, repr=False)
class Example(Clause):
    """Arguments, and the result they give; of a Type, its attributes.

    Example: `d.Example({"site_id": "s1"}, result={"names": []})`
    """

    args: Mapping[str, object]
    result: object = None
    """JSON; None for no result."""
