"""Time is virtual in the tests of agents, so that none waits and none depends on a machine's speed.

One that waits for a tool in a thread, within a time limit, asks for the `real` loop. Limits that a test
meets to the moment are sums of powers of two, which floats hold exactly.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.virtual_time import LoopFactory, loop_factories, now
from toolgen.engines import InProcessEngine

from . import tools


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, LoopFactory]:
    return loop_factories(item, "virtual")


@pytest.fixture(params=["memory", pytest.param("sqlite", marks=pytest.mark.exhaustive)], autouse=True)
def engine_in(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Run each test with its runs in memory, and with each engine's runs in a file of its own."""
    if request.param == "memory":
        return

    def in_a_file() -> InProcessEngine:
        return InProcessEngine(tmp_path_factory.mktemp("runs") / "runs.db", clock=now)

    monkeypatch.setattr(tools, "new_engine", in_a_file)
