"""The servers of stores, and whether they can be used now."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable


@runtime_checkable
class StoreServer(Protocol):
    """The server of stores; each of them has it as its attribute `database`."""

    async def check(self) -> None:
        """Return where stores can use the server now; it costs the server next to nothing.

        Raises:
            StoreError: they cannot; the class says why.
        """
        ...


def servers_of(stores: Iterable[object]) -> tuple[StoreServer, ...]:
    """Return the servers that the stores use, each once; those in memory and in files have none."""
    found = (getattr(store, "database", None) for store in stores)
    return tuple({id(server): server for server in found if isinstance(server, StoreServer)}.values())
