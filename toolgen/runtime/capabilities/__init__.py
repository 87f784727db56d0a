"""What executors find at their context when the host provides it: state, artifacts, and what hosts add."""

from .artifacts import (
    ArtifactInfo,
    Artifacts,
    ArtifactsCapability,
    ArtifactStore,
    StoredArtifact,
    SyncArtifacts,
)
from .artifacts_file import FileArtifactStore
from .artifacts_memory import MemoryArtifactStore
from .artifacts_sqlite import SqliteArtifactStore
from .capability import CallScope, Capability, Conflict, ReadableState, ThreadCapability
from .state import Change, State, StateCapability, StateStore, SyncState
from .state_memory import MemoryStateStore
from .state_sqlite import SqliteStateStore

__all__ = [
    "ArtifactInfo",
    "ArtifactStore",
    "Artifacts",
    "ArtifactsCapability",
    "CallScope",
    "Capability",
    "Change",
    "Conflict",
    "FileArtifactStore",
    "MemoryArtifactStore",
    "MemoryStateStore",
    "ReadableState",
    "SqliteArtifactStore",
    "SqliteStateStore",
    "State",
    "StateCapability",
    "StateStore",
    "StoredArtifact",
    "SyncArtifacts",
    "SyncState",
    "ThreadCapability",
]
