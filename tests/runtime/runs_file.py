"""A file of runs, on which one runtime after the other works, with what they ask."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.tools import META, SITE, TOOL, Listing, runtime, spec, waiting
from tests.virtual_time import now
from toolgen.engines import InProcessEngine
from toolgen.runtime import ConfirmSpec, Runtime, Suspended, ToolSpec

CONFIRMED = spec(confirm=ConfirmSpec(hint="List {site_id}?"))
YES: dict[str, Any] = {"approved": True}


class File:
    """A file of runs, on which one runtime after the other works."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @asynccontextmanager
    async def serving(
        self, executor: object, *specs: ToolSpec[Any, Any], **host: Any
    ) -> AsyncIterator[Runtime]:
        """Open a runtime with one toolset over the file, and close it after."""
        async with runtime(executor, *specs, engine=self.engine(), **host) as made:
            yield made

    @asynccontextmanager
    async def bare(self, *dynamic: Any, **host: Any) -> AsyncIterator[Runtime]:
        """Open a runtime without tools but those that come and go."""
        made = Runtime(engine=self.engine(), **host)
        for one in dynamic:
            made.tools.add_toolset(one)
        async with made:
            yield made

    def engine(self, **how: Any) -> InProcessEngine:
        return InProcessEngine(self.path, clock=now, **how)

    async def asked(self, *specs: ToolSpec[Any, Any], does: Any = None, **host: Any) -> Suspended:
        """Return what a runtime asked that is closed now."""
        async with self.serving(Listing(does), *specs, **host) as made:
            return waiting(await made.call(TOOL, SITE, META))


@pytest.fixture
def file(tmp_path: Path) -> File:
    return File(tmp_path / "runs.db")
