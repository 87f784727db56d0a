"""Does a firmware update in a process of its own: `python -m examples.home.firmware JOB TOKEN [DATABASE]`.

JOB is the handle of the pending call and TOKEN its token; both are in `ToolResult.suspension`.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import closing
from pathlib import Path

from gen.assistant.toolsets.maintenance import UpdateFirmwareProgress
from toolgen.runtime import Json

from .app import assistant
from .database import DATABASE, connect


async def work(job: str, token: str, path: Path) -> None:
    """Do the job, say how far it is, and deliver its result, which is printed.

    Raises:
        SuspensionError: nothing waits under the token.
    """
    with closing(connect(path)) as database:
        runtime = assistant(database, path)
        runtime.runs.run_as_client()
        async with runtime:
            for percent in (25, 50, 100):
                with database:
                    database.execute("update firmware_job set percent = ? where id = ?", [percent, job])
                await runtime.suspensions.progress(
                    token, percent / 100, "copying", UpdateFirmwareProgress(percent=percent)
                )
                print(f"{percent} percent")
            row = database.execute("select version from firmware_job where id = ?", [job]).fetchone()
            answer: Json = {"version": row["version"]} if row else {"error": "There is no such job."}
            result = await runtime.suspensions.answer(token, answer)
            print(result.json.decode())


if __name__ == "__main__":
    job, token, *rest = sys.argv[1:]
    asyncio.run(work(job, token, Path(rest[0]) if rest else DATABASE))
