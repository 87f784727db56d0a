"""Tokens of OAuth 2 that are renewed: once, by whichever call, loop or process comes first."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from typing import Any

import pytest
from starlette.responses import Response

from tests.capabilities.oauth_host import ANN, authorized
from tests.capabilities.oauth_host import server as server
from tests.capabilities.oauth_server import OAuthServer
from tests.runtime.tools import waiting
from toolgen.capabilities import CredentialPlace
from toolgen.contract.credentials import Credential
from toolgen.contract.transport import Requirement, SecurityScheme


async def test_a_token_is_renewed_by_one_call_and_kept_before_it_is_used(server: OAuthServer) -> None:
    host = await authorized(server)
    before = await host.kept()
    host.now += 3600
    results = await asyncio.gather(*(host.get() for _ in range(5)))
    assert [result.status for result in results] == ["ok"] * 5
    assert server.grants == ["authorization_code", "refresh_token"]
    after = await host.kept()
    assert after["refresh_token"] in server.refresh
    assert after["refresh_token"] != before["refresh_token"]


async def test_a_call_that_is_canceled_loses_no_token(server: OAuthServer) -> None:
    host = await authorized(server)
    before = await host.kept()
    host.now += 3600
    server.has_asked.clear()
    server.may_answer.clear()
    call = asyncio.create_task(host.get())
    await server.has_asked.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    server.may_answer.set()
    assert (await host.get()).status == "ok"
    assert server.grants == ["authorization_code", "refresh_token"]
    assert (await host.kept())["refresh_token"] != before["refresh_token"]


async def test_a_token_that_is_renewed_while_its_user_is_erased_is_not_kept(server: OAuthServer) -> None:
    host = await authorized(server)
    host.now += 3600
    server.has_asked.clear()
    server.may_answer.clear()
    call = asyncio.create_task(host.get())
    await server.has_asked.wait()
    assert await host.store.forget("user", "ann") == 1
    server.may_answer.set()
    waiting(await call)
    assert await host.kept() is None


async def test_calls_of_two_event_loops_renew_a_token(server: OAuthServer) -> None:
    """A lock of one loop does not wake what waits for it in another one."""
    host = await authorized(server)
    host.now += 3600
    server.has_asked.clear()
    server.may_answer.clear()
    scheme = SecurityScheme(name="oauth", kind="oauth2", flow=host.flow)
    found: list[Credential | None] = []

    def find() -> None:
        found.append(asyncio.run(host.credentials.find(ANN, "Books", Requirement(scheme, host.scopes))))

    first, second = (threading.Thread(target=find, daemon=True) for _ in range(2))
    first.start()
    await server.has_asked.wait()
    second.start()
    server.may_answer.set()
    await asyncio.wait_for(asyncio.gather(*(asyncio.to_thread(each.join) for each in (first, second))), 10)
    assert [credential is not None for credential in found] == [True, True]
    assert server.grants == ["authorization_code", "refresh_token"]


async def test_a_loop_that_ends_while_it_waits_for_a_renewal_disturbs_nobody(
    server: OAuthServer, caplog: pytest.LogCaptureFixture
) -> None:
    host = await authorized(server)
    host.now += 3600
    server.has_asked.clear()
    server.may_answer.clear()
    scheme = SecurityScheme(name="oauth", kind="oauth2", flow=host.flow)
    requirement = Requirement(scheme, host.scopes)
    first = asyncio.create_task(host.credentials.find(ANN, "Books", requirement))
    await server.has_asked.wait()

    async def give_up() -> None:
        waiting = asyncio.create_task(host.credentials.find(ANN, "Books", requirement))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not waiting.done()

    await asyncio.to_thread(asyncio.run, give_up())
    server.may_answer.set()
    assert await first is not None
    assert [record for record in caplog.records if record.name.startswith("concurrent")] == []


async def test_a_refused_token_is_renewed(server: OAuthServer) -> None:
    host = await authorized(server)
    server.access.clear()
    assert (await host.get()).status == "ok"
    assert server.grants == ["authorization_code", "refresh_token"]


@pytest.mark.parametrize("moment", [3, 4], ids=["before", "meanwhile"])
async def test_where_another_process_has_renewed_it_its_token_is_used(
    server: OAuthServer, moment: int
) -> None:
    host = await authorized(server)
    host.now += 3600
    other = dataclasses.replace(Credential(secret="access-of-another"), expires_at=host.now + 3600)
    server.access["access-of-another"] = "read"
    server.refresh.clear()
    load, loads = host.store.load, 0

    async def load_late(place: CredentialPlace) -> Any:  # the other process is faster
        nonlocal loads
        loads += 1
        if loads == moment:
            await host.store.save(place, dataclasses.asdict(other))
        return await load(place)

    host.store.load = load_late  # type: ignore[method-assign]
    assert (await host.get()).json == b'"read"'
    assert server.grants == ["authorization_code", "refresh_token"][: moment - 2]


async def test_where_the_server_refuses_for_good_the_person_is_asked_again(server: OAuthServer) -> None:
    host = await authorized(server)
    server.refresh.clear()
    host.now += 3600
    asked = waiting(await host.get())
    assert asked.kind == "credential"
    assert (await host.kept())["refresh_token"] == ""
    assert (await host.callback.complete(await host.authorize(asked), user="ann"))[0] == 200
    assert (await host.runtime.suspensions.result(asked.token)).status == "ok"


async def test_a_server_that_is_away_does_not_cost_the_refresh_token(server: OAuthServer) -> None:
    host = await authorized(server)
    host.now += 3600
    server.fault = Response("away", 503)
    result = await host.get()
    assert result.error is not None
    assert (result.status, result.error.is_retryable) == ("error", True)
    assert "answered 503" in result.error.message
    server.fault = None
    assert (await host.get()).status == "ok"


async def test_more_scopes_are_asked_for_with_those_that_are_there(server: OAuthServer) -> None:
    host = await authorized(server)
    host.scopes = ("write",)
    asked = waiting(await host.get())
    assert asked.request is not None
    assert "scope=write+read" in str(asked.request["address"])
