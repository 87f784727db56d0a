"""Servers that others wrote: their tools listed and called, with arguments that fit and that do not."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.mcp.client.conftest import served
from tests.conformance.mcp.servers import of_npm, of_python
from toolgen.adapters.mcp import MCPToolset, StdioServer
from toolgen.runtime import ImageContent, ResourceContent, ToolResult


class Page(BaseHTTPRequestHandler):
    """Answers every path with one page."""

    def do_GET(self) -> None:
        body = b"<html><body><h1>Opening hours</h1><p>From nine to five.</p></body></html>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def page() -> Iterator[str]:
    """The address of a page on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository of git with one file."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / "hours.txt").write_text("From nine to five.")
    return tmp_path


async def calls(server: StdioServer, *made: tuple[str, Any]) -> list[ToolResult]:
    """Return the results of calls of one server, and hold what is true of all servers."""
    async with served(MCPToolset("it", server, prefix="", call_s=None)) as (_, snapshot):
        assert snapshot.specs
        for spec in snapshot.specs:
            assert spec.payload.schema["type"] == "object"
            for required in spec.payload.schema.get("required", ())[:1]:
                refused = await snapshot.call(spec.name, {})
                assert refused.retry_hint is not None
                assert f"$.{required}" in refused.retry_hint.missing_fields
        return [await snapshot.call(name, arguments) for name, arguments in made]


async def test_time() -> None:
    now, wrong = await calls(
        of_python("mcp_server_time"),
        ("get_current_time", {"timezone": "Europe/Berlin"}),
        ("get_current_time", {"timezone": "Europe/Atlantis"}),
    )
    assert json.loads(now.json)["timezone"] == "Europe/Berlin"
    assert (wrong.status, "Europe/Atlantis" in str(wrong.error)) == ("error", True)


async def test_git(folder: Path) -> None:
    repository = {"repo_path": str(folder)}
    added, status = await calls(
        of_python("mcp_server_git", "--repository", str(folder)),
        ("git_add", {**repository, "files": ["hours.txt"]}),
        ("git_status", repository),
    )
    assert added.status == "ok"
    assert "new file:   hours.txt" in status.result


async def test_fetch(page: str) -> None:
    server = of_python("mcp_server_fetch", "--ignore-robots-txt", "--allow-private-ips")
    (found,) = await calls(server, ("fetch", {"url": page}))
    assert "From nine to five." in found.result


async def test_filesystem(folder: Path) -> None:
    read, refused = await calls(
        of_npm("server-filesystem", str(folder)),
        ("read_text_file", {"path": str(folder / "hours.txt")}),
        ("read_text_file", {"path": "/etc/hostname"}),
    )
    assert (read.result, read.content) == ({"content": "From nine to five."}, ())
    assert str(refused.error).startswith("Access denied")


async def test_memory(tmp_path: Path) -> None:
    entity = {"name": "Jo", "entityType": "person", "observations": ["travels"]}
    made, graph = await calls(
        of_npm("server-memory", env={"MEMORY_FILE_PATH": str(tmp_path / "memory.json")}),
        ("create_entities", {"entities": [entity]}),
        ("read_graph", {}),
    )
    assert made.status == "ok"
    assert graph.result == {"entities": [entity], "relations": []}


async def test_everything() -> None:
    total, image, weather, links, asked = await calls(
        of_npm("server-everything"),
        ("get-sum", {"a": 2, "b": 3}),
        ("get-tiny-image", {}),
        ("get-structured-content", {"location": "Chicago"}),
        ("get-resource-links", {"count": 2}),
        ("trigger-elicitation-request", {}),
    )
    assert "5" in total.result
    assert [type(block) for block in image.content][:1] == [ImageContent]
    assert set(weather.result) == {"temperature", "conditions", "humidity"}
    assert [type(block) for block in links.content] == [ResourceContent] * 2
    assert "declined" in asked.result


async def test_two_hundred_calls_at_once() -> None:
    async with served(MCPToolset("it", of_npm("server-everything"), prefix="")) as (_, snapshot):
        sums = [snapshot.call("get-sum", {"a": n, "b": 1}) for n in range(200)]
        results = await asyncio.gather(*sums)
    assert [result.status for result in results] == ["ok"] * 200
    assert all(str(n + 1) in result.result for n, result in enumerate(results))


async def test_a_server_that_is_killed_in_the_middle_of_a_call_is_started_again() -> None:
    toolset = MCPToolset("it", of_npm("server-everything"), prefix="")
    async with served(toolset) as (_, snapshot):
        waiting = asyncio.create_task(
            snapshot.call("trigger-long-running-operation", {"duration": 1, "steps": 1})
        )
        before = await snapshot.call("get-env", {})
        assert before.status == "ok"
        kill_servers()
        assert (await waiting).status == "ok"  # it says that it reads, and was made again
        assert (await snapshot.call("echo", {"message": "again"})).result == "Echo: again"


def kill_servers() -> None:
    """Kill the servers that this process has started."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    for child in children:
        if b"server-everything" in Path(f"/proc/{child}/cmdline").read_bytes():
            os.kill(int(child), signal.SIGKILL)
