"""MCP list entries of tools: the content of a spec, in the format of each protocol era."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final, Literal, get_args

from mcp import MCPError, types
from mcp.types import INVALID_PARAMS

from toolgen.contract.json_pointer import referred
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.contract.tool_facts import Icon
from toolgen.runtime import ToolSpec
from toolgen.shapes.keywords import embedded

WRAPPED: Final = "result"
"""Key of the object that wraps a result that is not an object."""
Kind = Literal["object", "null", "other"]
_KINDS: Final[frozenset[Kind]] = frozenset(get_args(Kind))
"""JSON types that the listing distinguishes."""
_MOST_STEPS: Final = 32
"""Maximum number of chained references; a circular reference does not restrict a value."""

META_PREFIX: Final = "dev.toolgen/"
"""Prefix of the keys in `_meta` (MCP, General fields: a reverse-DNS name)."""
_MOST_ON_A_PAGE: Final = 500
"""Maximum number of tools on a page."""
_MOST_KEPT: Final = 20_000
"""Maximum number of cached entries; dynamic toolsets can have new specs for each request."""


@frozen_record
class ListedTool:
    """List entry of a tool in one protocol era."""

    tool: types.Tool
    output: OutputForm | None
    digest: str
    """Digest that changes with every word of the entry."""


class Listing:
    """Cache of list entries by spec."""

    def __init__(self) -> None:
        self._cache: OrderedDict[tuple[int, bool], tuple[ToolSpec, ListedTool]] = OrderedDict()

    def entry(self, spec: ToolSpec, *, is_modern: bool) -> ListedTool:
        """Return the entry of a tool; `is_modern` means 2026-07-28 or later."""
        key = (id(spec), is_modern)
        cached = self._cache.get(key)
        if cached is not None:  # the cache holds the spec, so no other spec has its id
            self._cache.move_to_end(key)
            return cached[1]
        entry = _entry(spec, is_modern)
        self._cache[key] = (spec, entry)
        while len(self._cache) > _MOST_KEPT:
            self._cache.popitem(last=False)
        return entry


def page_of(tools: list[ListedTool], cursor: str | None) -> tuple[list[ListedTool], str | None]:
    """Return the tools of a page, and the cursor of the next one; None after the last page.

    If there is more than one page, tools are sorted by name, and a cursor contains the last name. A tool that
    exists all the time is neither skipped nor repeated, even if others are added or removed between pages.

    Raises:
        MCPError: The cursor is invalid (-32602, MCP, Pagination).
    """
    if cursor is None and len(tools) <= _MOST_ON_A_PAGE:
        return tools, None
    after = "" if cursor is None else _name_of(cursor)
    rest = sorted((tool for tool in tools if tool.tool.name > after), key=lambda tool: tool.tool.name)
    page = rest[:_MOST_ON_A_PAGE]
    return page, _cursor_of(page[-1].tool.name) if len(rest) > len(page) else None


def _cursor_of(name: str) -> str:
    return urlsafe_b64encode(name.encode()).decode()


def _name_of(cursor: str) -> str:
    try:
        name = urlsafe_b64decode(cursor.encode()).decode()
    except ValueError:
        name = ""
    if not name or _cursor_of(name) != cursor:
        raise MCPError(INVALID_PARAMS, "the cursor is not from this server")
    return name


def _entry(spec: ToolSpec, is_modern: bool) -> ListedTool:
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


def _meta(spec: ToolSpec) -> dict[str, Json]:
    """Return the facts without an MCP field; omit empty ones."""
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


@frozen_record
class OutputForm:
    """Form of a tool's results in structured content."""

    schema: dict[str, Any]
    is_wrapped: bool

    def content(self, value: Json) -> Json:
        """Return a result in this form."""
        return {WRAPPED: value} if self.is_wrapped else value


def input_schema(spec: ToolSpec) -> dict[str, Any]:
    """Return the schema of the arguments; its root has the type object (MCP, Tools).

    The type is also added to arguments that can only be objects, for example a union of objects, because
    clients that convert text to arguments look for a type there.
    """
    schema = {**spec.payload.schema, "type": "object"}
    properties = schema.get("properties", {})
    typed = {
        name: {"type": "object", **part}
        for name, part in properties.items()
        if isinstance(part, Mapping) and "type" not in part and _kinds(part, schema) == {"object"}
    }
    return {**schema, "properties": {**properties, **typed}} if typed else schema


def output_form(spec: ToolSpec, *, is_modern: bool) -> OutputForm | None:
    """Return the form of structured results; None for a tool whose results are only text.

    Only text is sent for results that can be truncated, and for lenient tools, whose results might not fit:
    clients refuse structured content that violates the `outputSchema` of its tool.

    Through 2025-11-25 the root of an `outputSchema` has the type object, and so has `structuredContent`.
    Since 2026-07-28 both can be anything (SEP-2106). The SDK does not transmit null, so it is wrapped there
    too.
    """
    if spec.max_result_bytes is not None or spec.is_lenient:
        return None
    schema = spec.output_schema
    kinds = _kinds(schema, schema)
    if kinds == {"object"}:
        return OutputForm(schema={**schema, "type": "object"}, is_wrapped=False)
    if is_modern and "null" not in kinds:
        return OutputForm(schema=schema, is_wrapped=False)
    return OutputForm(schema=_wrapped(schema), is_wrapped=True)


def _wrapped(schema: dict[str, Any]) -> dict[str, object]:
    """Return the schema of the object around a result; `$schema` must be at the root (2020-12 Core 8.1.1)."""
    inner = embedded(schema, f"#/properties/{WRAPPED}")
    dialect = {key: inner.pop(key) for key in ("$schema",) if key in inner}
    return {**dialect, "type": "object", "properties": {WRAPPED: inner}, "required": [WRAPPED]}


def _kinds(schema: Any, root: Mapping[str, Any], steps: int = 0) -> frozenset[Kind]:
    """Return the kinds of values that a schema allows; all kinds if it does not restrict them."""
    if not isinstance(schema, Mapping) or steps > _MOST_STEPS:
        return _KINDS
    kinds = _named_kinds(schema)
    if isinstance(reference := schema.get("$ref"), str):
        kinds &= _kinds(referred(root, reference), root, steps + 1)
    for part in schema.get("allOf", ()):
        kinds &= _kinds(part, root, steps + 1)
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            branches = [_kinds(part, root, steps + 1) for part in schema[keyword]]
            kinds &= frozenset[Kind]().union(*branches)
    return kinds


def _named_kinds(schema: Mapping[str, Any]) -> frozenset[Kind]:
    """Return the kinds of values that `type`, `enum` and `const` allow."""
    kinds = _KINDS
    if "type" in schema:
        names = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        kinds = frozenset[Kind](_kind_of_type(name) for name in names)
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if values is None:
        return kinds
    return kinds & frozenset[Kind](_kind_of_value(value) for value in values)


def _kind_of_type(name: str) -> Kind:
    return "object" if name == "object" else "null" if name == "null" else "other"


def _kind_of_value(value: Json) -> Kind:
    return "object" if isinstance(value, dict) else "null" if value is None else "other"
