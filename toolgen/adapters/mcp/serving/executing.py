"""How many calls of a server are executed now, whatever became of the connections that brought them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class ExecutingCalls:
    """Counts the calls of one server.

    Open requests do not say it: through 2025-11-25 a client that is gone has not cancelled its call (MCP,
    Transports, Sending Messages).
    """

    def __init__(self) -> None:
        self.count = 0
        self._of_owner: Counter[str] = Counter()
        self._is_idle = asyncio.Event()
        self._is_idle.set()

    def count_of(self, owner: str) -> int:
        """Return how many of them are of one owner, as `owner_of` names it."""
        return self._of_owner[owner]

    @contextmanager
    def counted(self, owner: str | None) -> Iterator[None]:
        """Count a call while the context lasts; the owner is None where nobody is verified."""
        owners = () if owner is None else (owner,)
        self.count += 1
        self._of_owner.update(owners)
        self._is_idle.clear()
        try:
            yield
        finally:
            self.count -= 1
            self._of_owner -= Counter(owners)  # which keeps no zeros
            if not self.count:
                self._is_idle.set()

    async def ended(self) -> None:
        """Wait until no call is executed."""
        await self._is_idle.wait()
