"""Example values, of a tool or of a type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .clause import Clause


@dataclass(frozen=True, eq=False, repr=False)
class Example(Clause):
    """Arguments, and the result they give; of a Type, its attributes.

    Example: `Example({"site_id": "s1"}, result={"names": []})`
    """

    args: Mapping[str, object]
    result: object = None
    """JSON; None for no result."""
