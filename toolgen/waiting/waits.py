"""The calls of a runtime that wait: listed, shown, answered and cancelled."""

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
class Waits:
    """The calls of one runtime that wait, as `Runtime.waits`."""

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

    def within(self, snapshot: Snapshot | None) -> Waits:
        """Return the same waits, whose answers find the tools of a snapshot, the dynamic ones too."""
        return Waits(self._registry, self._services, self._tools, self._hook_tools, snapshot)

    async def answer(
        self,
        token: str,
        answer: Json | DeclaredError,
        *,
        session_id: str | None = None,
        by: str = "",
        wait_s: float | None = 30.0,
    ) -> ToolResult:
        """Answer a suspended call and return its result; the same answer again runs nothing.

        The process that executes the call returns its result for the first answer. For the same answer again,
        and in other processes, it is what the log of the run says: status, document, display and error of the
        same result, without the typed value and artifacts, `{"sensitive": true}` for each sensitive value.

        Where nobody has executed the call after `wait_s` seconds, the status is `running`: the answer is
        kept, and the same answer asks again. Where the host that was to execute it could not verify the call,
        it is `suspended` with its next token, or a `SuspensionError`, if this host cannot either.

        Args:
            token: Of what waits.
            answer: As its `answer_schema` says. Of pending work that failed, `{"error": "why"}` or the
                `DeclaredError` that an executor would raise; its cause and its retry hint are not kept.
            session_id: Whose answer it is; without one it is not compared.
            by: Who answers, for the log and the rule of `WaitOptions`.
            wait_s: Seconds to wait for the result; None for as long as it takes.

        Raises:
            SuspensionError: the token or the answer is not good; its class says why, and nothing ran.
            UnsettledAnswerError: nobody knows yet whether the answer counts; give the same answer again.
            RegistrationError: as `Runtime.call`.
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
                if (reason := cancel_reason(answer)) is not None:  # its run is what waits
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
        """Answer a suspended call as the one who made it and return its result, however long it takes.

        With `wait_s` it is as `answer`. The answer grants no further calls, unless the host says
        `WaitOptions(peers_may_grant=True)`: it may come from a model.

        If the last caller that waits for a call is cancelled, so is the call, unless it `is_detached`. It
        goes on if another process waits for it, and if all tasks are cancelled since their event loop ends.

        Raises:
            SuspensionError, UnsettledAnswerError, RegistrationError: as `answer`.
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
        """Keep the credential that a call waits for, answer the call, and return its result.

        The capability `credentials` keeps it; the answer, and so every journal, says only that it is there.

        Args:
            token: Of the call that waits.
            credential: What it needs.
            scope: Whose it is: `session`, `user` or `service`; by default of the call's user, if it has one.
            session_id, by, wait_s: As in `answer`.

        Raises:
            SuspensionError: as `answer`; nothing was kept, unless the call ended meanwhile.
            ToolgenError: the runtime keeps no credentials, or none for this scope.
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
        """Cancel a suspended call and return its result: denied, with the reason.

        The model sees the reason and the code `canceled`. Taking it back again gives the same, for whatever
        reason; a tool that has another contract now may still be taken back. `wait_s` is as in `answer`.

        Raises:
            SuspensionError: as `answer`; it was answered, or its time is over, or nothing waits.
        """
        return await self.answer(token, cancel_answer(reason), session_id=session_id, by=by, wait_s=wait_s)

    async def result(
        self, token: str, *, session_id: str | None = None, wait_s: float | None = 30.0
    ) -> ToolResult:
        """Return the result of a suspended call once somebody else has answered it.

        Where it has none after `wait_s` seconds, the status is `running`; None waits for as long as it takes.

        Raises:
            SuspensionError: nothing waits under the token, it belongs to another session, or nobody
                answered in time.
        """
        waits = self._require()
        opened = await waits.open(waits.sealer.open(token), session_id)
        async with expected_results(waits, opened) as expected:
            is_known = opened.record is not None and opened.status.answer is not None
            return await answered_result(self._reader(waits), opened, expected, wait_s, is_answered=is_known)

    async def progress(
        self, token: str, fraction: float | None = None, message: str = "", value: object = None
    ) -> None:
        """Report the progress of pending work, from 0 to 1; the value fits `LongRunning(progress=)`.

        The subscribers of this runtime hear of it, and no other process does.

        Raises:
            SuspensionError: nothing is pending under the token, or the tool is not here (`MissingToolError`).
            MalformedResultError: the fraction, the message or the value does not fit.
        """
        waits = self._require()
        opened = await waits.open(waits.sealer.open(token), None)
        await report_progress(self._services, self._tools, opened, fraction, message, value)

    async def intermediate(
        self, token: str, value: object, *, key: str, session_id: str | None = None, by: str = ""
    ) -> None:
        """Send an intermediate result of pending work, of the type of `LongRunning(progress=)`.

        Other than progress it is stored, and the model reads it: it opens a turn of the conversation, as the
        result does. The `key` names it within the call: the same key and value again send nothing. The token
        stays good. Without a declared type, the value is any JSON.

        Raises:
            SuspensionError, UnsettledAnswerError: as `answer`; so if the work is over, another value has the
                key, the tool is not here, or its model has no acknowledgement.
        """
        waits = self._require()
        claims = waits.sealer.open(token)
        await waits.start(top_run(claims.run_id))
        await IntermediateSender(waits, self._services, self._tools).send(claims, session_id, value, key, by)

    async def show(self, token: str, *, session_id: str | None = None) -> Suspended:
        """Return the suspended call of a token, answered or not, to show a person all of it.

        Raises:
            SuspensionError: nothing waits under the token, or it belongs to another session.
        """
        waits = self._require()
        opened = await waits.open(waits.sealer.open(token), session_id)
        asked = await suspended_at(waits, opened.run_id, opened.op, opened.status.about)
        assert asked is not None, "what is opened by a token has one"
        return asked

    async def list(self, session_id: str | None = None) -> tuple[Suspended, ...]:
        """Return the suspended calls, oldest first; of one session where it is given.

        Raises:
            NoEngineError: no call of this runtime can wait.
        """
        return await suspended_calls(self._require(), session_id)

    async def grants(self, session_id: str | None = None) -> tuple[Grant, ...]:
        """Return the grants, of this session if one is given, that are neither expired nor revoked.

        The newest comes first.
        """
        return await open_grants(self._require(), session_id)

    async def revoke(self, grant_id: str, *, session_id: str | None = None, by: str = "") -> None:
        """Revoke a grant, of this session if one is given: no call begins by it any more.

        Raises:
            UnknownGrantError: no grant has the id, or it belongs to another session.
        """
        await revoke_grant(self._require(), grant_id, by, session_id)

    async def at(self, wait: RunWait) -> Suspended | None:
        """Return what waits at an open wait of a run; None for what its client answers without a token.

        Raises:
            SuspensionError: it was changed, or nobody has sealed it.
            NoEngineError: no call of this runtime can wait.
        """
        if wait.fault:
            raise TamperedSuspensionError(wait.run_id)
        return await suspended_at(self._require(), wait.run_id, wait.op, wait.about)

    def named_calls(self, tool: str) -> NamedCalls | None:
        """Return the calls of a tool by `Runtime.call_once`; None where none of them are kept."""
        directory = self._tools.directory if self._snapshot is None else self._snapshot.directory
        registered, suspender = directory.by_name.get(tool), self._services.suspender
        if registered is None or self._registry is None or not suspender or suspender.obstacle(registered):
            return None
        return NamedCalls(self._services.limits, self._registry, registered)

    async def check(self, open_waits: Iterable[RunWait] | None = None) -> tuple[CheckedCall, ...]:
        """Return the suspended calls of all runs, or of some open waits, with what their seals say.

        It is for operators: one that is not `sealed` may be forged, and no client gets to see it.

        Raises:
            NoEngineError: no call of this runtime can wait.
        """
        return await checked_calls(self._require(), open_waits)

    async def adopt(
        self, run_id: str, *, by: str, seen: Collection[CheckedCall] | None = None
    ) -> tuple[CheckedCall, ...]:
        """Seal the suspended calls of a run that no secret of this host has sealed, and return them.

        Whoever adopts a call has seen the whole of it (`check`), and vouches for it: it can be answered then.
        Earlier answers without a seal are asked for again. If one is not as it was `seen`, none is adopted.

        Raises:
            UnknownRunError: no run has the id.
            SuspensionError: a call of it was changed, was not seen so, or does not wait any more.
        """
        return await adopt_calls(self._require(), run_id, by, seen)

    def arguments_mac(self, tool: str, payload_json: bytes, meta: CallMeta) -> str:
        """Return the `Suspended.arguments_mac` that a call of a tool with these encoded arguments would have.

        It is keyed by the secret of tokens, and counts for the session and the id of the call alone, so that
        sensitive values are compared without being shown.

        Raises:
            NoEngineError: no call of this runtime can wait.
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
        """Send the answer to the run of a call and return the result; `claims` are those of its token.

        Raises:
            SuspensionError: the answer is not taken; the class says why.
        """
        answer = without_nulls(record.call, answer)
        key = answer_key(answer)
        if opened.status.answer is None:
            await self._checks(waits).check(opened.status, record, answer, by)
        try:
            async with expected_results(waits, opened) as expected:
                sealed = waits.sealer.seal(record.claims, answer, by)
                # To take a call back runs nothing, and counts after the end of its session too.
                session = record.claims.session_id if cancel_reason(answer) is None else ""
                receipt = await send_answer(
                    waits, record.run_id, record.op, sealed, key=key, session_id=session
                )
                if receipt == "conflict":
                    again = await waits.open(claims, None)  # record.op may not wait yet
                    if again.record is None or again.op == record.op:
                        raise ConflictingAnswerError
                    return await self._answer_call(waits, claims, again, again.record, answer, by, wait_s)
                return await answered_result(self._reader(waits), opened, expected, wait_s, is_answered=True)
        except SuspensionError:  # the call goes on with no answer, or with another one
            self._tools.take_back(record.call)
            raise

    def _require(self) -> WaitRegistry:
        if self._registry is None:
            raise NoEngineError
        return self._registry

    def _reader(self, waits: WaitRegistry) -> CallReader:
        return CallReader(waits=waits, tools=self._tools, services=self._services)

    def _checks(self, waits: WaitRegistry) -> AnswerChecks:
        return AnswerChecks(waits, self._tools, self._services.limits, self._snapshot)
