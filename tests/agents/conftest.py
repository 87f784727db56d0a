"""Time is virtual in the tests of agents, so that none waits and none depends on a machine's speed.

One that waits for a tool in a thread, within a time limit, asks for the `real` loop. Limits that a test
meets to the moment are sums of powers of two, which floats hold exactly.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.virtual_time import LoopFactory, loop_factories


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, LoopFactory]:
    return loop_factories(item, "virtual")
