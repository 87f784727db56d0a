"""A tool call: its tool, its arguments, and the facts that the server knows of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from toolgen.contract.record import record

if TYPE_CHECKING:
    from toolgen.contract.bounds import Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMeta:
    """Facts about a call that the server knows and the model never sets; "" means not known.

    Injected fields of these names are filled from here (Goa-AI's `ToolCallMeta`).
    """

    agent: str = ""
    """Id of the agent whose run makes the call; "" for a call that no run of an agent makes."""
    run_id: str = ""
    session_id: str = ""
    turn_id: str = ""
    tool_call_id: str = ""
    parent_tool_call_id: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    requested_by: str = ""
    """The person for whom the call is made."""


NO_META = CallMeta()


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
    """The bounds of the results that the turn has seen in this process, oldest first; for policies."""
