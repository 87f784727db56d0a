"""Servers that attack their client: the error names them, nothing is left, and memory has a bound."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.mcp.client.conftest import bare, ended, served


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        ("endless_line", "it wrote a line of more than 16777216 bytes"),
        ("bad_byte", "it wrote a message that is not UTF-8: invalid start byte"),
    ],
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
