"""Capabilities: what a host gives its executors beside payload and call, such as state and artifacts."""

from .artifacts import ArtifactInfo, Artifacts, ArtifactsCapability, ArtifactStore, NewArtifact, StoredArtifact
from .artifacts_memory import MemoryArtifactStore
from .artifacts_sqlite import SqliteArtifactStore
from .capability import CallScope, Capability
from .errors import ArtifactError, ArtifactMissingError, StateError
from .merge import Rule, add, append, update
from .place import Place
from .state import Change, State, StateCapability, StateStore
from .state_memory import MemoryStateStore
from .state_sqlite import SqliteStateStore

__all__ = [
    "ArtifactError",
    "ArtifactInfo",
    "ArtifactMissingError",
    "ArtifactStore",
    "Artifacts",
    "ArtifactsCapability",
    "CallScope",
    "Capability",
    "Change",
    "MemoryArtifactStore",
    "MemoryStateStore",
    "NewArtifact",
    "Place",
    "Rule",
    "SqliteArtifactStore",
    "SqliteStateStore",
    "State",
    "StateCapability",
    "StateError",
    "StateStore",
    "StoredArtifact",
    "add",
    "append",
    "update",
]
