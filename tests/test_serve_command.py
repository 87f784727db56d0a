"""`toolgen serve` in processes of its own: the page, the surface and MCP at one port; beside a worker."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.adapters.http.listening import Reader
from toolgen.cli import main

ROOT: Final = Path(__file__).parents[1]
TOOLGEN: Final = str(Path(sys.executable).with_name("toolgen"))
AGENT: Final = "shop.clerk"
_APP: Final = """
from tests.adapters.http.shop import Shop, shop_runtime
from toolgen.engines import InProcessEngine


def runtime():
    return shop_runtime(Shop(), engine=InProcessEngine("runs.db"))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A server, and a client with its token."""

    process: subprocess.Popen[str]
    url: str
    token: str
    client: httpx.AsyncClient

    async def end(self) -> int:
        """Ask it to end, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return await asyncio.to_thread(self.process.wait, 30)


def write_project(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[tool.toolgen]\ndesign = "none"\nruntime = "shop_app:runtime"\n')
    (folder / "shop_app.py").write_text(_APP)


def started(folder: Path, *options: str) -> subprocess.Popen[str]:
    environment = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "HOME": str(folder)}
    return subprocess.Popen(
        [TOOLGEN, "serve", "--port", "0", *options],
        cwd=folder,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )


@asynccontextmanager
async def serving(folder: Path, *options: str) -> AsyncIterator[Process]:
    """Run a server, and yield it once it takes requests."""
    process = started(folder, *options)
    assert process.stderr is not None
    try:
        line = ""
        while not line.startswith("serving "):
            line = await asyncio.to_thread(process.stderr.readline)
            assert line, "the server has ended"
        url, _, token = line.split()[1].partition("/#token=")
        headers = {"authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60) as client:
            yield Process(process=process, url=url, token=token, client=client)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.exhaustive
async def test_one_port_has_the_page_the_surface_and_mcp(tmp_path: Path) -> None:
    write_project(tmp_path)
    async with serving(tmp_path, "--session", "s1") as server:
        async with httpx.AsyncClient(base_url=server.url) as browser:
            page = await browser.get("/")
            assert '<div id="page">' in page.text
            assert not browser.cookies
            assert [(await browser.get(path)).status_code for path in ("/catalog", "/mcp")] == [401, 401]
        assert "shop.orders.order" in (await server.client.get("/catalog")).text
        assert (await server.client.get("/openapi.json")).json()["openapi"] == "3.1.0"
        call = await server.client.post("/tools/destroy/calls", json={"arguments": {"item": "tea"}})
        assert call.json()["suspensions"][0]["session_id"] == "s1"
        http = httpx2.AsyncClient(headers={"authorization": f"Bearer {server.token}"})
        async with http, Client(streamable_http_client(f"{server.url}/mcp", http_client=http)) as mcp:
            assert "order" in {tool.name for tool in (await mcp.list_tools()).tools}
            said = await mcp.call_tool("order", {"item": "milk"})
            assert said.structured_content == "1 milk"
        async with Reader(server.client, "/events"):
            assert await server.end() == 0


@pytest.mark.exhaustive
async def test_a_server_beside_a_worker_is_its_client(tmp_path: Path) -> None:
    write_project(tmp_path)
    async with serving(tmp_path) as worker:
        second = started(tmp_path)
        _, error = await asyncio.to_thread(second.communicate, None, 60)
        assert second.returncode == 2
        assert "runs.db" in error
        async with serving(tmp_path, "--no-worker") as beside:
            run = (await beside.client.post("/runs", json={"agent": AGENT, "message": "away"})).json()
            path = f"/runs/{run['id']}/events"
            types = []
            async with Reader(beside.client, path) as reader:
                async for _, event in reader:
                    types.append(event["type"])
                    if event["type"] == "approval_requested":
                        [wait] = (await beside.client.get("/suspensions")).json()["suspensions"]
                        answer = {"answer": {"approved": True}}
                        answered = await beside.client.post(f"/suspensions/{wait['id']}/answer", json=answer)
                        assert answered.json()["call"]["status"] == "ok"
            assert types[-1] == "run_stream_end"
            shown = (await worker.client.get(f"/runs/{run['id']}")).json()
            assert (shown["status"], shown["text"]) == ("completed", "It is gone.")


def test_other_machines_are_not_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(("serve", "--host", "0.0.0.0")) == 2
    assert "other machines can reach 0.0.0.0" in capsys.readouterr().err
