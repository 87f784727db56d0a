"""Message credit for one peer, in both directions: it grows with time, and requests can add to it."""

from __future__ import annotations


class Credit:
    """Remaining number of messages of one kind."""

    def __init__(self, per_request: int, per_s: float, now: float) -> None:
        self._per_request, self._per_s = per_request, per_s
        self._at = now
        self.remaining = float(per_request)

    def add(self, number: int, most: int) -> None:
        """Add the credit of `number` requests, up to the credit of `most` requests."""
        self.remaining = min(self.remaining + number * self._per_request, max(1, most) * self._per_request)

    def take(self, now: float, most: int, number: int = 1) -> float:
        """Take `number` messages, and return the remaining credit, which can be negative."""
        passed, self._at = now - self._at, now
        self.remaining = min(self.remaining + passed * self._per_s, max(1, most) * self._per_request) - number
        return self.remaining
