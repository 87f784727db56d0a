"""The host's options for suspended calls: how long, how many, and who can answer."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from toolgen.calls.results import Suspended
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

WEEK_S: Final = 7 * 24 * 3600.0


AnswerRule: TypeAlias = Callable[[Suspended, Json, str], str | Awaitable[str]]
"""Returns why a person must not give an answer to a suspended call, or "": `rule(asked, answer, by)`."""


def requester_may_not_approve(suspended: Suspended, answer: Json, by: str) -> str:
    """Reject an approval by the person who asked for the call, or if one of the two has no name."""
    if suspended.kind != "confirmation" or not isinstance(answer, dict) or answer.get("approved") is not True:
        return ""
    if not by:
        return "the approver must not be the requester, but the answer does not name the approver"
    if not suspended.requested_by:
        return "the approver must not be the requester, but the call does not name its requester"
    return "the requester of the call must not approve it" if by == suspended.requested_by else ""


@frozen_record
class WaitOptions:
    """The options for suspended calls of a runtime."""

    is_interactive: bool = True
    """Whether a person can be asked. If false, runs of agents ask no questions either."""
    expires_s: float = WEEK_S
    """Seconds in which an answer is accepted."""
    max_per_run: int = 100
    """Maximum number of suspended calls of one run."""
    max_per_session: int = 1000
    """Maximum number of suspended calls of one session, counted without a lock."""
    max_questions: int = 10
    """Maximum number of answered questions of one call; a further question ends the call with an error.

    A question that is asked again with a reason counts once. Questions of an agent that answers the call do
    not count.
    """
    max_grant_s: float = 8 * 3600.0
    """Maximum number of seconds for which an answer can grant further calls."""
    max_grant_uses: int = 100
    """Maximum number of calls that an answer can grant."""
    peers_may_grant: bool = False
    """Whether answers that come through MCP or a framework can grant further calls. Such an answer might come
    from a model."""
    rule: AnswerRule | None = None
    """Rule that decides whether a person can give an answer. Without a rule, everybody with the token can.

    It runs in the process that accepts the answer, and again in the process that executes the call.
    """
    clock: Callable[[], float] = time.time
    """Returns seconds since 1970."""


WAIT_OPTIONS: Final = WaitOptions()
