"""The example with a chat that says its answers in pieces, for streams that are followed, cut off and killed.

In the middle of each answer it waits until a file `go on` is in its folder. As a program it serves the
example of a folder, at a port and with a token that are the same after a restart.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Final

from examples.home import scripts
from examples.home.app import Backend, Planners, assistant, files
from examples.home.database import connect
from toolgen.adapters.http import Caller, HTTPSurface, SurfaceOptions
from toolgen.adapters.http.serving import StartToken, drained, serve_surface, served_app
from toolgen.adapters.postgres import (
    Postgres,
    PostgresArtifactStore,
    PostgresCredentialStore,
    PostgresReports,
    PostgresSessionStore,
    PostgresStateStore,
)
from toolgen.agents import FinalResponse, PlanInput, PlanResult
from toolgen.engines.temporal import TemporalEngine, TemporalLimits
from toolgen.events import Events
from toolgen.runtime import Runtime

TOKEN: Final = "the-token-of-every-start"
GO_ON: Final = "go on"
SECRET: Final = b"the secret of every process here"
FIRST_WORDS: Final = 4


class Piecemeal:
    """Says the answers of the chat word by word, with the first few at once."""

    def __init__(self, folder: Path) -> None:
        self._planner = scripts.chat()
        self._go_on = folder / GO_ON

    async def plan_start(self, plan_input: PlanInput) -> PlanResult:
        return await self._said(plan_input, await self._planner.plan_start(plan_input))

    async def plan_resume(self, plan_input: PlanInput) -> PlanResult:
        return await self._said(plan_input, await self._planner.plan_resume(plan_input))

    async def _said(self, plan_input: PlanInput, result: PlanResult) -> PlanResult:
        if isinstance(result, FinalResponse):
            for number, word in enumerate(result.text.split(" ")):
                while number == FIRST_WORDS and not self._go_on.exists():  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                plan_input.reports.text(f" {word}" if number else word)
        return result


@contextmanager
def home(folder: Path, backend: Backend | None = None) -> Iterator[Runtime]:
    """Give the example over the database of a folder, by default with its runs in a file there."""
    path = folder / "home.db"
    with closing(connect(path)) as database:
        yield assistant(
            database,
            path,
            planners=Planners(chat=Piecemeal(folder)),
            events=Events(),
            backend=backend or files(path),
        )


@asynccontextmanager
async def home_on_temporal(folder: Path, temporal: str, conninfo: str) -> AsyncIterator[Runtime]:
    """Give the example with its runs on Temporal, and all that it keeps in PostgreSQL."""
    async with Postgres(conninfo) as stored:
        backend = Backend(
            engine=TemporalEngine(
                temporal,
                reports=PostgresReports(stored, secret=SECRET),
                limits=TemporalLimits(heartbeat_s=3.0),
            ),
            states=PostgresStateStore(stored),
            sessions=PostgresSessionStore(stored),
            artifacts=PostgresArtifactStore(stored),
            credentials=PostgresCredentialStore(stored, secret=SECRET),
            secret=SECRET,
        )
        with home(folder, backend) as runtime:
            yield runtime


async def serve(folder: Path, port: int) -> None:
    """Serve until the process is killed."""
    options = SurfaceOptions()
    token = StartToken(Caller(id="mira", sessions="s-"), TOKEN)
    with home(folder) as runtime:
        async with runtime:
            surface = HTTPSurface(runtime, caller=token, options=options)
            await serve_surface(
                served_app(surface, options),
                "127.0.0.1",
                port,
                options,
                close=lambda: drained(surface, 1.0),
                on_ready=lambda url: print(f"serving {url}", flush=True),
            )


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), int(sys.argv[2])))
