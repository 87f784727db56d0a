"""The application on a port of its own, what arrives at it, and the client that is generated for it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote

import uvicorn
from openapi_core.datatypes import RequestParameters
from werkzeug.datastructures import Headers, ImmutableMultiDict

from tests.golden import write
from toolgen.codegen import generate
from toolgen.dsl import build

from .application import app

PACKAGE = "generated_library"


@dataclass(slots=True, kw_only=True)
class Arrived:
    """A request as openapi-core takes it, made of what the server got."""

    host_url: str
    path: str
    method: str
    parameters: RequestParameters
    content_type: str
    body: bytes | None


@dataclass(slots=True)
class Recorder:
    """The application, which keeps what arrives."""

    arrived: list[Arrived] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        body = b""

        async def receiving() -> Any:
            nonlocal body
            message = await receive()
            body += message.get("body", b"")
            return message

        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":  # before the client of the test goes on
                self.arrived.append(_arrived(scope, body))
            await send(message)

        await app(scope, receiving, sending)


def _arrived(scope: Any, body: bytes) -> Arrived:
    headers = Headers([(name.decode(), text.decode("latin-1")) for name, text in scope["headers"]])
    parts = [part.partition("=") for part in scope["query_string"].decode().split("&") if part]
    # openapi-core takes apart what spaces delimit before it is decoded, and all else after it.
    query = [(unquote(name), text if name == "spaced" else unquote(text)) for name, _, text in parts]
    pairs = [part.partition("=") for part in headers.get("cookie", "").split("; ") if part]
    cookies = [(name, text) for name, _, text in pairs]
    return Arrived(
        host_url=f"http://{headers['host']}",
        path=scope["path"],
        method=scope["method"].lower(),
        parameters=RequestParameters(
            query=ImmutableMultiDict(query), header=headers, cookie=ImmutableMultiDict(cookies)
        ),
        content_type=headers.get("content-type", ""),
        body=body or None,
    )


@contextmanager
def serving() -> Iterator[tuple[str, Recorder]]:
    """Yield the address of the application while it runs in a thread, and what arrives at it."""
    recorder = Recorder()
    config = uvicorn.Config(recorder, host="127.0.0.1", port=0, log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    sockets = [config.bind_socket()]
    sockets[0].listen()  # a request that comes before the server has begun waits for it
    thread = threading.Thread(target=server.run, args=[sockets])
    thread.start()
    try:
        yield f"http://127.0.0.1:{sockets[0].getsockname()[1]}", recorder
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def generated(folder: Path) -> Iterator[ModuleType]:
    """Yield the generated package of the design."""
    from .design import design

    evaluation = build(design)
    assert evaluation.design is not None, [finding.message for finding in evaluation.diagnostics]
    write(folder / PACKAGE, generate(evaluation.design, module="tests.conformance.http.design"))
    sys.path.insert(0, str(folder))
    try:
        yield import_module(PACKAGE)
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            del sys.modules[name]
