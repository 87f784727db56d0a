"""Tools as MCP lists them: what a spec says, in the words of each era."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

from mcp import types

from toolgen.contract.json_value import Json
from toolgen.contract.tool_facts import Icon
from toolgen.runtime import ToolSpec

from .schemas import OutputForm, input_schema, output_form

META_PREFIX: Final = "dev.toolgen/"
"""Prefix of the keys in `_meta` (MCP, General fields: a reverse-DNS name)."""
_MOST_KEPT: Final = 4_000
"""Tools whose entry is kept; those of dynamic toolsets may be new ones for each request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """A tool as one era lists it."""

    tool: types.Tool
    output: OutputForm | None
    digest: str
    """Changes with every word of the entry."""


class Listing:
    """Makes the entries of tools, and keeps those of specs that come again."""

    def __init__(self) -> None:
        self._cache: OrderedDict[tuple[int, bool], tuple[ToolSpec[Any, Any], ListedTool]] = OrderedDict()

    def entry(self, spec: ToolSpec[Any, Any], *, is_modern: bool) -> ListedTool:
        """Return the entry of a tool; `is_modern` is 2026-07-28 and later."""
        key = (id(spec), is_modern)
        cached = self._cache.get(key)
        if cached is not None:  # the spec is held, so that no other one has its id
            self._cache.move_to_end(key)
            return cached[1]
        made = _entry(spec, is_modern)
        self._cache[key] = (spec, made)
        while len(self._cache) > _MOST_KEPT:
            self._cache.popitem(last=False)
        return made


def _entry(spec: ToolSpec[Any, Any], is_modern: bool) -> ListedTool:
    output = output_form(spec, is_modern=is_modern)
    hints = spec.hints
    tool = types.Tool(
        name=spec.name,
        title=spec.title,
        description=spec.description,
        input_schema=input_schema(spec),
        output_schema=None if output is None else output.schema,
        annotations=types.ToolAnnotations(
            title=spec.title,
            read_only_hint=hints["read_only"],
            destructive_hint=hints["destructive"],
            idempotent_hint=hints["idempotent"],
            open_world_hint=hints["open_world"],
        ),
        icons=[_icon(icon) for icon in spec.icons] or None,
        _meta=_meta(spec),
    )
    text = tool.model_dump_json(by_alias=True, exclude_none=True)
    return ListedTool(tool=tool, output=output, digest=hashlib.sha256(text.encode()).hexdigest())


def _icon(of: Icon) -> types.Icon:
    return types.Icon(
        src=of.src, mime_type=of.mime_type or None, sizes=list(of.sizes) or None, theme=of.theme
    )


def _meta(spec: ToolSpec[Any, Any]) -> dict[str, Json]:
    """Return what MCP has no field for; what says nothing is left out."""
    hints: dict[str, Json] = {"call": spec.call_hint, "result": spec.result_hint}
    facts: dict[str, Json] = {
        "id": spec.id,
        "tags": list(spec.tags),
        "hints": {key: text for key, text in hints.items() if text},
        "confirmation": spec.confirm is not None,
        "digest": spec.digest,
        "meta": dict(spec.meta),
    }
    if spec.deprecated is not None:
        replacement = {"replacement": spec.deprecated.replacement} if spec.deprecated.replacement else {}
        facts["deprecated"] = {"reason": spec.deprecated.reason, **replacement}
    return {f"{META_PREFIX}{key}": value for key, value in facts.items() if value}
