"""Runtimes of functions that can ask a person, and the engines that keep their calls while they wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.virtual_time import LoopFactory, loop_factories, now
from toolgen.calls.functions.tools import function_toolset
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime

ENGINES: Final[dict[str, Callable[[Path], InProcessEngine]]] = {
    "memory": lambda path: InProcessEngine(clock=now),
    "sqlite": lambda path: InProcessEngine(path / "runs.db", clock=now),
}
"""By name, what makes an engine that may keep its runs in a folder."""


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, LoopFactory]:
    """Return the event loop of a test: `real`, as most have threads; `virtual` for those that ask for it."""
    return loop_factories(item, "real")


@pytest.fixture(
    params=[
        pytest.param(name, marks=pytest.mark.exhaustive) if name == "sqlite" else name for name in ENGINES
    ]
)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> InProcessEngine:
    """Return an engine for one runtime; the test runs on each."""
    return ENGINES[request.param](tmp_path)


@pytest.fixture
def serve(engine: InProcessEngine) -> Callable[..., Runtime]:
    """Return what makes the runtime of the engine: it serves functions, with any other arguments."""

    def made(*functions: Any, **host: Any) -> Runtime:
        runtime = Runtime(engine=engine, **host)
        runtime.tools.register(function_toolset("x.tools", functions))
        return runtime

    return made
