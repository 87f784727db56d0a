"""What the facts of an icon may be (MCP 2025-11-25, `Icon`)."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

_DATA: Final = re.compile(r"data:image/[a-z0-9.+-]+;base64,[A-Za-z0-9+/]+={0,2}")
_MIME_TYPE: Final = re.compile(r"image/[a-z0-9][a-z0-9.+-]*")
_FOREIGN: Final = re.compile(r'[\x00-\x20\x7f"<>\\^`{|}]')
"""What stands in no URI (RFC 3986, appendix A)."""
_SIZE: Final = re.compile(r"any|[1-9][0-9]{0,4}x[1-9][0-9]{0,4}")


def is_icon_source(src: str) -> bool:
    """Return whether a text is a URL of http or https, or a data URI of an image."""
    if not src.isascii() or _FOREIGN.search(src):
        return False
    try:
        parts = urlsplit(src)
    except ValueError:
        return False
    return bool(_DATA.fullmatch(src)) or (parts.scheme in ("http", "https") and bool(parts.hostname))


def is_image_type(mime_type: str) -> bool:
    """Return whether a text is the MIME type of an image."""
    return bool(_MIME_TYPE.fullmatch(mime_type))


def is_icon_size(size: str) -> bool:
    """Return whether a text is `any`, or a width and a height in pixels such as `48x48`."""
    return bool(_SIZE.fullmatch(size))
