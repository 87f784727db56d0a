"""The servers of stores, and whether they can be used now."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable


@runtime_checkable
class StoreServer(Protocol):
    """The server of stores, or a file that an engine writes; `database` of a store, `file` of an engine."""

    async def check(self) -> None:
        """Return where stores can use the server now; it costs the server next to nothing.

        Raises:
            StoreError: they cannot; the class says why.
        """
        ...


def servers_of(stores: Iterable[object]) -> tuple[StoreServer, ...]:
    """Return the servers of stores, each once; those in memory or in a file of their own have none."""
    found = (getattr(store, name, None) for store in stores for name in ("database", "file"))
    return tuple({id(server): server for server in found if isinstance(server, StoreServer)}.values())
