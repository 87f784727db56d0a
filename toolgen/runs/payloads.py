"""Large values of runs, stored beside an engine that keeps references to them."""

from __future__ import annotations

from typing import Protocol


class PayloadStore(Protocol):
    """Keeps bytes by reference; an engine whose history is small gives it what is large, encrypted or not.

    Each method is one atomic step, over all processes.
    """

    async def put(self, data: bytes, *, owner: str = "") -> str:
        """Store data and return its reference; the same data has the same reference.

        `owner` is what it is erased with, such as the id of a workflow; "" for none. Data of two owners is
        stored for each.
        """
        ...

    async def get(self, ref: str) -> bytes:
        """Return the data of a reference.

        Raises:
            PayloadGoneError: it was erased or pruned, or never stored.
        """
        ...

    async def forget(self, owner: str) -> int:
        """Erase what was stored for an owner; return how many payloads it were.

        Raises:
            ValueError: the owner is "".
        """
        ...
