"""The example on a database of each test's own, with the tools of the workshop."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from examples.home import database
from examples.home.app import assistant
from toolgen.runtime import ReadonlyContext

from .home import MIRA, Home, Workshop


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("built") / "home.db"
    database.build(path)
    return path


@pytest.fixture
async def home(built: Path, tmp_path: Path) -> AsyncIterator[Home]:
    path = Path(shutil.copy(built, tmp_path))
    with closing(database.connect(path)) as connection:
        runtime = assistant(connection, path)
        workshop = Workshop()
        runtime.tools.register(workshop.toolset())
        async with runtime:
            snapshot = await runtime.tools.snapshot(ReadonlyContext(meta=MIRA))
            yield Home(runtime=runtime, snapshot=snapshot, workshop=workshop)
