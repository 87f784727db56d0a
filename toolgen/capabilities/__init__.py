"""Services that a host provides to executors: state, artifacts, memory and credentials."""

from toolgen.calls.capability import CallScope, Capability, ThreadCapability
from toolgen.calls.errors import CredentialNeededError, UnknownArtifactError
from toolgen.calls.memory import Memory, MemoryEntry, SyncMemory
from toolgen.calls.provided import ArtifactInfo, Artifacts, StoredArtifact, SyncArtifacts
from toolgen.calls.state import Change, Operation, Scope, State, SyncState, applied
from toolgen.calls.steps.bridge import Wait
from toolgen.contract.credentials import Credential, Credentials
from toolgen.stores.environment import EnvironmentCredentials

from .artifacts import ArtifactsCapability, ArtifactStore
from .artifacts_stores import FileArtifactStore, MemoryArtifactStore, SqliteArtifactStore
from .credential_places import CredentialPlace, CredentialScope, CredentialStore
from .credential_tables import MemoryCredentialStore, SqliteCredentialStore
from .credentials import CREDENTIALS, CredentialsCapability
from .disabling import DisabledTool, DisabledTools
from .memory import InMemoryMemoryStore, MemoryCapability, MemoryOwner, MemoryStore
from .renewals import Authorization, AuthorizationPage, TokenSource
from .state import BulkStateStore, ErasingStateStore, StateCapability, StateStore
from .state_tables import MemoryStateStore, SqliteStateStore

__all__ = [
    "CREDENTIALS",
    "ArtifactInfo",
    "ArtifactStore",
    "Artifacts",
    "ArtifactsCapability",
    "Authorization",
    "AuthorizationPage",
    "BulkStateStore",
    "CallScope",
    "Capability",
    "Change",
    "Credential",
    "CredentialNeededError",
    "CredentialPlace",
    "CredentialScope",
    "CredentialStore",
    "Credentials",
    "CredentialsCapability",
    "DisabledTool",
    "DisabledTools",
    "EnvironmentCredentials",
    "ErasingStateStore",
    "FileArtifactStore",
    "InMemoryMemoryStore",
    "Memory",
    "MemoryArtifactStore",
    "MemoryCapability",
    "MemoryCredentialStore",
    "MemoryEntry",
    "MemoryOwner",
    "MemoryStateStore",
    "MemoryStore",
    "Operation",
    "Scope",
    "SqliteArtifactStore",
    "SqliteCredentialStore",
    "SqliteStateStore",
    "State",
    "StateCapability",
    "StateStore",
    "StoredArtifact",
    "SyncArtifacts",
    "SyncMemory",
    "SyncState",
    "ThreadCapability",
    "TokenSource",
    "UnknownArtifactError",
    "Wait",
    "applied",
]
