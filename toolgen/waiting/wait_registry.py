"""The suspended calls of one runtime: each is a sealed record in a run, with a token for clients."""

from __future__ import annotations

import asyncio
import functools
import inspect
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from pydantic_core import to_json

from toolgen.calls.call import CallMeta, FrozenCall
from toolgen.calls.errors import RegistrationError, ToolError
from toolgen.calls.results import Suspended, ToolResult
from toolgen.calls.steps.running_call import CALLER, open_call
from toolgen.calls.steps.scheduler import Scheduler
from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.contract.record import frozen_record
from toolgen.engines import (
    Activity,
    ActivityInfo,
    ClockEngine,
    EndedRun,
    Engine,
    EngineClosedError,
    LastEvents,
    Loop,
    OnEvent,
    OnForget,
    UnknownRunError,
    WaitStatus,
)
from toolgen.stores.outages import until_back

from .cut_calls import last_events
from .errors import (
    ForeignAnswerError,
    TamperedSuspensionError,
    UnsealedSuspensionError,
    unknown_suspension,
)
from .frozen import SealedCall, Sealer, TokenClaims, next_wait, seal_call, verify_call
from .loop import intermediate_of
from .once_call import LateEnds
from .options import WaitOptions
from .sealing import adoption_op, question_claims, sealer_of, sealer_with, stored_sealer
from .subjects import is_call, planner_question

log = logger("toolgen.runtime")

SessionEnded: TypeAlias = Callable[[str, str], Awaitable[bool]]
"""Receives the ids of a session and of the run that waits."""
_SEAL_BYTES: Final = 100
"""Maximum size of a seal in bytes."""
_ANSWER_BYTES: Final = 1_000
"""Part of the engine's payload limit that is reserved for the answer to a call and for ids, in bytes."""


@frozen_record(kw_only=False)
class OpenedToken:
    """The suspended call or question of a token."""

    run_id: str
    op: str
    status: WaitStatus
    id: str
    record: SealedCall | None
    """The sealed call; None for a planner's question."""
    question: Mapping[str, Any]
    """Question of a planner; empty for a call."""

    @property
    def is_below(self) -> bool:
        """Whether the run of an agent asks it, so that it is not a direct call itself."""
        return "/" in self.run_id

    @property
    def frozen(self) -> FrozenCall | None:
        return None if self.record is None else self.record.call


class WaitRegistry:
    """Seals and verifies suspended calls, and starts the engine that executes them."""

    def __init__(
        self,
        engine: Engine,
        options: WaitOptions,
        secret: bytes | Sequence[bytes] | None,
        scheduler: Scheduler,
    ) -> None:
        """Construct the registry with an engine; the scheduler knows the engine's activities by their runs.

        Raises:
            RegistrationError: the secret is too short.
        """
        self.engine = engine
        self.options = replace(options, clock=_trusted(options.clock, engine))
        self.scheduler = scheduler
        self._sealer = None if secret is None else sealer_with(secret)
        self._loops: dict[str, Loop] = {}
        self._activities: dict[str, Activity] = {}
        self._listeners: dict[str, OnEvent] = {}
        """Event listeners by loop."""
        self._last_events: LastEvents | None = None
        self._on_forget: OnForget | None = None
        self._is_registered = False
        self.process: Final = uuid.uuid4().hex
        """Id of this process in the runs of calls that it starts or joins."""
        self.late_ends = LateEnds()
        self.is_closed = False
        """Whether the runtime is closed or closing, so that the engine is not started again."""
        self._is_checking = False
        """Whether this registry only reads suspended calls; `make_secret` ends that."""
        self.has_ended: SessionEnded | None = None
        """Returns whether a session no longer accepts answers; None without agents."""
        self._named: set[str] | None = None
        """Ids of the runs that this process executes; None for all runs."""
        self._results: dict[str, list[asyncio.Future[ToolResult]]] = {}
        """Futures for typed results in this process, by id of the suspended call."""

    # Registration with the engine.

    def register(
        self,
        loops: Mapping[str, Loop],
        activities: Mapping[str, Activity],
        on_event: OnEvent,
        last_events: LastEvents | None = None,
        on_forget: OnForget | None = None,
    ) -> None:
        """Register loops and activities with the engine, before it is started.

        If this process is a client, this is possible at any time.

        Raises:
            RegistrationError: this process already executes runs.
        """
        self.require_idle()
        self._loops |= loops
        self._activities |= {name: _in_run(self.scheduler, activity) for name, activity in activities.items()}
        self._listeners |= dict.fromkeys(loops, on_event)
        self._last_events = last_events or self._last_events
        self._on_forget = on_forget or self._on_forget

    def require_idle(self) -> None:
        """Check that loops and activities can still be registered.

        Raises:
            RegistrationError: this process already executes runs.
        """
        if self._is_registered and self.engine.is_worker:
            raise RegistrationError(
                "the engine already executes runs", hint="register agents before the runtime is used"
            )

    def run_as_client(self, *, checks: bool = False) -> None:
        """Execute only named runs in this process; with `checks`, a secret can be missing."""
        self._named = set()
        self._is_checking = checks and self._sealer is None

    @property
    def is_only_worker(self) -> bool:
        """Whether this process currently executes all runs of the engine, and no other process does."""
        is_alone = not self.engine.caps.has_many_workers
        return is_alone and self._named is None and self._is_registered and self.engine.is_worker

    @property
    def refuses(self) -> bool:
        """Whether the runtime is closed or closing, and the request does not come from an open call."""
        return self.is_closed and open_call(CALLER.get()) is None

    async def start(self, run_id: str = "") -> None:
        """Start the engine with everything registered; a client also executes the run of this id.

        Raises:
            EngineClosedError: as `refuses`.
        """
        if self.refuses:
            raise EngineClosedError("the runtime is closed", hint="open it again with `async with runtime`")
        if self.is_closed:
            return
        if not self._is_registered:
            self._is_registered = True
            self.engine.register(
                loops=self._loops,
                activities=self._activities,
                on_event=self._notify_listeners,
                last_events=self._ended,
                on_forget=self._on_forget,
            )
        if self._sealer is None:
            self._sealer = await stored_sealer(self.engine, is_checking=self._is_checking)
        if self._named is None:
            await self.engine.start()
            return
        if run_id:
            self._named.add(run_id)
        await self.engine.start(only=frozenset(self._named))

    def make_secret(self) -> None:
        """Seal with the secret of the engine from now on; a missing secret is created."""
        if self._is_checking:
            self._sealer, self._is_checking = sealer_of(self.engine), False

    def _notify_listeners(self, run_id: str, loop: str, offset: int, event: Mapping[str, Json]) -> None:
        self._listeners[loop](run_id, loop, offset, event)

    def _ended(self, ended: EndedRun) -> Iterable[Mapping[str, Json]]:
        """Return the last events of a run: of a direct call, or of another registered loop."""
        if "frozen" in ended.input or "call" in ended.input:
            return last_events(ended)
        return () if self._last_events is None else self._last_events(ended)

    # Limits for new suspended calls.

    def require_question_left(self, tool: str, answered: int) -> None:
        """Check that a call with this many answered questions can ask another one.

        Raises:
            ToolError: the call has asked the maximum number of questions.
        """
        if answered >= self.options.max_questions:
            raise ToolError(f"{tool} asked {answered} questions, the maximum for one call")

    async def is_full(self, session_id: str) -> bool:
        """Return whether the session has the maximum number of suspended calls."""
        if not session_id:
            return False
        most = self.options.max_per_session
        read = functools.partial(self.engine.open_waits, session=session_id, limit=most)
        return len(await until_back(read, f"a call of session {session_id} that asks")) >= most

    def too_large(self, frozen: FrozenCall, further_bytes: int) -> str:
        """Return the reason why a call is too large for the engine; "" if it is not.

        The engine stores two kinds of payloads: for resuming, the call, `further_bytes` of other JSON, and
        the answer; as the result of an activity, the call and the event that it is suspended.
        """
        most = self.engine.caps.max_payload_bytes
        if most is None:
            return ""
        size = len(to_json(frozen.as_json())) + _SEAL_BYTES * (1 + len(frozen.answers))
        needed = size + max(size, further_bytes) + _ANSWER_BYTES
        return (
            "" if needed <= most else f"it needs {needed} bytes of JSON, and the engine stores at most {most}"
        )

    # Tokens.

    @property
    def sealer(self) -> Sealer:
        """The sealer of tokens and answers.

        Raises:
            RegistrationError: no secret was passed, and the engine stores none.
        """
        if self._sealer is None:
            self._sealer = sealer_of(self.engine)
        return self._sealer

    def seal(self, run_id: str, op: str, call: FrozenCall) -> SealedCall:
        """Return the sealed record of a call to suspend."""
        return seal_call(self.sealer, run_id, op, call)

    async def record(self, run_id: str, op: str, about: Json) -> SealedCall | None:
        """Return the verified call of a wait; None if the wait is not for a call.

        Raises:
            TamperedSuspensionError: the record was changed, or is not a record.
            UnsealedSuspensionError: its author is unknown, and no operator has adopted it.
            UnknownRunError: no run has the id.
        """
        return await self.verify(run_id, op, about["frozen"]) if is_call(about) else None

    async def open(self, claims: TokenClaims, session_id: str | None) -> OpenedToken:
        """Return the suspended call or question of opened token claims.

        Raises:
            UnknownSuspensionError: the run does not exist.
            ForeignAnswerError: it belongs to another session.
            TamperedSuspensionError: the journal of the run differs from the question of the token.
            UnsealedSuspensionError: the author of its record in the journal is unknown.
        """
        if session_id is not None and session_id != claims.session_id:
            raise ForeignAnswerError("this call belongs to another session", hint="answer it in that session")
        try:
            status = await self.engine.wait_status(claims.run_id, claims.op)
            if status is None:  # a client started its run, and no worker has executed it yet
                status = WaitStatus(about=(await self.engine.status(claims.run_id)).input, is_open=True)
            record = await self.record(claims.run_id, claims.op, status.about)
        except UnknownRunError:
            raise unknown_suspension() from None
        if record is not None and record.claims == claims:
            record, status = await self._waiting_on(record, status)
            return OpenedToken(claims.run_id, record.op, status, record.call.id, record, {})
        question = planner_question(status.about)
        if question is None or question_claims(claims.run_id, question, claims.session_id) != claims:
            raise TamperedSuspensionError(claims.run_id)
        return OpenedToken(claims.run_id, claims.op, status, question["id"], None, question)

    async def _waiting_on(self, record: SealedCall, status: WaitStatus) -> tuple[SealedCall, WaitStatus]:
        """Return the current wait of pending work after its intermediate results."""
        run_id = record.run_id
        while record.call.kind == "pending" and intermediate_of(status.answer) is not None:
            op = next_wait(record.op)
            next_status = await self.engine.wait_status(run_id, op)
            if next_status is None:  # the next wait is about to begin
                answer = await self.engine.accepted_answer(run_id, op)
                record, status = replace(record, op=op), replace(status, is_open=True, answer=answer)
            else:
                record, status = await self.verify(run_id, op, next_status.about["frozen"]), next_status  # type: ignore[index,call-overload]
        return record, status

    async def verify(self, run_id: str, op: str, document: Json) -> SealedCall:
        """Return the verified call of a record, as `record`."""
        try:
            return verify_call(self.sealer, run_id, op, document)
        except UnsealedSuspensionError:
            for key in self.sealer.keys:
                adoption = await self.engine.accepted_answer(run_id, adoption_op(op, key))
                if adoption is not None:
                    return verify_call(self.sealer, run_id, op, document, adoption)
            raise

    def suspended(self, record: SealedCall) -> Suspended:
        """Return the client's view of a suspended call, with its token."""
        call = record.call
        return Suspended(
            **call.shown(),
            token=self.sealer.issue(record.claims),
            run_id=record.run_id,
            arguments_mac=self.arguments_mac(call.tool, call.payload_json, call.meta),
        )

    async def refusal(self, record: SealedCall, answer: Json, by: str) -> str:
        """Return the reason why the host's rule rejects an answer by this person; "" if it does not.

        The process that accepted the answer can have another rule, or none.

        Raises:
            Exception: the exception of the rule.
        """
        rule = self.options.rule
        if rule is None:
            return ""
        reason = rule(self.suspended(record), answer, by)
        return await reason if inspect.isawaitable(reason) else reason

    def arguments_mac(self, tool: str, payload_json: bytes, meta: CallMeta) -> str:
        """Return the keyed digest of the arguments of a call; as `Runtime.suspensions.arguments_mac`."""
        return self.sealer.arguments_mac(tool, payload_json, meta.session_id, meta.tool_call_id)

    # Typed results, for callers in the process that executes the call.

    def expect_result(self, id_: str) -> asyncio.Future[ToolResult]:
        """Return a future for the result of a suspended call that this process will resume.

        Each caller gets its own future, and passes it to `forget` at the end.
        """
        future: asyncio.Future[ToolResult] = asyncio.get_running_loop().create_future()
        self._results.setdefault(id_, []).append(future)
        return future

    def forget(self, id_: str, future: asyncio.Future[ToolResult]) -> None:
        """Drop a future of `expect_result`."""
        waiters = [waiter for waiter in self._results.pop(id_, ()) if waiter is not future]
        if waiters:
            self._results[id_] = waiters

    def set_result(self, id_: str, result: ToolResult) -> None:
        """Set the futures of `expect_result` to the result of the call."""
        for future in self._results.pop(id_, ()):
            if not future.done():
                future.set_result(result)


def _in_run(scheduler: Scheduler, activity: Activity) -> Activity:
    """Wrap an activity so that its calls belong to its run."""

    @functools.wraps(activity)
    async def execute(info: ActivityInfo, argument: Any, /) -> Any:
        with scheduler.in_run(info.run_id):
            return await activity(info, argument)

    return execute


def _trusted(clock: Callable[[], float], engine: Engine) -> Callable[[], float]:
    """Return the clock of the host, held back while the engine does not trust the wall clock."""
    return (lambda: clock() - engine.held_s) if isinstance(engine, ClockEngine) else clock
