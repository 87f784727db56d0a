"""Large values of runs, stored beside an engine that keeps references to them."""

from __future__ import annotations

from typing import Protocol


class PayloadStore(Protocol):
    """Keeps bytes by reference; an engine whose history is small gives it what is large, encrypted or not.

    Each method is one atomic step, over all processes.
    """

    async def put(self, data: bytes, *, session: str = "") -> str:
        """Store data and return its reference; the same data has the same reference.

        `session` is the one that it is erased with; "" for none. Data of two sessions is stored for each.
        """
        ...

    async def get(self, ref: str) -> bytes:
        """Return the data of a reference.

        Raises:
            PayloadGoneError: it was erased or pruned, or never stored.
        """
        ...

    async def forget(self, session: str) -> int:
        """Erase what was stored for a session; return how many payloads it were.

        Raises:
            ValueError: the session is "".
        """
        ...
