"""The example over HTTP: pages of a bounded result, artifacts with their view, and a conversation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from examples.home.app import runtime_for_tests
from toolgen.adapters.http import Caller, HTTPSurface
from toolgen.catalog import load_catalog, parse_catalog
from toolgen.catalog.entry import DESIGN_ONLY, without

from .shop import BASE

CATALOG = Path("gen/tool_schemas.json")


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with runtime_for_tests() as runtime, runtime:
        caller = Caller(id="mira", sessions="s-mira", session_id="s-mira")
        transport = httpx.ASGITransport(HTTPSurface(runtime, caller=lambda _: caller))
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as opened:
            yield opened


async def test_the_next_page_is_a_call_away(client: httpx.AsyncClient) -> None:
    arguments, devices, totals = {"site_id": "harbour", "limit": 7}, list[str](), set[int]()
    while arguments:
        call = (await client.post("/tools/list_devices/calls", json={"arguments": arguments})).json()
        assert call["bounds"]["returned"] == len(call["result"]["devices"])
        devices += [device["id"] for device in call["result"]["devices"]]
        totals.add(call["bounds"]["total"])
        arguments = call.get("next_arguments")
        assert (arguments is not None) == call["bounds"]["truncated"]
    assert totals == {len(devices)} == {len(set(devices))}


async def test_an_artifact_has_its_view_and_its_data(client: httpx.AsyncClient) -> None:
    catalog = (await client.get("/catalog")).json()
    [tool] = [tool for tool in catalog["tools"] if tool["name"] == "get_time_series"]
    body = {"arguments": tool["payload"]["examples"][0]}
    call = (await client.post("/tools/get_time_series/calls", json=body)).json()
    [artifact] = call["artifacts"]
    assert (artifact["kind"], artifact["view"]) == ("time_series", "chart.line")
    assert artifact["media_type"] == "application/json"
    assert artifact["data"]


async def test_the_catalog_says_of_each_tool_what_its_design_says(client: httpx.AsyncClient) -> None:
    served = parse_catalog((await client.get("/catalog")).json())
    written = {tool["id"]: without(tool, DESIGN_ONLY) for tool in load_catalog(CATALOG).tools}
    tools = {tool["id"]: without(tool, DESIGN_ONLY) for tool in served.tools}
    assert tools == {id_: tool for id_, tool in written.items() if tool["kind"] != "native"}
    behind = {tool["bind_to"]["service"] for tool in served.tools if "bind_to" in tool}
    assert behind == {"DeviceService", "TariffService", "UserService"}
    assert {tool["agent"] for tool in served.tools if "agent" in tool} == {"assistant.diagnostics"}


async def test_examples_of_the_catalog_are_accepted(client: httpx.AsyncClient) -> None:
    catalog = (await client.get("/catalog")).json()
    for tool in catalog["tools"]:
        for example in tool["payload"].get("examples", ()):
            call = (await client.post(f"/tools/{tool['id']}/calls", json={"arguments": example})).json()
            assert call["status"] in ("ok", "pending", "suspended"), call
