"""SQLite files and folders for stores: opening, transactions, errors."""

from .errors import (
    ForeignFileError,
    ForeignSecretError,
    LeaseLostError,
    ReplacedFileError,
    StoreClosedError,
    StoreConnectionError,
    StoreCorruptError,
    StoreDiskError,
    StoreError,
    StoreFormatError,
    StoreFullError,
    StoreLockedError,
    StoreMissingError,
    StoreReadOnlyError,
    UnsafeFileError,
)

__all__ = [
    "ForeignFileError",
    "ForeignSecretError",
    "LeaseLostError",
    "ReplacedFileError",
    "StoreClosedError",
    "StoreConnectionError",
    "StoreCorruptError",
    "StoreDiskError",
    "StoreError",
    "StoreFormatError",
    "StoreFullError",
    "StoreLockedError",
    "StoreMissingError",
    "StoreReadOnlyError",
    "UnsafeFileError",
]
