"""A client process that does at once what a line of its input says: `clerk.py SETTINGS`.

The settings are, as JSON, the arguments of the engine. A line is JSON: `["answer", run, op, payload]` or
`["cancel", run]`. It writes a line of what became of it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from tests.engines.toys import script
from toolgen.engines.temporal import TemporalEngine
from toolgen.runtime.engine import WaitOverError


async def serve(settings: dict[str, Any]) -> None:
    """Do what the lines of the input say, until it ends."""
    engine = TemporalEngine(**settings, worker=False)
    engine.register(loops={"script": script}, activities={})
    await engine.start()
    say("ready")
    while line := await asyncio.to_thread(sys.stdin.readline):
        match json.loads(line):
            case ["answer", run_id, op, payload]:
                try:
                    say(await engine.answer(run_id, op, payload, key=json.dumps(payload)))
                except WaitOverError:
                    say("over")
            case ["cancel", run_id]:
                await engine.cancel(run_id, reason="enough")
                say("canceled")
    await engine.close()


def say(word: str) -> None:
    print(word, flush=True)


if __name__ == "__main__":
    asyncio.run(serve(json.loads(sys.argv[1])))
