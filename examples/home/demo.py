"""Seventeen calls as a model might make them, and a conversation: `python -m examples.home.demo`.

No model takes part: calls and conversation are written down, and go through the whole runtime. With
`--model NAME` a model leads the conversation, such as `openai-chat:gpt-5.2` with its key in the environment.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import struct
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from gen.assistant.toolsets.tariffs import BoundTariffsExecutor
from gen.tariff_service import TariffServiceClient
from toolgen.capabilities import Credential
from toolgen.runtime import Bounds, CallMeta, ReadonlyContext, RetryHint, Runtime, Suspended, ToolResult
from toolgen.waiting import printable_lines

from .app import Planners, assistant
from .conversation import conversation
from .database import DATABASE, connect
from .tariff_server import KEY, supplier

CALLS: Final = (
    # What it shows, session, tool, the model's arguments.
    (
        "Who is asking? The server injects the session; the model does not know it.",
        "s-mira",
        "get_user_data",
        "{}",
    ),
    (
        "The first page of a list.",
        "s-mira",
        "list_devices",
        '{"site_id": "harbour", "kind": "light", "limit": 2}',
    ),
    (
        "The next page, with the cursor of the first.",
        "s-mira",
        "list_devices",
        '{"site_id": "harbour", "kind": "light", "limit": 2, "cursor": "QmVkc2lkZSByaWdodApoMTc="}',
    ),
    (
        "One sentence for the model, a week of readings for the screen.",
        "s-mira",
        "get_time_series",
        '{"device_id": "h15", "start": "2026-01-20T00:00:00Z", "end": "2026-01-27T00:00:00Z"}',
    ),
    (
        "A write; its command has one of four shapes.",
        "s-mira",
        "set_state",
        '{"device_id": "h09", "command": {"kind": "dim", "level": 40}}',
    ),
    (
        "Full-text search in the manuals.",
        "s-mira",
        "search",
        '{"query": "battery", "limit": 2}',
    ),
    (
        "A recursive type.",
        "s-mira",
        "table_of_contents",
        '{"manual": "koppel-p1", "depth": 3}',
    ),
    (
        "Four mistakes in one call: each is named, and nothing runs.",
        "s-mira",
        "list_devices",
        '{"status": "broken", "limit": 1000, "page": 2}',
    ),
    (
        "The model tries to set the session, and is refused.",
        "s-mira",
        "list_devices",
        '{"site_id": "harbour", "session_id": "s-jonas"}',
    ),
    (
        "Another user, who may see the cabin only.",
        "s-jonas",
        "list_devices",
        '{"site_id": "harbour"}',
    ),
    (
        "An image for the model that sees, beside its JSON.",
        "s-mira",
        "draw_readings",
        '{"device_id": "h15"}',
    ),
)

MIRA: Final = CallMeta(session_id="s-mira")


def main(path: Path = DATABASE, planners: Planners | None = None) -> None:
    """Make the calls on a database, built when it is missing, and print them; then lead the conversation.

    Other planners than the scripts lead the conversation alone.
    """
    with closing(connect(path)) as database:
        if planners is None:
            print(asyncio.run(transcript(database, path)))
        asyncio.run(_talk(assistant(database, path, planners)))


async def _talk(runtime: Runtime) -> None:
    print("\nA conversation, and its events:\n")
    async with runtime:
        async for line in conversation(runtime):
            print(printable_lines(line))  # a model may say anything


def _planned_by(model: str) -> Planners:
    """Return planners that ask the model."""
    from toolgen.agents import LLMPlanner  # the demo itself needs no model, and not the extra

    return Planners(chat=LLMPlanner(model), diagnostics=LLMPlanner(model))


async def transcript(database: sqlite3.Connection, path: Path) -> str:
    """Return what was sent and what came back, call by call; `path` is that of the database."""
    calls = []
    with supplier() as address:
        async with TariffServiceClient(server=address) as client:
            tariffs = BoundTariffsExecutor(tariff_service=client)
            async with assistant(database, path, tariffs=tariffs) as runtime:
                for number, (title, session_id, tool, arguments) in enumerate(CALLS, 1):
                    result = await runtime.call(tool, arguments, CallMeta(session_id=session_id))
                    calls.append(_shown(number, title, tool, arguments, result))
                number = len(calls)
                calls.append(await _reset(number + 1, runtime, path))
                calls.append(await _update(number + 2, runtime, path))
                calls.append(await _sign_in(number + 3, runtime))
                calls += [call async for call in _tariffs(number + 4, runtime)]
    return "\n\n".join(calls)


async def _reset(number: int, runtime: Runtime, path: Path) -> str:
    """Ask a person first; the approval is given to another runtime, as `toolgen approve` does."""
    tool, arguments = "factory_reset", '{"device_id": "h09"}'
    result = await runtime.call(tool, arguments, MIRA)
    text = _shown(number, "A person is asked first; nothing has run.", tool, arguments, result)
    with closing(connect(path)) as database:
        other = assistant(database, path)
        other.runs.run_as_client()
        async with other:
            done = await other.suspensions.answer(_waiting(result).token, {"approved": True})
    return f"{text}\n   approved elsewhere → {done.json.decode()}\n     display: {done.display}"


async def _update(number: int, runtime: Runtime, path: Path) -> str:
    """Begin work that another process does and delivers."""
    tool, arguments = "update_firmware", '{"device_id": "h09", "version": "2.4.0"}'
    result = await runtime.call(tool, arguments, MIRA)
    text = _shown(number, "Work that goes on in another process.", tool, arguments, result)
    waiting = _waiting(result)
    program = (sys.executable, "-m", "examples.home.firmware", waiting.handle, waiting.token, str(path))
    process = await asyncio.create_subprocess_exec(*program, stdout=PIPE)
    said, _ = await process.communicate()
    return "\n".join([text, *(f"   another process: {line}" for line in said.decode().splitlines())])


async def _sign_in(number: int, runtime: Runtime) -> str:
    """Show that a toolset appears with the next request after a call."""
    tool, arguments = "sign_in", '{"pin": "2718"}'
    before = await _tools(runtime)
    result = await runtime.call(tool, arguments, MIRA)
    new = [name for name in await _tools(runtime) if name not in before]
    text = _shown(number, "A toolset that appears after this call.", tool, arguments, result)
    return f"{text}\n     tools before: {len(before)}; new: {', '.join(new)}"


async def _tariffs(number: int, runtime: Runtime) -> AsyncIterator[str]:
    """Yield calls of an API of somebody else; the key that it wants comes from a person, past the model."""
    tool, arguments = "list_tariffs", '{"region": "DK2", "limit": 2}'
    result = await runtime.call(tool, arguments, MIRA)
    text = _shown(
        number, "A tool over HTTP, for which nobody wrote code; its key is missing.", tool, arguments, result
    )
    done = await runtime.suspensions.give(_waiting(result).token, Credential(secret=KEY))
    yield "\n".join([text, f"   Mira gives her key → {done.json.decode()}", *_indented(done)])
    arguments = json.dumps({"region": "DK2", "limit": 2, "cursor": done.bounds and done.bounds.next_cursor})
    result = await runtime.call(tool, arguments, MIRA)
    yield _shown(number + 1, "The next page of the API.", tool, arguments, result)
    tool, arguments = "get_prices", '{"tariff": "solar"}'
    result = await runtime.call(tool, arguments, MIRA)
    yield _shown(number + 2, "An error that the design declares, with its details.", tool, arguments, result)


async def _tools(runtime: Runtime) -> list[str]:
    """Return the names of the tools that the next request advertises."""
    return [spec.name for spec in (await runtime.tools.snapshot(ReadonlyContext(meta=MIRA))).specs]


def _waiting(result: ToolResult) -> Suspended:
    if result.suspension is None:
        raise RuntimeError(f"{result.tool} did not wait: {result.json.decode()}")
    return result.suspension


def _shown(number: int, title: str, tool: str, arguments: str, result: ToolResult) -> str:
    seen = result.json.decode() or f"nothing yet ({result.status})"
    lines = [f"{number}. {title}", "", f"   {tool} {arguments}", f"   → {seen}"]
    return "\n".join([*lines, *_indented(result)])


def _indented(result: ToolResult) -> list[str]:
    return [f"     {line}" for line in _beside(result)]


def _beside(result: ToolResult) -> Iterator[str]:
    """Yield what the program gets beside the model's JSON, a line each."""
    if result.bounds:
        yield f"bounds: {_bounds(result.bounds)}"
    for artifact in result.artifacts:
        yield f"artifact: {artifact.kind}, {len(artifact.json)} bytes"
    for content in result.content:
        if content.type == "image":
            width, height = struct.unpack_from(">II", content.data, 16)  # where a PNG says them
            yield f"image: {content.media_type}, {width} × {height} pixels"
            yield f"display: {result.display}"
    if result.suspension:
        yield f"{result.suspension.kind}: {result.suspension.question or 'its result comes later'}"
        if result.suspension.preview:
            yield f"preview: {result.suspension.preview}"
        yield "token: kept by the client"
    if result.retry_hint:
        yield from _retry(result.retry_hint)


def _bounds(bounds: Bounds) -> str:
    facts = [f"{bounds.returned} of {'?' if bounds.total is None else bounds.total}"]
    facts += ["truncated"] if bounds.truncated else ["complete"]
    facts += [f"next cursor {bounds.next_cursor}"] if bounds.next_cursor else []
    facts += [f"hint: {bounds.refinement_hint}"] if bounds.refinement_hint else []
    return ", ".join(facts)


def _retry(hint: RetryHint) -> Iterator[str]:
    for issue in hint.issues:
        yield f"issue: {issue} [{issue.constraint}]"
    yield f"retry: {hint.reason}" + (", this tool only" if hint.restrict_to_tool else "")
    if hint.clarifying_question:
        yield f"ask: {hint.clarifying_question}"
    if hint.example_input:
        yield f"example: {hint.example_input}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="examples.home.demo")
    parser.add_argument("--model", metavar="NAME", help="provider:name of the model that plans")
    named: str | None = parser.parse_args().model
    main(planners=_planned_by(named) if named else None)
