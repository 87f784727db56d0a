"""Suspends calls, and takes the answers to them: each once, whoever asks and in whatever process."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from toolgen.contract.json_value import Json
from toolgen.contract.limits import DEFAULT_LIMITS, Limits

from ..calls import CallMeta
from ..results import Suspended, SuspensionKind
from ..specs import ToolSpec
from .answers import CANCELED, cancel_reason, checked_answer, without_nulls
from .errors import (
    BadAnswerError,
    ChangedToolError,
    ConflictingAnswerError,
    ForeignAnswerError,
    LateAnswerError,
    ReplayedAnswerError,
    TamperedSuspensionError,
    UnknownSuspensionError,
)
from .suspension import Stored, Suspension, SuspensionStore

_LIFETIME_S: Final = 7 * 24 * 3600.0

SpecOf = Callable[[str], ToolSpec[Any, Any] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An answer that was taken."""

    suspension: Suspension
    answer: Json
    outcome: bytes | None = None
    """What came of this very answer when it was given before; nothing may run then."""


class Suspensions:
    """Freezes calls in a store, and gives out one token for each; the store never sees it."""

    def __init__(
        self,
        store: SuspensionStore,
        *,
        clock: Callable[[], float] = time.time,
        lifetime_s: float = _LIFETIME_S,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self.store = store
        self._limits = limits
        self._clock = clock
        self._lifetime_s = lifetime_s

    async def open(
        self,
        *,
        kind: SuspensionKind,
        spec: ToolSpec[Any, Any],
        payload_json: bytes,
        meta: CallMeta,
        question: str,
        preview: str = "",
        is_shortened: bool = False,
        answer_schema: Mapping[str, Any],
        handle: str = "",
        request: Mapping[str, Json] | None = None,
        answers: tuple[Json, ...] = (),
        is_asked_by_tool: bool = False,
    ) -> Suspended:
        """Freeze a call and return what its client holds of it."""
        now = self._clock()
        token = f"s_{secrets.token_urlsafe(32)}"  # never one that a shell takes for an option
        suspension = Suspension(
            id=secrets.token_hex(8),
            kind=kind,
            tool=spec.id,
            spec_digest=_digest(spec, kind),
            payload_json=payload_json,
            meta=meta,
            question=question,
            preview=preview,
            is_shortened=is_shortened,
            answer_schema=answer_schema,
            created_at=now,
            expires_at=now + self._lifetime_s,
            handle=handle,
            request=request,
            answers=answers,
            is_asked_by_tool=is_asked_by_tool,
        ).sealed(token)
        await self.store.put(_hash(token), suspension)
        return _shown(suspension, token)

    async def shown(self, token: str, session_id: str | None = None) -> Suspended:
        """Return what its client holds of a suspension, answered or not.

        Raises:
            SuspensionError: as `seen`, and `ForeignAnswerError` where it belongs to another session.
        """
        suspension = await self.seen(token)
        _refuse_foreign(suspension, session_id)
        return _shown(suspension, token)

    async def seen(self, token: str) -> Suspension:
        """Return what is kept under a token, answered or not.

        Raises:
            UnknownSuspensionError: nothing is.
            TamperedSuspensionError: it is not what was frozen.
        """
        return (await self._stored(token)).suspension

    async def outcome(self, token: str) -> bytes | None:
        """Return what came of the answer that was taken, wherever that was; None while it is not known.

        Raises:
            SuspensionError: as `seen`.
        """
        return (await self._stored(token)).outcome

    async def find(self, token: str) -> Suspension:
        """Return what waits under a token.

        Raises:
            UnknownSuspensionError: nothing does, or it was answered.
            TamperedSuspensionError: it is not what was frozen.
            LateAnswerError: its time is over.
        """
        stored = await self._stored(token)
        if stored.answer_hash:
            raise UnknownSuspensionError("this was answered already", hint="ask for the result of the call")
        self._refuse_late(stored.suspension)
        return stored.suspension

    async def claim(
        self, token: str, answer: Json, *, spec_of: SpecOf, session_id: str | None = None
    ) -> Claim:
        """Take an answer; one winner over all processes, and the same answer again gives its outcome.

        Raises:
            SuspensionError: the answer is not taken; the class says why.
        """
        claim = await self.check(token, answer, spec_of=spec_of, session_id=session_id)
        answer_hash = _answer_hash(claim.answer)
        if claim.outcome is None and not await self.store.claim(_hash(token), answer_hash):
            return _again(await self._stored(token), claim.answer)
        return claim

    async def check(
        self, token: str, answer: Json, *, spec_of: SpecOf, session_id: str | None = None
    ) -> Claim:
        """Return what `claim` would, and take nothing.

        Raises:
            SuspensionError: the answer would not be taken; the class says why.
        """
        stored = await self._stored(token)
        suspension = stored.suspension
        _refuse_foreign(suspension, session_id)
        answer = without_nulls(suspension, answer)
        if stored.answer_hash:
            return _again(stored, answer)
        self._refuse_late(suspension)
        spec = spec_of(suspension.tool)
        runs = cancel_reason(answer) is None
        if spec is None or (runs and _digest(spec, suspension.kind) != suspension.spec_digest):
            raise ChangedToolError(
                f"{suspension.tool} is not what it was when this was asked",
                hint="let the model call it again",
            )
        _answer_hash(answer)  # an answer that is no JSON has none
        return Claim(suspension=suspension, answer=checked_answer(spec, suspension, answer, self._limits))

    async def refuse_other(self, token: str, answer: Json) -> None:
        """Raise where another answer than this was taken.

        Raises:
            ConflictingAnswerError: as said.
        """
        stored = await self._stored(token)
        answer = without_nulls(stored.suspension, answer)
        if stored.answer_hash and stored.answer_hash != _answer_hash(answer):
            raise _conflicting()

    async def finish(self, token: str, outcome: bytes) -> None:
        """Keep what came of the answer that was taken."""
        await self.store.finish(_hash(token), outcome)

    async def open_suspensions(self, session_id: str | None = None) -> tuple[Suspended, ...]:
        """Return what waits, oldest first and without tokens; of one session where it is given."""
        now = self._clock()
        return tuple(
            _shown(suspension, "")
            for suspension in await self.store.waiting()
            if suspension.expires_at > now and session_id in (None, suspension.meta.session_id)
        )

    async def _stored(self, token: str) -> Stored:
        try:
            stored = await self.store.get(_hash(token))
        except ValueError as error:
            raise TamperedSuspensionError("the store holds no suspension under this token") from error
        if stored is None:
            raise UnknownSuspensionError(
                "nothing waits under this token", hint="copy the whole token, from s_ on"
            )
        if not stored.suspension.is_whole(token):
            raise TamperedSuspensionError("the store does not hold what was frozen", hint="deny the call")
        return stored

    def _refuse_late(self, suspension: Suspension) -> None:
        if suspension.expires_at <= self._clock():
            raise LateAnswerError("the time to answer is over", hint="let the model call the tool again")


def _again(stored: Stored, answer: Json) -> Claim:
    """Return the outcome of an answer that was given before.

    Raises:
        ConflictingAnswerError: it was another one.
        ReplayedAnswerError: its outcome is not known: it runs now, or its process ended.
    """
    if stored.answer_hash != _answer_hash(answer):
        raise _conflicting()
    if stored.outcome is None:
        raise ReplayedAnswerError("this was answered already, and what came of it is not known yet")
    return Claim(suspension=stored.suspension, answer=answer, outcome=stored.outcome)


def _digest(spec: ToolSpec[Any, Any], kind: SuspensionKind) -> str:
    """Return what must be the same when the answer comes; after pending work nothing runs again."""
    return spec.digest if kind == "pending" else spec.approval_digest


def _refuse_foreign(suspension: Suspension, session_id: str | None) -> None:
    if session_id is not None and session_id != suspension.meta.session_id:
        raise ForeignAnswerError("this call waits in another session", hint="answer it there")


def _conflicting() -> ConflictingAnswerError:
    return ConflictingAnswerError("this was answered already, and differently")


def _shown(suspension: Suspension, token: str) -> Suspended:
    return Suspended(
        token=token,
        id=suspension.id,
        kind=suspension.kind,
        tool=suspension.tool,
        question=suspension.question,
        preview=suspension.preview,
        is_shortened=suspension.is_shortened,
        arguments=json.loads(suspension.payload_json),
        answer_schema=suspension.answer_schema,
        expires_at=suspension.expires_at,
        handle=suspension.handle,
        request=suspension.request,
    )


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def _answer_hash(answer: Json) -> str:
    """Return the same for answers that say the same; a question is taken back once, for whatever reason.

    Raises:
        BadAnswerError: it is not JSON.
    """
    try:
        text = json.dumps(answer, sort_keys=True, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise BadAnswerError(f"the answer is not JSON: {error}") from None
    if cancel_reason(answer) is not None:
        text = CANCELED.encode()
    return hashlib.sha256(text).hexdigest()
