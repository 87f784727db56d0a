"""A connection to PostgreSQL, and the statements and the texts of stores as PostgreSQL takes them.

It has no character U+0000, which ids of hosts may have: U+0000 is stored as U+0001 U+0001, and U+0001 as
U+0001 U+0002. The order of texts by code points and what they begin with stay the same.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import psycopg
from psycopg.rows import TupleRow
from psycopg.types.string import StrDumper, TextLoader

_TABLE: Final = re.compile(r"\b(FROM|JOIN|INTO|UPDATE) (?=[a-z])")


class Connection(psycopg.AsyncConnection[TupleRow]):
    """A connection; within a step it is the `Transaction` of `toolgen.stores.transactions`."""

    async def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            cursor = await self.execute(_statement(sql), values)
        except UnicodeEncodeError:
            return []
        return await cursor.fetchall()

    async def locked(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return await self.rows(f"{sql} FOR UPDATE", *values)

    async def change(self, sql: str, *values: object) -> int:
        return (await self.execute(_statement(sql), values)).rowcount

    def register_texts(self) -> None:
        """Write and read texts from now on with all their characters."""
        self.adapters.register_dumper(str, _Dumper)
        self.adapters.register_loader("text", _Loader)


@lru_cache(maxsize=256)
def _statement(sql: str) -> bytes:
    """Return a statement with the schema of its tables, and the placeholders of psycopg."""
    return _TABLE.sub(r"\1 toolgen.", sql).replace("?", "%s").encode()


class _Dumper(StrDumper):
    def dump(self, obj: str) -> bytes:
        """Return the text in UTF-8.

        Raises:
            UnicodeEncodeError: it holds a lone surrogate.
        """
        return obj.replace("\x01", "\x01\x02").replace("\x00", "\x01\x01").encode()


class _Loader(TextLoader):
    def load(self, data: bytes | bytearray | memoryview) -> str:
        return bytes(data).decode().replace("\x01\x01", "\x00").replace("\x01\x02", "\x01")
