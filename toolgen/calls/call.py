"""A tool call: its tool, arguments and meta."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from toolgen.contract.record import record
from toolgen.shapes.design.model import ToolModel

from .call_meta import NO_META as NO_META
from .call_meta import CallMeta as CallMeta

if TYPE_CHECKING:
    from toolgen.contract.bounds import Bounds

    from .specs import ToolSpec

P = TypeVar("P", bound=ToolModel)


@record
class SeenBounds:
    """The bounds of an earlier result of the same turn."""

    tool: str
    """Id."""
    bounds: Bounds


@record
class ToolCall:
    """One call of a tool, by id or by wire name."""

    tool: str
    payload_json: bytes = field(repr=False)
    """The arguments as they came; never with injected values."""
    meta: CallMeta = NO_META
    payload: Any = field(default=None, repr=False)
    """The decoded arguments; None before they are decoded."""
    seen_bounds: tuple[SeenBounds, ...] = ()
    """For policies: the bounds of the results that the turn has seen in this process, oldest first."""


class CallBuilder(Generic[P]):
    """Builds calls of one tool from its typed payload, for `Runtime.call_all`."""

    __slots__ = ("_spec",)

    def __init__(self, spec: ToolSpec[P, Any]) -> None:
        self._spec = spec

    def __call__(self, payload: P, meta: CallMeta = NO_META) -> ToolCall:
        """Return the call that a model would make with these arguments."""
        return ToolCall(tool=self._spec.id, payload_json=self._spec.payload.encode(payload), meta=meta)
