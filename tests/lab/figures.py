"""What was done in episodes, counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from .episode import Told
from .invariants import calls_of


@dataclass(slots=True, kw_only=True)
class Figures:
    """Sums over episodes."""

    counted: Counter[str] = field(default_factory=Counter)

    def add(self, told: Told) -> None:
        """Count an episode."""
        evidence = told.evidence
        calls = calls_of(evidence)
        statuses = Counter(status for call in calls.values() for status in call.statuses)
        self.counted.update(
            episodes=1,
            kills=told.kills,
            closings=told.closings,
            faults=told.faults,
            runs=len(evidence.runs),
            calls=len(calls),
            results=statuses.total(),
            unknown=statuses["unknown"],
            answers=sum(len(call.answers) for call in calls.values()),
            events=sum(len(run.events) for run in evidence.runs.values()),
            replays=sum(run.state == "completed" for run in evidence.runs.values()),
            violations=len(told.violations),
        )

    def __str__(self) -> str:
        return ", ".join(f"{count:,} {name}" for name, count in self.counted.items())
