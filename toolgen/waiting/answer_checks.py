"""Checks an answer to a suspended call before it is sent to the run of the call."""

from __future__ import annotations

from toolgen.calls.toolsets.snapshot import Snapshot
from toolgen.contract.json_value import Json
from toolgen.contract.limits import Limits
from toolgen.contract.record import frozen_record
from toolgen.engines import WaitStatus

from .answers import cancel_reason, validate_answer
from .errors import MissingToolError, NotAllowedAnswerError
from .frozen import SealedCall
from .grants import require_grant
from .resuming import WaitingTools
from .sending import late_answer
from .wait_registry import WaitRegistry


@frozen_record(kw_only=False)
class AnswerChecks:
    """Checks answers by the tools of one runtime, and of a snapshot if there is one."""

    waits: WaitRegistry
    tools: WaitingTools
    limits: Limits
    snapshot: Snapshot | None

    async def check(self, status: WaitStatus, record: SealedCall, answer: Json, by: str) -> None:
        """Check an answer to a call that is still suspended.

        Raises:
            SuspensionError: the answer cannot be accepted; the class says why.
        """
        waits, frozen = self.waits, record.call
        if not status.is_open or frozen.expires_at <= waits.options.clock():
            raise await late_answer(waits, record.run_id, "the time to answer has expired")
        within = None if "/" in record.run_id else self.snapshot  # a run below a call asks for its own agent
        tool = await self.tools.find(frozen.tool, frozen.meta, record.run_id, within)
        if tool is None and not self.tools.is_empty and cancel_reason(answer) is None:
            raise MissingToolError(
                f"{frozen.tool} is not registered in this process; the call is still suspended",
                hint="register its toolset, answer in a process that has it, or cancel the call",
            )
        spec = None if tool is None else tool.spec
        await require_grant(waits, spec, frozen, answer, by)
        validate_answer(spec, frozen, answer, self.limits)
        if cancel_reason(answer) is None and (why := await waits.refusal(record, answer, by)):
            raise NotAllowedAnswerError(
                f"this answer was rejected by the host's rule: {why}", hint="let somebody else answer"
            )
        if within is not None and tool is not None and waits.engine.is_worker:
            self.tools.set_tool(frozen, tool)
