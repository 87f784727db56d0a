"""Whose artifacts a session has: its own, also where its id is the beginning of another one."""

from __future__ import annotations

import pytest

from toolgen.calls.functions.tools import function_toolset
from toolgen.capabilities import ArtifactsCapability, MemoryArtifactStore
from toolgen.runtime import CallMeta, Runtime, ToolContext, ToolError


async def note(text: str, ctx: ToolContext) -> str:
    """Save a note."""
    return (await ctx.artifacts.save("note.txt", text.encode(), "text/plain")).uri


async def test_a_session_whose_id_ends_with_a_slash_reads_and_drops_no_files_of_others() -> None:
    capability = ArtifactsCapability(MemoryArtifactStore())
    runtime = Runtime(capabilities=[capability])
    runtime.tools.register(function_toolset("x.tools", [note]))
    own = await runtime.call("note", {"text": "secret"}, CallMeta(session_id="a/b"))
    uri = own.json.decode().strip('"')
    assert await capability.read(uri, "a/b") is not None
    assert await capability.read(uri, "a/") is None
    assert await capability.forget("a/") == 0
    assert await capability.read(uri, "a/b") is not None
    assert (await runtime.call("note", {"text": "x"}, CallMeta(session_id="a/"))).status == "error"
    with pytest.raises(ToolError, match="must not end with a slash"):
        await capability.upload("a/", "run", "note.txt", b"x", "text/plain")
