"""The icons of a tool in a list (MCP 2025-11-25, `Icon`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import get_args

from toolgen.contract.icons import is_icon_size, is_icon_source, is_image_type
from toolgen.contract.names import IconTheme
from toolgen.contract.presentation import Icon
from toolgen.findings import Finding

from .codes import LEFT_OUT, finding_at
from .pointers import joined


def read_icons(record: Mapping[str, object], tool: str, pointer: str) -> Iterator[Icon | Finding]:
    """Yield the icons of a record, each after what of it is left out; one without a usable `src` is."""
    given = record.get("icons")
    if given is None:
        return
    pointer = joined(pointer, "icons")
    if not isinstance(given, list):
        yield finding_at(LEFT_OUT, pointer, "icons is no list; it is left out", tool=tool)
        return
    for index, icon in enumerate(given):
        yield from _read_icon(icon, tool, joined(pointer, index))


def _read_icon(icon: object, tool: str, pointer: str) -> Iterator[Icon | Finding]:
    src = icon.get("src") if isinstance(icon, dict) else None
    if not isinstance(icon, dict) or not isinstance(src, str) or not is_icon_source(src):
        message = "the icon has no src of http or https, nor an image as a data URI; it is left out"
        yield finding_at(LEFT_OUT, pointer, message, tool=tool)
        return
    facts: dict[str, object] = {key: icon.get(key) for key in ("mimeType", "sizes", "theme")}
    sizes = facts["sizes"]
    known = {
        "mimeType": isinstance(facts["mimeType"], str) and is_image_type(facts["mimeType"]),
        "sizes": isinstance(sizes, list) and all(isinstance(one, str) and is_icon_size(one) for one in sizes),
        "theme": facts["theme"] in get_args(IconTheme),
    }
    for key, is_known in known.items():
        if not is_known and facts[key] is not None:
            message = f"{key} of the icon is none that MCP knows; it is left out"
            yield finding_at(LEFT_OUT, joined(pointer, key), message, tool=tool)
    yield Icon(
        src=src,
        mime_type=str(facts["mimeType"]) if known["mimeType"] else "",
        sizes=tuple(sizes) if known["sizes"] and isinstance(sizes, list) else (),
        theme=icon["theme"] if known["theme"] else None,
    )
