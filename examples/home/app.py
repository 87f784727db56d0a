"""The assistant, put together: database, services, executors, runtime."""

from __future__ import annotations

import sqlite3

from gen.assistant.toolsets import account, devices, documents
from toolgen.runtime import Runtime

from .database import connect
from .executors.assistant.account import Account
from .executors.assistant.devices import Devices
from .executors.assistant.documents import Documents
from .services import DeviceStore, UserStore


def runtime() -> Runtime:
    """Return the assistant over `home.db`, which is built when it is missing."""
    return assistant(connect())


def assistant(database: sqlite3.Connection) -> Runtime:
    """Return a runtime that serves all tools of the design."""
    runtime = Runtime()
    runtime.register(devices.registration(Devices(device_service=DeviceStore(database))))
    runtime.register(documents.registration(Documents(database)))
    runtime.register(account.registration(Account(user_service=UserStore(database))))
    return runtime
