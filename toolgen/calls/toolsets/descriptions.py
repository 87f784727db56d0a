"""What a model reads of a tool."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..specs import ToolSpec


def model_description(spec: ToolSpec[Any, Any], among: Iterable[ToolSpec[Any, Any]]) -> str:
    """Return the description of a tool, and last that it is deprecated, where it is.

    A replacement is told by its wire name, and only if it is among the tools that the model may call.
    """
    if spec.deprecated is None:
        return spec.description
    id_ = spec.deprecated.replacement
    name = next((candidate.name for candidate in among if candidate.id == id_), "")
    return spec.deprecated.added_to(spec.description, name)
