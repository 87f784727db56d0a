"""Runtimes of functions that can ask a person; each over the same file, as after a restart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.virtual_time import LoopFactory, loop_factories
from toolgen.runtime import Runtime
from toolgen.runtime.toolsets.functions import function_toolset
from toolgen.runtime.waiting.sqlite import SqliteSuspensionStore


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, LoopFactory]:
    """Return the event loop of a test: `real`, as most have threads; `virtual` for those that ask for it."""
    return loop_factories(item, "real")


@pytest.fixture
def serve(tmp_path: Path) -> Callable[..., Runtime]:
    """Return what makes a runtime that serves functions, with any other arguments of `Runtime`."""

    def made(*functions: Any, **host: Any) -> Runtime:
        runtime = Runtime(suspensions=SqliteSuspensionStore(tmp_path / "s.db"), **host)
        runtime.register(function_toolset("x.tools", functions))
        return runtime

    return made
