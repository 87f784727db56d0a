"""An MCP server of 2025-11-25 on nothing but the standard library, that does what a test wants of a bad one.

`python bare.py MODE [FILE]`; the file gets a line for each call that is executed.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

MODE = sys.argv[1]
LOG = Path(sys.argv[2]) if len(sys.argv) > 2 else None
ANY: dict[str, Any] = {"type": "object"}
READS = {"readOnlyHint": True}
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
DEFAULTED = {"type": "object", "properties": {"n": {"type": "integer", "default": 7}}, "required": ["n"]}
TOOLS: list[dict[str, Any]] = [
    {"name": "echo", "inputSchema": NUMBER, "outputSchema": NUMBER, "title": "Say it again"},
    {"name": "die", "inputSchema": ANY},
    {"name": "die_once", "inputSchema": ANY, "annotations": READS},
    {"name": "hang", "inputSchema": ANY},
    {"name": "hang_reading", "inputSchema": ANY, "annotations": READS},
    {"name": "misfit", "inputSchema": ANY, "outputSchema": NUMBER},
    {"name": "unstructured", "inputSchema": ANY, "outputSchema": NUMBER},
    {"name": "nonsense", "inputSchema": ANY},
    {"name": "empty", "inputSchema": ANY},
    {"name": "blocks", "inputSchema": ANY},
    {"name": "flood", "inputSchema": ANY},
    {"name": "issues", "inputSchema": ANY},
    {"name": "progress", "inputSchema": ANY},
    {"name": "late_progress", "inputSchema": ANY},
    {"name": "work", "inputSchema": ANY},
    {"name": "step", "inputSchema": ANY},
    {"name": "finish", "inputSchema": ANY},
    {"name": "ask", "inputSchema": ANY},
    {"name": "change", "inputSchema": ANY},
    {"name": "whoami", "inputSchema": ANY},
    {"name": "says_closed", "inputSchema": ANY, "annotations": READS},
    {"name": "says_session", "inputSchema": ANY, "annotations": READS},
    {"name": "says_status", "inputSchema": ANY, "annotations": READS},
    {"name": "says_error", "inputSchema": ANY, "annotations": READS},
    {"name": "endless_line", "inputSchema": ANY},
    {"name": "bad_byte", "inputSchema": ANY},
    {"name": "math.factorial", "inputSchema": ANY, "description": "Says\u200b its name.\n" + "x" * 9_000},
    {"name": "math_factorial", "inputSchema": ANY},
]
BLOCKS = [
    {"type": "text", "text": "before"},
    {"type": "image", "data": "aGk=", "mimeType": "image/png"},
    {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
    {"type": "text", "text": "after"},
    {"type": "resource_link", "uri": "file:///a.txt", "name": "a", "mimeType": "text/plain", "size": 2},
    {"type": "resource", "resource": {"uri": "file:///b.txt", "mimeType": "text/plain", "text": "inside"}},
    {"type": "resource", "resource": {"uri": "file:///c.bin", "mimeType": "image/gif", "blob": "aGk="}},
    {"type": "resource", "resource": {"uri": "file:///d.bin", "mimeType": "font/ttf", "blob": "aGk="}},
]
HIDDEN = "a\u200b\x1b[31m" + "x" * 5_000
HOSTILE: dict[str, list[dict[str, Any]]] = {
    "texts": [
        {
            "name": "texts",
            "inputSchema": {
                "type": "object",
                "description": HIDDEN,
                "properties": {"title": {"title": HIDDEN}},
            },
            "icons": [
                {"src": "data:text/html;base64,aGk="},
                {"src": "data:image/png;base64," + "aaaa" * 20_000},
                {"src": "https://a.example/i.png", "mimeType": "a\u200b", "sizes": ["48x48", "\u200b"]},
            ],
        },
        {"name": "n\u200b" * 500, "inputSchema": ANY},
    ],
    "remote_ref": [
        {"name": "bad", "inputSchema": {**ANY, "properties": {"a": {"$ref": "http://127.0.0.1:9/"}}}}
    ],
    "loop_ref": [{"name": "bad", "inputSchema": {**ANY, "allOf": [{"$ref": "#"}]}}],
    "many": [
        {
            "name": "bad",
            "inputSchema": {**ANY, "properties": {f"p{n}": {"title": "a" * 400} for n in range(11_000)}},
        }
    ]
    if MODE == "many"
    else [],
    "deep": [
        {"name": "bad", "inputSchema": {**ANY, "properties": json.loads('{"a":' * 90 + "{}" + "}" * 90)}}
    ],
    "names": [{"name": "l" * 60 + end, "inputSchema": ANY} for end in ("a", "b")],
    "shadow": [{"name": "transfer", "inputSchema": ANY}],
    "defaults": [
        {
            "name": "echo_default",
            "inputSchema": DEFAULTED,
        },
        {"name": "empty_default", "inputSchema": ANY, "outputSchema": DEFAULTED},
    ],
    "tasks": [{"name": "task", "inputSchema": ANY, "execution": {"taskSupport": "required"}}],
    "pattern": [
        {
            "name": "slow",
            "inputSchema": {**ANY, "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}},
        },
        {
            "name": "slower",
            "inputSchema": {**ANY, "properties": {"a": {"type": "string", "pattern": "(?=.*c)[ab]*"}}},
        },
    ],
}
SAYS: dict[str, Any] = {
    "says_closed": {"code": -32000, "message": "Connection closed"},
    "says_session": {"code": -32600, "message": "Session terminated"},
    "says_status": {"code": -32603, "message": "HTTP status 429", "data": {"toolgen.httpStatus": 429}},
}
"""Errors of the server that read as if the connection had failed, or the call had not been made."""
ISSUES = {
    "error": "the arguments of issues do not fit",
    "issues": [{"path": '$.a[0]["b c"]', "constraint": "missing_field", "message": "is required"}],
}


def send(document: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **document}) + "\n")
    sys.stdout.flush()


def read() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        leave()
    found: dict[str, Any] = json.loads(line)
    return found


def leave() -> None:
    """End with the input, or not."""
    if MODE == "stubborn":
        while True:
            signal.pause()
    raise SystemExit


def wrote() -> int:
    """Note a call in the log, and return how many there were before."""
    assert LOG is not None
    before = len(LOG.read_text().splitlines()) if LOG.exists() else 0
    with LOG.open("a") as file:
        file.write(f"{os.getpid()}\n")
    return before


def text(words: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}]}


WORKING: list[tuple[Any, Any]] = []
"""Ids of calls of "work" that have no answer, and their progress tokens."""


def call(id: Any, params: dict[str, Any]) -> None:
    result: dict[str, Any] = {"content": []}
    match params["name"]:
        case "empty_default":
            result = {**text("{}"), "structuredContent": {}}
        case "echo" | "echo_default":
            result = {**text(json.dumps(params["arguments"])), "structuredContent": params["arguments"]}
        case "die":
            wrote()
            os._exit(3)
        case "die_once":
            if not wrote():
                os._exit(3)
            result = text("done")
        case "hang" | "hang_reading":
            return
        case "misfit":
            result = {"content": [], "structuredContent": {"n": "one"}}
        case "unstructured":
            result = text("1")
        case "nonsense":
            result = {"content": "none"}
        case "empty":
            pass
        case "blocks":
            result = {"content": BLOCKS}
        case "flood":
            result = {"content": [{"type": "text", "text": "x"}] * 1_001}
        case "issues":
            result = {"content": [{"type": "text", "text": json.dumps(ISSUES)}], "isError": True}
        case "progress":
            token = params["_meta"]["progressToken"]
            for step in (1, 2):
                told = {"progressToken": token, "progress": step, "total": 4, "message": f"step {step}"}
                send({"method": "notifications/progress", "params": told})
        case "work":  # until "finish"; each "step" is its progress
            WORKING.append((id, params.get("_meta", {}).get("progressToken")))
            return
        case "step":
            told = {"progressToken": WORKING[0][1], "progress": 1}
            send({"method": "notifications/progress", "params": told})
        case "finish":
            send({"id": WORKING.pop(0)[0], "result": text("worked")})
        case "late_progress":
            token = params["_meta"]["progressToken"]
            send({"id": id, "result": result})
            for progress in (1, "much", None, 1e400):
                send(
                    {
                        "method": "notifications/progress",
                        "params": {"progressToken": token, "progress": progress},
                    }
                )
            send({"id": id, "result": text("a second one")})
            return
        case "ask":
            schema = {"type": "object", "properties": {"name": {"type": "string"}}}
            asked = {"message": "Who?", "requestedSchema": schema, **params.get("arguments", {})}
            send({"id": "q1", "method": "elicitation/create", "params": asked})
            answer = read()["result"]
            content = f" {json.dumps(answer['content'])}" if "content" in answer else ""
            result = text(answer["action"] + content)
        case "change":
            TOOLS[0]["inputSchema"] = ANY
            send({"method": "notifications/tools/list_changed"})
        case "says_error":
            wrote()
            result = {**text("Connection closed"), "isError": True}
        case "says_closed" | "says_session" | "says_status" as name:
            wrote()
            send({"id": id, "error": SAYS[name]})
            return
        case "endless_line":
            with contextlib.suppress(OSError):
                while True:
                    os.write(1, b"x" * 65_536)
        case "bad_byte":
            os.write(1, b'{"jsonrpc": "2.0", "id": 1, "result": "\xff"}\n')
            return
        case "whoami":
            result = text(f"{os.environ.get('PERSON', '')} {os.getpid()}")
        case name:
            result = text(name)
    send({"id": id, "result": result})


def main() -> None:
    if MODE == "hangs":
        signal.pause()
    if MODE == "dies":
        raise SystemExit(3)
    if MODE == "garbage":
        sys.stdout.write("Starting up!\n\x1b[31mnot JSON\n")
        sys.stdout.flush()
        sys.stdin.readline()
        return
    if MODE == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
        assert LOG is not None
        LOG.write_text(f"{os.getpid()}\n{child.pid}\n")
    while True:
        message = read()
        if message.get("method") == MODE.removeprefix("dies_at "):
            raise SystemExit
        if message.get("method") == MODE.removeprefix("dies_once_at ") and not wrote():
            raise SystemExit
        id, method = message.get("id"), message.get("method")
        if method == "initialize":
            given = {
                "protocolVersion": "2025-11-25",
                "capabilities": {} if MODE == "toolless" else {"tools": {"listChanged": True}},
                "serverInfo": {"name": "bare", "version": "1"},
            }
            send({"id": id, "result": given})
        elif method == "tools/list":
            tools, page = TOOLS, {}
            if MODE == "duplicates":
                tools = [*TOOLS, TOOLS[0], {**TOOLS[1], "description": "Also."}]
            if MODE == "schemas":
                tools = [*TOOLS, {"name": "odd", "inputSchema": {**ANY, "$ref": "https://example.com/"}}]
            if MODE in HOSTILE:
                tools = [TOOLS[0], *HOSTILE[MODE]]
            if MODE == "misfits":
                tools = [{"name": "union", "inputSchema": {"anyOf": [ANY]}}, *TOOLS, {"title": "nameless"}]
            if MODE == "toolless":
                send({"id": id, "error": {"code": -32601, "message": "Method not found"}})
                continue
            if MODE == "bare":
                tools = []
            if MODE == "endless":
                number = int(message.get("params", {}).get("cursor", 0))
                tools, page = [{**TOOLS[0], "name": f"echo{number}"}], {"nextCursor": str(number + 1)}
            send({"id": id, "result": {"tools": tools, **page}})
        elif method == "tools/call":
            call(id, message["params"])
        elif method == "notifications/cancelled" and LOG is not None:
            wrote()
        elif id is not None and method is not None:
            send({"id": id, "error": {"code": -32601, "message": "Method not found"}})


main()
