"""Every exception that the standard library has, and a check that raising it leaves nothing behind."""

from __future__ import annotations

import asyncio
import bdb
import concurrent.futures
import http.client
import pickle
import queue
import sqlite3
import ssl
import subprocess
import tarfile
import threading
import unittest
import urllib.error
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

MODULES: Final = (
    asyncio, bdb, concurrent.futures, http.client, pickle, queue, sqlite3, ssl, subprocess, tarfile,
    threading, unittest, urllib.error, zipfile,
)  # fmt: skip
"""Imported, so that their exceptions are there."""


class Odd(BaseException):
    """What a library of an author may have."""


def _below(kind: type[BaseException]) -> list[type[BaseException]]:
    return [kind, *(below for one in kind.__subclasses__() for below in _below(one))]


def _is_standard(kind: type[BaseException]) -> bool:
    top = kind.__module__.partition(".")[0]
    is_standard = top == "builtins" or any(module.__name__.startswith(top) for module in MODULES)
    return is_standard and not issubclass(kind, KeyboardInterrupt)


STANDARD: Final = tuple(
    sorted(
        {kind for kind in _below(BaseException) if _is_standard(kind)},
        key=lambda kind: (kind.__module__, kind.__qualname__),
    )
)
"""All of them but the one that must leave."""

NO_ERRORS: Final = (
    SystemExit, GeneratorExit, asyncio.CancelledError, StopIteration, StopAsyncIteration, BaseException,
    BaseExceptionGroup, Odd,
)  # fmt: skip
"""Those that Python and asyncio treat as something else than errors, and what is no `Exception`."""


def made(kind: type[BaseException]) -> BaseException:
    """Return an exception of the class, whatever it takes to make one; some cannot even say what they are."""
    if issubclass(kind, BaseExceptionGroup):
        inner: BaseException = ValueError("secret") if issubclass(kind, Exception) else SystemExit("secret")
        return kind("secret", [inner])
    try:
        return kind("secret")
    except (TypeError, AttributeError):
        return kind.__new__(kind)


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "toolgen tool"]


@asynccontextmanager
async def leaving_nothing() -> AsyncIterator[None]:
    """Check that the block leaves neither tasks nor threads."""
    tasks, running = asyncio.all_tasks(), set(threads())
    yield
    assert asyncio.all_tasks() == tasks
    for thread in set(threads()) - running:
        thread.join(30)
        assert not thread.is_alive()
