"""The options of the surface: how it is reached, and its limits."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from toolgen.contract.record import frozen_record

_PERIODS: Final = ("body_s", "comment_s", "answer_s")


@frozen_record
class SurfaceOptions:
    """How a surface is reached and limited."""

    hosts: tuple[str, ...] = ()
    """Names under which clients reach it, which `Host` and `Origin` have to say; by default loopback."""
    origins: tuple[str, ...] = ()
    """Other origins whose pages may use it (CORS), such as `https://app.example`; none by default."""
    max_body_bytes: int = 4 * 2**20
    """Size of a request; a larger one is refused with 413."""
    body_s: float = 30.0
    """Seconds in which the body of a request has to come; a later one is refused with 408."""
    max_calls: int = 100
    """Calls, answers and starts of runs at once; a further one is refused with 503."""
    max_calls_per_caller: int | None = None
    """Those of one caller, refused with 429; by default a quarter, and at least one.

    While others have places, a caller gets this part of what they leave, so that no few callers hold all."""
    max_streams: int = 2_000
    """Streams of events at once; a further one is refused with 503."""
    max_streams_per_caller: int | None = None
    """Those of one caller, as those of calls."""
    kept_events: int = 10_000
    """Events of all sessions that are kept for readers of `/events` who are slow, or come again."""
    kept_bytes: int = 64 * 2**20
    """Size of these events together; where they have more, fewer are kept."""
    comment_s: float = 15.0
    """Seconds without an event after which a stream gets a comment, so that a lost peer is noticed."""
    answer_s: float = 30.0
    """Seconds that an answer waits for the result that it leads to, where its request says nothing."""

    def __post_init__(self) -> None:
        """Refuse limits that let nothing in.

        Raises:
            ValueError: one is out of its range.
        """
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name.startswith(("max_", "kept_")) and value is not None and not value >= 1:
                raise ValueError(f"SurfaceOptions({option.name}={value}); it must be at least 1")
        for name in _PERIODS:
            if not (seconds := getattr(self, name)) > 0:
                raise ValueError(f"SurfaceOptions({name}={seconds}); it must be more than 0")
