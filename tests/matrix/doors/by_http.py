"""Calls of a client over HTTP, whose person answers by the id of what waits, in any process."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from starlette.requests import Request

from toolgen.adapters.http import Caller, HTTPSurface
from toolgen.contract.json_value import Json

from ..ledger import ARGUMENTS
from ..world import FACTS, World
from .door import Door, Seen
from .host import Host, host_of


@asynccontextmanager
async def http(world: World) -> AsyncIterator[Door]:
    """Open a runtime whose surface is asked without a socket."""
    async with host_of(world) as host:
        yield ByHttp(host)


def _caller(request: Request) -> Caller:
    """Return who calls: two people who see the same session."""
    person = request.headers["x-person"]
    return Caller(id=person, labels=FACTS.labels, sessions="s", session_id=FACTS.session_id)


class ByHttp:
    """`POST /tools/{tool}/calls`, with a key."""

    agent = ""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._wait = ""
        self.process = host.process
        self.restart = host.restart

    async def call(self) -> Seen:
        tool = self._host.world.tool
        return self._seen(await self._post("ann", f"/tools/{tool}/calls", {"arguments": ARGUMENTS}))

    async def answer(self, answer: Json) -> Seen:
        return self._seen(
            (await self._post("bob", f"/suspensions/{self._wait}/answer", {"answer": answer}))["call"]
        )

    async def _post(self, person: str, path: str, body: dict[str, Json]) -> Any:
        transport = httpx.ASGITransport(HTTPSurface(self._host.runtime, caller=_caller))
        headers = {"x-person": person, "idempotency-key": "c1"}
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            response = await client.post(path, json=body, headers=headers)
        assert response.status_code == 200, response.text
        return response.json()

    def _seen(self, call: Any) -> Seen:
        asked = call.get("suspensions", [])
        self._wait = asked[0]["id"] if asked else ""
        shown = call.get("result", call.get("error"))
        return Seen(
            status=call["status"],
            text="" if shown is None else json.dumps(shown),
            question=asked[0]["question"] if call["status"] == "suspended" else "",
        )
