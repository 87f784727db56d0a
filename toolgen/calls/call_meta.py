"""The facts of a call that the server knows and the model never sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
