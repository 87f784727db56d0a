"""Options of the surface: its hosts, origins and limits."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from toolgen.contract.record import frozen_record

_PERIODS: Final = ("body_s", "comment_s", "answer_s")


@frozen_record
class SurfaceOptions:
    """Hosts, origins and limits of a surface."""

    hosts: tuple[str, ...] = ()
    """Host names that `Host` and `Origin` headers must contain; by default loopback."""
    origins: tuple[str, ...] = ()
    """Other origins whose pages can use the surface (CORS), for example `https://app.example`.

    None by default.
    """
    max_body_bytes: int = 4 * 2**20
    """Maximum size of a request body in bytes; a larger one is refused with 413."""
    body_s: float = 30.0
    """Seconds within which the body of a request must arrive; otherwise the request is refused with 408."""
    max_calls: int = 100
    """Maximum number of concurrent calls, answers and starts of runs; a further one is refused with 503."""
    max_calls_per_caller: int | None = None
    """Maximum number per caller, refused with 429; by default a quarter of `max_calls`, and at least one.

    While other callers have places, a caller gets this share of the rest, so that a few callers cannot take
    all."""
    max_streams: int = 2_000
    """Maximum number of concurrent event streams; a further one is refused with 503."""
    max_streams_per_caller: int | None = None
    """Maximum number of streams per caller, with the same rules as `max_calls_per_caller`."""
    kept_events: int = 10_000
    """Number of events of all sessions that are buffered for slow or reconnecting readers of `/events`."""
    kept_bytes: int = 64 * 2**20
    """Maximum total size of these events in bytes; if they are larger, fewer are kept."""
    comment_s: float = 15.0
    """Seconds without an event after which a stream sends a comment, so that a lost peer is detected."""
    answer_s: float = 30.0
    """Default number of seconds that an answer waits for its result, if the request does not set it."""

    def __post_init__(self) -> None:
        """Refuse limits that admit nothing.

        Raises:
            ValueError: A limit is out of its range.
        """
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name.startswith(("max_", "kept_")) and value is not None and not value >= 1:
                raise ValueError(f"SurfaceOptions({option.name}={value}); it must be at least 1")
        for name in _PERIODS:
            if not (seconds := getattr(self, name)) > 0:
                raise ValueError(f"SurfaceOptions({name}={seconds}); it must be more than 0")
