"""Events as a file of JSON lines: one document by `as_json` on each line."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable
from io import FileIO
from pathlib import Path
from types import TracebackType

from toolgen.contract.logs import logger

from .document import as_json
from .hub import Events, Subscription
from .records import Event, EventsDropped

log = logger("toolgen.runtime")


class JsonLinesSink:
    """Appends the events of a hub to a file while it is entered: `async with JsonLinesSink(events, path)`.

    Lines are written in a thread and are in the file, though not forced to the disk, when they count as
    written. A full disk reaches no call: what could not be written is counted, and the next events are
    tried again. What is missing in the end is said in the last line, an `events_dropped`.
    """

    def __init__(
        self, events: Events, path: str | Path, *, size: int = 1000, types: Iterable[str] | None = None
    ) -> None:
        """Construct a sink; `size` and `types` are those of `Events.subscribe`."""
        self._events = events
        self._path = Path(path)
        self._size = size
        self._types = types
        self._is_torn = False
        self.written = 0
        """Events in the file."""
        self.failed = 0
        """Events that could not be written."""

    @property
    def dropped(self) -> int:
        """Number of events that were dropped because the file was too slow."""
        return self._subscription.dropped

    async def __aenter__(self) -> JsonLinesSink:
        """Open the file and subscribe.

        Raises:
            OSError: the file cannot be opened.
            ValueError: as `Events.subscribe`.
        """
        self._file: FileIO = await asyncio.to_thread(self._open)
        try:
            self._subscription: Subscription = self._events.subscribe(size=self._size, types=self._types)
        except ValueError:
            self._file.close()
            raise
        self._task = asyncio.get_running_loop().create_task(self._write_all(), name="toolgen events to file")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what is queued, write the number of dropped events, and close the file."""
        self._subscription.close()
        try:
            await self._task
            missing = self.dropped + self.failed
            if missing:
                said = EventsDropped(time=time.time(), count=self.failed, total=missing)
                await asyncio.to_thread(self._append, [said])
        finally:
            self._file.close()

    def _open(self) -> FileIO:
        file = FileIO(self._path, "ab+")  # unbuffered: what is written is in the file
        if file.seek(0, 2):
            file.seek(-1, 2)
            self._is_torn = file.read(1) != b"\n"
        return file

    async def _write_all(self) -> None:
        while events := await self._subscription.batch():
            await asyncio.to_thread(self._append, events)

    def _append(self, events: list[Event]) -> None:
        lines = [line for event in events if (line := self._line(event))]
        try:
            self._write(b"".join(lines))
            self.written += len(lines)
        except (OSError, ValueError) as error:  # ValueError: the host was cancelled, and the file is closed
            if not self.failed:
                log.warning("events are not in %s: %s; more failures are not logged", self._path, error)
            self.failed += len(lines)

    def _line(self, event: Event) -> bytes:
        """Return the event's line; empty, and counted, where a value of the event is not JSON."""
        try:
            document = as_json(event)
            return (
                json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
                + b"\n"
            )
        except (ValueError, RecursionError):
            if not self.failed:
                log.warning("an event %s is not JSON; more failures are not logged", event.type)
            self.failed += 1
            return b""

    def _write(self, text: bytes) -> None:
        """Append whole lines; after a failure in the middle of one the next begins on a line of its own.

        Raises:
            OSError: the file takes no more.
        """
        if self._is_torn and text:
            text = b"\n" + text
        self._is_torn = bool(text)
        rest = memoryview(text)
        while rest:
            rest = rest[self._file.write(rest) or 0 :]
        self._is_torn = False
