"""`calls.py`: typed builders of calls, for planners and tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from toolgen.expr.tree import Toolset
from toolgen.shapes.naming import method_name

from .. import names
from ..text import docstring


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsView:
    template: ClassVar[str] = "calls.py.jinja"
    docstring: str
    calls: tuple[tuple[str, str], ...]
    """Builder and spec."""


def calls_view(toolset: Toolset) -> CallsView:
    return CallsView(
        docstring=docstring(f"Builders of calls of the tools of {toolset.service}.{toolset.name}."),
        calls=tuple((method_name(tool.name), names.spec(tool)) for tool in toolset.tools),
    )
