"""The assistant, put together: database, services, executors, runtime."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from gen.assistant.toolsets import account, devices, documents, maintenance
from toolgen.runtime import Runtime
from toolgen.runtime.capabilities import SqliteStateStore, StateCapability
from toolgen.runtime.suspension_sqlite import SqliteSuspensionStore

from .admin import Admin
from .database import DATABASE, beside, connect
from .executors.assistant.account import Account
from .executors.assistant.devices import Devices
from .executors.assistant.documents import Documents
from .executors.assistant.maintenance import Maintenance
from .services import DeviceStore, UserStore
from .sessions import SessionUser


def runtime(path: Path = DATABASE) -> Runtime:
    """Return the assistant over a database, which is built when it is missing."""
    return assistant(connect(path), path)


def assistant(database: sqlite3.Connection, path: Path) -> Runtime:
    """Return a runtime that serves all tools of the design over the open database at `path`.

    What waits for an answer and what sessions know stands in files beside it, for every process to see.
    """
    states = SqliteStateStore(beside(path, "state"))
    runtime = Runtime(
        interceptors=[SessionUser(database)],
        suspensions=SqliteSuspensionStore(beside(path, "suspensions")),
        capabilities=[StateCapability(states)],
    )
    runtime.register(devices.registration(Devices(device_service=DeviceStore(database))))
    runtime.register(documents.registration(Documents(database)))
    runtime.register(account.registration(Account(user_service=UserStore(database))))
    runtime.register(maintenance.registration(Maintenance(database)))
    runtime.add_toolset(Admin(database, states))
    return runtime
