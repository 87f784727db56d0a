"""The waits of loops for signals, and how each one ends."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from .journal import Journal, OpRecord, SignalRecord, WaitRecord
from .payloads import NULL, encode
from .run import Run, Wait
from .timers import CallLater

WAIT: Final = "wait"
"""What the journal holds in the place of an activity's name."""


class Waits:
    """Ends each wait once, with a signal or without one, and keeps in the journal how."""

    def __init__(self, journal: Journal, clock: Callable[[], float], call_later: CallLater) -> None:
        self._journal = journal
        self._clock = clock
        self._call_later = call_later

    def deliver(self, run: Run, signal: SignalRecord) -> None:
        """Hand a signal to the oldest wait for it, or keep it for the next one."""
        wait = run.waiting_for(signal.name)
        if wait is None:
            run.inbox.append(signal)
        else:
            self._resolve(run, wait, signal)

    def received(self, run: Run, wait: Wait, *, is_final: bool) -> OpRecord | None:
        """Return how a wait ends at once: with a signal that is there, or with none if it is final."""
        signal = run.take(wait.names)
        return self._resolve(run, wait, signal) if signal is not None or is_final else None

    async def signaled(self, run: Run, wait: Wait, until: float | None) -> OpRecord:
        """Return how a wait ends, at the latest at `until` in seconds since 1970."""
        if until is not None:
            left = max(0.0, until - self._clock())
            wait.timer = self._call_later(left, partial(self._expire, run, wait, until))
        if wait.about != NULL and wait.op not in run.record.waits:
            self._journal.add_wait(run.record, WaitRecord(wait.op, wait.about))
        run.waits[wait.op] = wait
        run.moved()
        try:
            while wait.op in run.waits:
                await wait.bell.wait()
        finally:
            if wait.timer is not None:
                wait.timer.cancel()
            if run.waits.pop(wait.op, None) is not None:
                run.moved()
        return run.record.ops[wait.op]

    def _expire(self, run: Run, wait: Wait, until: float) -> None:
        if not run.is_stopped and wait.op in run.waits:
            self._resolve(run, wait, None, until)

    def _resolve(self, run: Run, wait: Wait, signal: SignalRecord | None, until: float = 0.0) -> OpRecord:
        value = NULL
        if signal is not None:
            name, _ = encode(signal.name, "the name of a signal")
            value = b'{"name":%b,"payload":%b}' % (name, signal.payload)
        record = OpRecord(wait.op, WAIT, wait.digest, max(self._clock(), until), value)
        self._journal.put(run.record, record, signal)
        run.waits.pop(wait.op, None)
        wait.bell.ring()
        run.moved()
        return record
