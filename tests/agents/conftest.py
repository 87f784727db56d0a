"""Time is virtual in the tests of agents, so that none waits and none depends on a machine's speed.

One whose tools or stores run in threads asks for the `real` loop. Limits that a test meets to the moment
are sums of powers of two, which floats hold exactly.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest

from tests.virtual_time import VirtualTimeLoop

LoopFactory = Callable[[], asyncio.AbstractEventLoop]


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, LoopFactory]:
    marker = item.get_closest_marker("asyncio")
    if marker is not None and "loop_factories" in marker.kwargs:
        return {"real": asyncio.new_event_loop}
    return {"virtual": VirtualTimeLoop}
