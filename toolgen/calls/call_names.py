"""Names of calls that a peer may make again, and the ids of their runs, which follow from them."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Final

from toolgen.contract.record import record

from .errors import ToolError

if TYPE_CHECKING:
    from .call import CallMeta

CALL: Final = "call_"
"""What the id of the run of a direct call begins with."""


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

    is_detached: bool = False
    """It goes on where its caller is cancelled, since the peer asks for its result later."""

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
