"""Text in columns: PostgreSQL has no character U+0000, which ids of hosts may have.

U+0000 is stored as U+0001 U+0001, and U+0001 as U+0001 U+0002. The order of texts by code points and what
they begin with stay the same.
"""

from __future__ import annotations

from psycopg.abc import AdaptContext
from psycopg.types.string import StrDumper, TextLoader


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


def register(context: AdaptContext) -> None:
    """Make a connection write and read texts in this form."""
    adapters = context.adapters
    assert adapters is not None  # a connection has them
    adapters.register_dumper(str, _Dumper)
    adapters.register_loader("text", _Loader)
