"""A client process that does at once what it is told, and sends back what became of it.

Its settings are the arguments of the engine. It is told `["answer", run, op, payload]` or `["cancel", run]`.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from tests.engines.toys import script
from toolgen.engines import WaitOverError
from toolgen.engines.temporal import TemporalEngine


async def serve(settings: dict[str, Any], told: Connection[str, list[Any]]) -> None:
    """Do what comes through the connection, until it is closed."""
    engine = TemporalEngine(**settings, worker=False)
    engine.register(loops={"script": script}, activities={})
    await engine.start()
    told.send("ready")
    with suppress(EOFError):
        while True:
            match await asyncio.to_thread(told.recv):
                case ["answer", run_id, op, payload]:
                    try:
                        told.send(await engine.answer(run_id, op, payload, key=json.dumps(payload)))
                    except WaitOverError:
                        told.send("over")
                case ["cancel", run_id]:
                    await engine.cancel(run_id, reason="enough")
                    told.send("canceled")
    await engine.close()


def run(settings: dict[str, Any], told: Connection[str, list[Any]]) -> None:
    """Serve in a process of its own."""
    asyncio.run(serve(settings, told))
