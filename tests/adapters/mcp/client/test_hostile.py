"""Servers that attack their client: the error names them, nothing is left, and memory has a bound."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from tests.adapters.mcp.client.conftest import bare, ended, lines, served
from tests.selection import first


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("tool", "why"),
    first(
        [
            ("endless_line", "it wrote a line of more than 16777216 bytes"),
            ("bad_byte", "it wrote a message that is not UTF-8: invalid start byte"),
        ]
    ),
)
async def test_what_breaks_the_stream_ends_the_process_and_is_named(
    tool: str, why: str, log: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(bare("good", log)) as (_, snapshot):
        pid = int((await snapshot.call("whoami", {})).result)
        result = await snapshot.call(tool, {})
        assert (result.status, str(result.error)) == (
            "unknown",
            f"the connection to the MCP server 'bare' ended before the answer; {tool} may have run",
        )
        assert f"the connection to the MCP server 'bare' ended: {why}" in caplog.text
        await ended(pid)
        assert (await snapshot.call("echo", {"n": 1})).status == "ok"  # by a new process


async def test_what_a_server_says_of_its_transport_is_its_answer(log: Path) -> None:
    async with served(bare("good", log)) as (_, snapshot):
        pid = (await snapshot.call("whoami", {})).result
        for tool, said in (
            ("says_closed", "says_closed: Connection closed"),
            ("says_session", "says_session: Session terminated"),
            ("says_status", "says_status: HTTP status 429"),
            ("says_error", "Connection closed"),
        ):
            result = await snapshot.call(tool, {})
            assert (result.status, str(result.error), result.retry_hint) == ("error", said, None)
        assert len(lines(log)) == 4
        assert (await snapshot.call("whoami", {})).result == pid


async def test_texts_of_a_server_are_cleaned_and_cut() -> None:
    async with served(bare("texts")) as (_, snapshot):
        specs = {spec.name: spec for spec in snapshot.specs}
        texts = specs["texts"]
        schema = texts.payload.schema
        for shown in (schema["description"], schema["properties"]["title"]["title"]):
            assert shown.startswith("a\\u200b\\u001b[31mxxx")
            assert len(shown) < 4_200
        assert [(icon.src, icon.mime_type, icon.sizes) for icon in texts.icons] == [
            ("https://a.example/i.png", "", ("48x48",))
        ]
        (odd,) = [spec for name, spec in specs.items() if name not in ("echo", "texts")]
        name = str(odd.meta["mcp"]["tool"])  # type: ignore[index, call-overload]
        assert len(name) < 1_000
        assert "\u200b" not in name


@pytest.mark.parametrize("mode", first(["remote_ref", "loop_ref", "many", "deep"], 2))
async def test_a_schema_that_attacks_does_not_cost_the_other_tools(mode: str) -> None:
    async with served(bare(mode)) as (_, snapshot):
        assert [spec.name for spec in snapshot.specs if spec.name != "bad"] == ["echo"]
        assert (await snapshot.call("echo", {"n": 1})).status == "ok"
        if "bad" in [spec.name for spec in snapshot.specs]:
            assert (await snapshot.call("bad", {"a": {}})).status in ("ok", "error")


async def test_a_pattern_that_backtracks_is_checked_at_once() -> None:
    async with served(bare("pattern")) as (_, snapshot):
        assert (await snapshot.call("slow", {"a": "a" * 5_000 + "b"})).status == "error"
        assert (await snapshot.call("slower", {"a": "ab" * 500_000})).status == "ok"  # the server checks it


@pytest.mark.parametrize(
    "step",
    first(["server/discover", "initialize", "notifications/initialized", "tools/list", "tools/call"], 2),
)
async def test_a_server_that_dies_at_a_step_is_named(step: str) -> None:
    async with served(bare(f"dies_at {step}"), on_error="drop") as (_, snapshot):
        if step == "tools/call":
            assert (await snapshot.call("echo", {"n": 1})).status == "unknown"
        else:
            assert "the MCP server 'bare'" in snapshot.failures["bare"]


@pytest.mark.exhaustive
async def test_toolsets_that_come_and_go_leave_nothing(log: Path) -> None:
    def left() -> tuple[int, int]:
        return len(os.listdir("/dev/fd")), len(asyncio.all_tasks())

    async def used(log: Path) -> int:
        async with served(bare("good", log)) as (_, snapshot):
            return int((await snapshot.call("whoami", {})).result)

    await used(log)
    before = left()
    for pid in await asyncio.gather(*(used(log) for _ in range(4))):
        await ended(pid)
    assert all(now <= once for now, once in zip(left(), before, strict=True))
