"""Workers that share a store of credentials: one of them renews a token, and the others wait for it."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.capabilities.oauth_host import ANN, NAME, Host, authorized
from tests.capabilities.oauth_host import server as server
from tests.capabilities.oauth_server import OAuthServer
from tests.virtual_time import in_virtual_time
from toolgen.adapters.oauth import OAuth
from toolgen.capabilities import (
    Credential,
    CredentialPlace,
    CredentialsCapability,
    CredentialStore,
    EnvironmentCredentials,
    MemoryCredentialStore,
    SqliteCredentialStore,
)
from toolgen.capabilities.renewals import lease_of
from toolgen.contract.transport import OAuthFlow, Requirement, SecurityScheme

Clock: TypeAlias = Callable[[], float]
StoreOf: TypeAlias = Callable[[Clock], CredentialStore]
"""Returns a store of one worker, which all of them share."""
PLACE = CredentialPlace("user", "ann", NAME)


@pytest.fixture(params=["memory", "sqlite"])
def store_of(request: pytest.FixtureRequest, tmp_path: Path) -> StoreOf:
    if request.param == "sqlite":
        path = tmp_path / "credentials.db"
        return lambda clock: SqliteCredentialStore(path, secret=b"s" * 32, clock=clock)
    stores = list[CredentialStore]()

    def shared(clock: Clock) -> CredentialStore:
        stores.append(stores[0] if stores else MemoryCredentialStore(clock=clock))
        return stores[0]

    return shared


async def two_workers(server: OAuthServer, store_of: StoreOf) -> list[Host]:
    """Return two workers with a token that Ann has given, whose time is over."""
    workers = [Host(server, "authorization_code") for _ in range(2)]
    for worker in workers:
        worker.store = store_of(lambda: workers[0].now)
        worker.restart()
    given = await authorized(server)
    await workers[0].store.save(PLACE, await given.kept())
    for worker in workers:
        worker.now += 3600
    return workers


async def test_two_workers_renew_a_token_once(server: OAuthServer, store_of: StoreOf) -> None:
    workers = await two_workers(server, store_of)
    for renewals in (1, 2):
        results = await asyncio.gather(*(worker.get() for worker in workers for _ in range(5)))
        assert [result.status for result in results] == ["ok"] * 10
        assert server.grants == ["authorization_code", *["refresh_token"] * renewals]
        for worker in workers:
            worker.now += 3600


async def test_a_worker_that_has_ended_stops_no_other(server: OAuthServer, store_of: StoreOf) -> None:
    workers = await two_workers(server, store_of)
    store, now = workers[0].store, workers[0].now
    assert await store.lease(lease_of(PLACE), "of a worker that was killed", expires_at=now + 30)
    other, is_refused = workers[1].store, asyncio.Event()
    lease = other.lease

    async def seen(*args: Any, **options: Any) -> bool:
        is_leased = await lease(*args, **options)
        if not is_leased:
            is_refused.set()
        return is_leased

    other.lease = seen  # type: ignore[method-assign]
    call = asyncio.create_task(workers[1].get())
    await asyncio.wait_for(is_refused.wait(), 30)
    assert server.grants == ["authorization_code"]
    for worker in workers:
        worker.now += 30
    assert (await call).status == "ok"
    assert await store.forget("user", "ann") == 1, "who has renewed a token is kept of nobody"


class Slow(OAuth):
    """A source whose tokens take an hour."""

    renewed = 0

    async def renew(self, service: str, requirement: Requirement, credential: Credential) -> Credential:
        self.renewed += 1
        await asyncio.sleep(3600)
        return dataclasses.replace(credential, secret="new", expires_at=None)


@in_virtual_time
async def test_a_renewal_may_take_longer_than_its_lease() -> None:
    source = Slow(environment=EnvironmentCredentials({}))

    def now() -> float:
        return asyncio.get_running_loop().time()

    store = MemoryCredentialStore(clock=now)
    requirement = Requirement(
        SecurityScheme(name="oauth", kind="oauth2", flow=OAuthFlow(kind="authorization_code"))
    )
    workers = [
        CredentialsCapability(store, oauth=source, environment=EnvironmentCredentials({}), clock=now)
        for _ in range(2)
    ]
    old = Credential(secret="old", refresh_token="r-0", expires_at=now())
    await workers[0].put("Books", "oauth", old, scope="user", owner="ann")
    found = await asyncio.gather(*(worker.find(ANN, "Books", requirement) for worker in workers))
    assert ([each and each.secret for each in found], source.renewed) == (["new", "new"], 1)
