"""Icons of tools, as MCP 2025-11-25 has them."""

from __future__ import annotations

from toolgen.contract.icons import is_icon_size, is_icon_source, is_image_type
from toolgen.contract.presentation import Icon as CheckedIcon
from toolgen.expr import codes

from ...structure import Tool
from ...tool_clauses import Icon
from ..clause_lookup import clauses_of_kind
from ..report import Report, source_text


def icons_of(clause: Tool, report: Report) -> tuple[CheckedIcon, ...]:
    """Return the icons of a tool, in their order; mistakes in one are reported."""
    return tuple(_icon(icon, clause.name, report) for icon in clauses_of_kind(clause.children, Icon))


def _icon(clause: Icon, tool: str, report: Report) -> CheckedIcon:
    def refuse(argument: str, value: str, fault: str, hint: str) -> None:
        report.add(
            codes.BAD_ICON,
            clause.source,
            argument=argument,
            tool=tool,
            value=source_text(value),
            fault=fault,
            hint=hint,
        )

    if not is_icon_source(clause.src):
        hint = 'write an address such as "https://example.org/lamp.svg"'
        refuse("src", clause.src, "is no URL of http or https, and no data URI of an image", hint)
    if clause.mime_type is not None and not is_image_type(clause.mime_type):
        refuse("mime_type", clause.mime_type, "is no type of an image", 'write mime_type="image/png"')
    for size in clause.sizes:
        if not is_icon_size(size):
            fault = "is neither any nor a width and a height"
            refuse("sizes", size, fault, 'write sizes=("48x48",), or sizes=("any",) for a drawing')
    return CheckedIcon(
        src=clause.src, mime_type=clause.mime_type or "", sizes=tuple(clause.sizes), theme=clause.theme
    )
