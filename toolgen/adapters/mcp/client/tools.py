"""Specs for the tools that a server lists. Their content is untrusted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

import mcp_types as types

from toolgen.calls.functions.foreign_codec import json_schema_codec
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.names import MCP_HINTS, Hint
from toolgen.contract.record import frozen_record
from toolgen.contract.tool_facts import Icon, is_icon_size, is_icon_source, is_image_type
from toolgen.runtime import ToolSpec
from toolgen.shapes.foreign.normal_form import UnsafeError, normal_form, safe_text
from toolgen.shapes.foreign.repairs import repair
from toolgen.shapes.naming import LONGEST_NAME, class_name

from .errors import MCPServerError, shortened, shown_name
from .listing import tool_digest

META: Final = "mcp"
"""Key in a spec's `meta` for the tool's server and its name there."""
_PORTABLE: Final = re.compile(rf"[A-Za-z_][A-Za-z0-9_-]{{0,{LONGEST_NAME - 1}}}")
"""Wire names that all model providers accept."""
_HASH_DIGITS: Final = 8
_LONGEST_TITLE: Final = 200
_LONGEST_NAME: Final = 200
"""Maximum number of characters of a tool's own name where it is shown."""
_LONGEST_ICON: Final = 65_536
"""Maximum number of characters of an icon's source, which can be a data URL."""
_MOST_ICONS: Final = 10


@frozen_record
class ServerTool:
    """A tool of a server."""

    name: str
    """Name of the tool at its server."""
    digest: str
    """`listing.tool_digest`; another digest means another contract."""
    pin: str = ""
    """`Listing.pin_of`; another pin means other texts; "" if texts may change."""
    has_output_schema: bool
    silence_s: float | None = None
    """Seconds without a report from the server after which a call ends; None means no limit."""
    spec: ToolSpec


def portable_names(names: Iterable[str]) -> dict[str, str]:
    """Return a portable name for each tool; an unsuitable name is replaced, with a hash if needed."""
    names = list(names)
    portable = {name: name for name in names if _PORTABLE.fullmatch(name)}
    taken = set(portable)
    for name in names:
        if name not in portable:
            plain = re.sub("[^A-Za-z0-9_-]+", "_", name) or "_"
            portable[name] = _free(plain if _PORTABLE.match(plain) else f"_{plain}", name, taken)
    return portable


def wire_names(portable: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Return the wire name of each tool: prefix and portable name, with a hash if it is too long."""
    taken: set[str] = set()
    return {name: _free(prefix + plain, name, taken) for name, plain in portable.items()}


def _free(plain: str, name: str, taken: set[str]) -> str:
    """Reserve and return a free name; with a hash of `name` if it is too long or taken."""
    start, digest = plain[: LONGEST_NAME - _HASH_DIGITS - 1], name
    while len(plain) > LONGEST_NAME or plain in taken:  # a server can also list the name with the hash
        digest = sha256(digest.encode(errors="replace")).hexdigest()
        plain = f"{start}_{digest[:_HASH_DIGITS]}"
    taken.add(plain)
    return plain


def server_tool(
    tool: types.Tool, id_: str, wire_name: str, toolset: str, *, longest: int, timeout_s: float | None
) -> ServerTool:
    """Return a tool with its spec; `longest` is the maximum number of characters of the description.

    Raises:
        MCPServerError: A schema cannot be used.
    """
    name = id_.rpartition(".")[2]
    return ServerTool(
        name=tool.name,
        digest=tool_digest(tool),
        has_output_schema=tool.output_schema is not None,
        spec=ToolSpec(
            id=id_,
            name=wire_name,
            title=_title(tool),
            description=safe_text(tool.description or "", longest),
            payload=_codec(tool.input_schema, class_name(name, "payload"), tool, toolset, longest),
            result=_codec(tool.output_schema or {}, class_name(name, "result"), tool, toolset, longest),
            icons=_icons(tool),
            annotations=hints_of(tool.annotations),
            meta={META: {"server": toolset, "tool": shown_name(tool.name, _LONGEST_NAME), "untrusted": True}},
            timeout=timeout_s,
        ),
    )


def hints_of(annotations: types.ToolAnnotations | None) -> dict[Hint, bool]:
    """Return the hints that the server declares; missing ones are left out."""
    facts = {} if annotations is None else annotations.model_dump(by_alias=True)
    return {hint: bool(facts[key]) for hint, (key, _) in MCP_HINTS.items() if facts.get(key) is not None}


def _title(tool: types.Tool) -> str:
    """Return the title; the tool's own title precedes the one in its annotations (MCP 2025-06-18, Tools)."""
    title = tool.title or (tool.annotations.title if tool.annotations is not None else None)
    return shown_name(title or tool.name, _LONGEST_TITLE)


def _icons(tool: types.Tool) -> tuple[Icon, ...]:
    return tuple(
        Icon(
            src=icon.src,
            mime_type=icon.mime_type if icon.mime_type and is_image_type(icon.mime_type) else "",
            sizes=tuple(size for size in icon.sizes or () if is_icon_size(size)),
            theme=icon.theme,
        )
        for icon in (tool.icons or ())[:_MOST_ICONS]
        if len(icon.src) <= _LONGEST_ICON and is_icon_source(icon.src)
    )


def _codec(schema: dict[str, Json], name: str, tool: types.Tool, toolset: str, longest: int) -> Any:
    what = f"the MCP server {toolset!r} lists the tool {shortened(tool.name)!r}"
    try:
        meant = normal_form(schema, longest)
        repair(meant)
        return json_schema_codec(meant, name, bounds_patterns=True)
    except UnsafeError as error:
        raise MCPServerError(f"{what}, but in the JSON Schema of {name} {error}") from error
    except ToolgenError as error:
        raise MCPServerError(f"{what}, but {shown_name(error.message)}", hint=error.hint) from error
