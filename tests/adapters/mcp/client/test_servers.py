"""Servers that hang, die, write garbage or change their minds: an error that names them, no process left."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.mcp.client.conftest import bare, ended, heard, lines, served
from tests.peers import PEERS
from tests.selection import first
from toolgen.adapters.mcp import HttpServer, MCPServerError, MCPToolset, StdioServer
from toolgen.adapters.mcp.client.connection import ServerConnection
from toolgen.adapters.mcp.client.errors import ConnectionLostError
from toolgen.runtime import CallMeta, ReadonlyContext, RegistrationError, Runtime, SnapshotError, ToolgenError
from toolgen.runtime.views import prefixed


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("mode", "why"),
    first(
        [
            ("hangs", "the MCP server 'bare' did not answer within 0.5 seconds"),
            ("garbage", "ended before it answered; it wrote something that is not a JSON-RPC message"),
            ("dies", "the MCP server 'bare' ended before it answered"),
            ("endless", "the MCP server 'bare' never ends its list of tools: 100 so far"),
        ],
        2,
    ),
)
async def test_a_server_that_cannot_be_used_is_named_with_the_reason(mode: str, why: str) -> None:
    seconds = 0.5 if mode == "hangs" else 30.0
    async with served(bare(mode, connect_s=seconds), on_error="drop") as (_, snapshot):
        assert why in snapshot.failures["bare"]
        assert snapshot.dropped["bare"] == "it cannot list its tools (MCPServerError)"


async def test_without_a_policy_the_request_fails() -> None:
    with pytest.raises(SnapshotError, match="toolset 'bare' cannot list its tools: MCPServerError: the MCP"):
        async with served(bare("dies")):
            pass


async def test_a_command_that_is_not_there_is_told() -> None:
    toolset = MCPToolset("none", StdioServer("no-such-command"))
    async with served(toolset, on_error="drop") as (_, snapshot):
        message = (
            "the MCP server 'none' cannot be started: the program or folder 'no-such-command' does not exist"
        )
        assert message in snapshot.failures["none"]


async def test_a_url_where_nobody_listens_is_told() -> None:
    toolset = MCPToolset("none", HttpServer("http://127.0.0.1:9/mcp?token=secret"))
    async with served(toolset, on_error="drop") as (_, snapshot):
        failure = snapshot.failures["none"]
        assert "the MCP server 'none' cannot be reached: ConnectError" in failure
        assert "secret" not in failure
        assert "Group" not in failure
    assert HttpServer("http://jo:pw@127.0.0.1:9/mcp?token=secret").address == "http://127.0.0.1:9/mcp"


@pytest.mark.parametrize("mode", ["toolless", "bare"])
async def test_a_server_without_tools_is_an_empty_toolset(mode: str) -> None:
    async with served(bare(mode)) as (_, snapshot):
        assert (snapshot.specs, snapshot.failures, snapshot.left_out) == ((), {}, {})


async def test_a_tool_whose_schema_cannot_be_used_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    async with served(bare("schemas")) as (_, snapshot):
        names = [spec.name for spec in snapshot.specs]
        assert "echo" in names
        assert "odd" not in names
        assert "the JSON Schema of OddPayload cannot be used" in snapshot.left_out["mcp.bare.odd"]
    assert "the MCP server 'bare' lists the tool 'odd', but the JSON Schema of OddPayload" in caplog.text


async def test_a_tool_that_the_protocol_does_not_allow_does_not_cost_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served(bare("misfits")) as (_, snapshot), served(bare("good")) as (_, good):
        assert [spec.id for spec in snapshot.specs] == [spec.id for spec in good.specs]
        assert list(snapshot.left_out) == ["mcp.bare.union", "mcp.bare.None"]
    assert "toolset bare: the tool mcp.bare.union is not offered: " in caplog.text


@pytest.mark.exhaustive
async def test_a_name_that_is_listed_for_two_tools_is_left_out_alone() -> None:
    async with served(bare("duplicates")) as (_, snapshot), served(bare("good")) as (_, good):
        others = [spec.id for spec in good.specs if spec.name != "die"]
        assert [spec.id for spec in snapshot.specs] == others  # "echo" comes twice as it is
        assert snapshot.left_out == {
            "mcp.bare.die": "the server lists two tools with this name; names must be unique (MCP, Tools)"
        }


async def test_a_call_during_which_the_server_dies_may_have_run(log: Path) -> None:
    async with served(bare("good", log)) as (_, snapshot):
        result = await snapshot.call("die", {})
        assert result.status == "unknown"
        assert str(result.error) == (
            "the connection to the MCP server 'bare' ended before the answer; die may have run"
        )
        assert len(lines(log)) == 1  # it is not made again
        assert (await snapshot.call("echo", {"n": 1})).status == "ok"  # by a new process


@pytest.mark.parametrize("given", ["cmd", None, ("python", "-m", "x"), Path("server.py")])
def test_what_is_no_server_is_refused_at_once(given: Any) -> None:
    with pytest.raises(RegistrationError, match=r"is not an MCP server: MCPToolset\('clock', …\)") as told:
        MCPToolset("clock", given)
    assert "StdioServer(" in told.value.hint


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("localhost", "localhost"),
        ("localhost:8000/mcp", "localhost:8000/mcp"),
        ("", ""),
        ("ftp://a.example/mcp", "ftp://a.example/mcp"),
        ("https:///mcp", "https:///mcp"),
        ("http://[::1/mcp", "http://[::1/mcp"),
        ("jo:s3cret@a.example?token=s3cret", "a.example"),
        (None, "NoneType"),
    ],
)
def test_what_is_no_url_is_refused_at_once(url: Any, shown: str) -> None:
    with pytest.raises(RegistrationError) as told:
        HttpServer(url)
    assert told.value.message == f"{shown!r} is not the URL of an MCP server"


@pytest.mark.parametrize("given", [("python", "-m x"), ("",), (["python", "-m"],)])
def test_what_is_no_command_is_refused_at_once(given: Any) -> None:
    with pytest.raises(RegistrationError, match="takes the program and a tuple"):
        StdioServer(*given)


async def test_a_server_that_is_left_out_takes_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    for level in (logging.WARNING, logging.DEBUG):
        caplog.clear()
        caplog.set_level(level, "toolgen")
        async with served(MCPToolset("none", StdioServer("no-such-command")), on_error="drop"):
            pass
        records = [record for record in caplog.records if "cannot list its tools" in record.getMessage()]
        told = records[0].getMessage()
        assert told.startswith(
            "toolset none cannot list its tools (on_error=drop): MCPServerError: the MCP server 'none'"
        )
        assert ("\n" in told, records[0].exc_info) == (False, None)
        assert [record.levelno for record in records[1:]] == [logging.DEBUG] * (level == logging.DEBUG)


async def test_requests_that_wait_for_a_list_outlive_its_connection(log: Path) -> None:
    toolset = bare("dies_once_at tools/list", log)
    async with toolset, asyncio.timeout(60):
        found = await asyncio.gather(*(toolset.tools(ReadonlyContext()) for _ in range(3)))
    assert [tools[0].spec.name for tools in found] == ["echo"] * 3


async def test_a_session_that_has_ended_lists_nothing() -> None:
    server = StdioServer(sys.executable, (str(PEERS / "bare.py"), "good"))
    connection = ServerConnection(
        "bare", partial(server.connected, {}), connect_s=60, list_s=0, clock=time.time
    )
    await connection.open()
    await connection.close()
    with pytest.raises(ConnectionLostError, match="the connection to the MCP server 'bare' ended") as told:
        await connection.listing()
    assert not told.value.was_sent


async def test_a_call_that_only_reads_is_made_again(log: Path) -> None:
    async with served(bare("good", log)) as (_, snapshot):
        assert (await snapshot.call("die_once", {})).result == "done"
        assert len(set(lines(log))) == 2


async def test_all_calls_in_flight_learn_that_the_server_died(log: Path) -> None:
    async with served(bare("good", log, call_s=None)) as (_, snapshot):
        waiting = [asyncio.create_task(snapshot.call("hang", {})) for _ in range(5)]
        await snapshot.call("echo", {"n": 1})
        await snapshot.call("die", {})
        assert [(await call).status for call in waiting] == ["unknown"] * 5


async def test_a_server_that_died_while_nobody_called_is_started_again(log: Path) -> None:
    async with served(bare("good", log)) as (_, snapshot):
        pid = int((await snapshot.call("whoami", {})).result.split()[-1])
        async with heard("has ended the connection"):
            os.kill(pid, 9)
        result = await snapshot.call("whoami", {})
        assert (result.status, int(result.result.split()[-1]) != pid) == ("ok", True)


async def test_a_connection_is_tried_again_after_longer_and_longer_pauses(tmp_path: Path, log: Path) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        if seconds < 100:
            pauses.append(seconds)
            return
        await asyncio.Event().wait()

    command = tmp_path / "server"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{PEERS / "bare.py"}" good "{log}"\n')
    command.chmod(0o700)
    toolset = MCPToolset("bare", StdioServer(str(command)), sleep=sleep, prefix="")
    async with served(toolset) as (_, snapshot):
        command.unlink()
        await snapshot.call("die", {})
        result = await snapshot.call("echo", {"n": 1})
        assert pauses == [0.5, 1.0]
        assert str(result.error) == "the MCP server 'bare' cannot be reached now"


@pytest.mark.exhaustive
async def test_calls_of_one_identity_share_a_process_and_no_other_gets_it() -> None:
    def env(meta: CallMeta) -> dict[str, str]:
        return {"PERSON": meta.session_id}

    server = StdioServer(sys.executable, (str(PEERS / "bare.py"), "good"), env=env)
    async with served(MCPToolset("bare", server, prefix="")) as (_, snapshot):
        one, two, again = [
            (await snapshot.call("whoami", {}, CallMeta(session_id=session))).result.split()
            for session in ("jo", "al", "jo")
        ]
    assert (one[0], two[0]) == ("jo", "al")
    assert one == again
    assert one[1] != two[1]
    assert "PERSON" not in repr(StdioServer("x", env={"PERSON": "jo"}))


async def test_an_idle_connection_is_closed_and_opened_again() -> None:
    now = 0.0
    turns: asyncio.Queue[asyncio.Future[None]] = asyncio.Queue()

    async def sleep(seconds: float) -> None:
        assert seconds == 50
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        turns.put_nowait(turn)
        await turn

    async with served(bare("good", idle_s=100, clock=lambda: now, sleep=sleep)) as (_, snapshot):
        first = (await snapshot.call("whoami", {})).result
        now = 99.0
        (await turns.get()).set_result(None)
        turn = await turns.get()  # the sweep is over
        assert (await snapshot.call("whoami", {})).result == first
        now = 300.0
        turn.set_result(None)
        await turns.get()
        await ended(int(first))
        assert (await snapshot.call("whoami", {})).result != first


async def test_a_list_is_asked_for_again_after_its_time_or_a_change() -> None:
    now = 0.0
    async with served(bare("good", list_s=10, clock=lambda: now)) as (runtime, snapshot):
        before = [spec.digest for spec in snapshot.specs]
        await snapshot.call("change", {})
        after = await runtime.tools.snapshot()
        assert [spec.digest for spec in after.specs] != before


@pytest.mark.exhaustive
async def test_a_stubborn_server_is_killed_with_its_children(log: Path) -> None:
    async with served(bare("stubborn", log)) as (_, snapshot):
        assert snapshot.specs
    server, child = map(int, lines(log))
    with pytest.raises(ProcessLookupError):
        os.kill(server, 0)  # it is not there, not even as a zombie
    await ended(child)


async def test_a_toolset_that_is_not_open_says_so() -> None:
    with pytest.raises(ToolgenError, match="the MCP toolset 'bare' is not open"):
        await bare("good").tools(ReadonlyContext())


@pytest.mark.exhaustive
async def test_several_toolsets_open_and_close_in_any_order() -> None:
    runtime = Runtime()
    toolsets = [MCPToolset(f"bare{n}", bare("good")._server) for n in range(3)]
    for toolset in toolsets:
        runtime.tools.add_toolset(prefixed(toolset, f"{toolset.name}_"), on_error="drop")
    async with runtime:
        snapshots = await asyncio.gather(*(runtime.tools.snapshot() for _ in range(4)))
        assert all(not snapshot.failures for snapshot in snapshots)


async def test_a_toolset_is_closed_while_its_server_starts(caplog: pytest.LogCaptureFixture) -> None:
    toolset = bare("hangs", connect_s=3600.0)
    async with toolset:
        listing = asyncio.create_task(toolset.tools(ReadonlyContext()))
        await asyncio.sleep(0)  # it begins
    with pytest.raises(ToolgenError, match="cannot be reached"):
        await listing
    assert "did not close" not in caplog.text


def test_secrets_of_a_server_are_not_shown() -> None:
    shown = repr(MCPToolset("bare", HttpServer("http://jo:pw@127.0.0.1:9/mcp?token=t")))
    assert shown == "MCPToolset('bare', HttpServer())"
    assert "pw" not in repr(StdioServer("server", ("--password=pw",), env={"KEY": "pw"}))


async def test_nothing_is_started_for_calls_that_wait_while_the_toolset_is_closed(log: Path) -> None:
    toolset = bare("hangs", log, connect_s=3600.0)
    async with toolset:
        waiting = [asyncio.create_task(toolset.tools(ReadonlyContext())) for _ in range(3)]
        await asyncio.sleep(0)  # the first connects, the others wait for it
    errors = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(error) for error in errors] == [MCPServerError] * 3
    assert "the MCP toolset 'bare' was closed" in str(errors[-1])


async def test_a_closing_that_is_cancelled_leaves_no_process(log: Path) -> None:
    toolset = bare("good", log)
    async with served(toolset) as (_, snapshot):
        pid = int((await snapshot.call("whoami", {})).result)
        closing = asyncio.create_task(toolset.__aexit__(None, None, None))
        await asyncio.sleep(0)  # it begins
        closing.cancel()
        await asyncio.wait({closing})
        await ended(pid)


async def test_a_first_call_that_is_cancelled_leaves_the_server_to_the_next() -> None:
    async with bare("good") as toolset:
        first = asyncio.create_task(toolset.tools(ReadonlyContext()))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert await toolset.tools(ReadonlyContext())
