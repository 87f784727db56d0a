"""Files that stores keep their data in, and what goes wrong with them."""

from .errors import (
    ForeignFileError,
    StoreClosedError,
    StoreCorruptError,
    StoreError,
    StoreFormatError,
    StoreFullError,
    StoreLockedError,
    StoreMissingError,
    StoreReadOnlyError,
)

__all__ = [
    "ForeignFileError",
    "StoreClosedError",
    "StoreCorruptError",
    "StoreError",
    "StoreFormatError",
    "StoreFullError",
    "StoreLockedError",
    "StoreMissingError",
    "StoreReadOnlyError",
]
