"""A new version of a source, merged into a design that its author has edited."""

from .clause_merge import Change, ChangeKind
from .conflicts import OpenConflict, Recorded, accepted_addresses, refuse_addresses
from .lock import (
    LOCK_SUFFIX,
    ImportLock,
    ImportLockError,
    design_path,
    digest,
    lock_path,
    lock_text,
    read_lock,
)
from .merge import Merged, merge
from .places import described, place_of, tool_of
from .source_text import SourceText, UnreadableDesignError
from .targets import targets_in

__all__ = [
    "LOCK_SUFFIX",
    "Change",
    "ChangeKind",
    "ImportLock",
    "ImportLockError",
    "Merged",
    "OpenConflict",
    "Recorded",
    "SourceText",
    "UnreadableDesignError",
    "accepted_addresses",
    "described",
    "design_path",
    "digest",
    "lock_path",
    "lock_text",
    "merge",
    "place_of",
    "read_lock",
    "refuse_addresses",
    "targets_in",
    "tool_of",
]
