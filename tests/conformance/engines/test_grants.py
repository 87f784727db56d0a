"""Grants on a real Temporal server, by two workers."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

from tests.runtime.granting import META, TOOL, Host, asked
from tests.temporal_server import TemporalServer
from toolgen.engines.temporal import TemporalEngine
from toolgen.runtime import Runtime
from toolgen.runtime.functions import func_tool, function_toolset

_SECRET = b"0123456789abcdef"
_NUMBERS = itertools.count(1)


def served(server: TemporalServer, host: Host, number: int) -> Runtime:
    engine = TemporalEngine(server.address, queue=f"grants {number}", prefix=f"grants {number}:")
    runtime = Runtime(engine=engine, secret=_SECRET)
    tool = func_tool(host.disk.write, toolset="x.disk", **host.facts)
    runtime.tools.register(function_toolset("x.disk", [tool]))
    return runtime


async def test_two_workers_share_the_uses_of_a_grant(server: TemporalServer) -> None:
    host, number = Host(), next(_NUMBERS)
    async with (
        asyncio.timeout(120),
        served(server, host, number) as one,
        served(server, host, number) as other,
    ):
        waiting = await asked(one)
        answer: Any = {"approved": True, "grant": {"expires_s": 600, "uses": 3}}
        assert (await one.suspensions.answer(waiting.token, answer, by="jo")).status == "ok"
        while not (grants := await other.suspensions.grants("s")):  # noqa: ASYNC110  # a server lists it later
            await asyncio.sleep(0)
        calls = [runtime.call(TOOL, {"path": "/srv/b"}, META) for runtime in (one, other) * 3]
        statuses = sorted([result.status for result in await asyncio.gather(*calls)])
        assert statuses == ["ok"] * 3 + ["suspended"] * 3
        assert len(host.disk.written) == 4
        assert [grant.used for grant in await one.suspensions.grants("s")] == [3]
        await other.suspensions.revoke(grants[0].id, by="jo")
        assert await one.suspensions.grants("s") == ()
