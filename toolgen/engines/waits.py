"""The waits of loops for signals, and how each one ends."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from .journal import NULL, Journal, OpRecord, SignalRecord, WaitRecord, encode
from .live_run import Run, Wait
from .timers import CallLater

WAIT: Final = "wait"
"""What the journal holds in the place of an activity's name."""
_AGAIN_S: Final = 0.02
"""Before a wait ends that could not be ended because of a signal."""


class Waits:
    """Ends each wait once, with a signal or without one, and records the end in the journal."""

    def __init__(self, journal: Journal, clock: Callable[[], float], call_later: CallLater) -> None:
        self._journal = journal
        self._clock = clock
        self._call_later = call_later

    def deliver(self, run: Run, signal: SignalRecord) -> None:
        """Pass a signal to the oldest wait for it, or keep it for the next one."""
        wait = run.waiting_for(signal.name)
        if wait is None:
            run.inbox.append(signal)
        else:
            self._resolve(run, wait, signal)

    async def take_or_none(self, run: Run, wait: Wait, *, is_final: bool) -> OpRecord | None:
        """Take a stored signal for the wait and return the end of the wait; None if it must wait."""
        signal = run.take_signal(wait.names)
        if signal is None and not is_final:
            return None
        record = self._record(wait, signal, 0.0)
        self._journal.end_operation(run.record, record, signal)
        with run.awake.busy():
            await self._journal.wait_durable()
        return record

    async def wait_for_signal(self, run: Run, wait: Wait, until: float | None) -> OpRecord:
        """Wait for a signal until `until`, in seconds since 1970, and return the end of the wait."""
        if until is not None:
            wait.until = until
            self._set_timer(run, wait, until, until - self._clock())
        if wait.about != NULL and wait.op not in run.record.waits:
            self._journal.add_wait(run.record, WaitRecord(wait.op, wait.about, wait.names))
        run.waits[wait.op] = wait
        run.moved()
        try:
            while wait.record is None:
                await wait.bell.wait()
        finally:
            if wait.timer is not None:
                wait.timer.cancel()
            if run.waits.pop(wait.op, None) is not None:
                run.moved()
        return wait.record

    def _set_timer(self, run: Run, wait: Wait, until: float, delay_s: float) -> None:
        wait.timer = self._call_later(max(0.0, delay_s), partial(self._expire, run, wait, until))

    def _expire(self, run: Run, wait: Wait, until: float) -> None:
        if run.is_stopped or run.waits.pop(wait.op, None) is None:
            return
        record = self._record(wait, None, until)
        run.unkept += 1
        run.unpark()
        self._journal.expire(run.record, record, partial(self._wait_expired, run, wait, record))

    def _wait_expired(self, run: Run, wait: Wait, record: OpRecord, is_kept: bool) -> None:
        if is_kept:
            self._tell(run, wait, record)
            return
        run.unkept -= 1  # a signal was faster
        if run.is_stopped:
            return
        run.waits[wait.op] = wait
        signal = run.take_signal(wait.names)
        if signal is not None:
            self._resolve(run, wait, signal)
        elif wait.until is not None:
            self._set_timer(run, wait, wait.until, _AGAIN_S)  # it was for another wait

    def _resolve(self, run: Run, wait: Wait, signal: SignalRecord) -> None:
        record = self._record(wait, signal, 0.0)
        self._journal.end_operation(run.record, record, signal)
        run.waits.pop(wait.op, None)
        run.unkept += 1
        run.unpark()
        self._journal.when_durable(partial(self._tell, run, wait, record))

    def _tell(self, run: Run, wait: Wait, record: OpRecord) -> None:
        run.unkept -= 1
        wait.record = record
        wait.bell.ring()
        run.moved()

    def _record(self, wait: Wait, signal: SignalRecord | None, until: float) -> OpRecord:
        value = NULL
        if signal is not None:
            name, _ = encode(signal.name, "the name of a signal")
            value = b'{"name":%b,"payload":%b}' % (name, signal.payload)
        return OpRecord(wait.op, WAIT, wait.digest, max(self._clock(), until), value)
