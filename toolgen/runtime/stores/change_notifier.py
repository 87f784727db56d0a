"""Notifies other processes that have a file open of changes in it.

Sockets for datagrams stand beside the file. The worker has one of a fixed name; others announce theirs to it,
and it rings back. A datagram may be lost, so whoever listens also looks at the file from time to time.
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

_MODE: Final = 0o600
_ADDRESS_BYTES: Final = 100
"""What fits into a socket address (`sockaddr_un`); a descriptor of the folder leads to a longer one."""


class ChangeNotifier:
    """The socket of one opener of a file; belongs to the event loop in which it was opened."""

    def __init__(self, path: Path, on_ring: Callable[[], None]) -> None:
        self._folder = path.parent
        self._worker = f"{path.name}.bell"
        self._own = ""
        self._pattern = re.compile(re.escape(path.name) + r"\.[0-9a-f]{16}\.bell")
        self._on_ring = on_ring
        self._socket: socket.socket | None = None
        self._descriptor: int | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._others: set[str] = set()

    def open(self, *, is_worker: bool) -> None:
        """Start to listen; without sockets in the folder of the file there are no notifications."""
        self.close()
        own = self._worker if is_worker else f"{self._worker[:-5]}.{secrets.token_hex(8)}.bell"
        try:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
            self._socket.setblocking(False)
            weakref.finalize(self, self._socket.close)
            self._own = own
            if is_worker:
                (self._folder / own).unlink(missing_ok=True)  # of a worker that was killed
            self._socket.bind(self._address(own))
            os.chmod(self._folder / own, _MODE)
        except (OSError, AttributeError):  # not on this disk, or not on this system
            self.close()
            return
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._socket, self._on_readable)
        if not is_worker:
            self.notify_worker()

    def close(self) -> None:
        """Stop listening."""
        if self._loop is not None and self._socket is not None and not self._loop.is_closed():
            self._loop.remove_reader(self._socket)
        if self._socket is not None:
            self._socket.close()
            with suppress(OSError):
                (self._folder / self._own).unlink(missing_ok=True)
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._socket = self._loop = self._descriptor = None
        self._own = ""
        self._others.clear()

    def notify_worker(self) -> bool:
        """Notify the worker process of a change; return False when there is none."""
        return self._socket is None or self._send(self._worker, self._own.encode())

    def notify_clients(self) -> None:
        """Notify the client processes that have registered."""
        for name in list(self._others):
            if not self._send(name, b""):
                self._others.discard(name)
                with suppress(OSError):
                    (self._folder / name).unlink(missing_ok=True)

    def _send(self, name: str, body: bytes) -> bool:
        assert self._socket is not None, "only an open doorbell rings"
        try:
            self._socket.sendto(body, self._address(name))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:  # its queue is full, so that it will look anyway
            return True
        return True

    def _on_readable(self) -> None:
        assert self._socket is not None, "only an open doorbell listens"
        with suppress(BlockingIOError):
            while True:
                name = self._socket.recv(256).decode("utf-8", "replace")
                if self._pattern.fullmatch(name):
                    self._others.add(name)
        self._on_ring()

    def _address(self, name: str) -> str:
        path = str(self._folder / name)
        if len(os.fsencode(path)) <= _ADDRESS_BYTES:
            return path
        if self._descriptor is None:
            self._descriptor = os.open(self._folder, os.O_RDONLY | os.O_CLOEXEC)
        return f"/proc/self/fd/{self._descriptor}/{name}"
