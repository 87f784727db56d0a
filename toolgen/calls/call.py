"""A tool call: its tool, its arguments, the facts that the server knows of it, and its name for a peer.

A peer may make a call again under its name; the id of its run follows from that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from toolgen.contract.record import frozen_record, record

from .errors import ToolError

if TYPE_CHECKING:
    from toolgen.contract.bounds import Bounds
CALL: Final = "call_"
"""What the id of the run of a direct call begins with."""


@frozen_record
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


class CallNameError(ToolError):
    """Another call has the name: one of another tool, or with other arguments. Nothing was executed."""


@record
class CallName:
    """The name of a call by a peer that may make it again.

    It counts for one door, person (`CallMeta.requested_by`) and session.
    """

    door: str
    """What took the call from the peer, such as the adapter of a framework."""
    call_id: str
    """The id that the peer gave the call."""
    checkpoint: str = ""
    """The place in the conversation, the same whenever the peer makes the call again; "" where it knows none,
    and `CallMeta.turn_id` counts. At another place the same id names another call."""

    is_detached: bool | Callable[[], bool] = False
    """It goes on if its caller is cancelled, since the peer asks for its result later; a function says so
    when that happens."""
    is_idempotency_key: bool = False
    """Every call under it is kept, also one that may run twice, and other arguments are refused even while
    the first one waits for its approval; as peers mean it that send an `Idempotency-Key`."""

    def run_id(self, meta: CallMeta, edits: int = 0) -> str:
        """Return the id of the run of the call, after its arguments were edited so often."""
        turn = "" if self.checkpoint else meta.turn_id
        parts = [self.door, meta.requested_by, meta.session_id, self.checkpoint, turn, self.call_id, edits]
        return f"{CALL}{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]}"

    def idempotency_key(self, meta: CallMeta, tool: str, payload: bytes) -> str:
        """Return the key of a call that has no run, or none yet: the same whenever it is made again.

        Under a name that nothing is kept of, other arguments or another tool, of this id, are another call.
        """
        digest = hashlib.sha256(tool.encode() + b"\0" + payload).hexdigest()
        return f"{self.run_id(meta)}:{digest[:32]}"
