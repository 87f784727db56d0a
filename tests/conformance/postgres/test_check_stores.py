"""Whether the stores of a runtime can be used: one check for each server, whatever uses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from toolgen.adapters.postgres import (
    Postgres,
    PostgresArtifactStore,
    PostgresPayloads,
    PostgresSessionStore,
    PostgresStateStore,
)
from toolgen.agents import Agents
from toolgen.capabilities import ArtifactsCapability, DisabledTools, MemoryStateStore, StateCapability
from toolgen.engines.temporal import TemporalEngine
from toolgen.runtime import Runtime
from toolgen.stores import StoreClosedError, StoreConnectionError

Make = Callable[[Postgres], Runtime]


def with_sessions(database: Postgres) -> Runtime:
    runtime = Runtime()
    Agents(runtime, sessions=PostgresSessionStore(database))
    return runtime


def with_payloads(database: Postgres) -> Runtime:
    engine = TemporalEngine("127.0.0.1:1", payloads=PostgresPayloads(database))
    return Runtime(engine=engine, secret=b"the same in all processes, always")


USERS: dict[str, Make] = {
    "state": lambda database: Runtime(capabilities=[StateCapability(PostgresStateStore(database))]),
    "artifacts": lambda database: Runtime(
        capabilities=[ArtifactsCapability(PostgresArtifactStore(database))]
    ),
    "disabled tools": lambda database: Runtime(disabled=DisabledTools(PostgresStateStore(database))),
    "sessions": with_sessions,
    "large values": with_payloads,
}


@pytest.mark.parametrize("make", USERS.values(), ids=USERS)
async def test_every_store_is_checked(conninfo: str, make: Make) -> None:
    async with Postgres(conninfo) as database:
        runtime = make(database)
        await runtime.check_stores()
    with pytest.raises(StoreClosedError):
        await runtime.check_stores()
    with pytest.raises(StoreConnectionError, match=":1/x"):
        await make(Postgres("postgresql://bob@127.0.0.1:1/x")).check_stores()


async def test_a_server_is_checked_once_for_all_its_stores(conninfo: str) -> None:
    checked: list[Any] = []

    class Counted(Postgres):
        async def check(self) -> None:
            checked.append(self)
            await super().check()

    one, other = Counted(conninfo), Counted(conninfo)
    states = PostgresStateStore(one)
    capabilities: list[Any] = [StateCapability(states), ArtifactsCapability(PostgresArtifactStore(one))]
    runtime = Runtime(capabilities=capabilities, disabled=DisabledTools(states))
    Agents(runtime, sessions=PostgresSessionStore(other))
    await runtime.check_stores()
    assert checked == [one, other]
    one.close()
    other.close()


async def test_stores_of_the_process_itself_are_not_checked() -> None:
    await Runtime(capabilities=[StateCapability(MemoryStateStore())]).check_stores()
