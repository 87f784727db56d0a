"""Reports of runs between processes with `NOTIFY`, without a table.

Every role of a database can listen to a channel whose name it knows, and notify its listeners. Therefore the
name is derived from the topic and the secret of the host. PostgreSQL accepts payloads of less than 8,000
bytes, and drops one of two equal payloads of a transaction: messages are numbered, and long ones are split.
"""

from __future__ import annotations

import asyncio
import hmac
import itertools
import uuid
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

import psycopg

from toolgen.contract.logs import logger
from toolgen.stores import StoreError

from .connection import PostgresConnection
from .database import Postgres

_PART: Final = 7_900
"""Maximum number of base64 characters in a notification, in addition to its number."""
_MOST_PARTS: Final = 16
_PAUSE_S: Final = 1.0
"""Seconds between two attempts to listen."""
_NOTIFY: Final = b"""
    SELECT pg_notify(sent.channel, sent.part) FROM unnest(%s::text[], %s::text[]) AS sent (channel, part)
"""

log = logger("toolgen.adapters.postgres")


class _Channel:
    """Listeners of a channel, and the received parts of an incomplete message."""

    def __init__(self) -> None:
        self.takers: list[Callable[[bytes], None]] = []
        self.is_listening = asyncio.Event()
        self._number = ""
        self._parts: list[str] = []

    def take(self, text: str) -> None:
        """Process a notification; ignore it if it is not the expected part of a message."""
        try:
            head, _, data = text.partition(":")
            number, place, count = head.split(".")
            if int(place) == 0:
                self._number, self._parts = number, []
            if number != self._number or int(place) != len(self._parts) or int(count) > _MOST_PARTS:
                return
            self._parts.append(data)
            if len(self._parts) < int(count):
                return
            message = b64decode("".join(self._parts), validate=True)
        except ValueError:
            return
        self._number, self._parts = "", []
        for taker in tuple(self.takers):
            taker(message)


class PostgresReports:
    """Transports reports with database notifications; a `ReportChannel`.

    Each listening process has its own connection for that, which needs a server session: a pooler that
    switches connections between transactions is not sufficient. Sending uses a connection of the pool.
    """

    def __init__(self, database: Postgres, *, secret: bytes | Sequence[bytes]) -> None:
        """Create a channel.

        Args:
            database: Database, the same in all processes.
            secret: Secret of the host, as in `Runtime(secret=…)`; if there are several, the first one is
                used.
        """
        self.database = database
        self._secret = secret if isinstance(secret, bytes) else secret[0]
        self._sender = uuid.uuid4().hex[:16]
        self._numbers = itertools.count()
        self._channels: dict[str, _Channel] = {}
        self._changed = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None

    async def send(self, messages: Sequence[tuple[str, bytes]]) -> None:
        """Notify current listeners. A message arrives completely or not at all.

        Raises:
            StoreError: The server cannot be used.
        """
        parts = [(self._name(topic), part) for topic, message in messages for part in self._parts_of(message)]
        channels, texts = [channel for channel, _ in parts], [text for _, text in parts]

        async def step(connection: PostgresConnection) -> None:
            await connection.execute(_NOTIFY, (channels, texts))

        await self.database.write(step)

    @asynccontextmanager
    async def listen(self, topic: str, take: Callable[[bytes], None]) -> AsyncIterator[None]:
        """Pass each message of a topic to `take` for the duration of the context.

        The body of the context starts after the server has begun to listen.
        """
        name = self._name(topic)
        channel = self._channels.setdefault(name, _Channel())
        channel.takers.append(take)
        self._changed.set()
        if self._listening is None or self._listening.done():
            self._listening = asyncio.create_task(self._listen())
        try:
            await channel.is_listening.wait()
            yield
        finally:
            channel.takers.remove(take)
            if not channel.takers:
                del self._channels[name]
                self._changed.set()

    def _name(self, topic: str) -> str:
        return f"toolgen_{hmac.digest(self._secret, f'reports:{topic}'.encode(), 'sha256').hex()[:40]}"

    def _parts_of(self, message: bytes) -> Iterator[str]:
        text, number = b64encode(message).decode(), f"{self._sender}{next(self._numbers):x}"
        starts = range(0, len(text), _PART) or range(1)
        for place, start in enumerate(starts):
            yield f"{number}.{place}.{len(starts)}:{text[start : start + _PART]}"

    async def _listen(self) -> None:
        """Listen while there are listeners; reconnect if the connection breaks."""
        is_away = False
        while self._channels:
            try:
                connection = await self.database.connect()
                try:
                    is_away = False
                    await self._receive(connection)
                finally:
                    connection.pgconn.finish()
            except (StoreError, psycopg.Error) as error:
                for channel in self._channels.values():
                    channel.is_listening.clear()
                if not is_away:
                    log.warning("reports of other processes were missed: %s", error)
                is_away = True
                await asyncio.sleep(_PAUSE_S)

    async def _receive(self, connection: PostgresConnection) -> None:
        """Process the notifications of a connection until there are no listeners.

        Raises:
            psycopg.Error: The connection broke.
        """
        connection.add_notify_handler(lambda notify: self._take(notify.channel, notify.payload))
        listened_channels: set[str] = set()
        while self._channels:
            self._changed.clear()
            wanted = set(self._channels)
            statements = [f'LISTEN "{name}"' for name in wanted - listened_channels] + [
                f'UNLISTEN "{name}"' for name in listened_channels - wanted
            ]
            for statement in statements:
                await connection.execute(statement.encode())
            listened_channels = wanted
            for name in wanted & self._channels.keys():
                self._channels[name].is_listening.set()
            await self._until_changed(connection)

    async def _until_changed(self, connection: PostgresConnection) -> None:
        """Process notifications until the set of channels changes.

        Raises:
            psycopg.Error: The connection broke.
        """
        loop, socket = asyncio.get_running_loop(), connection.fileno()
        broken: asyncio.Future[None] = loop.create_future()

        def read() -> None:
            try:
                connection.pgconn.consume_input()
            except psycopg.Error as error:
                loop.remove_reader(socket)
                if not broken.done():
                    broken.set_exception(error)
            while (notify := connection.pgconn.notifies()) is not None:
                self._take(notify.relname.decode(), notify.extra.decode("utf-8", "replace"))

        changed = asyncio.create_task(self._changed.wait())
        loop.add_reader(socket, read)
        try:
            read()
            await asyncio.wait((broken, changed), return_when=asyncio.FIRST_COMPLETED)
            if broken.done():
                broken.result()
        finally:
            loop.remove_reader(socket)
            changed.cancel()

    def _take(self, name: str, text: str) -> None:
        if (channel := self._channels.get(name)) is not None:
            channel.take(text)
