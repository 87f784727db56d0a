"""Ten calls as a model might make them, and what it gets: `python -m examples.home.demo`.

No model takes part: the calls are written here, and each goes through the whole runtime.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from toolgen.runtime import Bounds, CallMeta, RetryHint, Runtime, ToolResult

from .app import assistant
from .database import DATABASE, connect

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
)


def main(path: Path = DATABASE) -> None:
    """Make the calls on a database, built when it is missing, and print them."""
    with closing(connect(path)) as database:
        print(asyncio.run(transcript(assistant(database))))


async def transcript(runtime: Runtime) -> str:
    """Return what was sent and what came back, call by call."""
    calls = []
    for number, (title, session_id, tool, arguments) in enumerate(CALLS, 1):
        result = await runtime.call(tool, arguments, CallMeta(session_id=session_id))
        lines = [f"{number}. {title}", "", f"   {tool} {arguments}", f"   → {result.json.decode()}"]
        lines += [f"     {line}" for line in _beside(result)]
        calls.append("\n".join(lines))
    return "\n\n".join(calls)


def _beside(result: ToolResult) -> Iterator[str]:
    """Yield what the program gets beside the model's JSON, a line each."""
    if result.bounds:
        yield f"bounds: {_bounds(result.bounds)}"
    for artifact in result.artifacts:
        yield f"artifact: {artifact.kind}, {len(artifact.json)} bytes"
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
    main()
