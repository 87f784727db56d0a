"""Tools that the model's provider runs itself; a request passes them on as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeTool:
    """A tool that the model's provider runs itself. Constructed by generated code."""

    id: str
    """`service.toolset.kind`."""
    provider: str
    kind: str
    """The provider's name of the tool."""
    config: Mapping[str, Json] = field(default_factory=dict)
    """Its settings, as the provider takes them."""
