"""The part of a runtime by which hosts answer, cancel and show the calls that wait."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolgen.contract.json_value import Json

from ..call.frame import RuntimeServices
from ..call.hook_tools import HookTools
from ..call_meta import CallMeta
from ..engine import RunWait
from ..errors import DeclaredError
from ..results import Suspended, ToolResult
from ..toolsets.snapshot import Snapshot
from .answers import cancel_answer
from .asking import open_token, require_waits, suspended_at, suspended_calls
from .checking import CheckedCall, adopt_calls, checked_calls
from .suspension_service import SuspensionService


class WaitingCalls:
    """The methods of `Runtime` for calls that wait; answers go to `SuspensionService`."""

    _hook_tools: HookTools
    _services: RuntimeServices
    _suspensions: SuspensionService

    async def deliver(
        self,
        token: str,
        answer: Json | DeclaredError,
        *,
        session_id: str | None = None,
        by: str = "",
        wait_s: float | None = 30.0,
        within: Snapshot | None = None,
    ) -> ToolResult:
        """Answer a suspended call and return its result; the same answer again runs nothing.

        The process that executes the call returns its result for the first answer. For the same answer again,
        and in other processes, it is what the log of the run says: status, document, display and error of the
        same result, without the typed value and artifacts, `{"sensitive": true}` for each sensitive value.

        Where nobody has executed the call after `wait_s` seconds, the status is `pending`: the answer is
        kept, and the same answer asks again.

        Args:
            token: Of what waits.
            answer: As its `answer_schema` says. Of pending work that failed, `{"error": "why"}` or the
                `DeclaredError` that an executor would raise; its cause and its retry hint are not kept.
            session_id: Whose answer it is; without one it is not compared.
            by: Who answers, for the log and the rule of `WaitOptions`.
            wait_s: Seconds to wait for the result; None for as long as it takes.
            within: A snapshot that has the tool, for one of a dynamic toolset.

        Raises:
            SuspensionError: the token or the answer is not good; its class says why, and nothing ran.
            RegistrationError: as `call`.
        """
        if not self._hook_tools.is_settled:
            self._hook_tools.require_all_known()
        return await self._suspensions.deliver(
            token, answer, session_id=session_id, by=by, wait_s=wait_s, within=within
        )

    async def cancel(
        self,
        token: str,
        reason: str = "",
        *,
        session_id: str | None = None,
        by: str = "",
        wait_s: float | None = 30.0,
    ) -> ToolResult:
        """Cancel a suspended call and return its result: denied, with the reason.

        The model sees the reason and the code `canceled`. Taking it back again gives the same, for whatever
        reason; a tool that has another contract now may still be taken back. `wait_s` is as in `deliver`.

        Raises:
            SuspensionError: as `deliver`; it was answered, or its time is over, or nothing waits.
        """
        return await self.deliver(token, cancel_answer(reason), session_id=session_id, by=by, wait_s=wait_s)

    async def result(
        self, token: str, *, session_id: str | None = None, wait_s: float | None = 30.0
    ) -> ToolResult:
        """Return the result of a suspended call once somebody else has answered it.

        Where it has none after `wait_s` seconds, the status is `pending`; None waits for as long as it takes.

        Raises:
            SuspensionError: nothing waits under the token, it belongs to another session, or nobody
                answered in time.
        """
        return await self._suspensions.result(token, session_id, wait_s)

    async def progress(
        self, token: str, fraction: float | None = None, message: str = "", value: Any = None
    ) -> None:
        """Report the progress of pending work, from 0 to 1; the value fits `LongRunning(progress=)`.

        The subscribers of this runtime hear of it, and no other process does.

        Raises:
            SuspensionError: nothing is pending under the token, or the tool is not here (`MissingToolError`).
            MalformedResultError: the fraction, the message or the value does not fit.
        """
        await self._suspensions.progress(token, fraction, message, value)

    async def suspension(self, token: str, *, session_id: str | None = None) -> Suspended:
        """Return the suspended call of a token, answered or not, to show a person all of it.

        Raises:
            SuspensionError: nothing waits under the token, or it belongs to another session.
        """
        waits = require_waits(self._services)
        opened = await open_token(waits, token, session_id)
        asked = await suspended_at(waits, opened.run_id, opened.op, opened.status.about)
        assert asked is not None, "what is opened by a token has one"
        return asked

    async def suspended(self, session_id: str | None = None) -> tuple[Suspended, ...]:
        """Return the suspended calls, oldest first; of one session where it is given.

        Raises:
            NoEngineError: no call of this runtime can wait.
        """
        return await suspended_calls(require_waits(self._services), session_id)

    async def checked(self, open_waits: Iterable[RunWait] | None = None) -> tuple[CheckedCall, ...]:
        """Return the suspended calls of all runs, or of some open waits, with what their seals say.

        It is for operators: one that is not `sealed` may be forged, and no client gets to see it.

        Raises:
            NoEngineError: no call of this runtime can wait.
        """
        return await checked_calls(require_waits(self._services), open_waits)

    async def adopt(self, run_id: str, *, by: str) -> tuple[CheckedCall, ...]:
        """Seal the suspended calls of a run that no secret of this host has sealed, and return them.

        Whoever adopts a call has seen the whole of it (`checked`), and vouches for it: it can be answered
        then. Earlier answers to it that have no seal of their own are asked for again.

        Raises:
            UnknownRunError: no run has the id.
            SuspensionError: a call of it was changed, or does not wait any more.
        """
        return await adopt_calls(require_waits(self._services), run_id, by)

    def arguments_mac(self, tool: str, payload_json: bytes, meta: CallMeta) -> str:
        """Return the `Suspended.arguments_mac` that a call of a tool with these encoded arguments would have.

        It is keyed by the secret of tokens, and counts for the session and the id of the call alone, so that
        sensitive values are compared without being shown.

        Raises:
            NoEngineError: no call of this runtime can wait.
        """
        return require_waits(self._services).arguments_mac(tool, payload_json, meta)
