"""Names of tools as a provider takes them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from .dialects import Dialect

_MOST_CHARACTERS = 64


def provider_names(names: Iterable[str], dialect: Dialect) -> list[str]:
    """Return a name for each tool, in their order: its own where the provider takes it.

    A dot becomes two underscores, any other character one. A name that is too long, or that another tool
    has, ends in seven hexadecimal digits of the SHA-256 of the tool's own name.
    """
    own = list(names)
    taken = {name for name in own if re.fullmatch(dialect.tool_name, name)}
    found = []
    for name in own:
        if name not in taken:
            name = _safe(name, dialect, taken)
            taken.add(name)
        found.append(name)
    return found


def _safe(name: str, dialect: Dialect, taken: set[str]) -> str:
    safe = re.sub(r"[^a-zA-Z0-9_-]", "_", name.replace(".", "__")) or "_"
    if not re.fullmatch(dialect.tool_name, safe[:_MOST_CHARACTERS]):
        safe = f"_{safe}"
    if len(safe) > _MOST_CHARACTERS or safe in taken:
        mark = hashlib.sha256(name.encode()).hexdigest()[:7]
        safe = f"{safe[: _MOST_CHARACTERS - 8]}_{mark}"
    return safe
