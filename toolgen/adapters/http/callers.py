"""The caller of a request, as identified by the host, and the sessions of the caller."""

from __future__ import annotations

import json
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import TypeAlias
from urllib.parse import quote

from toolgen.contract.boundary import Contained
from toolgen.contract.extras import extra
from toolgen.contract.logs import log_failure, logger
from toolgen.contract.record import frozen_record
from toolgen.contract.tasks import awaited
from toolgen.runtime import CallMeta

with extra("serve"):  # the first import of starlette by this package, whose other modules need it
    from starlette.requests import Request

from .problems import HTTPProblem

OwnsSession: TypeAlias = Callable[[str], bool | Awaitable[bool]]
"""Returns whether a session id belongs to the caller."""

log = logger("toolgen.http")

_LONGEST_ID = 1_000
"""Maximum number of characters of a session id in a request: each record of the session contains it."""
_DEFAULT = "default"
"""Suffix of the default session id, for requests that name no session."""


@frozen_record
class Caller:
    """Caller of a request, as the host identifies it."""

    id: str
    """Id of the person who makes calls and gives answers."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Facts for executors, interceptors and planners."""
    sessions: str | OwnsSession = ""
    """Prefix of the session ids of the caller, or a function that decides whether a session belongs to the
    caller. The default prefix is the quoted caller id and a colon, such as `ann:`.
    """
    session_id: str = ""
    """Session of requests that name none; by default the session whose id ends with `default`. If `sessions`
    is a function, there is no default, and without this field such requests are refused."""
    sees_all: bool = False
    """Whether the caller is an operator: sees all sessions, runs without one, and unsealed suspensions."""

    def __post_init__(self) -> None:
        """Refuse an empty id.

        Raises:
            ValueError: The id is empty.
        """
        if not self.id:
            raise ValueError("Caller(id='') has an empty id; return None for an unknown caller")

    @property
    def key(self) -> str:
        """Text that is equal for equal callers."""
        return json.dumps([self.id, sorted(self.labels.items())])

    @property
    def prefix(self) -> str | None:
        """Prefix of the caller's session ids.

        None if a function decides which sessions belong to the caller.
        """
        if callable(self.sessions):
            return None
        return self.sessions or f"{quote(self.id, safe='@')}:"

    async def owns(self, session_id: str) -> bool:
        """Return whether the caller may see the records of a session."""
        if self.sees_all:
            return True
        if not session_id:
            return False  # a record without a session belongs to nobody
        if not callable(self.sessions):
            return session_id.startswith(self.prefix or "")
        with Contained():
            return bool(await awaited(self.sessions(session_id)))

    async def session(self, named: str) -> str:
        """Return the session of a request, which may name one.

        Raises:
            HTTPProblem: The session belongs to another caller, or none is named and there is no default.
        """
        if named:
            await self.require(named)
            return named
        if self.session_id or self.sees_all:
            return self.session_id
        if self.prefix is None:
            raise HTTPProblem(
                "invalid-request", "the request has no session; set session to the id of one of your sessions"
            )
        return f"{self.prefix}{_DEFAULT}"

    async def require(self, session_id: str) -> None:
        """Raise if a session belongs to another caller.

        Raises:
            HTTPProblem: The session id is too long, or belongs to another caller; the error reads as if it
                did not exist.
        """
        if len(session_id) > _LONGEST_ID:
            raise HTTPProblem("invalid-request", f"a session id has at most {_LONGEST_ID} characters")
        if not await self.owns(session_id):
            raise HTTPProblem("not-found", "the id does not exist, or you have no access to it")

    def new_session(self) -> str:
        """Return the id of a new session.

        Raises:
            HTTPProblem: A function decides which sessions belong to the caller, so the host must assign the
                ids.
        """
        if self.prefix is None:
            raise HTTPProblem(
                "invalid-request", "the request has no session; set session to the id of one of your sessions"
            )
        return f"{self.prefix}{uuid.uuid4().hex}"

    def meta(self, session_id: str, tool_call_id: str = "") -> CallMeta:
        """Return the facts of a call."""
        return CallMeta(
            session_id=session_id, tool_call_id=tool_call_id, labels=self.labels, requested_by=self.id
        )


CallerOf: TypeAlias = Callable[[Request], Caller | Awaitable[Caller | None] | None]
"""Returns the caller of a request; None if the host does not know the caller."""


async def caller_of(request: Request, ask: CallerOf) -> Caller:
    """Return the caller of a request.

    Raises:
        HTTPProblem: The host does not know the caller (401), or its function fails (503).
    """
    try:
        with Contained():
            caller = await awaited(ask(request))
        if caller is not None and not isinstance(caller, Caller):
            raise TypeError(f"it returned {type(caller).__name__}, which is not a Caller")
    except Exception as error:  # noqa: BLE001 - author code; logged, and the caller stays unknown
        reference = log_failure(log, error, "the `caller` function failed")
        raise HTTPProblem(
            "unavailable", f"the caller could not be determined (reference {reference})"
        ) from None
    if caller is None:
        raise HTTPProblem("unauthenticated", headers={"WWW-Authenticate": "Bearer"})
    return caller
