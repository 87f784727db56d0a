"""Time is virtual in the matrix: the tool that hangs costs nothing."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.virtual_time import LoopFactory, loop_factories


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, LoopFactory]:
    return loop_factories(item, "virtual")
