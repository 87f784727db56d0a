"""Watches a journal file for changes: by notifications, and by a look each second."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final

from toolgen.runtime.stores.change_notifier import ChangeNotifier

from .clock import CallLater, Timer

_POLL_S: Final = 1.0


class FileWatch:
    """Calls back when the file may have changed; belongs to the event loop that started it."""

    def __init__(self, path: Path, call_later: CallLater, on_news: Callable[[], None]) -> None:
        self._call_later = call_later
        self._on_change = on_news
        self._notifier = ChangeNotifier(path, on_news)
        self._timer: Timer | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_worker = False

    @property
    def is_watching(self) -> bool:
        return self._loop is not None

    def start(self, *, is_worker: bool) -> None:
        """Start to watch, if not started yet; the worker gets the notifications of all clients."""
        loop = asyncio.get_running_loop()
        if loop is self._loop and (self._is_worker or not is_worker):
            return
        self.stop()
        self._loop, self._is_worker = loop, is_worker
        self._notifier.open(is_worker=is_worker)
        self._look()

    def stop(self) -> None:
        """Stop watching."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop = None
        self._is_worker = False
        self._notifier.close()

    def tell(self) -> bool:
        """Notify other processes that the file has changed; return False when there is no worker."""
        if self._is_worker:
            self._notifier.notify_clients()
            return True
        return self._notifier.notify_worker()

    def _look(self) -> None:
        self._timer = self._call_later(_POLL_S, self._polled)

    def _polled(self) -> None:
        self._on_change()
        if self._loop is not None:
            self._look()
