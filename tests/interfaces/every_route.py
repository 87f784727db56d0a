"""Each route of the HTTP surface, with nothing in the place of its ids."""

from __future__ import annotations

import re
from typing import Final

from .interfaces import interfaces

ROUTES: Final = [
    (method, re.sub(r"\{\w+(:path)?\}", "nothing", path), path)
    for method, path in (name.split()[1:] for name in interfaces() if re.match("route (GET|POST) ", name))
]
"""The method, the path, and the path as it is routed."""
