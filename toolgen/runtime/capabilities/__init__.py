"""What executors find at their context when the host provides it: state, artifacts, and what hosts add."""

from .artifacts import ArtifactInfo, Artifacts, ArtifactsCapability, ArtifactStore, StoredArtifact
from .artifacts_memory import MemoryArtifactStore
from .artifacts_sqlite import SqliteArtifactStore
from .capability import CallScope, Capability, Conflict
from .state import Change, State, StateCapability, StateStore
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
    "MemoryArtifactStore",
    "MemoryStateStore",
    "SqliteArtifactStore",
    "SqliteStateStore",
    "State",
    "StateCapability",
    "StateStore",
    "StoredArtifact",
]
