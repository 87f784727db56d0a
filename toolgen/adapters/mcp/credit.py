"""Message credit for one peer, in both directions: it grows with time, and requests can add to it."""

from __future__ import annotations


class Credit:
    """How many messages of a kind may still come."""

    def __init__(self, per_request: int, per_s: float, now: float) -> None:
        self._per_request, self._per_s = per_request, per_s
        self._at = now
        self.left = float(per_request)

    def add(self, number: int, most: int) -> None:
        """Add what so many requests give, up to what `most` give."""
        self.left = min(self.left + number * self._per_request, max(1, most) * self._per_request)

    def take(self, now: float, most: int, number: int = 1) -> float:
        """Take so many, and return what is left, which may be less than nothing."""
        passed, self._at = now - self._at, now
        self.left = min(self.left + passed * self._per_s, max(1, most) * self._per_request) - number
        return self.left
