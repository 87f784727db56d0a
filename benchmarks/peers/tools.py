"""The tools that each peer calls, as plain functions; nothing but pydantic is imported."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from ..bare import Kind, Limit, Result, State, result_of


def lister(size: int, *, as_text: bool = False) -> Callable[..., Awaitable[Any]]:
    """Return `list_devices` with so many devices.

    As text its result is encoded in the function, for a peer whose model would read Python's repr.
    """
    result = result_of(size)

    async def list_devices(
        site_id: str,
        status: State | None = None,
        kind: Kind | None = None,
        limit: Limit = 20,
        cursor: str | None = None,
    ) -> Result | str:
        """List the devices of a site."""
        return result.model_dump_json() if as_text else result

    list_devices.__annotations__["return"] = "str" if as_text else "Result"
    return list_devices


async def ping(text: str) -> str:
    """Return the text."""
    return text


async def count(upto: int) -> int:
    """Count."""
    return upto
