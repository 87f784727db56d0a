"""Tests of agents whose runs three workers execute in turns, over stores in PostgreSQL."""

from __future__ import annotations

import sys
import zlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from tests.agents import tools
from tests.many_workers import SECRET, Cluster
from tests.virtual_time import now
from toolgen.agents import AgentRegistration, Agents, PlannerRetry, SessionStore
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime
from toolgen.waiting.options import WaitOptions


@pytest.fixture(autouse=True)
def workers(stores: None, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have `running` give the first of three runtimes; the test decides nothing about the others."""
    seed = zlib.crc32(request.node.nodeid.encode())

    @asynccontextmanager
    async def running(
        *agents: AgentRegistration,
        sessions: SessionStore | None = None,
        planner_retry: PlannerRetry = tools.IMPATIENT,
        engine: InProcessEngine | None = None,
        **options: Any,
    ) -> AsyncIterator[tuple[Runtime, InProcessEngine]]:
        engine = engine or tools.new_engine()
        cluster, runtimes = Cluster(seed, engine), []
        for _ in range(3):
            given = {"secret": SECRET, "waiting": WaitOptions(clock=now), **options}
            runtimes.append(Runtime(**{**given, "engine": cluster.worker()}))
            made = Agents(runtimes[-1], sessions=sessions, planner_retry=planner_retry)
            for one in agents:
                made.register(one)
        async with AsyncExitStack() as stack:
            for runtime in runtimes:
                await stack.enter_async_context(runtime)
            yield runtimes[0], engine

    for module in (tools, sys.modules[request.function.__module__]):
        if hasattr(module, "running"):
            monkeypatch.setattr(module, "running", running)
