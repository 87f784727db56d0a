"""An MCP server of 2025-11-25 on nothing but the standard library that attacks its client.

`python hostile_server.py [LIST]`: `LISTS` names what it lists, "plain" by default; each tool in `CALLS` is an
attack, which is executed when it is called. Answers are exact bytes, so that an attack is what it says.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

ANY: dict[str, Any] = {"type": "object"}
Params = dict[str, Any]
Page = dict[str, Any]
CALLS: dict[str, Callable[[Any, Params], None]] = {}
"""What a call of a tool does, by the tool's name; it gets the id and the parameters of the request."""
LISTS: dict[str, Callable[[str | None], Page]] = {}
"""The page of a list of tools for a cursor, by the mode."""


def attack(execute: Callable[[Any, Params], None]) -> Callable[[Any, Params], None]:
    """Make a tool of a function, under its name."""
    CALLS[execute.__name__] = execute
    return execute


def listing(page: Callable[[str | None], Page]) -> Callable[[str | None], Page]:
    """Make a mode of a function, under its name."""
    LISTS[page.__name__] = page
    return page


def write(data: bytes) -> None:
    """Write bytes as they are; a client that is gone ends the process."""
    try:
        while data:
            data = data[os.write(1, data) :]
    except OSError:
        raise SystemExit from None


def send(**document: Any) -> None:
    """Write a message."""
    write(json.dumps({"jsonrpc": "2.0", **document}).encode() + b"\n")


def said(id: Any, text: str) -> None:
    """Answer a call with a text."""
    send(id=id, result={"content": [{"type": "text", "text": text}]})


@attack
def echo(id: Any, params: Params) -> None:
    """Answer as a good server does, with the id of the process."""
    said(id, str(os.getpid()))


@listing
def plain(cursor: str | None) -> Page:
    """List the attacks."""
    return {"tools": [{"name": name, "inputSchema": ANY} for name in CALLS]}


def main() -> None:
    """Serve until the input ends."""
    mode = sys.argv[1] if len(sys.argv) > 1 else "plain"
    for line in sys.stdin:
        message = json.loads(line)
        id, method, params = message.get("id"), message.get("method"), message.get("params", {})
        if method == "initialize":
            given = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": True}}}
            send(id=id, result={**given, "serverInfo": {"name": "hostile", "version": "1"}})
        elif method == "tools/list":
            send(id=id, result=LISTS[mode](params.get("cursor")))
        elif method == "tools/call":
            CALLS[params["name"]](id, params)
        elif id is not None and method is not None:
            send(id=id, error={"code": -32601, "message": "Method not found"})


if __name__ == "__main__":
    main()
