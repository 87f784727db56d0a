"""Runtimes with a server of `tests/peers/bare.py`."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.peers import PEERS
from toolgen.adapters.mcp import MCPToolset, StdioServer
from toolgen.runtime import Runtime, Snapshot


def bare(mode: str, *args: str | Path, **options: Any) -> MCPToolset:
    """Return the toolset of a bare server in a mode; its tools have the names of the server."""
    server = StdioServer(sys.executable, (str(PEERS / "bare.py"), mode, *map(str, args)))
    return MCPToolset("bare", server, **{"prefix": "", **options})


def hostile(mode: str = "plain", **options: Any) -> MCPToolset:
    """Return the toolset of a server that attacks, with what it lists."""
    server = StdioServer(sys.executable, (str(PEERS / "hostile_server.py"), mode))
    return MCPToolset("hostile", server, **{"prefix": "", **options})


@asynccontextmanager
async def served(
    toolset: Any, on_error: Any = "fail", **host: Any
) -> AsyncIterator[tuple[Runtime, Snapshot]]:
    """Yield a runtime with the toolset, and its tools."""
    runtime = Runtime(**host)
    runtime.tools.add_toolset(toolset, on_error=on_error)
    async with runtime:
        yield runtime, await runtime.tools.snapshot()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The file in which a server notes its calls."""
    return tmp_path / "calls"


def lines(log: Path) -> list[str]:
    return log.read_text().splitlines()


async def ended(pid: int) -> None:
    """Wait until a process has ended."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, over.set)
    try:
        await asyncio.wait_for(over.wait(), 60)
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


@asynccontextmanager
async def heard(text: str) -> AsyncIterator[None]:
    """Wait at the end until a log record of the adapter has the text."""
    told = asyncio.Event()

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if text in record.getMessage():
                told.set()

    handler = Handler()
    logger = logging.getLogger("toolgen.mcp")
    before = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield
        await asyncio.wait_for(told.wait(), 60)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
