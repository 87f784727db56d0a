"""Which sessions are beyond the limits of the retention."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedSession:
    """A session that is not to be kept."""

    session_id: str
    used_at: float
    """When it was created or ended, or something was kept of its newest turn, whichever was last; in seconds
    since 1970."""


def not_kept(
    used: Iterable[tuple[str, float]], keep: int | None, before: float | None
) -> tuple[UnusedSession, ...]:
    """Return the sessions that are not to be kept, the longest unused first.

    Args:
        used: The sessions, in the order in which they were created, with the time of their last use.
        keep: All but so many are not kept, those that were used last.
        before: Those last used before are not kept either, in seconds since 1970.
    """
    oldest = sorted(used, key=lambda session: session[1])
    many = 0 if keep is None else len(oldest) - keep
    return tuple(
        UnusedSession(session_id=session_id, used_at=at)
        for place, (session_id, at) in enumerate(oldest)
        if place < many or (before is not None and at < before)
    )
