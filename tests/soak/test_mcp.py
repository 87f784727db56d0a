"""New random bodies in each run: a server of MCP answers each of them, goes on, and keeps nothing of them."""

from __future__ import annotations

import asyncio
import json
import random

from tests.adapters.mcp.serving.desk import Desk, desk_runtime
from tests.adapters.mcp.serving.web import URL, hello, modern_call, web
from tests.conformance.adapters.test_mcp_load import descriptors, one_session, settled

BODIES = 5_000
OVERSIZED = 100
"""One body of so many has more bytes than a request may have."""
LARGEST = 100_000


def mutated(chance: random.Random) -> bytes:
    """Return a request with bytes changed, left out, doubled or added."""
    request = chance.choice([hello(), modern_call("weigh", id="p1")["json"]])
    body = bytearray(json.dumps(request).encode())
    for _ in range(chance.randrange(1, 6)):
        start = chance.randrange(len(body) + 1)
        end = min(len(body), start + chance.randrange(12))
        body[start:end] = chance.choice(
            [b"", bytes(body[start:end]) * 2, chance.randbytes(3), b"[" * 600, b'"\\ud800"', b"1e999"]
        )
    if chance.randrange(OVERSIZED) == 0:
        body += b" " * LARGEST
    return bytes(body)


async def test_random_bodies_leave_nothing_behind() -> None:
    seed = random.SystemRandom().randrange(2**32)
    chance = random.Random(seed)
    async with (
        desk_runtime(Desk()) as runtime,
        web(runtime, max_body_bytes=LARGEST, session_idle_s=600, max_sessions=2 * BODIES) as client,
    ):
        good = modern_call("weigh", id="p1")
        await one_session(client)
        await settled()
        files, tasks, opened = descriptors(), len(asyncio.all_tasks()), 0
        for number in range(BODIES):
            body = mutated(chance)
            answer = await client.post(URL, content=body, headers=good["headers"] if number % 2 else {})
            assert answer.status_code < 500, (seed, number, body[:300], answer.text[:300])
            if session := answer.headers.get("mcp-session-id"):
                opened += 1
                gone = await client.delete(URL, headers={"mcp-session-id": session})
                assert gone.status_code in (200, 404), (seed, number)  # 404: it was refused and is closed
            if number % 100 == 0:
                assert (await client.post(URL, **good)).status_code == 200, (seed, number)
        await settled()
        assert opened, "no mutated body opened a session"
        assert len(asyncio.all_tasks()) <= tasks
        assert descriptors() <= files
