"""A loop of which there are two versions, as a deployment of new code has them side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.engines.toys import call
from toolgen.engines import Loop, NondeterminismError, RunContext


def versioned(version: int) -> Loop:
    """Return the loop of a version.

    Version 2 does one call more, for runs that began with it. Version 3 forgets that old runs do not.
    """

    async def loop(ctx: RunContext, given: Mapping[str, Any]) -> Any:
        began = given["version"]
        if began > version:
            raise NondeterminismError(f"run {ctx.run_id} was begun by version {began}; this is {version}")
        name = ctx.run_id
        done = [await ctx.start("first", "tool", call(f"{name}.first"))]
        if began >= 2 or version >= 3:
            done.append(await ctx.start("check", "tool", call(f"{name}.check")))
        signal = await ctx.wait("wait", "go", about="go?")
        done.append(None if signal is None else signal.payload)
        done.append(await ctx.start("last", "tool", call(f"{name}.last")))
        return done

    return loop
