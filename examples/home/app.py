"""The assistant, put together: database, services, executors, runtime."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from gen import tariff_service
from gen.assistant.agents import chat, diagnostics
from gen.assistant.toolsets.tariffs import BoundTariffsExecutor, TariffsExecutor
from toolgen.agents import Agents, Planner, SessionStore
from toolgen.capabilities import (
    ArtifactsCapability,
    ArtifactStore,
    CredentialsCapability,
    CredentialStore,
    DisabledTools,
    EnvironmentCredentials,
    MemoryCredentialStore,
    SqliteArtifactStore,
    SqliteStateStore,
    StateCapability,
    StateStore,
)
from toolgen.engines import Engine, InProcessEngine
from toolgen.events import Events
from toolgen.runtime import Runtime

from . import scripts
from .admin import Admin
from .database import DATABASE, beside, connect
from .executors.assistant.account import Account
from .executors.assistant.devices import Devices
from .executors.assistant.documents import Documents
from .executors.assistant.maintenance import Maintenance
from .services import DeviceStore, UserStore
from .sessions import SessionUser
from .tariff_server import KEY, supplier


@dataclass(frozen=True, slots=True, kw_only=True)
class Planners:
    """What plans for the agents; by default the scripts of the demo, which need no model."""

    chat: Planner | str = field(default_factory=scripts.chat)
    diagnostics: Planner | str = field(default_factory=scripts.diagnostics)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """What executes the runs, and keeps what is known."""

    engine: Engine
    states: StateStore
    sessions: SessionStore | None = None
    """None keeps them where the engine has the runs."""
    artifacts: ArtifactStore | None = None
    credentials: CredentialStore | None = None
    """None keeps them in memory."""
    secret: bytes | None = None
    """For an engine with many workers: the same in all processes."""


def files(path: Path, artifacts: ArtifactStore | None = None) -> Backend:
    """Return what keeps all in files beside the database at `path`, for every process of a machine."""
    return Backend(
        engine=InProcessEngine(beside(path, "runs")),
        states=SqliteStateStore(beside(path, "state")),
        artifacts=artifacts,
    )


@contextmanager
def runtime(path: Path = DATABASE) -> Iterator[Runtime]:
    """Give the assistant over a database, built when it is missing; artifacts are kept beside it."""
    with closing(connect(path)) as database:
        artifacts = SqliteArtifactStore(beside(path, "artifacts"))
        yield assistant(database, path, events=Events(), artifacts=artifacts)


@asynccontextmanager
async def runtime_for_tests() -> AsyncIterator[Runtime]:
    """Give the assistant over a database and a supplier of its own, which go when they are not needed."""
    with TemporaryDirectory() as folder, supplier() as address:
        path = Path(folder, DATABASE.name)
        key = EnvironmentCredentials({"TOOLGEN_TARIFF_SERVICE__SUPPLIER_KEY": KEY})
        with closing(connect(path)) as database:
            async with tariff_service.TariffServiceClient(server=address, credentials=key) as client:
                yield assistant(database, path, tariffs=BoundTariffsExecutor(tariff_service=client))


def assistant(
    database: sqlite3.Connection,
    path: Path,
    planners: Planners | None = None,
    events: Events | None = None,
    artifacts: ArtifactStore | None = None,
    backend: Backend | None = None,
    devices: Devices | None = None,
    tariffs: TariffsExecutor | None = None,
) -> Runtime:
    """Return a runtime with the agents and all tools of the design over the open database at `path`.

    Runs and what they wait for, conversations and what sessions know stand where `backend` says, by default
    in files beside it; `events` gets what happens in this process, `artifacts` what belongs to results. The
    tariffs come from the API of the supplier, unless something else executes their tools.
    """
    kept = backend or files(path, artifacts)
    states = kept.states
    runtime = Runtime(
        interceptors=[SessionUser(database)],
        engine=kept.engine,
        secret=kept.secret,
        capabilities=[
            StateCapability(states),
            CredentialsCapability(kept.credentials or MemoryCredentialStore()),
            *([ArtifactsCapability(kept.artifacts)] if kept.artifacts else []),
        ],
        disabled=DisabledTools(states),
        events=events,
    )
    Agents(runtime, sessions=kept.sessions)
    planners = planners or Planners()
    home = devices or Devices(device_service=DeviceStore(database))
    manuals = Documents(database)
    admin = Admin(database, states)
    chat.register(
        runtime,
        planner=planners.chat,
        devices=home,
        documents=manuals,
        account=Account(user_service=UserStore(database)),
        maintenance=Maintenance(database),
        tariffs=tariffs,
        dynamic=[admin],
    )
    diagnostics.register(runtime, planner=planners.diagnostics, devices=home, documents=manuals)
    runtime.tools.add_toolset(admin)
    return runtime
