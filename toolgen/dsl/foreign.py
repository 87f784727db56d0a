"""Types that somebody else wrote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any as Anything
from typing import Final, TypeAlias

from .datatypes import Unconstrained

SchemaSource: TypeAlias = str | PurePath | Mapping[str, Anything] | bool


class JSONSchema(Unconstrained[Anything]):
    """A schema that somebody else wrote: a path, from the folder of the design's file, or a dict.

    Example: `Args(JSONSchema({"type": "object", "properties": {"query": {"type": "string"}}}))`
    """

    schema: Final[SchemaSource]

    def __init__(self, schema: SchemaSource) -> None:
        super().__init__()
        self.schema = schema
