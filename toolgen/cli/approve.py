"""`toolgen approve`: answer a suspended call through the runtime that the project configures."""

from __future__ import annotations

import datetime as dt
import json
import sys

from toolgen.cli.call import waiting
from toolgen.cli.config import Project
from toolgen.cli.runtime import load_runtime
from toolgen.cli.terminal import show_document
from toolgen.contract.errors import ToolgenError
from toolgen.contract.fields import Json
from toolgen.contract.printable import printable
from toolgen.runtime import Suspended


async def answer_call(project: Project, token: str, answer: Json, session: str | None) -> int:
    """Print the JSON that the model gets after the answer; return 1 when the call failed.

    Raises:
        ToolgenError: the token or the answer is not good; nothing ran.
    """
    runtime = await load_runtime(project)
    async with runtime:
        result = await runtime.deliver(token, answer, session_id=session)
    if result.suspension is not None:
        print(waiting(result.suspension), file=sys.stderr)
    if result.json:
        show_document(result.json)
    return 0 if result.status in ("ok", "denied", "pending", "suspended") else 1


async def show_waiting(project: Project, session: str | None) -> int:
    """Print what waits for an answer, oldest first; tokens are held by those who were asked."""
    runtime = await load_runtime(project)
    async with runtime:
        waiting = await runtime.suspended(session)
    for suspended in waiting:
        print(_line(suspended))
    if not waiting:
        print("nothing waits for an answer", file=sys.stderr)
    return 0


def _line(suspended: Suspended) -> str:
    until = dt.datetime.fromtimestamp(suspended.expires_at, dt.UTC).isoformat(timespec="minutes")
    text = suspended.question or suspended.preview or suspended.handle
    return printable(f"{suspended.id}  {suspended.kind}  {suspended.tool}  until {until}  {text}")


def approval(deny: bool, message: str, payload: str, answer: str) -> Json:
    """Return the answer that the options spell.

    Raises:
        ToolgenError: a text is not JSON, or the options contradict one another.
    """
    if answer:
        if deny or message or payload:
            raise ToolgenError(
                "--answer is the whole answer", hint="leave out --deny, --message and --payload"
            )
        return _json("--answer", answer)
    given: dict[str, Json] = {"approved": not deny}
    if message:
        given["message"] = message
    if payload:
        given["payload"] = _json("--payload", payload)
    return given


def _json(option: str, text: str) -> Json:
    try:
        return json.loads(text)  # type: ignore[no-any-return]  # JSON
    except ValueError as error:
        raise ToolgenError(f"{option} is not JSON: {error}", hint="quote it for the shell") from error
