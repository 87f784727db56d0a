"""Grants over HTTP: given with an answer, listed and revoked by those whose session it is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from toolgen.runtime import ConfirmSpec
from toolgen.runtime.functions import func_tool, function_toolset

from .shop import Served, Shop, problem, served, shop_runtime
from .test_openapi import checked

TERMS = {"pattern": {"/path": {"path_prefix": "/srv"}}, "expires_s": 60, "uses": 2}
GRANTS = "/sessions/ann:default/grants"


@pytest.fixture
async def shop() -> AsyncIterator[Served]:
    """Return a shop with a tool whose approval may be granted."""
    shop = Shop()

    async def write(path: str) -> str:
        """Write a file."""
        shop.log.append(f"write {path}")
        return path

    runtime = shop_runtime(shop)
    tool = func_tool(write, toolset="shop.files", confirm=ConfirmSpec(hint="Write {path}?", grantable=True))
    runtime.tools.register(function_toolset("shop.files", [tool]))
    async with served(runtime=runtime, shop=shop) as opened:
        yield opened


async def ask(shop: Served, path: str) -> dict[str, Any]:
    wait: dict[str, Any] = (await shop.call("write", {"path": path})).json()["suspensions"][0]
    return wait


async def grant(shop: Served, **terms: Any) -> Any:
    wait = await ask(shop, "/srv/a")
    answer = {"approved": True, "grant": {**TERMS, **terms}}
    return await shop.post(f"/suspensions/{wait['id']}/answer", answer=answer)


async def test_an_answer_grants_further_calls_until_it_is_revoked(shop: Served) -> None:
    wait = await ask(shop, "/srv/a")
    assert wait["answer_schema"]["properties"]["grant"]["required"] == ["pattern", "expires_s", "uses"]
    assert await shop.get(GRANTS) == {"grants": []}
    assert (await grant(shop)).json()["call"]["status"] == "ok"
    assert (await shop.call("write", {"path": "/srv/b"})).json()["status"] == "ok"
    assert (await shop.call("write", {"path": "/etc/b"})).json()["status"] == "suspended"
    page = await shop.get(GRANTS)
    checked("GrantPage", page)
    [given] = page["grants"]
    assert given["covers"] == 'path is "/srv" or a path below it'
    facts = {name: given[name] for name in ("tool", "session_id", "granted_by", "uses", "used", "pattern")}
    assert facts == {
        "tool": "shop.files.write",
        "session_id": "ann:default",
        "granted_by": "ann",
        "uses": 2,
        "used": 1,
        "pattern": TERMS["pattern"],
    }
    assert 59 < given["expires_at"] - given["granted_at"] <= 61
    assert (await shop.post(f"{GRANTS}/{given['id']}/revoke")).json() == {"grants": []}
    assert (await shop.post(f"{GRANTS}/{given['id']}/revoke")).json() == {"grants": []}
    assert (await shop.call("write", {"path": "/srv/c"})).json()["status"] == "suspended"
    assert shop.shop.log == ["write /srv/a", "write /srv/b"]


async def test_nobody_sees_or_revokes_a_grant_of_somebody_else(shop: Served) -> None:
    await grant(shop)
    [given] = (await shop.get(GRANTS))["grants"]
    revoke = f"{GRANTS}/{given['id']}/revoke"
    listed = await shop.client.get(GRANTS, headers={"x-caller": "bob"})
    assert problem(listed) == (404, "not-found")
    assert problem(await shop.post(revoke, caller="bob")) == (404, "not-found")
    assert problem(await shop.post(revoke.replace("ann:", "bob:"), caller="bob")) == (404, "not-found")
    assert await shop.get("/sessions/bob:default/grants", caller="bob") == {"grants": []}
    assert (await shop.get(GRANTS, caller="root"))["grants"] == [given]
    assert problem(await shop.post(f"{GRANTS}/grant_none/revoke")) == (404, "not-found")
    assert problem(await shop.post(f"{GRANTS}/{given['id'][6:]}/revoke")) == (404, "not-found")
    assert problem(await shop.post(revoke, by="bob")) == (400, "invalid-request")
    assert (await shop.call("write", {"path": "/srv/b"})).json()["status"] == "ok"


@pytest.mark.parametrize(
    "terms",
    [{"pattern": None}, {"uses": 0}, {"expires_s": 1e9}, {"pattern": {"/path": {"path_prefix": "/srv/.."}}}],
)
async def test_terms_that_do_not_fit_are_a_problem_and_the_call_still_waits(shop: Served, terms: Any) -> None:
    assert problem(await grant(shop, **terms)) == (422, "invalid-answer")
    assert len((await shop.get("/suspensions"))["suspensions"]) == 1
    assert await shop.get(GRANTS) == {"grants": []}
    assert shop.shop.log == []
