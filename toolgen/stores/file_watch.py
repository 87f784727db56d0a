"""Watches a file for changes by other processes, with notifications and a check each second.

Datagram sockets are next to the file. The worker's socket has a fixed name. Clients announce their sockets to
it, and it notifies them, optionally with a message. The check is necessary because a datagram can be lost or
find no socket. Messages are best effort: a message that no socket accepts immediately is lost.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import socket
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from toolgen.contract.tasks import CallLater, Timer

_POLL_S: Final = 1.0
_MODE: Final = 0o600
MESSAGE_BYTES: Final = 2**15
"""Maximum size of a message in bytes; a longer one is not sent."""
_ADDRESS_BYTES: Final = 100
"""Maximum length of a socket address (`sockaddr_un`); longer paths use a descriptor of the folder."""


class FileWatch:
    """Calls back when the file might have changed; belongs to the event loop that started it."""

    def __init__(
        self,
        path: Path,
        call_later: CallLater,
        on_change: Callable[[], None],
        on_message: Callable[[bytes], None],
    ) -> None:
        """Construct it with callbacks for a possible change of the file, and for each message to a client."""
        self._folder = path.parent
        self._worker = f"{path.name}.bell"
        self._pattern = re.compile(re.escape(path.name) + r"\.[0-9a-f]{16}\.bell")
        self._call_later = call_later
        self._on_change = on_change
        self._on_message = on_message
        self._is_worker = False
        self._timer: Timer | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._socket: socket.socket | None = None
        """Socket of this process; None if the folder or the system has no sockets."""
        self._own = ""
        self._clients: set[str] = set()
        self._descriptor: int | None = None

    @property
    def is_watching(self) -> bool:
        return self._loop is not None

    def start(self, *, is_worker: bool) -> None:
        """Start watching, if not started yet; the worker receives the notifications of all clients."""
        loop = asyncio.get_running_loop()
        if loop is self._loop and (self._is_worker or not is_worker):
            return
        self.stop()
        self._loop, self._is_worker = loop, is_worker
        self._own = self._worker if is_worker else f"{self._worker[:-5]}.{secrets.token_hex(8)}.bell"
        try:
            self._listen(loop)
        except (OSError, AttributeError):  # this disk or this system has no such sockets
            self._close()
        if not is_worker:
            self.notify()
        self._timer = self._call_later(_POLL_S, self._poll)

    def stop(self) -> None:
        """Stop watching."""
        if self._timer is not None:
            self._timer.cancel()
        self._close()
        self._timer = self._loop = None
        self._is_worker = False

    def notify(self) -> bool:
        """Notify other processes that the file has changed; return False if there is no worker."""
        if not self._is_worker:
            return self._socket is None or self._send(self._worker, self._own.encode())
        for name in list(self._clients):
            if not self._send(name, b""):
                self._clients.discard(name)
                with suppress(OSError):
                    (self._folder / name).unlink(missing_ok=True)
        return True

    @property
    def has_clients(self) -> bool:
        """Whether this is the worker's watch, and a client watches the file."""
        return bool(self._clients)

    def send(self, message: bytes) -> None:
        """Send a message to all clients that can accept it now; only the worker calls this."""
        if 0 < len(message) <= MESSAGE_BYTES:
            for name in self._clients:
                self._send(name, message)

    def _poll(self) -> None:
        try:
            self._on_change()
        finally:
            if self._loop is not None:
                self._timer = self._call_later(_POLL_S, self._poll)

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        self._socket.setblocking(False)
        weakref.finalize(self, self._socket.close)
        if self._is_worker:
            (self._folder / self._own).unlink(missing_ok=True)  # the socket of a worker that was killed
        self._socket.bind(self._address(self._own))
        os.chmod(self._folder / self._own, _MODE)
        loop.add_reader(self._socket, self._on_readable)

    def _close(self) -> None:
        if self._socket is not None:
            if self._loop is not None and not self._loop.is_closed():
                self._loop.remove_reader(self._socket)
            self._socket.close()
            with suppress(OSError):
                (self._folder / self._own).unlink(missing_ok=True)
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._socket = self._descriptor = None
        self._clients.clear()

    def _send(self, name: str, body: bytes) -> bool:
        assert self._socket is not None, "only a socket that is open sends"
        try:
            self._socket.sendto(body, self._address(name))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:  # the queue of the receiver is full, so it will check the file anyway
            return True
        return True

    def _on_readable(self) -> None:
        assert self._socket is not None, "only a socket that is open is read"
        with suppress(BlockingIOError):
            while True:
                message = self._socket.recv(MESSAGE_BYTES)
                if self._is_worker:
                    name = message.decode("utf-8", "replace")
                    if self._pattern.fullmatch(name):
                        self._clients.add(name)
                elif message:
                    self._on_message(message)
        self._on_change()

    def _address(self, name: str) -> str:
        path = str(self._folder / name)
        if len(os.fsencode(path)) <= _ADDRESS_BYTES:
            return path
        if self._descriptor is None:
            self._descriptor = os.open(self._folder, os.O_RDONLY | os.O_CLOEXEC)
        return f"/proc/self/fd/{self._descriptor}/{name}"
