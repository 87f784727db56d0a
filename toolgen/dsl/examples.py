"""Example values, of a tool or of a type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .clause import Clause


class Example(Clause):
    """Arguments, and the result they give; of a Type, its attributes.

    Example: `Example({"site_id": "s1"}, result={"names": []})`
    """

    args: Final[Mapping[str, object]]
    result: Final[object]
    """JSON; None for no result."""

    def __init__(self, args: Mapping[str, object], result: object = None) -> None:
        super().__init__()
        self.args = args
        self.result = result
