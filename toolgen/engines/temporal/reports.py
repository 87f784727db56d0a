"""Reports of activities to followers in other processes, over a channel of the host.

Delivery is best effort: reports that are too long, or that the channel does not accept soon, are dropped. No
run waits for the channel, and a follower waits at most a second.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final

from temporalio.api.common.v1 import Payload, Payloads
from temporalio.converter import PayloadCodec

from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger

from ..engine import ReportChannel
from ..in_process.journal import Followers, report_message

REPORT_BYTES: Final = 2**15
"""Maximum size of the JSON of a report in bytes; a longer one is not sent."""
_MOST: Final = 1_000
"""Maximum number of unsent and of unread reports; then the oldest unsent and the newest unread are
dropped."""
_AT_ONCE: Final = 100
_PATIENCE_S: Final = 1.0
"""Seconds that a follower waits for the channel."""

log = logger("toolgen.engines")


class _Listening:
    """Number of followers of a run in this process, and the task that listens for them."""

    def __init__(self) -> None:
        self.count = 0
        self.has_begun = asyncio.Event()
        self.task: asyncio.Task[None] | None = None


class Reports:
    """Sends and receives the reports of an engine over a channel; without a channel, only in this process."""

    def __init__(
        self,
        followers: Followers,
        *,
        engine_id: str,
        channel: ReportChannel | None,
        codec: PayloadCodec | None,
    ) -> None:
        """Construct for the followers of this process; `codec` is the host's, and encodes each report."""
        self._followers = followers
        self._engine_id = engine_id
        self._channel = channel
        self._codec = codec
        self._mine = uuid.uuid4().bytes
        """Prefix of the messages from this process, whose followers already have them."""
        self._waiting: deque[tuple[str, bytes]] = deque(maxlen=_MOST)
        self._sending: asyncio.Task[None] | None = None
        self._is_failing = False
        self._listening: dict[str, _Listening] = {}

    def publish(self, run_id: str, after: int, event: Mapping[str, Json]) -> None:
        """Publish a report to the followers of a run, in this process and, best effort, in others.

        `after` is the number of events in the log before it.
        """
        self._followers.publish(run_id, after, event)
        if self._channel is None:
            return
        message = report_message(run_id, after, event)
        if len(message) > REPORT_BYTES:
            return
        self._waiting.append((self._topic(run_id), self._mine + message))
        if self._sending is None:
            self._sending = asyncio.create_task(self._send(self._channel))

    @asynccontextmanager
    async def listening(self, run_id: str) -> AsyncIterator[None]:
        """Pass reports of other processes to the followers of a run inside the context."""
        if self._channel is None:
            yield
            return
        listening = self._listening.setdefault(run_id, _Listening())
        listening.count += 1
        if listening.task is None:
            listening.task = asyncio.create_task(self._listen(self._channel, run_id, listening.has_begun))
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(listening.has_begun.wait(), _PATIENCE_S)
            yield
        finally:
            listening.count -= 1
            if not listening.count:
                del self._listening[run_id]
                listening.task.cancel()

    def close(self) -> None:
        """Drop unsent reports."""
        self._waiting.clear()
        if self._sending is not None:
            self._sending.cancel()

    def _topic(self, run_id: str) -> str:
        return f"{self._engine_id}:{run_id}"

    async def _send(self, channel: ReportChannel) -> None:
        """Send the pending messages in batches, one after another."""
        try:
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), _AT_ONCE))]
                try:
                    await channel.send([(topic, await self._sealed(message)) for topic, message in batch])
                    self._is_failing = False
                except Exception as error:  # noqa: BLE001 - the host's channel; logged once, and the next batch tries again
                    if not self._is_failing:
                        log.warning("reports do not reach other processes: %s", error)
                    self._is_failing = True
        finally:
            self._sending = None

    async def _listen(self, channel: ReportChannel, run_id: str, has_begun: asyncio.Event) -> None:
        """Receive messages until the task is canceled because the run has no follower."""
        unread_messages: asyncio.Queue[bytes] = asyncio.Queue(_MOST)

        def take(message: bytes) -> None:
            with suppress(asyncio.QueueFull):
                unread_messages.put_nowait(message)

        try:
            async with channel.listen(self._topic(run_id), take):
                has_begun.set()
                while True:
                    await self._take(await unread_messages.get())
        except Exception as error:  # noqa: BLE001 - the host's channel; logged, because reports are not part of a result
            log.warning("run %s: reports of other processes were missed: %s", run_id, error)
        finally:
            has_begun.set()

    async def _take(self, sealed: bytes) -> None:
        try:
            message = await self._opened(sealed)
        except Exception as error:  # noqa: BLE001 - the host's codec; logged, because reports are not part of a result
            log.warning("a report of another process cannot be read: %s", error)
            return
        if not message.startswith(self._mine):
            self._followers.take_message(message[len(self._mine) :])

    async def _sealed(self, message: bytes) -> bytes:
        """Return a message in its transport form, encoded by the codec."""
        if self._codec is None:
            return message
        return Payloads(payloads=await self._codec.encode([Payload(data=message)])).SerializeToString()

    async def _opened(self, sealed: bytes) -> bytes:
        if self._codec is None:
            return sealed
        [payload] = await self._codec.decode(list(Payloads.FromString(sealed).payloads))
        return payload.data
