"""Calls that an earlier process froze: what its journal says, in the engine of a runtime of now."""

from __future__ import annotations

from typing import Any

from tests.runtime.tools import META
from tests.virtual_time import now
from toolgen.calls.call import FrozenCall
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime, Suspended, ToolSpec
from toolgen.waiting.frozen import FIRST
from toolgen.waiting.loop import LOOP, VERSION
from toolgen.waiting.suspending import approval_schema

RUN = f"call_{0:032x}"
"""As the runtime names the run of a call that waits."""


async def started(made: Runtime) -> None:
    """Start the engine of a runtime."""
    assert made._waits is not None
    await made._waits.start()


def frozen_with(spec: ToolSpec[Any, Any], **facts: Any) -> FrozenCall:
    """Return a call as it was frozen when the tool had this spec; it waits for an approval by default."""
    created = facts["created_at"] if "created_at" in facts else now()
    given: dict[str, Any] = {
        "id": "f1",
        "kind": "confirmation",
        "tool": spec.id,
        "spec_digest": spec.approval_digest,
        "payload_json": b'{"site_id":"s1","limit":20}',
        "meta": META,
        "question": "Sure?",
        "preview": "",
        "answer_schema": approval_schema(spec),
        "created_at": created,
        "expires_at": created + 3600,
    }
    return FrozenCall(**{**given, **facts})


async def earlier(
    made: Runtime, engine: InProcessEngine, spec: ToolSpec[Any, Any], **facts: Any
) -> Suspended:
    """Let such a call wait, and return it as it is listed now."""
    await started(made)
    assert made._waits is not None
    record = made._waits.seal(RUN, FIRST, frozen_with(spec, **facts))
    await engine.start_run(LOOP, {"frozen": record.document, "version": VERSION}, run_id=RUN, session="s")
    await engine.settled(RUN)
    (listed,) = await made.suspensions.list("s")
    return listed
