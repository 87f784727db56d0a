"""The events that the loop itself tells, each once however often it runs."""

from __future__ import annotations

from typing import Any

from toolgen.contract.fields import Json

from ..events import Event, RunPhase, as_json
from .documents import RunFacts
from .engine import RunContext


class RunEvents:
    """Tells the events of one run."""

    def __init__(self, ctx: RunContext, facts: RunFacts) -> None:
        self._ctx = ctx
        self._facts = facts

    async def phase(self, phase: Any, key: int | str) -> None:
        await self.publish(f"phase:{phase}:{key}", RunPhase(phase=phase))

    async def publish(self, key: str, event: Event, tool_call_id: str = "") -> None:
        document = {**as_json(event), **self.ids(tool_call_id), "time": self._ctx.now()}
        await self._ctx.publish(key, document)

    def ids(self, tool_call_id: str) -> dict[str, Json]:
        return {
            "run_id": self._ctx.run_id,
            "session_id": self._facts["session_id"],
            "turn_id": self._facts["turn_id"],
            "tool_call_id": tool_call_id,
        }
