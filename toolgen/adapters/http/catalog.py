"""The catalog of the tools that a caller can use."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from toolgen.catalog.entry import ToolsetRecord, tool_entry
from toolgen.catalog.writer import CatalogHead, catalog_json
from toolgen.runtime import ReadonlyContext, Runtime, Snapshot, ToolsetRegistration, ToolSpec

from .bodies import has_tag
from .callers import Caller
from .problems import FRESH


@dataclass(slots=True)
class _CachedCatalog:
    """Newest catalog text, reused for callers that are offered the same tools."""

    specs: tuple[ToolSpec, ...]
    text: bytes
    tag: str


class RuntimeCatalog:
    """The catalog of one runtime."""

    def __init__(self, runtime: Runtime, design: str, version: str) -> None:
        self._runtime = runtime
        self._head = CatalogHead(design=design, version=version)
        self._cached: _CachedCatalog | None = None

    async def read(self, request: Request, caller: Caller) -> Response:
        """Return `tool_schemas.json` with the tools that the caller is offered now."""
        meta = caller.meta(await caller.session(""))
        snapshot = await self._runtime.tools.snapshot(ReadonlyContext(meta=meta))
        cached = self._cached
        if cached is None or cached.specs != snapshot.specs:
            cached = self._cached = self._make(snapshot)
        headers = {**FRESH, "ETag": cached.tag, "Cache-Control": "private, no-cache"}
        if has_tag(request, cached.tag):
            return Response(status_code=304, headers=headers)
        return Response(cached.text, headers=headers, media_type="application/json")

    def _make(self, snapshot: Snapshot) -> _CachedCatalog:
        entries = [
            tool_entry(spec.record(self._toolset(snapshot.directory.by_id[spec.id].toolset)))
            for spec in snapshot.specs
        ]
        text = catalog_json(self._head, entries).encode()
        return _CachedCatalog(snapshot.specs, text, f'"{hashlib.sha256(text).hexdigest()}"')

    def _toolset(self, name: str) -> ToolsetRecord | None:
        registered = self._runtime.assembly.registry.registered(name)
        return registered.record() if isinstance(registered, ToolsetRegistration) else None
