"""Suspended calls of a runtime: listed, shown, answered and canceled."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial
from typing import final

from toolgen.calls.call import CallMeta
from toolgen.calls.errors import DeclaredError
from toolgen.calls.results import Suspended, ToolResult
from toolgen.calls.steps.frame import RuntimeServices
from toolgen.calls.steps.hook_tools import HookTools
from toolgen.calls.toolsets.snapshot import Snapshot
from toolgen.contract.credentials import Credential
from toolgen.contract.json_value import Json
from toolgen.engines import RunWait

from .answer_checks import AnswerChecks
from .answers import (
    answer_key,
    cancel_answer,
    cancel_reason,
    failure_answer,
    without_nulls,
)
from .asking import answer_question, suspended_at, suspended_calls
from .awaiting_results import answered_result, expected_results
from .call_results import CallReader
from .callers import Detached, may_execute, result_for_caller
from .checking import CheckedCall, adopt_calls, checked_calls
from .credentials import keeper_for
from .errors import (
    ConflictingAnswerError,
    NoEngineError,
    SuspensionError,
    TamperedSuspensionError,
)
from .frozen import SealedCall, TokenClaims
from .grant_uses import open_grants, revoke_grant
from .grants import Grant, refuse_grant_of_peer
from .named_calls import NamedCalls
from .reporting import IntermediateSender, report_progress
from .resuming import WaitingTools
from .sending import require_session, send_answer
from .subjects import top_run
from .wait_registry import OpenedToken, WaitRegistry


@final
class Suspensions:
    """Suspended calls."""

    def __init__(
        self,
        registry: WaitRegistry | None,
        services: RuntimeServices,
        tools: WaitingTools,
        hook_tools: HookTools,
        within: Snapshot | None = None,
    ) -> None:
        self._registry = registry
        self._services = services
        self._tools = tools
        self._hook_tools = hook_tools
        self._snapshot = within

    def within(self, snapshot: Snapshot | None) -> Suspensions:
        """Return the same object, whose answers find the tools of a snapshot, including those of dynamic
        toolsets."""
        return Suspensions(self._registry, self._services, self._tools, self._hook_tools, snapshot)

    async def answer(
        self,
        token: str,
        answer: Json | DeclaredError,
        *,
        session_id: str | None = None,
        by: str = "",
        wait_s: float | None = 30.0,
    ) -> ToolResult:
        """Answer a suspended call, and return its result or its next question.

        If the same answer is given again, nothing is executed. Then, and if another process executes the
        call, the result is read from the log of its run: it has no typed value and no artifacts, and
        sensitive values are replaced by `{"sensitive": true}`. If the answer cannot be used, for example
        because the tool has changed, the result is `suspended` again, with a new token and the reason.

        Args:
            token: Token of the question: `Suspended.token`.
            answer: JSON value that fits `Suspended.answer_schema`. If pending work failed, `{"error": "why"}`
                or a `DeclaredError`, whose cause and retry hint are not stored.
            session_id: Session that must own the call; by default it is not checked.
            by: Name of the person who answers, for the log and the rule of `WaitOptions`.
            wait_s: Maximum seconds to wait for the result; then the status is `running`. None waits forever.

        Raises:
            SuspensionError: The token or the answer is invalid; the subclass has the reason. Nothing has run.
            UnsettledAnswerError: It is unknown whether the answer was stored. Give the same answer again.
            RegistrationError: As in `Runtime.call`.
        """
        if not self._hook_tools.is_settled:
            self._hook_tools.require_all_known()
        answer = failure_answer(answer) if isinstance(answer, DeclaredError) else answer
        waits = self._require()
        claims = waits.sealer.open(token)
        await waits.start(top_run(claims.run_id))
        opened = await waits.open(claims, session_id)
        if opened.record is None:
            async with expected_results(waits, opened) as expected:
                if (reason := cancel_reason(answer)) is not None:  # the run itself is suspended
                    await waits.engine.cancel(opened.run_id, reason=reason)
                else:
                    facts = (opened.run_id, opened.question, answer, by, claims.session_id)
                    await answer_question(waits, self._services.limits, *facts)
                return await answered_result(self._reader(waits), opened, expected, wait_s, is_answered=False)
        return await self._answer_call(waits, claims, opened, opened.record, answer, by, wait_s)

    async def answer_as_caller(
        self,
        token: str,
        answer: Json,
        *,
        session_id: str | None = None,
        by: str = "",
        is_detached: Detached = False,
        wait_s: float | None = None,
    ) -> ToolResult:
        """Answer a suspended call on behalf of its caller, for adapters, and wait for the result.

        The answer cannot grant further calls unless `WaitOptions(peers_may_grant=True)`, because it may come
        from a model. If the last caller that waits is cancelled, the call is cancelled too, unless
        `is_detached`.

        Raises:
            SuspensionError, UnsettledAnswerError, RegistrationError: As in `answer`.
        """
        waits = self._require()
        claims = waits.sealer.open(token)
        await waits.start(top_run(claims.run_id))
        opened = await waits.open(claims, session_id)
        refuse_grant_of_peer(waits.options, opened.frozen, answer)
        if wait_s is not None:
            return await self.answer(token, answer, session_id=session_id, by=by, wait_s=wait_s)
        give = partial(self.answer, token, answer, session_id=session_id, by=by)
        if not may_execute(opened, answer):
            return await give(wait_s=None)
        return await result_for_caller(self._reader(waits), opened, partial(give, wait_s=0), is_detached)

    async def give(
        self,
        token: str,
        credential: Credential,
        *,
        scope: str | None = None,
        session_id: str | None = None,
        by: str = "",
        wait_s: float | None = 30.0,
    ) -> ToolResult:
        """Store the credential that a call waits for, and return the result of the call.

        The capability `credentials` stores it. Journals record only that it was given.

        Args:
            token: Token of the request.
            credential: The credential.
            scope: Owner: `session`, `user` or `service`; by default the user of the call, if there is one.
            session_id, by, wait_s: As in `answer`.

        Raises:
            SuspensionError: As in `answer`; nothing was stored unless the call ended meanwhile.
            ToolgenError: The runtime stores no credentials, or none of this scope.
        """
        waits = self._require()
        opened = await waits.open(waits.sealer.open(token), session_id)
        answer: Json = {"available": True}
        if opened.record is not None and opened.status.answer is None:
            keeper = keeper_for(self._services.capabilities, opened.record.call)
            await self._checks(waits).check(opened.status, opened.record, answer, by)
            await require_session(waits, opened.record.claims.session_id, opened.run_id, opened.op)
            await keeper(credential, scope)
        return await self.answer(token, answer, session_id=session_id, by=by, wait_s=wait_s)

    async def cancel(
        self,
        token: str,
        reason: str = "",
        *,
        session_id: str | None = None,
        by: str = "",
        wait_s: float | None = 30.0,
    ) -> ToolResult:
        """Cancel a suspended call, and return its result, with the status `denied` and the code `canceled`.

        Pending work has begun, so its call becomes `unknown`. A call whose tool has changed can be cancelled
        too.

        Args:
            token: Token of the question.
            reason: Text for the model.
            session_id: As in `answer`.
            by: As in `answer`.
            wait_s: As in `answer`.

        Raises:
            SuspensionError: As in `answer`; for example, the call was answered or has expired.
        """
        return await self.answer(token, cancel_answer(reason), session_id=session_id, by=by, wait_s=wait_s)

    async def result(
        self, token: str, *, session_id: str | None = None, wait_s: float | None = 30.0
    ) -> ToolResult:
        """Wait for the result of a suspended call that somebody else answers.

        Args:
            token: Token of the question.
            session_id: Session that must own the call; by default it is not checked.
            wait_s: Maximum seconds to wait; then the status is `running`. None waits forever.

        Raises:
            SuspensionError: No call has the token, it belongs to another session, or it has expired.
        """
        waits = self._require()
        opened = await waits.open(waits.sealer.open(token), session_id)
        async with expected_results(waits, opened) as expected:
            is_known = opened.record is not None and opened.status.answer is not None
            return await answered_result(self._reader(waits), opened, expected, wait_s, is_answered=is_known)

    async def progress(
        self, token: str, fraction: float | None = None, message: str = "", value: object = None
    ) -> None:
        """Report the progress of pending work, as `ToolContext.progress`, to the subscribers of this runtime.

        Raises:
            SuspensionError: Nothing is pending under the token, or the tool is missing (`MissingToolError`).
            MalformedResultError: The fraction, the message or the value does not fit.
        """
        waits = self._require()
        opened = await waits.open(waits.sealer.open(token), None)
        await report_progress(self._services, self._tools, opened, fraction, message, value)

    async def intermediate(
        self, token: str, value: object, *, key: str, session_id: str | None = None, by: str = ""
    ) -> None:
        """Send an intermediate result of pending work, which is stored and opens a turn for the model.

        The value has the type of `LongRunning(progress=…)`, or any if none is declared. `key` names the
        result within the call: the same key and value again have no effect. The token remains valid.

        Raises:
            SuspensionError, UnsettledAnswerError: As in `answer`; also if the work has ended, another value
                has the key, the tool is missing, or the model has no acknowledgement.
        """
        waits = self._require()
        claims = waits.sealer.open(token)
        await waits.start(top_run(claims.run_id))
        await IntermediateSender(waits, self._services, self._tools).send(claims, session_id, value, key, by)

    async def show(self, token: str, *, session_id: str | None = None) -> Suspended:
        """Return the suspended call of a token, answered or not, to show it to a person.

        Args:
            token: Token of the question.
            session_id: Session that must own the call; by default it is not checked.

        Raises:
            SuspensionError: No call has the token, or it belongs to another session.
        """
        waits = self._require()
        opened = await waits.open(waits.sealer.open(token), session_id)
        suspended = await suspended_at(waits, opened.run_id, opened.op, opened.status.about)
        assert suspended is not None, "what is opened by a token has one"
        return suspended

    async def list(self, session_id: str | None = None) -> tuple[Suspended, ...]:
        """Return the suspended calls, of all sessions or of one, oldest first, with their tokens.

        Raises:
            NoEngineError: The runtime has no engine.
        """
        return await suspended_calls(self._require(), session_id)

    async def grants(self, session_id: str | None = None) -> tuple[Grant, ...]:
        """Return the grants of all sessions or of one that are neither expired nor revoked, newest first."""
        return await open_grants(self._require(), session_id)

    async def revoke(self, grant_id: str, *, session_id: str | None = None, by: str = "") -> None:
        """Revoke a grant, so that it approves no further calls.

        Raises:
            UnknownGrantError: No grant has the ID, or it belongs to another session.
        """
        await revoke_grant(self._require(), grant_id, by, session_id)

    async def at(self, wait: RunWait) -> Suspended | None:
        """Return the suspended call of an open wait of a run; None for a question that has no token.

        Raises:
            SuspensionError: The stored call was changed or has no valid seal.
            NoEngineError: The runtime has no engine.
        """
        if wait.fault:
            raise TamperedSuspensionError(wait.run_id)
        return await suspended_at(self._require(), wait.run_id, wait.op, wait.about)

    def named_calls(self, tool: str) -> NamedCalls | None:
        """Return the named calls of a tool (`Runtime.call_once`); None if they are not stored."""
        directory = self._tools.directory if self._snapshot is None else self._snapshot.directory
        registered, suspender = directory.by_name.get(tool), self._services.suspender
        if registered is None or self._registry is None or not suspender or suspender.obstacle(registered):
            return None
        return NamedCalls(self._services.limits, self._registry, registered)

    async def check(self, open_waits: Iterable[RunWait] | None = None) -> tuple[CheckedCall, ...]:
        """Return the suspended calls of all runs, or of some open waits, with the state of their seals, for
        operators.

        A call that is not `sealed` may be forged, and clients do not see it.

        Raises:
            NoEngineError: The runtime has no engine.
        """
        return await checked_calls(self._require(), open_waits)

    async def adopt(
        self, run_id: str, *, by: str, seen: Collection[CheckedCall] | None = None
    ) -> tuple[CheckedCall, ...]:
        """Seal the unsealed suspended calls of a run, so that they can be answered, and return them.

        The operator who adopts a call must have checked all of it (`check`). Earlier answers without a seal
        are requested again.

        Args:
            run_id: ID of the run.
            by: Name of the operator.
            seen: Calls as the operator has seen them. If one of them differs, none is adopted.

        Raises:
            UnknownRunError: No run has the ID.
            SuspensionError: A call was changed, differs from `seen`, or is no longer suspended.
        """
        return await adopt_calls(self._require(), run_id, by, seen)

    def arguments_mac(self, tool: str, payload_json: bytes, meta: CallMeta) -> str:
        """Return the `Suspended.arguments_mac` that a call with these arguments would have.

        It is specific to the session and the call ID, and compares sensitive values without showing them.

        Raises:
            NoEngineError: The runtime has no engine.
        """
        return self._require().arguments_mac(tool, payload_json, meta)

    async def _answer_call(
        self,
        waits: WaitRegistry,
        claims: TokenClaims,
        opened: OpenedToken,
        record: SealedCall,
        answer: Json,
        by: str,
        wait_s: float | None,
    ) -> ToolResult:
        """Send the answer to the run of a call and return the result; `claims` are the claims of its token.

        Raises:
            SuspensionError: the answer is not accepted; the class says why.
        """
        answer = without_nulls(record.call, answer)
        key = answer_key(answer)
        if opened.status.answer is None:
            await self._checks(waits).check(opened.status, record, answer, by)
        try:
            async with expected_results(waits, opened) as expected:
                sealed = waits.sealer.seal(record.claims, answer, by)
                # Canceling a call runs nothing, and is possible even after the end of its session.
                session = record.claims.session_id if cancel_reason(answer) is None else ""
                receipt = await send_answer(
                    waits, record.run_id, record.op, sealed, key=key, session_id=session
                )
                if receipt == "conflict":
                    again = await waits.open(claims, None)  # the wait at `record.op` might not have begun
                    if again.record is None or again.op == record.op:
                        raise ConflictingAnswerError
                    return await self._answer_call(waits, claims, again, again.record, answer, by, wait_s)
                return await answered_result(self._reader(waits), opened, expected, wait_s, is_answered=True)
        except SuspensionError:  # the call stays suspended, or continues with another answer
            self._tools.unset_tool(record.call)
            raise

    def _require(self) -> WaitRegistry:
        if self._registry is None:
            raise NoEngineError
        return self._registry

    def _reader(self, waits: WaitRegistry) -> CallReader:
        return CallReader(waits=waits, tools=self._tools, services=self._services)

    def _checks(self, waits: WaitRegistry) -> AnswerChecks:
        return AnswerChecks(waits, self._tools, self._services.limits, self._snapshot)
