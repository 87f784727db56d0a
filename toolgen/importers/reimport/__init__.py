"""A new version of a source, merged into a design that its author has edited."""

from .clause_merge import Change, ChangeKind
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
from .places import described, tool_of
from .source_text import UnreadableDesignError

__all__ = [
    "LOCK_SUFFIX",
    "Change",
    "ChangeKind",
    "ImportLock",
    "ImportLockError",
    "Merged",
    "UnreadableDesignError",
    "described",
    "design_path",
    "digest",
    "lock_path",
    "lock_text",
    "merge",
    "read_lock",
    "tool_of",
]
