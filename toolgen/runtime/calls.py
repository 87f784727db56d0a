"""A tool call: who asks, for what, in which words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from toolgen.contract.bounds import Bounds
from toolgen.contract.record import record
from toolgen.shapes.design.model import ToolModel

if TYPE_CHECKING:
    from .specs import ToolSpec

P = TypeVar("P", bound=ToolModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMeta:
    """Facts about a call that the server knows and the model never sets; "" means not known.

    Injected fields of these names are filled from here (Goa-AI's `ToolCallMeta`).
    """

    run_id: str = ""
    session_id: str = ""
    turn_id: str = ""
    tool_call_id: str = ""
    parent_tool_call_id: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


NO_META = CallMeta()


@record
class SeenBounds:
    """The bounds of a result that the turn has seen already."""

    tool: str
    """Id."""
    bounds: Bounds


@record
class ToolCall:
    """One call of a tool, by id or by wire name."""

    tool: str
    payload_json: bytes
    """The arguments as they came; never with injected values."""
    meta: CallMeta = NO_META
    payload: Any = field(default=None, repr=False)
    """The decoded arguments; None before they are decoded."""
    seen_bounds: tuple[SeenBounds, ...] = ()
    """For policies: the bounds of the results that the turn has seen in this process, oldest first."""


class CallBuilder(Generic[P]):
    """Builds calls of one tool from its typed payload, for planners and tests."""

    __slots__ = ("_spec",)

    def __init__(self, spec: ToolSpec[P, Any]) -> None:
        self._spec = spec

    def __call__(self, payload: P, meta: CallMeta = NO_META) -> ToolCall:
        """Return the call that a model would make with these arguments."""
        return ToolCall(tool=self._spec.id, payload_json=self._spec.payload.encode(payload), meta=meta)
