"""The explorer, a page for a surface: `make ui` builds it from `ui/` into the folder `page`."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_TYPES: Final = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
_HEADERS: Final = {
    # Send nothing to other hosts, never execute tool results, and forbid framing by other pages.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def explorer_routes() -> list[Route]:
    """Return the routes of the page, its scripts and its styles, which are the same for every caller."""

    async def page(request: Request) -> Response:
        return _file("index.html", request)

    async def asset(request: Request) -> Response:
        return _file(f"assets/{request.path_params['name']}", request)

    return [Route("/", page), Route("/assets/{name}", asset)]


def _file(path: str, request: Request) -> Response:
    """Return a file of the page; 304 if the browser has it, 404 if it does not exist."""
    built = _built()
    if path not in built:
        return Response(status_code=404, headers=_HEADERS)
    content, tag = built[path]
    headers = {**_HEADERS, "ETag": tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=_TYPES[path.rpartition(".")[2]])


@cache
def _built() -> dict[str, tuple[bytes, str]]:
    """Return the built files by path, each with its tag."""
    folder = files("toolgen.adapters.http") / "page"
    paths = {"index.html": folder / "index.html"}
    paths |= {f"assets/{asset.name}": asset for asset in (folder / "assets").iterdir()}
    texts = {path: file.read_bytes() for path, file in paths.items()}
    return {path: (text, f'"{hashlib.sha256(text).hexdigest()}"') for path, text in texts.items()}
