"""From a tool that a server lists to the spec of a tool. What a server says, nobody has checked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import mcp_types as types

from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json, compact
from toolgen.contract.limits import DEFAULT_LIMITS, exceeded_limit
from toolgen.contract.names import MCP_HINTS, Hint
from toolgen.contract.presentation import Icon
from toolgen.contract.printable import printable_lines
from toolgen.runtime import ToolSpec, json_schema_codec
from toolgen.shapes.naming import LONGEST_NAME, class_name

from .errors import MCPServerError, shortened
from .listing import tool_digest

META: Final = "mcp"
"""Key of a spec's `meta`: of which server the tool is, and how the server calls it."""
_PORTABLE: Final = re.compile(rf"[A-Za-z_][A-Za-z0-9_-]{{0,{LONGEST_NAME - 1}}}")
"""Wire names that all providers of models take."""
_HASH_DIGITS: Final = 8
_LONGEST_TITLE: Final = 200
_SOURCES: Final = ("https://", "http://", "data:")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTool:
    """A tool of a server."""

    name: str
    """As the server calls it."""
    digest: str
    """`listing.tool_digest`: another one is another contract."""
    has_output_schema: bool
    spec: ToolSpec[Any, Any]

    @property
    def may_repeat(self) -> bool:
        """Whether the server says that a second call does nothing more than the first."""
        return any(self.spec.annotations.get(hint) for hint in ("idempotent", "read_only"))


def wire_names(names: Iterable[str]) -> dict[str, str]:
    """Return the wire name of each tool; those of no portable name get one with a hash of their own name."""
    names = list(names)
    portable = {name: name for name in names if _PORTABLE.fullmatch(name)}
    taken = set(portable)
    for name in names:
        if name in portable:
            continue
        plain = re.sub("[^A-Za-z0-9_-]+", "_", name) or "_"
        plain = plain if _PORTABLE.match(plain) else f"_{plain}"
        start, digest = plain[: LONGEST_NAME - _HASH_DIGITS - 1], name
        while len(plain) > LONGEST_NAME or plain in taken:  # a server may list the name with the hash too
            digest = sha256(digest.encode(errors="replace")).hexdigest()
            plain = f"{start}_{digest[:_HASH_DIGITS]}"
        portable[name] = plain
        taken.add(plain)
    return portable


def server_tool(
    tool: types.Tool, wire_name: str, toolset: str, ids: str, *, longest: int, timeout_s: float | None
) -> ServerTool:
    """Return a tool with its spec, whose id begins with `ids`; `longest` are characters of the description.

    Raises:
        MCPServerError: a schema cannot be used.
    """
    return ServerTool(
        name=tool.name,
        digest=tool_digest(tool),
        has_output_schema=tool.output_schema is not None,
        spec=ToolSpec(
            id=f"{ids}.{wire_name}",
            name=wire_name,
            title=_title(tool),
            description=description_of(tool.description or "", longest),
            payload=_codec(tool.input_schema, class_name(wire_name, "payload"), tool, toolset),
            result=_codec(tool.output_schema or {}, class_name(wire_name, "result"), tool, toolset),
            icons=_icons(tool),
            annotations=hints_of(tool.annotations),
            meta={META: {"server": toolset, "tool": tool.name, "untrusted": True}},
            timeout=timeout_s,
        ),
    )


def description_of(text: str, longest: int) -> str:
    """Return a text of a server without characters that nobody sees, cut to its beginning."""
    shown = printable_lines(text.strip()[:longest])
    return shown if len(text.strip()) <= longest else f"{shown}…"


def hints_of(given: types.ToolAnnotations | None) -> dict[Hint, bool]:
    """Return the hints that the server gives; what it does not say is left out."""
    facts = {} if given is None else given.model_dump(by_alias=True)
    return {hint: bool(facts[key]) for hint, (key, _) in MCP_HINTS.items() if facts.get(key) is not None}


def _title(tool: types.Tool) -> str:
    """Return the title: its own goes before that of the annotations (MCP 2025-06-18, Tools)."""
    title = tool.title or (tool.annotations.title if tool.annotations is not None else None)
    return shortened(title or tool.name, _LONGEST_TITLE)


def _icons(tool: types.Tool) -> tuple[Icon, ...]:
    return tuple(
        Icon(
            src=icon.src,
            mime_type=icon.mime_type or "",
            sizes=tuple(icon.sizes or ()),
            theme=icon.theme,
        )
        for icon in tool.icons or ()
        if icon.src.startswith(_SOURCES)
    )


def _codec(schema: dict[str, Json], name: str, tool: types.Tool, toolset: str) -> Any:
    try:
        if (excess := exceeded_limit(compact(schema).encode(), DEFAULT_LIMITS)) is not None:
            raise ToolgenError(f"the JSON Schema of {name} {excess.message}")
        return json_schema_codec(schema, name)
    except ToolgenError as error:
        what = f"the MCP server {toolset!r} lists the tool {shortened(tool.name)!r}"
        raise MCPServerError(f"{what}, and {shortened(error.message)}", hint=error.hint) from error
