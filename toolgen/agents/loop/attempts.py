"""The attempts at one planning: how many there were, and whether there is another one. Pure."""

from __future__ import annotations

from .documents import Retry


class Attempts:
    """Counts the attempts at one planning; callers pass the time."""

    def __init__(self, began: float) -> None:
        self._began = began
        self._counted = 0
        self.made = 0
        """Attempts that have begun."""

    def record_failure(self, retry: Retry, now: float) -> bool:
        """Record a failed attempt and return whether it was the last."""
        if most := retry["most_attempts"]:
            self._counted += 1
            if self._counted >= most:
                return True
        return now - self._began + retry["delay_s"] >= retry["total_s"]

    def summary(self, retry: Retry, now: float) -> str:
        """Return a text with the number of attempts and their duration."""
        if retry["delay_s"] >= retry["total_s"]:
            return f"the next attempt would be in {retry['delay_s']:.0f} s"
        if self.made == 1:
            return "1 attempt"
        return f"{self.made} attempts in {now - self._began:.0f} s"
