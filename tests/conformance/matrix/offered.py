"""What a framework is offered in the matrix, and what the text of a failed call says."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

from tests.matrix.doors.door import Seen
from tests.matrix.world import FACTS
from toolgen.runtime import ReadonlyContext, Runtime, Snapshot

TURN: Final = replace(FACTS, turn_id="t")
"""Of calls for which a framework knows no place in the conversation."""


async def snapshot_of(runtime: Runtime) -> Snapshot:
    """Return the tools of a runtime for one request."""
    return await runtime.tools.snapshot(ReadonlyContext(meta=FACTS))


def failed(text: str) -> Seen:
    """Return what a framework shows of a call that failed, or of which nobody knows whether it ran."""
    return Seen(status="unknown" if "unknown" in json.loads(text) else "error", text=text)
