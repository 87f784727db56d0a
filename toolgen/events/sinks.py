"""Sinks for the events of a hub, for example a file of JSON lines with one `as_json` document each."""

from __future__ import annotations

import asyncio
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Generic, Self, TypeVar

from toolgen.contract.logs import logger
from toolgen.contract.printable import visible
from toolgen.stores import StoreError

from .document import as_json
from .hub import Events, Subscription
from .records import Event, EventsDropped

T = TypeVar("T")

log = logger("toolgen.runtime")


class EventSink(ABC, Generic[T]):
    """Writes the events of a hub while it is entered.

    A failing destination affects no call: failed events are counted, and the next events are tried again. The
    last event, an `events_dropped`, has the number of missing events.
    """

    def __init__(self, events: Events, place: str, *, size: int, types: Iterable[str] | None) -> None:
        """Construct a sink; `place` names it in the log, `size` and `types` are for `Events.subscribe`."""
        self._events = events
        self._place = place
        self._size = size
        self._types = types
        self.written = 0
        """Number of events that were written."""
        self.failed = 0
        """Number of events that could not be written."""

    @property
    def dropped(self) -> int:
        """Number of events that were dropped because the destination was too slow."""
        return self._subscription.dropped

    @abstractmethod
    async def _open(self) -> None:
        """Prepare for writing."""

    @abstractmethod
    def _encode(self, event: Event) -> T:
        """Return the encoded event; called in any thread.

        Raises:
            ValueError: a value of the event is not JSON.
            RecursionError: a value of the event contains itself.
        """

    @abstractmethod
    async def _write(self, encoded: Sequence[T]) -> None:
        """Write events.

        Raises:
            OSError: the destination cannot be written to.
            StoreError: the destination is a store that cannot be used.
            ValueError: the destination was closed because the host was canceled.
        """

    def _close(self) -> None:  # a default, because some sinks have nothing to close
        """Stop writing."""

    async def __aenter__(self) -> Self:
        """Open the place and subscribe.

        Raises:
            OSError: the file cannot be opened.
            StoreError: the store cannot be used.
            ValueError: as `Events.subscribe`.
        """
        await self._open()
        try:
            self._subscription: Subscription = self._events.subscribe(size=self._size, types=self._types)
        except ValueError:
            self._close()
            raise
        self._task = asyncio.get_running_loop().create_task(self._add_all(), name="toolgen events to sink")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write the queued events and the number of dropped events, and close the sink."""
        self._subscription.close()
        try:
            await self._task
            missing = self.dropped + self.failed
            if missing:
                await self._add([EventsDropped(time=time.time(), count=self.failed, total=missing)])
        finally:
            self._close()

    async def _add_all(self) -> None:
        while events := await self._subscription.batch():
            await self._add(events)

    async def _add(self, events: Sequence[Event]) -> None:
        encoded = await asyncio.to_thread(self._encode_all, events)
        try:
            await self._write(encoded)
            self.written += len(encoded)
        except (OSError, ValueError, StoreError) as error:
            if not self.failed:
                log.warning(
                    "events could not be written to %s: %s; further failures are not logged",
                    self._place,
                    error,
                )
            self.failed += len(encoded)

    def _encode_all(self, events: Sequence[Event]) -> list[T]:
        """Return the encoded events; count the events that are not JSON."""
        encoded: list[T] = []
        for event in events:
            try:
                encoded.append(self._encode(event))
            except (ValueError, RecursionError):
                if not self.failed:
                    log.warning(
                        "an event of type %s is not JSON; further failures are not logged", event.type
                    )
                self.failed += 1
        return encoded


class JsonLinesSink(EventSink[bytes]):
    """Appends the events of a hub to a file while it is entered: `async with JsonLinesSink(events, path)`.

    Lines are written in a thread. They count as written when they are in the file, even if not yet synced to
    the disk. Only the user of this process can access a new file. Control and invisible characters are
    escaped in JSON, so that a line cannot control a terminal or look like two lines.
    """

    def __init__(
        self, events: Events, path: str | Path, *, size: int = 1000, types: Iterable[str] | None = None
    ) -> None:
        """Construct a sink; `size` and `types` are for `Events.subscribe`."""
        super().__init__(events, str(path), size=size, types=types)
        self._path = Path(path)
        self._is_torn = False

    async def _open(self) -> None:
        self._file = await asyncio.to_thread(self._open_file)

    def _open_file(self) -> FileIO:
        self._path.touch(0o600)  # the mode of a new file; an existing file keeps its mode
        file = FileIO(self._path, "ab+")  # unbuffered, so that written lines are in the file
        if file.seek(0, 2):
            file.seek(-1, 2)
            self._is_torn = file.read(1) != b"\n"
        return file

    def _close(self) -> None:
        self._file.close()

    def _encode(self, event: Event) -> bytes:
        text = json.dumps(as_json(event), ensure_ascii=False, separators=(",", ":"))
        return visible(text.encode(errors="replace").decode()).encode() + b"\n"

    async def _write(self, encoded: Sequence[bytes]) -> None:
        await asyncio.to_thread(self._append, b"".join(encoded))

    def _append(self, text: bytes) -> None:
        """Append complete lines; after a partial write, the next line starts on its own line.

        Raises:
            OSError: the file cannot be written to.
        """
        if self._is_torn and text:
            text = b"\n" + text
        self._is_torn = bool(text)
        rest = memoryview(text)
        while rest:
            rest = rest[self._file.write(rest) or 0 :]
        self._is_torn = False
