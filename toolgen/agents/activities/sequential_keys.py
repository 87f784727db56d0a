"""What sequential calls of one batch have in common, for the loop, which lets them take turns."""

from __future__ import annotations

import hashlib

from toolgen.contract.names import SESSION
from toolgen.runtime.call.registered_tool import RegisteredTool
from toolgen.runtime.call_meta import NO_META
from toolgen.runtime.errors import ToolValidationError


def sequential_key(tool: RegisteredTool, arguments: str) -> str:
    """Return what a call has in common with those of its batch with which it takes turns; "" for all of them.

    All have one session. What an interceptor fills in is not known before the call, so that it counts as one
    for all. A value may be sensitive: the key has its digest.
    """
    by = tool.spec.sequential_by
    if by in ("", SESSION) or by in tool.spec.injected:
        return ""
    try:
        payload = tool.spec.payload.decode(arguments)
    except ToolValidationError:  # it does not run
        return ""
    return hashlib.sha256(repr(tool.lock_key(payload, NO_META)).encode()).hexdigest()
