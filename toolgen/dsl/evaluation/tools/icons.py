"""Icons of tools, as MCP 2025-11-25 has them."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from toolgen.contract.presentation import Icon as CheckedIcon
from toolgen.expr import codes

from ...structure import Tool
from ...tool_clauses import Icon
from ..clause_lookup import clauses_of_kind
from ..report import Report, source_text

_DATA: Final = re.compile(r"data:image/[a-z0-9.+-]+;base64,[A-Za-z0-9+/]+={0,2}")
_MIME_TYPE: Final = re.compile(r"image/[a-z0-9][a-z0-9.+-]*")
_FOREIGN: Final = re.compile(r'[\x00-\x20\x7f"<>\\^`{|}]')
"""What stands in no URI (RFC 3986, appendix A)."""
_SIZE: Final = re.compile(r"any|[1-9][0-9]{0,4}x[1-9][0-9]{0,4}")


def icons_of(word: Tool, report: Report) -> tuple[CheckedIcon, ...]:
    """Return the icons of a tool, in their order; what is wrong with one is reported."""
    return tuple(_icon(icon, word.name, report) for icon in clauses_of_kind(word.children, Icon))


def _icon(word: Icon, tool: str, report: Report) -> CheckedIcon:
    def refuse(argument: str, value: str, fault: str, hint: str) -> None:
        report.add(
            codes.BAD_ICON,
            word.source,
            argument=argument,
            tool=tool,
            value=source_text(value),
            fault=fault,
            hint=hint,
        )

    if not _is_address(word.src):
        hint = 'write an address such as "https://example.org/lamp.svg"'
        refuse("src", word.src, "is no URL of http or https, and no data URI of an image", hint)
    if word.mime_type is not None and not _MIME_TYPE.fullmatch(word.mime_type):
        refuse("mime_type", word.mime_type, "is no type of an image", 'write mime_type="image/png"')
    for size in word.sizes:
        if not _SIZE.fullmatch(size):
            fault = "is neither any nor a width and a height"
            refuse("sizes", size, fault, 'write sizes=("48x48",), or sizes=("any",) for a drawing')
    return CheckedIcon(
        src=word.src, mime_type=word.mime_type or "", sizes=tuple(word.sizes), theme=word.theme
    )


def _is_address(src: str) -> bool:
    if not src.isascii() or _FOREIGN.search(src):
        return False
    try:
        parts = urlsplit(src)
    except ValueError:
        return False
    return bool(_DATA.fullmatch(src)) or (parts.scheme in ("http", "https") and bool(parts.hostname))
