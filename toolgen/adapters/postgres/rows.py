"""Rows of a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString

from .database import Connection


async def rows(
    connection: Connection, query: LiteralString, values: Sequence[object]
) -> list[tuple[Any, ...]]:
    """Return the rows of a query; none for an id that UTF-8 cannot encode."""
    try:
        return await (await connection.execute(query, values)).fetchall()
    except UnicodeEncodeError:
        return []
