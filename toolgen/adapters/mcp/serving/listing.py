"""Tools as MCP lists them: the content of a spec, in the format of each era."""

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
"""The one key of the object around a result that is none."""
Kind = Literal["object", "null", "other"]
_KINDS: Final[frozenset[Kind]] = frozenset(get_args(Kind))
"""JSON types that the listing distinguishes."""
_MOST_STEPS: Final = 32
"""References one after the other; a circle of them says nothing of a value."""

META_PREFIX: Final = "dev.toolgen/"
"""Prefix of the keys in `_meta` (MCP, General fields: a reverse-DNS name)."""
_MOST_ON_A_PAGE: Final = 500
"""Tools."""
_MOST_KEPT: Final = 20_000
"""Tools whose entry is kept; those of dynamic toolsets may be new ones for each request."""


@frozen_record
class ListedTool:
    """A tool as one era lists it."""

    tool: types.Tool
    output: OutputForm | None
    digest: str
    """Changes with every word of the entry."""


class Listing:
    """Makes the entries of tools, and keeps those of specs that come again."""

    def __init__(self) -> None:
        self._cache: OrderedDict[tuple[int, bool], tuple[ToolSpec, ListedTool]] = OrderedDict()

    def entry(self, spec: ToolSpec, *, is_modern: bool) -> ListedTool:
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


def page_of(tools: list[ListedTool], cursor: str | None) -> tuple[list[ListedTool], str | None]:
    """Return the tools of a page, and the cursor of the next one; None after the last.

    More tools than one page has stand in the order of their names, and a cursor says the last name: no tool
    that is there all the time is left out or comes twice, whatever others come and go between two pages.

    Raises:
        MCPError: the cursor is none (-32602, MCP, Pagination).
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


@frozen_record
class OutputForm:
    """How the results of a tool are sent as structured content."""

    schema: dict[str, Any]
    is_wrapped: bool

    def content(self, value: Json) -> Json:
        """Return a result in this form."""
        return {WRAPPED: value} if self.is_wrapped else value


def input_schema(spec: ToolSpec) -> dict[str, Any]:
    """Return the schema of the arguments; its root is of type object (MCP, Tools).

    So is the schema of an argument that can be nothing else, such as a union of objects: clients that make
    arguments of texts look for a type there.
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
    """Return how results are sent; None for a tool whose results are only text.

    These are the results that may be truncated, and those of lenient tools, which may not fit: clients refuse
    structured content that breaks the `outputSchema` of its tool.

    Through 2025-11-25 the root of an `outputSchema` is of type object, and so is `structuredContent`. Since
    2026-07-28 both may be anything (SEP-2106); a null does not cross the SDK, so it is wrapped there too.
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
    """Return the schema of the object around a result; `$schema` stands at a root (2020-12 Core 8.1.1)."""
    inner = embedded(schema, f"#/properties/{WRAPPED}")
    dialect = {key: inner.pop(key) for key in ("$schema",) if key in inner}
    return {**dialect, "type": "object", "properties": {WRAPPED: inner}, "required": [WRAPPED]}


def _kinds(schema: Any, root: Mapping[str, Any], steps: int = 0) -> frozenset[Kind]:
    """Return what values of a schema may be; everything where it does not say."""
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
    """Return what `type`, `enum` and `const` leave."""
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
